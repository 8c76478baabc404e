"""nfx market on recordings that this test writes: books and statistics are those of a simple model in Python, whatever the
compression, and damaged files are errors with their place."""
import json
import os
import shutil
import struct
import subprocess
import unittest

from market_support import InFolder, LAST, UNDEFINED_PRICE, Model, itch_message, metadata, random_records, record
from support import run


class Market(InFolder):
    def book(self, path, *options):
        status, out, err = run("market", "book", path, "--json", *options)
        self.assertEqual((status, err), (0, ""))
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
            status, _, err = run("market", "book", self.file(parts[:size], "cut.dbn.zst"), "--json")
            self.assertEqual(status, 1)
            self.assertIn(f"ends within a Zstandard frame at byte {size}", err)
        damaged = bytearray(parts)
        damaged[len(parts) // 2] ^= 0xFF
        status, _, err = run("market", "book", self.file(bytes(damaged), "bad.dbn.zst"), "--json")
        self.assertEqual(status, 1)
        self.assertIn("bad.dbn.zst: ", err)

    def test_standard_input_is_read(self):
        content = metadata(3) + record("A", "B", 1, 10**9, 5)
        status, out, _ = run("market", "book", "-", data=content)
        self.assertEqual(status, 0)
        self.assertIn("1 bid and 0 ask levels", out)
        self.assertIn("instrument 7 ESH4", out)

    def test_damaged_files_are_errors_that_name_the_place(self):
        good = metadata(2) + record("A", "B", 1, 10**9, 5)
        start = len(metadata(2))
        for content, expected in (
                (good[:-1], f"ends within a record or the metadata, at byte {start}"),
                (good + b"\3" * 60, f"has a record that is shorter than its type requires, at byte {len(good)}"),
                (b"8=FIX.4.4", "is not DBN"), (b"", "ends within a record or the metadata, at byte 0"),
                (good[:3] + b"\x09" + good[4:], "has a version of DBN other than 1, 2 and 3")):
            for command in ("book", "stats", "convert"):
                status, _, err = run("market", command, self.file(content))
                self.assertEqual(status, 1)
                self.assertIn(expected, err)
                self.assertEqual(err.count("\n"), 1)
        status, _, err = run("market", "book", str(self.folder / "none.dbn"))
        self.assertEqual(status, 1)
        self.assertIn("none.dbn: cannot be opened: No such file", err)

    def test_events_that_do_not_fit_are_counted_on_standard_error(self):
        content = metadata(2) + record("C", "B", 5, 10**9, 1) + record("A", "N", 6, 10**9, 1) + record("?", "B", 7, 1, 1)
        status, out, err = run("market", "book", self.file(content), "--json")
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(out)["records"], 3)
        self.assertIn("1 events did not fit the books: unknown_order", err)
        self.assertIn("1 events did not fit the books: no_side", err)
        self.assertIn("1 records have an unknown action", err)
        self.assertIn("stale", run("market", "book", self.file(content))[1])

    def test_a_wrong_time_is_wrong_usage(self):
        status, _, err = run("market", "book", self.file(metadata(2)), "--at", "noon")
        self.assertEqual(status, 2)
        self.assertIn('--at: "noon" is not a time; write 2023-12-25T17:00:00.5Z', err)

    def test_statistics_count_kinds_bursts_gaps_trades_and_spreads(self):
        second = 1_000_000_000
        base = 1_703_462_400 * second
        rows = [record("A", "B", 1, 10 * second, 5, time=base), record("A", "A", 2, 12 * second, 5, time=base),
                record("A", "A", 3, 11 * second, 5, time=base + 5 * second),
                record("T", "A", 0, 10 * second, 2, time=base + 15 * second),
                record("F", "B", 1, 10 * second, 2, time=base + 15 * second, flags=0),
                struct.pack("<BBH", 4, 0x17, 0) + bytes(12), struct.pack("<BBH", 4, 0x13, 0) + bytes(12)]
        path = self.file(metadata(2) + b"".join(rows))
        status, out, _ = run("market", "stats", path, "--json")
        self.assertEqual(status, 0)
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
        status, out, _ = run("market", "stats", path)
        self.assertEqual(status, 0)
        self.assertIn("add 3 fill 1 trade 1", out)

    def test_events_are_converted_to_csv_with_exact_prices(self):
        content = metadata(2) + record("A", "A", 5, -250_000_000, 3, time=12_000, sequence=8)
        content += record("R", "N", 0, UNDEFINED_PRICE, 0, time=13_000, flags=0)
        status, out, _ = run("market", "convert", self.file(content), "--to", "csv")
        self.assertEqual(status, 0)
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


if __name__ == "__main__":
    unittest.main()
