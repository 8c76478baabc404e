"""The tools around recordings of market data: instruments by name, ITCH files, times, conversions, generated days, and
what each command prints of files that are damaged or something else."""
import array
import ast
import csv
import io
import json
import pathlib
import random
import struct
import sys
import unittest

from market_support import InFolder, LAST, UNDEFINED_PRICE, Model, itch_message, metadata, random_records, record
from support import expect, run

SECOND = 1_000_000_000
NEW_YORK_MIDNIGHT = 1_703_394_000 * SECOND  # 2023-12-24 05:00 UTC, which precedes the records here


def orders_on_ticks(seed, count, instruments=(7,)):
    """Records that ITCH can express: prices are positive, every order has a side, and no size is zero."""
    chooser, open_orders, records, time = random.Random(seed), {each: {} for each in instruments}, [], 1_703_462_400 * SECOND
    for at in range(count):
        instrument = chooser.choice(instruments)
        orders = open_orders[instrument]
        time += chooser.randint(0, SECOND)
        new = {"instrument": instrument, "time": time, "flags": LAST}
        order = chooser.choice(list(orders)) if orders and chooser.random() < 0.6 else None
        if order is None:
            side, price, size = chooser.choice("AB"), chooser.randint(1, 80) * 250_000_000, chooser.randint(1, 20)
            order = 6_412_777_000_000 + at
            orders[order] = (side, price, size)
            action = chooser.choice("AAM")  # an order that is not known is added
        else:
            side, price, size = orders[order]
            action = chooser.choice("CCMMF")
            if action == "F":
                # A trade, its fill, and what it takes off the order.
                taken = chooser.randint(1, size)
                for each, number in (("T", at), ("F", order)):
                    records.append({**new, "action": each, "side": side, "order": number, "price": price, "size": taken,
                                    "flags": 0})
                action, size, left = "C", taken, size - taken
            elif action == "C":
                left = chooser.choice((0, chooser.randint(0, size)))
                size -= left
            else:
                left = size = chooser.randint(1, 20)
                side = chooser.choice("AB") if chooser.random() < 0.1 else side
                price = chooser.choice((price, chooser.randint(1, 80) * 250_000_000))
            orders[order] = (side, price, left)
            if left == 0:
                del orders[order]
        if chooser.random() < 0.003:
            action, side, order, price, size = "R", "N", 0, UNDEFINED_PRICE, 0
            orders.clear()
        records.append({**new, "action": action, "side": side, "order": order, "price": price, "size": size})
    return records


def stock_of(order, names):
    return 1 + ((order * 0x9E3779B97F4A7C15 % 2**64) >> 32) % names


class Files(InFolder):
    def right(self, *arguments, data=b""):
        status, out, err = run("market", *arguments, data=data)
        self.assertEqual((status, err), (0, ""), arguments)
        return out

    def book(self, path, *options):
        return json.loads(self.right("book", path, "--json", *options))

    def generated(self, *options, name="day.itch"):
        path = str(self.folder / name)
        return path, self.right("generate", path, *options)


class Instruments(Files):
    def test_are_chosen_by_name_as_by_number(self):
        records = random_records(3, 500, (7, 8, 9))
        path = self.file(metadata(2, (("ESH4", 7), ("NQH4", 8), ("NQ.c.0", 8))) +
                         b"".join(record(**each) for each in records))
        for names, numbers in (("ESH4", (7,)), ("NQ.c.0", (8,)), ("NQH4,9", (8, 9)), ("7,ESH4", (7,))):
            model = Model()
            for each in records:
                if each["instrument"] in numbers:
                    model.take(**each)
            self.assertEqual(self.book(path, "--instrument", names), model.document())
        rows = self.right("convert", path, "--instrument", "NQH4").splitlines()
        self.assertEqual(len(rows), 1 + sum(each["instrument"] == 8 for each in records))
        self.assertIn("instrument 7 ESH4: ", self.right("stats", path, "--instrument", "ESH4"))

    def test_that_there_are_not_are_errors_that_name_those_that_there_are(self):
        path = self.file(metadata(2, (("ESH4", 7), ("NQH4", 8))) + record("A", "B", 1, SECOND, 5))
        itch, _ = self.generated("--names", "30", "--messages", "100")
        for command in ("book", "stats", "convert"):
            for file, name, expected in (
                    (path, "ESH5", "has no instrument called ESH5; it has ESH4 (7), NQH4 (8); did you mean ESH4?"),
                    (path, "9", "has no instrument with the number 9; it has ESH4 (7), NQH4 (8)"),
                    (itch, "AAPL", "has no instrument called AAPL"), (itch, "AAPL", "AAAS (19), AAAT (20) and 10 more"),
                    (itch, "31", "has no instrument with the number 31; it has AAAA (1), AAAB (2), ")):
                expect(run("market", command, file, "--instrument", name), code=2, out="", err=expected, err_lines=1)
        # One that is known and has no event is not an error.
        self.assertEqual(self.book(path, "--instrument", "NQH4")["instruments"], {})

    def test_an_output_is_not_left_behind_when_the_instrument_is_unknown(self):
        itch, _ = self.generated("--names", "3", "--messages", "100")
        out = self.folder / "out.csv"
        status, _, _ = run("market", "convert", itch, "--instrument", "ZZZZ", "--out", str(out))
        self.assertEqual((status, out.exists()), (2, False))


class Itch(Files):
    def test_a_generated_day_has_the_orders_that_the_generator_says(self):
        path, said = self.generated("--names", "40", "--messages", "20000", "--resting", "20", "--seed", "5")
        book = self.book(path)
        open_orders = int(said.split(" orders are open")[0].split(" ")[-1])
        self.assertGreater(open_orders, 100)
        self.assertEqual(sum(each["orders"] for each in book["instruments"].values()), open_orders)
        self.assertEqual(sorted(map(int, book["instruments"])), list(range(1, 41)))
        again, _ = self.generated("--names", "40", "--messages", "20000", "--resting", "20", "--seed", "5", name="b")
        self.assertEqual(pathlib.Path(path).read_bytes(), pathlib.Path(again).read_bytes())
        expect(run("market", "generate", path), code=2, err="give another name, or --force to overwrite it")
        self.generated("--names", "2", "--messages", "10", "--force")
        self.assertEqual(len(self.book(path)["instruments"]), 2)

    def test_books_and_trades_are_those_of_the_messages(self):
        day = [itch_message(b"R", 1, 100, b"AAPL    Q" + b"N" * 19), itch_message(b"A", 1, 200, 1, b"B", 100, b"AAPL", 12500),
               itch_message(b"A", 1, 300, 2, b"S", 70, b"AAPL", 12600), itch_message(b"E", 1, 400, 1, 30, 9),
               itch_message(b"U", 1, 500, 2, 3, 50, 12550), itch_message(b"X", 1, 600, 1, 20),
               itch_message(b"C", 1, 700, 3, 10, 10, b"N", 12540)]
        book = self.book(self.file(b"".join(day)))
        self.assertEqual(book["instruments"], {"1": {
            "orders": 2, "levels": [1, 1], "bids": [{"price": "1.250000000", "size": 50, "orders": 1}],
            "asks": [{"price": "1.255000000", "size": 40, "orders": 1}]}})
        # What is not printable is no trade.
        self.assertEqual((book["records"], book["trades"], book["traded_size"]), (6, 1, 30))
        stats = json.loads(self.right("stats", self.file(b"".join(day)), "--json"))
        instrument = stats["instruments"]["1"]
        self.assertEqual((instrument["symbol"], instrument["traded_size"], instrument["low"]), ("AAPL", 30, "1.25"))
        self.assertEqual(stats["left_out"], {"Stock Directory": 1})

    def test_times_are_of_the_day_of_the_file(self):
        hour = 3600 * SECOND
        path = self.file(itch_message(b"A", 1, 9 * hour, 1, b"B", 100, b"AAPL", 12500) +
                         itch_message(b"A", 1, 10 * hour + 5, 2, b"B", 100, b"AAPL", 12600))
        orders = lambda *options: sum(each["orders"] for each in self.book(path, *options)["instruments"].values())
        self.assertEqual(orders("--at", "08:59:59"), 0)
        self.assertEqual(orders("--at", "09:00:00"), 1)
        self.assertEqual(orders("--at", "10:00:00.000000004"), 1)
        self.assertEqual(orders("--at", "10:00:00.000000005"), 2)
        self.assertEqual(orders("--date", "2019-01-30", "--at", "10:00:00"), 1)
        # New York is five hours behind in winter, four in summer.
        self.assertEqual(orders("--date", "2019-01-30", "--at", "2019-01-30T14:00:00Z"), 1)
        self.assertEqual(orders("--date", "20190730", "--at", "2019-07-30T12:59:59.999999999Z"), 0)
        self.assertEqual(orders("--date", "20190730", "--at", "2019-07-30T13:00:00Z"), 1)
        self.assertIn("the last record is of 10:00:00.000000005", self.right("book", path))
        self.assertIn("the last record is of 2019-01-30T15:00:00.000000005Z", self.right("book", path, "--date", "2019-01-30"))
        for options, expected in ((("--date", "30.1.2019"), '--date: "30.1.2019" is not a date; write 2019-01-30'),
                                  (("--at", "25:00:00"), '"25:00:00" is not a time')):
            expect(run("market", "book", path, *options), code=2, err=expected)
        dbn = self.file(metadata(2))
        for options, expected in ((("--date", "2019-01-30"), "--date is for ITCH files"),
                                  (("--at", "09:30:00"), '"09:30:00" has no date; write 2023-12-25T09:30:00Z')):
            expect(run("market", "book", dbn, *options), code=2, err=expected)

    def test_a_compressed_day_is_read_from_standard_input(self):
        path, _ = self.generated("--names", "3", "--messages", "100")
        self.assertEqual(self.right("book", "-", "--json", data=pathlib.Path(path).read_bytes()),
                         self.right("book", path, "--json"))


class Spread(Files):
    """A day of one instrument spread over many stocks."""

    def spread(self, records, names, *options):
        source = self.file(metadata(2) + b"".join(record(**each) for each in records))
        day = str(self.folder / "spread.itch")
        status, out, err = run("market", "convert", source, "--to", "itch", "--names", str(names), "--out", day, "--force")
        self.assertEqual((status, err), (0, ""))
        return source, day, out

    def expected(self, records, names):
        """The instruments of the model, with the orders of each stock apart."""
        model, first = Model(), {}
        for each in records:
            base = first.setdefault(each["instrument"], len(first) * names)
            if each["action"] == "R":
                for stock in range(names):
                    model.take(**{**each, "instrument": base + stock + 1})
            elif each["action"] not in "TF":
                model.take(**{**each, "instrument": base + stock_of(each["order"], names)})
        document = model.document(1000)
        for base in first.values():
            for stock in range(base + 1, base + names + 1):
                document["instruments"].setdefault(str(stock), {"orders": 0, "levels": [0, 0], "bids": [], "asks": []})
        return document["instruments"]

    def test_has_the_books_of_its_part_of_the_source_in_each_stock(self):
        for seed, names, instruments in ((1, 1, (7,)), (2, 7, (7,)), (3, 200, (7,)), (4, 5, (7, 4_000_000_000))):
            with self.subTest(seed=seed):
                records = orders_on_ticks(seed, 3000, instruments)
                source, day, said = self.spread(records, names)
                found, whole = self.book(day, "--depth", "1000"), self.book(source)
                self.assertEqual(found["instruments"], self.expected(records, names))
                self.assertEqual(found["traded_size"], whole["traded_size"])
                self.assertIn(f"of {names * len(instruments)} stocks, read it with --date 2023-12-24", said)
                # And at a time of the day, which is that of the source.
                at = records[len(records) // 2]["time"]
                part = [each for each in records if each["time"] <= at]
                found = self.book(day, "--depth", "1000", "--date", "2023-12-24", "--at", str(at))
                self.assertEqual(found["instruments"], self.expected(part, names))
                _, _, err = run("market", "book", day)
                self.assertNotIn("did not fit", err)

    def test_fills_are_executions_with_the_quantity_of_the_trades(self):
        price = 5 * SECOND
        records = [dict(action="A", side="B", order=1, price=price, size=10),
                   # A fill at the order's price, and the rest is cancelled with it.
                   dict(action="T", side="A", order=9, price=price, size=4, flags=0),
                   dict(action="F", side="B", order=1, price=price, size=4, flags=0),
                   dict(action="M", side="B", order=1, price=price, size=6),
                   # Both sides of a cross at another price: its quantity counts once.
                   dict(action="A", side="A", order=2, price=2 * SECOND, size=3),
                   dict(action="T", side="N", order=0, price=4 * SECOND, size=3, flags=0),
                   dict(action="F", side="N", order=1, price=4 * SECOND, size=3, flags=0),
                   dict(action="F", side="N", order=2, price=4 * SECOND, size=3, flags=0),
                   dict(action="C", side="B", order=1, price=price, size=3, flags=0),
                   dict(action="C", side="A", order=2, price=2 * SECOND, size=3),
                   # A trade that no order's fill follows.
                   dict(action="T", side="N", order=0, price=price, size=2)]
        _, day, _ = self.spread(records, 1)
        rows = list(csv.DictReader(io.StringIO(self.right("convert", day))))
        rows = [(row["event"], row["order"], row["price"], row["quantity"], row["flags"]) for row in rows
                if row["event"] != "status"]
        self.assertEqual(rows, [("add", "1", "5.000000000", "10", "128"), ("execute", "1", "", "4", "128"),
                                ("add", "2", "2.000000000", "3", "128"), ("execute", "1", "4.000000000", "3", "128"),
                                ("execute", "2", "4.000000000", "3", "130"), ("trade", "0", "5.000000000", "2", "128")])
        book = self.book(day)
        self.assertEqual((book["trades"], book["traded_size"]), (3, 9))

    def test_prices_that_itch_does_not_have_are_counted(self):
        records = [dict(action="A", side="B", order=1, price=-SECOND, size=10),
                   dict(action="A", side="B", order=2, price=UNDEFINED_PRICE, size=10),
                   dict(action="A", side="B", order=3, price=1, size=10),
                   dict(action="A", side="B", order=4, price=SECOND, size=10)]
        source = self.file(metadata(2) + b"".join(record(**each) for each in records))
        day = str(self.folder / "spread.itch")
        expect(run("market", "convert", source, "--to", "itch", "--out", day), code=1,
               err="3 events were left out: ITCH has no such price")
        self.assertEqual(sum(each["orders"] for each in self.book(day)["instruments"].values()), 1)
        expect(run("market", "convert", day, "--to", "itch"), code=2, err="is an ITCH file already")


def load_column(path):
    """A file in NumPy's format, without NumPy."""
    content = path.read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    size = 10 + struct.unpack_from("<H", content, 8)[0]
    assert size % 64 == 0 and content[size - 1:size] == b"\n"
    header = ast.literal_eval(content[10:size].decode("ascii"))
    assert not header["fortran_order"]
    values = array.array({"|u1": "B", "<u4": "I", "<u8": "Q", "<i8": "q"}[header["descr"]], content[size:])
    if sys.byteorder == "big":
        values.byteswap()
    assert header["shape"] == (len(values),)
    return values


class Conversions(Files):
    def test_itch_becomes_csv_with_the_names_of_its_stocks(self):
        status, out, _ = run("market", "convert", "-", data=itch_message(b"R", 7, 1, b'A,"B    Q' + b"N" * 19) +
                             itch_message(b"A", 7, 2, 5, b"B", 100, b"AAPL", 12345) + itch_message(b"U", 7, 3, 5, 6, 90, 12346) +
                             itch_message(b"H", 7, 4, b'A,"B    H' + b" " * 5))
        self.assertEqual(status, 0)
        self.assertEqual(out.splitlines(), [
            "receive_time,event_time,instrument,event,side,order,price,quantity,flags,sequence,other,status,symbol",
            '2,2,7,add,bid,5,1.234500000,100,128,2,0,,"A,""B"', '3,3,7,replace,,5,1.234600000,90,128,3,6,,"A,""B"',
            '4,4,7,status,,0,,0,128,4,0,halted,"A,""B"'])

    def test_columns_have_the_values_of_the_csv(self):
        records = random_records(5, 3000)
        path = self.file(metadata(2) + b"".join(record(**each) for each in records))
        out = self.folder / "columns"
        said = self.right("convert", path, "--to", "columns", "--out", str(out))
        self.assertIn("3000 rows of 12 columns", said)
        schema = json.loads((out / "schema.json").read_text())
        self.assertEqual((schema["rows"], schema["symbols"]), (3000, {"ESH4": 7}))
        rows = list(csv.DictReader(io.StringIO(self.right("convert", path))))
        self.assertEqual(len(rows), 3000)
        for column in schema["columns"]:
            values = load_column(out / column["file"])
            found = list(values)
            if column["name"] == "price":
                found = ["" if each == UNDEFINED_PRICE else
                         f"{'-' if each < 0 else ''}{abs(each) // SECOND}.{abs(each) % SECOND:09d}" for each in values]
            elif "names" in column:
                found = [column["names"][each] for each in values]
            self.assertEqual([str(each) for each in found], [row[column["name"]] for row in rows], column["name"])
        try:
            import numpy
        except ImportError:
            return  # the file format was checked above
        for column in schema["columns"]:
            loaded = numpy.load(out / column["file"], mmap_mode="r")
            self.assertEqual(loaded.dtype.str, column["type"])
            self.assertEqual(loaded.tolist(), list(load_column(out / column["file"])))
        try:
            import pyarrow.parquet
        except ImportError:
            return
        # The lines of the documentation.
        page = (pathlib.Path(__file__).parents[2] / "docs" / "market-data.md").read_text(encoding="utf-8")
        lines = page.split("```python\n")[1].split("```")[0].replace('"es', f'"{self.folder}/es')
        self.right("convert", path, "--to", "columns", "--out", str(self.folder / "es"))
        exec(lines, {})
        table = pyarrow.parquet.read_table(self.folder / "es.parquet")
        self.assertEqual(table.column("order").to_pylist(), list(load_column(out / "order.npy")))

    def test_columns_want_a_folder_of_their_own(self):
        path = self.file(metadata(2) + record("A", "B", 1, SECOND, 5))
        expect(run("market", "convert", path, "--to", "columns"), code=2,
               err="--to columns writes a folder: give its path with --out")
        expect(run("market", "convert", path, "--to", "columns", "--out", str(self.folder)), code=2,
               err="is not empty; give another folder")
        self.right("convert", path, "--to", "columns", "--out", str(self.folder), "--force")
        self.assertEqual(list(load_column(self.folder / "order.npy")), [1])
        expect(run("market", "convert", path, "--to", "columns", "--out", path), code=2, err_lines=1)

    def test_a_damaged_recording_is_converted_up_to_its_damage(self):
        path = self.file(metadata(2) + record("A", "B", 1, SECOND, 5) * 2 + b"\3" * 60)
        out = self.folder / "columns"
        expect(run("market", "convert", path, "--to", "columns", "--out", str(out)), code=1,
               err="the output ends there")
        self.assertEqual(list(load_column(out / "order.npy")), [1, 1])

    def test_an_output_that_cannot_be_written_is_an_error(self):
        path = self.file(metadata(2) + record("A", "B", 1, SECOND, 5))
        for to, out in (("csv", "/dev/full"), ("itch", "/dev/full")):
            expect(run("market", "convert", path, "--to", to, "--out", out, "--force"), code=1,
                   err="cannot write /dev/full: No space left on device", err_lines=1)
        expect(run("market", "convert", path, "--out", str(self.folder / "no" / "such")), code=2, err_lines=1)


class WrongFiles(Files):
    """Whatever a file is, a command prints one line about it, with the place where it is known."""

    COMMANDS = (("book",), ("book", "--json"), ("stats",), ("stats", "--json"), ("convert",),
                ("convert", "--to", "itch", "--out", "/dev/null", "--force"))

    def refused(self, path, expected, status=1, commands=COMMANDS):
        for command in commands:
            found, _, err = run("market", command[0], path, *command[1:])
            lines = [line for line in err.splitlines() if "did not fit" not in line]
            self.assertEqual((found, len(lines)), (status, 1), (command, err))
            self.assertIn(expected, lines[0])
            self.assertIn(path, lines[0])

    def test_that_are_something_else_are_named(self):
        for content, expected in ((b"8=FIX.4.4\x019=5\x01", "is not DBN"), (b"\x1f\x8b\x08\0\0\0\0\0", "compressed"),
                                  (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "is a capture of packets"), (b"", "ends within"),
                                  (b"\x7fELF\x02\x01\x01\0", "is not DBN"), (b"\0", "is not DBN"),
                                  (b"\x28\xb5\x2f\xfd" + b"\xff" * 50, "compressed")):
            self.refused(self.file(content, "other"), expected)
        self.refused(str(self.folder), "is a folder; nfx market replay reads")
        self.refused(str(self.folder / "nothing"), "No such file or directory")

    def test_that_are_cut_or_overwritten_are_read_up_to_there(self):
        chooser = random.Random(11)
        itch = pathlib.Path(self.generated("--names", "5", "--messages", "300")[0]).read_bytes()
        records = orders_on_ticks(1, 300)
        dbn = metadata(3) + b"".join(record(**each) for each in records)
        for good, least in ((itch, 100), (dbn, len(metadata(3)))):
            for _ in range(6):
                cut = chooser.randrange(least, len(good))
                found = [run("market", command[0], self.file(good[:cut], "cut"), *command[1:])
                         for command in self.COMMANDS[:5]]
                for status, _, err in found:
                    self.assertLessEqual(err.count("\n"), 1, err)
                    if status != 0:
                        self.assertEqual(status, 1)
                        self.assertRegex(err, r"cut: ends within .*, at byte \d+ of its content; the output ends there")
        # Zeros are no messages; others are lengths that no message has.
        self.refused(self.file(itch[:1000] + b"\xff" * 500, "bad.itch"), "has a message whose length does not match its type",
                     commands=self.COMMANDS[:5])
        whole = dbn[:len(metadata(3)) + 10 * len(record(**records[0]))]
        self.refused(self.file(whole + b"\0" * 500, "bad.dbn"), "has a record that is shorter than its type requires")

    def test_of_random_bytes_end_each_command_with_one_line(self):
        chooser = random.Random(12)
        for begin in (b"", b"DBN\2", b"\0\x0cS", metadata(2)):
            for _ in range(5):
                path = self.file(begin + chooser.randbytes(2000), "random")
                for command in self.COMMANDS[:5]:
                    status, _, err = run("market", command[0], path, *command[1:])
                    self.assertIn(status, (0, 1))
                    self.assertNotIn("terminate", err)
                    # Records of random bytes may be whole; then the books say what did not fit.
                    lines = [line for line in err.splitlines() if "did not fit" not in line and "unknown" not in line]
                    self.assertLessEqual(len(lines), 1, err)


if __name__ == "__main__":
    unittest.main()
