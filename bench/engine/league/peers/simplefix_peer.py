"""The league's peer of simplefix, which parses and encodes messages; it has no session."""

import array
import itertools
import pathlib
import sys
import time

import simplefix

BATCH = 64


def time_batches(items, repeats, work):
    times = array.array("d")
    for _ in range(repeats):
        for begin in range(0, len(items) - BATCH + 1, BATCH):
            batch = items[begin : begin + BATCH]
            start = time.perf_counter_ns()
            for item in batch:
                work(item)
            times.append((time.perf_counter_ns() - start) / BATCH)
    return times


def fold(text):
    return len(text) + (text[0] << 8) + (text[-1] << 16)


def read(options):
    messages = pathlib.Path(options["messages"]).read_bytes().split(b"\n")[:-1]
    parser = simplefix.FixParser()
    total = 0

    def one(message):
        nonlocal total
        parser.append_buffer(message)
        got = parser.get_message().get
        places = (int(got(34)), fold(got(11)), got(150)[0], int(got(38)), round(float(got(44)) * 100), int(got(32)),
                  round(float(got(31)) * 100), fold(got(55)))  # fmt: skip
        total += sum(value * (2 * place + 1) for place, value in enumerate(places))

    pathlib.Path(options["times"]).write_bytes(time_batches(messages, int(options["repeats"]), one))
    print("sum", total % (1 << 64))


# The tags of the values of a line, in its order.
LINE = (11, 1, 55, 37, 17, 54, 40, 59, 150, 39, 38, 32, 151, 14, 44, 31, 6)
ORDER = (11, 1, 55, 54, 38, 40, 44, 59)
REPORT = (37, 11, 17, 150, 39, 1, 55, 54, 38, 40, 44, 59, 32, 31, 151, 14, 6)
PRICES = (44, 31, 6)


def encode(options):
    is_report = options["type"] == "8"
    rows = []
    for seq, line in enumerate(pathlib.Path(options["values"]).read_text().splitlines(), 1):
        values = dict(zip(LINE, line.split("\t"), strict=True))
        rows.append((seq, {tag: int(value) / 100 if tag in PRICES else value for tag, value in values.items()}))
    tags = REPORT if is_report else ORDER

    def one(row):
        seq, values = row
        message = simplefix.FixMessage()
        for tag, value in ((8, "FIX.4.4"), (35, options["type"]), (34, seq), (49, "TRADER"), (56, "VENUE")):
            message.append_pair(tag, value, header=True)
        message.append_utc_timestamp(52, header=True)
        for tag in tags:
            message.append_pair(tag, values[tag])
        message.append_utc_timestamp(60)
        return message.encode()

    pathlib.Path(options["times"]).write_bytes(time_batches(rows, int(options["repeats"]), one))
    pathlib.Path(options["out"]).write_bytes(b"".join(itertools.chain.from_iterable((one(row), b"\n") for row in rows)))


def main():
    if sys.argv[1] == "rows":
        print("engine simplefix\nrows read encode")
        return
    options = dict(word.split("=", 1) for word in sys.argv[2:])
    {"read": read, "encode": encode}[sys.argv[1]](options)


main()
