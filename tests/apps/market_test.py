"""nfx market on recordings that this test writes: books and statistics are those of a simple model in Python, whatever the
compression, and damaged files are errors with their place."""
import csv
import io
import json
import os
import shutil
import struct
import subprocess
import unittest

from market_support import InFolder, LAST, UNDEFINED_PRICE, Model, itch_message, metadata, random_records, record
from support import expect, run


class Market(InFolder):
    def book(self, path, *options):
        out, _ = expect(run("market", "book", path, "--json", *options), err="")
        return json.loads(out)

    def test_books_of_random_recordings_are_those_of_the_model(self):
        for version in (1, 2, 3):
            records, model = random_records(version, 4000), Model()
            for each in records:
                model.take(**each)
            content = metadata(version) + b"".join(record(**each) for each in records)
            found = self.book(self.file(content))
            self.assertEqual(json.dumps(found), json.dumps(model.document()))

    def test_depth_instrument_and_time_select(self):
        records, model = random_records(9, 1000), Model()
        for each in records[:501]:
            if each["instrument"] == 0:
                model.take(**each)
        path = self.file(metadata(2) + b"".join(record(**each) for each in records))
        at = records[500]["time"]
        self.assertEqual(self.book(path, "--instrument", "0", "--depth", "3", "--at", str(at)), model.document(3))
        self.assertEqual(self.book(path, "--instrument", "0", "--depth", "3", "--at", "2023-12-25T00:00:00.0005Z"),
                         model.document(3))

    def test_compressed_files_of_several_frames_give_the_same_book(self):
        if shutil.which("zstd") is None:
            self.skipTest("the command zstd is missing")
        content = metadata(1) + b"".join(record(**each) for each in random_records(4, 30_000))
        plain = self.file(content)
        parts = b"".join(subprocess.run(["zstd", "-c"], input=part, capture_output=True, check=True).stdout
                         for part in (content[:1000], b"", content[1000:]))
        status, out, err = run("market", "book", self.file(parts, "day.dbn.zst"), "--json")
        if status != 0 and "libzstd-dev" in err:
            self.skipTest("built without libzstd")
        self.assertEqual((status, out), (0, run("market", "book", plain, "--json")[1]))
        for size in (len(parts) - 1, len(parts) // 2):
            expect(run("market", "book", self.file(parts[:size], "cut.dbn.zst"), "--json"), code=1,
                   err=f"ends within compressed data at byte {size}")
        damaged = bytearray(parts)
        damaged[len(parts) // 2] ^= 0xFF
        expect(run("market", "book", self.file(bytes(damaged), "bad.dbn.zst"), "--json"), code=1, err="bad.dbn.zst: ")

    def test_standard_input_is_read(self):
        content = metadata(3) + record("A", "B", 1, 10**9, 5)
        expect(run("market", "book", "-", data=content), out=["1 bid and 0 ask levels", "instrument 7 ESH4"])

    def test_damaged_files_are_errors_that_name_the_place(self):
        good = metadata(2) + record("A", "B", 1, 10**9, 5)
        start = len(metadata(2))
        for content, expected in (
                (good[:-1], f"ends within a record or the metadata, at byte {start}"),
                (good + b"\3" * 60, f"has a record that is shorter than its type requires, at byte {len(good)}"),
                (b"8=FIX.4.4", "is not DBN"), (b"", "ends within a record or the metadata, at byte 0"),
                (good[:3] + b"\x09" + good[4:], "has a version of DBN other than 1, 2 and 3")):
            for command in ("book", "stats", "convert"):
                expect(run("market", command, self.file(content)), code=1, err=expected, err_lines=1)
        expect(run("market", "book", str(self.folder / "none.dbn")), code=1, err="none.dbn: No such file")

    def test_events_that_do_not_fit_are_counted_on_standard_error(self):
        content = metadata(2) + record("C", "B", 5, 10**9, 1) + record("A", "N", 6, 10**9, 1) + record("?", "B", 7, 1, 1)
        out, err = expect(run("market", "book", self.file(content), "--json"))
        self.assertEqual(json.loads(out)["records"], 3)
        self.assertIn("1 events did not fit the books: unknown_order", err)
        self.assertIn("1 events did not fit the books: no_side", err)
        self.assertIn("1 records have an unknown action", err)
        self.assertIn("stale", run("market", "book", self.file(content))[1])

    def test_a_wrong_time_is_wrong_usage(self):
        expect(run("market", "book", self.file(metadata(2)), "--at", "noon"), code=2,
               err='--at: "noon" is not a time; write 2023-12-25T17:00:00.5Z')

    def test_statistics_count_kinds_bursts_gaps_trades_and_spreads(self):
        second = 1_000_000_000
        base = 1_703_462_400 * second
        rows = [record("A", "B", 1, 10 * second, 5, time=base), record("A", "A", 2, 12 * second, 5, time=base),
                record("A", "A", 3, 11 * second, 5, time=base + 5 * second),
                record("T", "A", 0, 10 * second, 2, time=base + 15 * second),
                record("F", "B", 1, 10 * second, 2, time=base + 15 * second, flags=0),
                struct.pack("<BBH", 4, 0x17, 0) + bytes(12), struct.pack("<BBH", 4, 0x13, 0) + bytes(12)]
        path = self.file(metadata(2) + b"".join(rows))
        out, _ = expect(run("market", "stats", path, "--json"))
        found = json.loads(out)
        self.assertEqual(found["kinds"], {"add": 3, "fill": 1, "trade": 1})
        self.assertEqual(found["left_out"], {"definition": 1, "system": 1})
        self.assertEqual(found["bursts"]["1 s"][0], {"time": "2023-12-25T00:00:00.000000000Z", "messages": 2})
        self.assertEqual(found["gaps"][0], {"time": "2023-12-25T00:00:05.000000000Z", "nanoseconds": 10 * second})
        self.assertEqual(found["messages_per_second"], 0)
        instrument = found["instruments"]["7"]
        self.assertEqual((instrument["symbol"], instrument["trades"], instrument["traded_size"]), ("ESH4", 1, 2))
        self.assertEqual((instrument["spread_min"], instrument["spread_max"]), ("1", "2"))
        # Two for 5 s, then one for 10 s.
        self.assertEqual(instrument["spread_mean"], "1.333333333")
        expect(run("market", "stats", path), out="add 3 fill 1 trade 1")

    def test_events_are_converted_to_csv_with_exact_prices(self):
        content = metadata(2) + record("A", "A", 5, -250_000_000, 3, time=12_000, sequence=8)
        content += record("R", "N", 0, UNDEFINED_PRICE, 0, time=13_000, flags=0)
        out, _ = expect(run("market", "convert", self.file(content), "--to", "csv"))
        self.assertEqual(out.splitlines(), [
            "receive_time,event_time,instrument,event,side,order,price,quantity,flags,sequence,other,status,symbol",
            "12000,11000,7,add,ask,5,-0.250000000,3,128,8,0,,ESH4", "13000,12000,7,clear,,0,,0,0,1,0,,ESH4"])

    def test_the_example_prints_the_same_book(self):
        content = metadata(1) + record("A", "B", 1, -250_000_000, 5) + record("A", "B", 2, -250_000_000, 6)
        printed = subprocess.run([os.environ["NFX_BOOK_PRINTER"], self.file(content)], capture_output=True, text=True,
                                 timeout=600, check=True)
        self.assertEqual(printed.stdout, "instrument 7: 2 orders\n  bid -0.250000000  11 in 2 orders\n")
        itch = self.file(itch_message(b"A", 3, 2, 5, b"S", 100, b"AAPL", 12345))
        printed = subprocess.run([os.environ["NFX_BOOK_PRINTER"], itch], capture_output=True, text=True, timeout=600,
                                 check=True)
        self.assertEqual(printed.stdout, "instrument 3: 1 orders\n  ask 1.234500000  100 in 1 orders\n")
        cut = subprocess.run([os.environ["NFX_BOOK_PRINTER"], self.file(content[:-1])], capture_output=True, text=True,
                             timeout=600, check=False)
        self.assertEqual(cut.returncode, 1)
        self.assertIn("ends within a record", cut.stderr)


def header(words, kind, instrument, time):
    return struct.pack("<BBHIQ", words, kind, 1, instrument, time)


T0 = 1_703_462_400_000_000_000


def trade(price, size, instrument=7, time=T0, action="T", kind=0):
    return header(12, kind, instrument, time) + struct.pack("<qIccBBQiI", price, size, action.encode(), b"A", LAST, 0,
                                                             time + 5, 3, 42)


def top(bid, ask, price=0, action="A", **more):
    record_of = bytearray(trade(price, 1, action=action, kind=1, **more) + struct.pack("<qqIIII", bid, ask, 10, 20, 1, 2))
    record_of[0] = 20
    return bytes(record_of)


def bar(prices, volume, kind=0x21, instrument=7, time=T0):
    return header(14, kind, instrument, time) + struct.pack("<qqqqQ", *prices, volume)


def definition(version, symbol, instrument=7):
    size, name_at = {1: (360, 200), 2: (400, 200), 3: (520, 238)}[version]
    content = bytearray(header(size // 4, 0x13, instrument, T0).ljust(size, b"\0"))
    content[24:32] = struct.pack("<q", 250_000_000)
    content[40:48] = struct.pack("<Q", 2**64 - 1)
    content[name_at:name_at + len(symbol)] = symbol.encode()
    return bytes(content)


class OtherRecords(InFolder):
    """DBN whose records are not by order."""

    def stats(self, path, *options):
        out, _ = expect(run("market", "stats", path, *options), err="")
        return out

    def rows(self, path, *options, said=""):
        out, err = expect(run("market", "convert", path, *options))
        self.assertIn(said, err) if said else self.assertEqual(err, "")
        return list(csv.DictReader(io.StringIO(out)))

    def test_stats_of_trades_show_types_times_instruments_and_what_was_traded(self):
        path = self.file(metadata(2) + trade(101 * 10**9, 3) + trade(99 * 10**9, 4, time=T0 + 10**9)
                         + trade(5 * 10**8, 1, instrument=9))
        out = self.stats(path)
        self.assertIn("DBN 2, GLBX.MDP3", out)
        self.assertIn("trades: 3 records, 2023-12-25", out)
        self.assertIn("instrument 7 ESH4: 2 records", out)
        self.assertIn("traded 7, first 101, low 99, high 101, last 99", out)
        self.assertIn("instrument 9: 1 records", out)
        found = json.loads(self.stats(path, "--json"))["records"]["trades"]
        self.assertEqual((found["records"], found["instruments"]["7"]["symbol"]), (3, "ESH4"))
        self.assertEqual((found["instruments"]["7"]["traded_size"], found["instruments"]["7"]["low"]), (7, "99"))

    def test_stats_of_bars_have_their_range_and_volume(self):
        path = self.file(metadata(3) + bar((10 * 10**9, 12 * 10**9, 9 * 10**9, 11 * 10**9), 50)
                         + bar((11 * 10**9, 15 * 10**9, 11 * 10**9, 14 * 10**9), 70, time=T0 + 60 * 10**9))
        self.assertIn("ohlcv-1m: 2 records", self.stats(path))
        self.assertIn("traded 120, first 10, low 9, high 15, last 14", self.stats(path))

    def test_convert_writes_one_line_a_record_with_exact_prices_and_the_names_of_dbn(self):
        rows = self.rows(self.file(metadata(2) + bar((1, 2 * 10**9, -250_000_000, UNDEFINED_PRICE), 2**63 + 1)))
        self.assertEqual(rows, [{"ts_event": str(T0), "publisher_id": "1", "instrument_id": "7", "open": "0.000000001",
                                 "high": "2.000000000", "low": "-0.250000000", "close": "", "volume": str(2**63 + 1), "symbol": "ESH4"}])
        (row,) = self.rows(self.file(metadata(2) + top(4 * 10**9, 5 * 10**9)))
        self.assertEqual((row["bid_px_00"], row["ask_px_00"], row["bid_sz_00"], row["ask_ct_00"], row["action"]),
                         ("4.000000000", "5.000000000", "10", "2", "A"))

    def test_definitions_of_every_version_have_their_symbol(self):
        for version in (1, 2, 3):
            path = self.file(metadata(version) + definition(version, 'A "B",C'))
            (row,) = self.rows(path)
            self.assertEqual((row["raw_symbol"], row["min_price_increment"], row["expiration"]), ('A "B",C', "0.250000000", ""))
            self.assertIn("definition: 1 records", self.stats(path))

    def test_of_mixed_records_one_type_is_converted_and_the_others_are_named(self):
        path = self.file(metadata(2) + record("A", "B", 1, 10**9, 5) + trade(10**9, 2) + bar((1, 1, 1, 1), 1))
        self.assertEqual(self.rows(path, said="1 trades, 1 ohlcv-1m beside those by order")[0]["order"], "1")
        self.assertEqual(self.rows(path, "--records", "trades", said="2 records are not in the table")[0]["size"], "2")
        self.assertIn("trades: 1 records", self.stats(path))
        self.assertIn("messages     1,", self.stats(path))
        expect(run("market", "convert", path, "--records", "trade"), code=2, err="did you mean trades")

    def test_what_needs_books_says_that_there_are_none_and_fails(self):
        path = self.file(metadata(2) + trade(10**9, 2) + trade(10**9, 2))
        for command in (("book",), ("convert", "--to", "columns", "--out", str(self.folder / "columns"))):
            status, _, err = run("market", command[0], path, *command[1:])
            self.assertEqual(status, 1, command)
            self.assertIn("has no records by order (mbo), which books are built from, but 2 trades", err)

    def test_records_of_a_size_or_type_that_dbn_does_not_have_are_counted(self):
        path = self.file(metadata(2) + header(5, 0x21, 7, T0) + b"\0" * 4 + header(4, 0x99, 7, T0))
        self.assertIn("ohlcv-1m: 1 records", self.stats(path))
        self.assertIn("type 0x99: 1 records", self.stats(path))
        self.assertEqual(self.rows(path, said="2 records are not in the table"), [])

    def test_only_the_chosen_instrument_is_shown(self):
        path = self.file(metadata(2) + trade(10**9, 2) + trade(10**9, 2, instrument=9))
        self.assertNotIn("instrument 9", self.stats(path, "--instrument", "ESH4"))
        self.assertEqual(len(self.rows(path, "--instrument", "9")), 1)


if __name__ == "__main__":
    unittest.main()
