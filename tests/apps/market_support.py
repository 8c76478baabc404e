"""Recordings of market data for tests, and what their books are by a simple model in Python."""
import hashlib
import pathlib
import random
import struct
import tempfile
import unittest

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


def itch_message(kind, locate, nanoseconds, *fields):
    """A message of ITCH 5.0 after its length: bytes are letters or texts, numbers have the sizes of the type's fields."""
    sizes = {b"A": (8, 0, 4, 8, 4), b"E": (8, 4, 8), b"U": (8, 8, 4, 4), b"X": (8, 4), b"C": (8, 4, 8, 0, 4), b"D": (8,)}
    message = kind + struct.pack(">HH", locate, 0) + nanoseconds.to_bytes(6, "big")
    for size, field in zip(sizes.get(kind, (0,) * len(fields)), fields):
        message += field.ljust(size) if isinstance(field, bytes) else field.to_bytes(size, "big")
    return struct.pack(">H", len(message)) + message


class InFolder(unittest.TestCase):
    """Tests with files in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, content, name="day.dbn"):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)
