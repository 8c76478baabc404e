"""Other programs' market data beside bench_market, in one run: each repeat takes every row in turn (A B A B).

  python3 -m venv peers; peers/bin/pip install databento-dbn nautilus_trader hftbacktest
  peers/bin/python bench/market/market/peers.py DAY.mbo.dbn.zst

A day of one instrument, by order, in DBN compressed with Zstandard. Every book has to have the best prices of the one of
Python dictionaries, and every reader its number of records. A package that is not installed leaves its row out. With
--itch-order-book A.OUT --itch DAY.itch that program (github.com/charles-cooper/itch-order-book) is timed too, by its own clock;
`./dev bench market --only itch --save FOLDER` leaves the day there.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import time

import databento_dbn as dbn

ROOT = pathlib.Path(__file__).resolve().parents[3]
DBN_ROWS = ("update of an L3 book", "record to L3 book", "file: decompress alone", "file: decompress to L3 book",
            "file: decompress on a second thread, to L3 book", "full replay: file to hashed best prices")
ITCH_ROWS = ("message to event", "message to L3 book")


def decode(compressed):
    decoder = dbn.DBNDecoder(compression=dbn.Compression.ZSTD)
    decoder.write(compressed)
    return decoder.decode()


def dictionaries(records):
    """What a book of Python's dictionaries has at the end: best bid, its size, best ask, its size."""
    orders, levels = {}, {"B": {}, "A": {}}

    def leave(order, size):
        side, price, _ = order
        levels[side][price] -= size
        if levels[side][price] == 0:
            del levels[side][price]

    for record in records:
        action, number = str(record.action), record.order_id
        if action == "R":
            orders, levels = {}, {"B": {}, "A": {}}
        if action not in "ACM":
            continue
        known = orders.pop(number, None)
        if known is not None:
            leave(known, known[2] if action == "M" else record.size)
        left = known[2] - record.size if action == "C" else record.size
        if left > 0:
            side, price = known[:2] if action == "C" else (str(record.side), record.price)
            if action != "C":
                levels[side][price] = levels[side].get(price, 0) + left
            orders[number] = (side, price, left)
    bid, ask = max(levels["B"]), min(levels["A"])
    return bid / 1e9, levels["B"][bid], ask / 1e9, levels["A"][ask]


def nautilus(path):
    """Its L3 book, by one call with all deltas."""
    from nautilus_trader.adapters.databento.loaders import DatabentoDataLoader
    from nautilus_trader.core import nautilus_pyo3 as core
    from nautilus_trader.model.identifiers import InstrumentId

    name = "DAY.GLBX"
    deltas = DatabentoDataLoader().from_dbn_file(path, instrument_id=InstrumentId.from_str(name),
                                                 as_legacy_cython=False)
    batch = core.OrderBookDeltas(core.InstrumentId.from_str(name), deltas)

    def run():
        book = core.OrderBook(core.InstrumentId.from_str(name), core.BookType.L3_MBO)
        begin = time.perf_counter_ns()
        book.apply_deltas(batch)
        took = time.perf_counter_ns() - begin
        bid, ask = book.bids()[0], book.asks()[0]
        return took / len(deltas), (float(bid.price), bid.size(), float(ask.price), ask.size())

    return run


def hftbacktest(records):
    """The local book of its backtest, by its own loop over the events."""
    import hftbacktest as hft
    import numpy
    from numba import njit

    kinds = {"A": hft.ADD_ORDER_EVENT, "C": hft.CANCEL_ORDER_EVENT, "M": hft.MODIFY_ORDER_EVENT,
             "R": hft.DEPTH_CLEAR_EVENT, "T": hft.TRADE_EVENT, "F": hft.FILL_EVENT}
    sides = {"B": hft.BUY_EVENT, "A": hft.SELL_EVENT, "N": 0}
    events = numpy.zeros(len(records), hft.event_dtype)
    for i, record in enumerate(records):
        kind = kinds[str(record.action)] | sides[str(record.side)] | hft.LOCAL_EVENT
        events[i] = (kind, i + 1, i + 1, record.price / 1e9, record.size, record.order_id, 0, 0)

    @njit
    def to_the_end(backtest):
        while backtest.elapse(1_000_000_000_000) == 0:
            pass
        depth = backtest.depth(0)
        return depth.best_bid, depth.best_bid_qty, depth.best_ask, depth.best_ask_qty

    def run():
        asset = (hft.BacktestAsset().data(events).linear_asset(1).constant_order_latency(0, 0)
                 .l3_fifo_queue_model().no_partial_fill_exchange().trading_value_fee_model(0, 0)
                 .tick_size(0.25).lot_size(1).last_trades_capacity(0))
        backtest = hft.HashMapMarketDepthBacktest([asset])
        begin = time.perf_counter_ns()
        best = to_the_end(backtest)
        took = time.perf_counter_ns() - begin
        backtest.close()
        return took / len(events), best

    return run


class Rows:
    def __init__(self):
        self.ns = {}

    def add(self, name, value):
        self.ns.setdefault(name, []).append(value)

    def print(self, item):
        print(f"\n{'row':<56} {'ns/' + item:>11} {'best to worst':>20}")
        for name, values in self.ns.items():
            print(f"{name:<56} {statistics.median(values):>11.1f} {min(values):>11.1f} to {max(values):.1f}")

    def median(self, name):
        return statistics.median(self.ns[name])


def add_ours(rows, program, options, names):
    """One repeat of bench_market; its first round warms up."""
    done = subprocess.run([str(program), *options, "--repeats", "1"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench_market failed:\n{done.stdout[-2000:]}{done.stderr}")
    for name in names:
        found = re.search(rf"^{re.escape(name)} +([0-9.]+) ", done.stdout, re.MULTILINE)
        if not found:
            sys.exit(f"bench_market has no row '{name}'")
        rows.add("NexusFIX: " + name, float(found[1]))
    return done.stdout


def same(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, and not {wanted}")


def compare_dbn(options):
    compressed = pathlib.Path(options.day).read_bytes()
    records = [record for record in decode(compressed) if isinstance(record, dbn.MBOMsg)]
    best = dictionaries(records)
    books = {}
    for name, make in (("nautilus_trader: L3 book", lambda: nautilus(options.day)),
                       ("hftbacktest: local L3 book", lambda: hftbacktest(records))):
        try:
            books[name] = make()
        except ImportError as error:
            print(f"{name}: left out, {error}")
    rows = Rows()
    for repeat in range(options.repeats + 1):
        used = Rows() if repeat == 0 else rows  # the first round warms up
        output = add_ours(used, options.bench, ["--only", "dbn", "--file", options.day], DBN_ROWS)
        same("records", int(re.search(r"checked +(\d+) records", output)[1]), len(records))
        begin = time.perf_counter_ns()
        count = len(decode(compressed)) - 1  # and the metadata
        used.add("databento-dbn: decompress and decode alone", (time.perf_counter_ns() - begin) / count)
        same("records of databento-dbn", count, len(records))
        begin = time.perf_counter_ns()
        same("dictionaries", dictionaries(records), best)
        used.add("dictionaries of Python, from decoded records", (time.perf_counter_ns() - begin) / count)
        for name, run in books.items():
            ns, found = run()
            same(name, found, best)
            used.add(name, ns)
    print(f"{options.day}: {len(records)} records")
    rows.print("record")
    theirs = rows.median("databento-dbn: decompress and decode alone")
    for row in ("file: decompress to L3 book", "file: decompress on a second thread, to L3 book"):
        ours = rows.median("NexusFIX: " + row)
        print(f"{row}: {theirs / ours:.1f} x as fast as databento-dbn decodes")


def compare_itch(options):
    rows = Rows()
    for repeat in range(options.repeats + 1):
        used = Rows() if repeat == 0 else rows
        add_ours(used, options.bench, ["--only", "itch", "--itch", options.itch], ITCH_ROWS)
        for program in options.itch_order_book:
            with open(options.itch, "rb") as day:
                done = subprocess.run([program], stdin=day, capture_output=True, text=True, check=True)
            used.add(program, float(re.search(r"([0-9.]+) nanos per packet", done.stdout)[1]))
    print(f"\n{options.itch}")
    rows.print("message")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("day", nargs="?", help="a day of one instrument by order, .dbn.zst")
    parser.add_argument("--bench", default=ROOT / "build/release/bench/market/market/bench_market", help="bench_market")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--itch", help="a day of ITCH 5.0, each message after its length")
    parser.add_argument("--itch-order-book", action="append", default=[], metavar="PROGRAM", help="may be repeated")
    options = parser.parse_args()
    if options.day:
        compare_dbn(options)
    if options.itch:
        compare_itch(options)


main()
