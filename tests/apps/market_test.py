"""nfx market on recordings that this test writes: books and statistics are those of a simple model in Python, whatever the
compression, and damaged files are errors with their place."""
import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import unittest

from support import run

LAST, SNAPSHOT = 128, 32
UNDEFINED_PRICE = 2**63 - 1


def metadata(version, symbols=(("ESH4", 7),)):
    size = 22 if version == 1 else 71
    fixed = b"GLBX.MDP3".ljust(16, b"\0") + struct.pack("<HQQQ", 0, 10, 20, 0)
    fixed += struct.pack("<Q", 0) if version == 1 else b""
    fixed += bytes((1, 0, 0)) + (b"" if version == 1 else struct.pack("<H", size))
    fixed = fixed.ljust(100, b"\0")
    lists = struct.pack("<IIIII", 0, 0, 0, 0, len(symbols))
    for name, number in symbols:
        lists += name.encode().ljust(size, b"\0") + struct.pack("<III", 1, 20231225, 20231226)
        lists += str(number).encode().ljust(size, b"\0")
    return b"DBN" + bytes((version,)) + struct.pack("<I", len(fixed + lists)) + fixed + lists


def record(action, side, order, price, size, instrument=7, flags=LAST, time=1_703_462_400_000_000_000, sequence=1):
    return struct.pack("<BBHIQQqIBBccQiI", 14, 0xA0, 1, instrument, time - 1000, order, price, size, flags, 0,
                       action.encode(), side.encode(), time, 0, sequence)


class Model:
    """What the records mean, as plain dictionaries."""

    def __init__(self):
        self.books, self.records, self.trades, self.traded, self.changes = {}, 0, 0, 0, 0
        self.hash, self.tops = hashlib.sha256(), {}

    def levels(self, instrument, side):
        found = {}
        for of_side, price, size in self.books[instrument].values():
            if of_side == side:
                level = found.setdefault(price, [0, 0])
                level[0] += size
                level[1] += 1
        return sorted(found.items(), reverse=side == "B")

    def take(self, action, side, order, price, size, instrument=7, flags=LAST, time=1_703_462_400_000_000_000, **_):
        self.records += 1
        orders = self.books.setdefault(instrument, {})
        if action == "R":
            orders.clear()
        elif action == "T":
            self.trades += 1
            self.traded += size
        elif action in "AM":
            orders[order] = (side, price, size)
        elif action == "C":
            old = orders.pop(order)
            if old[2] > size:
                orders[order] = (old[0], old[1], old[2] - size)
        if flags & LAST:
            best = [next(iter(self.levels(instrument, each)), (None, (0, 0))) for each in "BA"]
            top = (best[0][0], best[0][1][0], best[1][0], best[1][1][0])
            if self.tops.get(instrument) != top:
                self.tops[instrument] = top
                self.changes += 1
                line = f"{instrument} {time} {text(top[0])} {top[1]} {text(top[2])} {top[3]}\n"
                self.hash.update(line.encode())

    def document(self, depth=10):
        def side(instrument, which):
            return [{"price": text(price), "size": level[0], "orders": level[1]}
                    for price, level in self.levels(instrument, which)[:depth]]

        return {"records": self.records, "trades": self.trades, "traded_size": self.traded, "bbo_changes": self.changes,
                "bbo_sha256": self.hash.hexdigest(),
                "instruments": {str(each): {"orders": len(orders),
                                            "levels": [len(self.levels(each, "B")), len(self.levels(each, "A"))],
                                            "bids": side(each, "B"), "asks": side(each, "A")}
                                for each, orders in self.books.items()}}


def text(price):
    return "none" if price is None else f"{price // 10**9}.{price % 10**9:09d}"


def random_records(seed, count, instruments=(7, 4_000_000_000, 0)):
    """Records that fit, with prices on both sides of zero and orders of equal numbers in several books."""
    chooser, open_orders, records = random.Random(seed), {each: {} for each in instruments}, []
    for at in range(count):
        instrument = chooser.choice(instruments)
        orders = open_orders[instrument]
        action = chooser.choice("AAAACCMMTFNR" if chooser.random() < 0.01 else "AAAACCMMTFN")
        side, price = chooser.choice("AB"), chooser.randint(-40, 40) * 250_000_000
        if chooser.random() < 0.002:
            price = UNDEFINED_PRICE
        order, size = chooser.randint(1, 2**64 - 1) if chooser.random() < 0.1 else at, chooser.randint(0, 20)
        if action == "C" and orders:
            order = chooser.choice(list(orders))
            left = orders[order]
            size = chooser.choice((left, chooser.randint(0, left)))
            if size >= left:
                del orders[order]
            else:
                orders[order] = left - size
            side = chooser.choice("ABN")
        elif action == "M" and orders and chooser.random() < 0.9:
            order = chooser.choice(list(orders))
            orders[order] = size
        elif action in "AM":
            orders[order] = size
        elif action == "R":
            orders.clear()
            price, size, side = UNDEFINED_PRICE, 0, "N"
        elif action == "C":
            action = "N"
        flags = chooser.choice((LAST, LAST, 0, LAST | SNAPSHOT))
        records.append({"action": action, "side": side, "order": order, "price": price, "size": size,
                        "instrument": instrument, "flags": flags, "time": 1_703_462_400_000_000_000 + at * 1000})
    return records


class Market(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, content, name="day.dbn"):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

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
            "receive_time,event_time,instrument,event,side,order,price,quantity,flags,sequence",
            "12000,11000,7,add,ask,5,-0.250000000,3,128,8", "13000,12000,7,clear,,0,,0,0,1"])

    def test_the_example_prints_the_same_book(self):
        content = metadata(1) + record("A", "B", 1, -250_000_000, 5) + record("A", "B", 2, -250_000_000, 6)
        printed = subprocess.run([os.environ["NFX_BOOK_PRINTER"], self.file(content)], capture_output=True, text=True,
                                 timeout=60, check=True)
        self.assertEqual(printed.stdout, "instrument 7: 2 orders\n  bid -0.250000000  11 in 2 orders\n")
        cut = subprocess.run([os.environ["NFX_BOOK_PRINTER"], self.file(content[:-1])], capture_output=True, text=True,
                             timeout=60, check=False)
        self.assertEqual(cut.returncode, 1)
        self.assertIn("ends within a record", cut.stderr)


if __name__ == "__main__":
    unittest.main()
