"""The published figures, each with its technique in the words of its document, the row that measures it here, and the
condition under which it is true.

Documents: 000 is about pinning, 001 about parsing, 004 sums up five optimisations. Their machine: 28 cores at 3.4 GHz,
virtual. Values are nanoseconds unless a unit is given. A figure without `before` is a cost; one without both is a
technique for which nothing was published.
"""

from typing import NamedTuple


class Place(NamedTuple):
    """A row of a benchmark's results. `row` may end with *: the first row that begins so."""

    group: str
    section: str
    row: str
    figure: str = "p50"  # mean, p50, p99, p99_9, max, or migrations: a counter


class Published(NamedTuple):
    document: str
    technique: str
    before: object  # a number, a text for a range, or None
    after: object
    run: str  # a key of RUNS
    ours_before: Place | None
    ours_after: Place
    condition: str
    unit: str = "ns"
    claimed: float | None = None  # a factor that was published without the times


# What is run, once each: the benchmark's name and its arguments.
RUNS = {
    "ladder": ("wire", "--only", "ladder"),
    "presets": ("seeds", "--only", "presets"),
    "message_index": ("techniques", "--only", "message_index"),
    "io_uring": ("techniques", "--only", "io_uring"),
    "scan": ("techniques", "--only", "scan"),
    "costs": ("techniques", "--only", "costs"),
    "path": ("techniques", "--only", "path"),
    "deferred": ("deferred", "--only", "deferred"),
    "spsc": ("deferred", "--only", "spsc", "--size", "256"),
    "spsc_small": ("deferred", "--only", "spsc", "--size", "16"),
    "pinning": ("cpu_affinity",),
}

UP, DOWN, WITHOUT = "each on top of those above", "in the reverse order", "all but one"
ALL_OFF = "owning std::map, byte by byte"
LADDER = ["zero copy", "O(1) look-up", "SIMD delimiter scan", "compile-time offsets", "cache-line alignment",
          "branch hints", "__restrict", "[[gnu::hot]]"]
PHASES = [("Zero-Copy Parsing", 730, 520), ("O(1) Field Lookup", 520, 380), ("SIMD Delimiter Scan", 380, 290),
          ("Compile-Time Offsets", 290, 260), ("Cache-Line Alignment", 260, 246), ("Branch Hints", None, None),
          ("Restrict Pointers", None, None), ("[[gnu::hot]]", None, None)]


def ladder(section, row):
    return Place("ladder", section, row)


def parsing():
    """Each technique in the published order, in the reverse order, and removed alone."""
    above = ALL_OFF
    for (name, before, after), row in zip(PHASES, LADDER, strict=True):
        yield Published("001", name, before, after, "ladder", ladder(UP, above), ladder(UP, "+ " + row),
                        "added in the published order")
        above = "+ " + row
    below = ALL_OFF
    for (name, before, after), row in reversed(list(zip(PHASES, LADDER, strict=True))):
        yield Published("001", name, before, after, "ladder", ladder(DOWN, below), ladder(DOWN, "+ " + row),
                        "added in the reverse order")
        below = "+ " + row
    for (name, before, after), row in zip(PHASES, LADDER, strict=True):
        yield Published("001", name, before, after, "ladder", ladder(WITHOUT, "without " + row),
                        ladder(WITHOUT, "all eight"), "removed from all eight")
    yield Published("001", "Total", 730, 246, "ladder", ladder(UP, ALL_OFF), ladder(UP, "+ [[gnu::hot]]"),
                    "the same small parser, without and with all")
    yield Published("001", "Total, over QuickFIX", 730, 246, "ladder",
                    ladder(UP, "QuickFIX parse + reads, not validated"), ladder(UP, "NexusFIX MessageView*"),
                    "QuickFIX 1.15.1 without validation; NexusFIX's parser")
    for document, technique, preset in (("001", "Link-Time Optimization", "lto"),
                                        ("-", "profile-guided optimisation", "pgo")):
        for row, what in (("NexusFIX MessageView", "NexusFIX's parser"), ("the small parser", "the small parser with all techniques"),
                          ("session", "an order through the session, validated"),
                          ("engine", "an order and its report through two poll loops in memory")):
            yield Published(document, technique, None, None, "presets", Place("presets", row, "release"),
                            Place("presets", row, preset), what + "; both builds in turn")
    value = "a value of 24 bytes"
    yield Published("001", "getField() copies into std::string", "50 to 100", None, "costs",
                    Place("costs", value, "copied into a std::string", "mean"), Place("costs", value, "as a view", "mean"),
                    "one value, longer than a string stores in itself; freed in order")
    for size in ("64", "4,096"):
        section = size + " bytes"
        yield Published("001", "AVX2 scans 32 bytes/cycle, sequential 1", 1, 32, "scan",
                        Place("scan, buffer", section, "scalar"), Place("scan, buffer", section, "avx2"),
                        f"a buffer of {size} bytes in the cache", f"bytes/cycle of {size.replace(',', '')}")


def io_uring():
    deferred = "COOP_TASKRUN, SINGLE_ISSUER, DEFER_TASKRUN"
    for group, condition in (("io_uring", "a request that does nothing"),
                             ("io_uring, socket", "253 bytes through a socket pair")):
        for figure, name, before, after in (("mean", "Mean Latency", 361.5, 336.0), ("p99", "P99 Latency", 392.0, 365.2)):
            yield Published("004", f"io_uring DEFER_TASKRUN, {name}", before, after, "io_uring",
                            Place(group, group, "no flags", figure), Place(group, group, deferred, figure), condition)


def scanning():
    section = "ExecutionReport, 253 bytes"
    slow, fast = "a byte at a time", "AVX2, 32 bytes a step"
    for figure, name, before, after in (("mean", "Mean", 150, 11.8), ("p50", "Median", None, 11.6), ("p99", "P99", None, 13.0)):
        yield Published("004", f"SIMD SOH Scanner, {name}", before, after, "scan",
                        Place("scan, message", section, slow, figure), Place("scan, message", section, fast, figure),
                        "the positions of all 25 delimiters are written")
    yield Published("004", "SIMD SOH Scanner, Throughput", 6.7, 84.5, "scan", Place("scan, message", section, slow, "mean"),
                    Place("scan, message", section, fast, "mean"), "messages of 253 bytes", "M/s")
    yield Published("004", "SIMD SOH Scanner, Mean", 150, 11.8, "scan", Place("scan, buffer", "256 bytes", "scalar", "mean"),
                    Place("scan, buffer", "256 bytes", "avx2", "mean"), "one delimiter, at the end of 256 bytes")


def message_index():
    group = "message index, 100,000"
    figures = (("look-up, random", "Lookup", "mean", 20.0, 15.2), ("insert, ascending", "Insert", "mean", 17.4, 12.7),
               ("look-up, random", "P99 Lookup", "p99", 61.4, 52.3))
    for index, condition in (("absl::flat_hash_map", "absl::flat_hash_map, 100,000 messages"),
                             ("NexusFIX dense index", "NexusFIX's dense index instead, 100,000 messages")):
        for section, name, figure, before, after in figures:
            yield Published("004", f"absl::flat_hash_map, {name}", before, after, "message_index",
                            Place(group, section, "std::unordered_map", figure), Place(group, section, index, figure),
                            condition)
    for messages in ("1,000,000", "10,000,000"):
        place = Place(f"message index, {messages}", "look-up, random", "NexusFIX dense index")
        condition = f"NexusFIX's dense index, {messages} messages, random"
        for figure, name, value in (("mean", "Mean", 39.4), ("p50", "Median", 36.0), ("p99", "P99", 92.6)):
            yield Published("004", f"Hash Map Lookup (current), {name}", None, value, "message_index", None,
                            place._replace(figure=figure), condition)
        yield Published("004", "Hash Map Lookup (current), Throughput", None, 25.4, "message_index", None,
                        place._replace(figure="mean"), condition, "M/s")


def deferred():
    section = "ExecutionReport, 253 bytes"
    inline = "inline: parse, format, append"
    for figure, name, before, after in (("p50", "Median", 75.6, 12.3), ("p99", "P99", 76.7, 20.7)):
        for worker, condition in (("deferred, worker busy-polls", "the worker runs at half of its limit"),
                                  ("deferred, no reader meanwhile", "the worker does nothing meanwhile")):
            yield Published("004", f"Deferred Processing, {name}", before, after, "deferred",
                            Place("deferred", section, inline, figure), Place("deferred", section, worker, figure), condition)
    yield Published("004", "Deferred Processing, Queue Overhead", None, 11.4, "deferred", None,
                    Place("deferred", section, "queue alone", "mean"), "a message of 253 bytes copied into the ring")
    for figure, name, value in (("mean", "Mean", 11.4), ("p50", "Median", 11.2), ("p99", "P99", 16.6)):
        yield Published("004", f"SPSC Queue Push, {name}", None, value, "spsc", None,
                        Place("spsc", "256 bytes, pushed", "SpscRing", figure), "256 bytes, no reader meanwhile")
    yield Published("004", "SPSC Queue Push, Throughput", None, 88.0, "spsc", None,
                    Place("spsc", "256 bytes, pushed", "SpscRing", "mean"), "256 bytes, no reader meanwhile", "M/s")
    for peer in ("atomic_queue B2, SPSC", "readerwriterqueue"):
        for section, condition in (("16 bytes, pushed", "16 bytes, no reader meanwhile"),
                                   ("16 bytes, to the other core", "16 bytes, to the other core, all records")):
            yield Published("004", "SPSC Queue Push, Mean", None, 11.4, "spsc_small", Place("spsc", section, peer, "mean"),
                            Place("spsc", section, "SpscRing", "mean"), f"{condition}; before: {peer}")


def pinning():
    figures = (("mean", "Mean", 15.0, 14.7), ("p50", "Median", 14.9, 14.5), ("p99", "P99", 18.8, 17.3),
               ("p99_9", "P99.9", 19.6, 18.4))
    for section, end, condition in (("no load", "", "parsing, idle host"),
                                    ("load", ", load", "parsing, four noisy processes for 2 CPUs")):
        for figure, name, before, after in figures:
            yield Published("000, 004", f"CPU Pinning, {name}", before, after, "pinning",
                            Place("parse", section, "not pinned" + end, figure), Place("parse", section, "pinned" + end, figure),
                            condition)
    for section, end, condition in (("no load", "", "order's round trip, idle host"),
                                    ("load", ", load", "order's round trip, noisy processes")):
        yield Published("000", "isolated CPUs: 15-25% P99 reduction expected", None, "15 to 25% less", "pinning",
                        Place("round trip", section, "not pinned" + end, "p99"),
                        Place("round trip", section, "isolated" + end, "p99"), condition, "us", 1 / (1 - 0.2))
    yield Published("000", "Migration frequency 100-1000 per second, pinned: 0", "100 to 1,000 a second", 0, "pinning",
                    Place("round trip", "load", "not pinned, load", "migrations"),
                    Place("round trip", "load", "pinned, load", "migrations"), "in all repeats together", "migrations")
    memory = "a read of memory"
    yield Published("000", "Cache hit: 3-4 cycles", None, "3 to 4", "costs", None, Place("costs", memory, "in 16 KiB"),
                    "reads that need each other's result, 16 KiB", "cycles")
    for size, what in (("256 KiB", "second-level cache"), ("4,096 KiB", "last-level cache")):
        yield Published("000", "Cache miss penalty: 50-100 cycles", None, "50 to 100", "costs", None,
                        Place("costs", memory, "in " + size), f"{size}: {what}", "cycles")
    yield Published("000", "Local memory: ~70ns", None, 70, "costs", None, Place("costs", memory, "in 262,144 KiB"),
                    "256 MiB in small pages, so that address translation is part of it")
    yield Published("000", "Remote memory: ~150ns (2x latency)", 150, 70, "costs", None,
                    Place("costs", memory, "remote node"), "needs a second NUMA node")
    for size in ("0", "16", "256", "4,096"):
        section = f"a thread with a working set of {size} KiB"
        yield Published("000", "Scheduler decision: 1-5 us per migration", None, "1,000 to 5,000", "costs",
                        Place("costs", section, "stays"), Place("costs", section, "moved to another CPU"),
                        f"before: the same call without a move; then {size} KiB are read")


def combined():
    alone, without = "each technique alone", "all but one"
    for figure, condition in (("mean", "an order in a socket to its report in the socket: mean"), ("p50", "the same: median")):
        yield Published("004", "Combined: ~41% hot path latency reduction", None, "41% less", "path",
                        Place("path", alone, "none", figure), Place("path", alone, "all", figure), condition,
                        claimed=1 / (1 - 0.41))
    for name, before, after in (("io_uring with DEFER_TASKRUN", 361.5, 336.0), ("vector code", None, None),
                                ("views and an index of tags", None, None), ("dense message index", 20.0, 15.2),
                                ("deferred log", None, None), ("pinned", 15.0, 14.7)):
        yield Published("004", f"of the combination: {name}", before, after, "path", Place("path", alone, "none"),
                        Place("path", alone, name), "whole path, this technique alone")
        yield Published("004", f"of the combination: {name}", before, after, "path",
                        Place("path", without, "without " + name), Place("path", without, "all"),
                        "whole path, removed from all")


TABLE = [*parsing(), *io_uring(), *scanning(), *message_index(), *deferred(), *pinning(), *combined()]
