"""A league table of FIX engines: the same work, messages and machine for each, in turn (A B C A B C), answers checked.

This engine and, where its package is installed, QuickFIX are built here. Other engines are looked for in the folder given by
--peers; bench/engine/league/README.md describes how to put them there, what each row does and what it hides.
"""

import argparse
import array
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from decimal import Decimal

import known_peers
import league_picture

MESSAGES = 2048
SUM_LIMIT = 1 << 64
PERCENTILES = (50, 99, 99.9)
STATISTICS = ("p50", "p99", "p99.9", "max", "mean")


class WrongAnswerError(Exception):
    pass


# --- What is parsed and encoded -------------------------------------------------------------------------------------------


def make_values(seed):
    """The values of each order or report, in the order of a line of the file."""
    rng = random.Random(seed)
    rows = []
    for i in range(MESSAGES):
        quantity = rng.randint(100, 9999)
        last = rng.randint(1, quantity)
        rows.append({
            "11": f"ORD{rng.randint(10**5, 10**8)}", "1": f"ACC{rng.randint(1, 999)}", "55": rng.choice(("MSFT", "AAPL", "NOKIA.HE", "VOD.L")),
            "37": f"EX{rng.randint(10**6, 10**9)}", "17": f"E{10**6 + i}", "54": rng.choice("12"), "40": "2", "59": rng.choice("0134"),
            "150": "F", "39": rng.choice("12"), "38": quantity, "32": last, "151": quantity - last, "14": last,
            "44": rng.randint(1000, 99999), "31": rng.randint(1000, 99999), "6": rng.randint(1000, 99999),
        })  # fmt: skip
    return rows


ORDER_TAGS = ("11", "1", "55", "54", "38", "40", "44", "59")
REPORT_TAGS = ("37", "11", "17", "150", "39", "1", "55", "54", "38", "40", "44", "59", "32", "31", "151", "14", "6")
PRICES = ("44", "31", "6")


def text_of(tag, value):
    return f"{value // 100}.{value % 100:02d}" if tag in PRICES else str(value)


def report_message(values, seq):
    fields = [("35", "8"), ("34", str(seq)), ("49", "VENUE"), ("52", "20261130-12:00:00.123"), ("56", "TRADER")]
    fields += [(tag, text_of(tag, values[tag])) for tag in REPORT_TAGS] + [("60", "20261130-12:00:00.122")]
    body = "".join(f"{tag}={value}\x01" for tag, value in fields)
    message = f"8=FIX.4.4\x019={len(body)}\x01{body}"
    return f"{message}10={sum(message.encode()) % 256:03d}\x01"


def sum_of(values, seq):
    """What a peer has to answer for one report; peers/peer.hpp describes it."""

    def fold(text):
        return len(text) + (ord(text[0]) << 8) + (ord(text[-1]) << 16)

    places = (seq, fold(values["11"]), ord(values["150"]), values["38"], values["44"], values["32"], values["31"], fold(values["55"]))
    return sum(value * (2 * place + 1) for place, value in enumerate(places))


def check_encoded(lines, values, is_report):
    tags = REPORT_TAGS if is_report else ORDER_TAGS
    if len(lines) != len(values):
        raise WrongAnswerError(f"{len(lines)} messages, not {len(values)}")
    for seq, (line, wanted) in enumerate(zip(lines, values, strict=True), 1):
        fields = [field.split(b"=", 1) for field in line.split(b"\x01")[:-1]]
        found = {tag.decode(): value.decode() for tag, value in fields}
        head = b"\x01".join(line.split(b"\x01")[:2]) + b"\x01"
        right = (
            len(found) == len(fields) == len(tags) + 9
            and int(found["9"]) == len(line) - len(head) - 7
            and int(found["10"]) == sum(line[:-7]) % 256
            and (found["8"], found["35"], found["49"], found["56"]) == ("FIX.4.4", "8" if is_report else "D", "TRADER", "VENUE")
            and int(found["34"]) == seq
            and len(found["52"]) == len(found["60"]) == len("20261130-12:00:00.123")
        )
        for tag in tags:
            expected = text_of(tag, wanted[tag])
            right = right and (found[tag] == expected if isinstance(wanted[tag], str) else Decimal(found[tag]) == Decimal(expected))
        if not right:
            raise WrongAnswerError(f"message {seq}: {line.decode(errors='replace')!r}")


# --- Peers and what they talk to ------------------------------------------------------------------------------------------


def answers_of(output):
    return dict(line.split(" ", 1) for line in output.splitlines() if " " in line)


def failed(what, errors):
    text = errors.strip()[-600:]
    raise (WrongAnswerError if "WRONG ANSWER" in text else RuntimeError)(f"{what}: {text}")


@dataclasses.dataclass
class Peer:
    command: list
    environment: dict
    name: str = ""
    rows: tuple = ()

    def ask(self):
        done = subprocess.run([*self.command, "rows"], env={**os.environ, **self.environment}, capture_output=True, text=True,
                              timeout=60, check=False)  # fmt: skip
        if done.returncode != 0:
            failed(" ".join(self.command), done.stderr)
        answers = answers_of(done.stdout)
        self.name, self.rows = answers["engine"], tuple(answers["rows"].split())
        return self

    def words(self, row, options):
        return [*self.command, row, *(f"{key}={value}" for key, value in options.items())]

    def run(self, row, options, environment=None, limit=300):
        done = subprocess.run(self.words(row, options), env={**os.environ, **self.environment, **(environment or {})},
                              capture_output=True, text=True, timeout=limit, check=False)  # fmt: skip
        if done.returncode != 0:
            failed(f"{self.name}: {row}", done.stderr)
        return answers_of(done.stdout)

    @contextlib.contextmanager
    def started(self, row, options, first_word, environment=None):
        """The process, and the rest of its first line, which begins with that word; it is ended with its input."""
        errors = tempfile.TemporaryFile("w+")
        process = subprocess.Popen(self.words(row, options), env={**os.environ, **self.environment, **(environment or {})},
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)  # fmt: skip
        try:
            line = process.stdout.readline().strip()
            while line and not line.startswith(first_word):
                line = process.stdout.readline().strip()
            if not line:
                process.wait(10)
                errors.seek(0)
                failed(f"{self.name}: {row}", errors.read())
            process.first = line[len(first_word) :].strip()
            process.league_errors = errors
            yield process
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
            errors.close()


def rest_of(process, what):
    """The answers of a process that ends by itself."""
    output = process.stdout.read()
    if process.wait(60) != 0:
        process.league_errors.seek(0)
        failed(what, process.league_errors.read())
    return answers_of(output)


def figures_of(file):
    times = array.array("d", pathlib.Path(file).read_bytes())
    ordered = sorted(times)
    result = {f"p{p:g}": ordered[min(len(ordered) - 1, int(len(ordered) * p / 100))] for p in PERCENTILES}
    return {**result, "max": ordered[-1], "mean": sum(ordered) / len(ordered)}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- Rows -----------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Run:
    """What rows use: where files go, which CPUs they may use, and the messages."""

    options: argparse.Namespace
    folder: pathlib.Path
    memory: pathlib.Path  # a folder that no disk is behind
    values: list
    engine_cpu: int
    other_cpu: int
    other_side: Peer
    stand_in: str

    def fresh(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))


def read_row(run, peer):
    times = run.folder / "times"
    repeats = 4 if run.options.quick else peer.environment.get("LEAGUE_REPEATS", 20)
    answer = peer.run("read", {"messages": run.folder / "reports.fix", "repeats": repeats, "times": times, "store": run.fresh()})
    expected = int(repeats) * sum(sum_of(values, seq) for seq, values in enumerate(run.values, 1)) % SUM_LIMIT
    if int(answer["sum"]) != expected:
        raise WrongAnswerError(f"the sum of the fields is {answer['sum']}, not {expected}")
    return figures_of(times)


def encode_row(kind):
    def measure(run, peer):
        times, out = run.folder / "times", run.folder / "encoded"
        repeats = 4 if run.options.quick else peer.environment.get("LEAGUE_REPEATS", 20)
        peer.run("encode", {"values": run.folder / "values", "type": kind, "repeats": repeats, "times": times, "out": out,
                            "store": run.fresh()})  # fmt: skip
        check_encoded(out.read_bytes().split(b"\n")[:-1], run.values, kind == "8")
        return figures_of(times)

    return measure


def wait_until_steady(kept):
    """An engine may have a thread of its own that hands over what it was given."""
    before = None
    while (size := kept.open("rb").read(8)) != before:
        before = size
        time.sleep(0.2)


def send_row(pace_ns, count, quick_count, stand_in=False):
    def measure(run, peer):
        orders = quick_count if run.options.quick else count
        warm_up = 2000
        size = (orders + warm_up) * 320 + 65536
        times = run.folder / "times"
        kept = run.memory / "kept"
        environment = {}
        if stand_in:
            with kept.open("wb") as file:
                file.truncate(size)
            environment = {"LD_PRELOAD": run.stand_in, "NFX_LEAGUE_FROM": "180", "NFX_LEAGUE_BYTES": kept, "NFX_LEAGUE_ROOM": size}
        options = {"pace_ns": pace_ns, "count": orders, "warm_up": warm_up, "warm_up_pace_ns": min(pace_ns, 25000),
                   "store": run.fresh(), "cpu": run.engine_cpu, "times": times}  # fmt: skip
        with run.other_side.started("sink", {"cpu": run.other_cpu, "bytes": size}, "port") as sink:
            options["port"] = sink.first
            if stand_in:
                # The engine's Logout stays in the stand-in, so the engine would wait for the answer.
                environment = {key: str(value) for key, value in environment.items()}
                with peer.started("send", options, "sent", environment) as engine:
                    wait_until_steady(kept)
                    for pid in process_tree(engine.pid):
                        os.kill(pid, signal.SIGKILL)
                    engine.wait()
                sink.kill()
                received = run.other_side.run("verify", {"bytes": kept})
                seconds = None
            else:
                peer.run("send", options)
                received = rest_of(sink, f"{peer.name}: send")
                seconds = float(received["seconds"])
        if int(received["orders"]) != orders + warm_up:
            raise WrongAnswerError(f"{received['orders']} orders arrived, not {orders + warm_up}")
        figures = figures_of(times)
        # As fast as possible: the time until the reader has them all, which the time of a call need not contain.
        if pace_ns == 0 and seconds is not None:
            figures["mean"] = seconds * 1e9 / (orders + warm_up)
        return figures

    return measure


def resident_bytes(pid):
    """Shared pages once, also those that a process maps twice."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no Pss in smaps_rollup")


def process_tree(pid):
    """A peer may be a script that starts the engine."""
    found = [pid]
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found += process_tree(int(child))
    return found


@contextlib.contextmanager
def server(run, peer, sessions, **more):
    options = {"port": free_port(), "sessions": sessions, "store": run.fresh(), "cpu": run.engine_cpu, **more}
    with peer.started("serve", options, "ready") as process:
        yield process, options["port"]


def idle_rows(run, peer):
    """Both figures of one run: memory of a session that is logged on and silent, and seconds until all are."""

    def measure(sessions):
        begin = time.monotonic()
        with server(run, peer, sessions, file_bytes=65536) as (process, port):
            listening = time.monotonic() - begin
            with run.other_side.started("load", {"port": port, "sessions": sessions, "warm_up_ms": 0, "ms": 0, "cpu": run.other_cpu},
                                        "logged_on") as load:  # fmt: skip
                seconds = float(load.first)
                time.sleep(0.5)
                processes = process_tree(process.pid)
                memory = sum(resident_bytes(pid) for pid in processes)
            # Closing a thousand stores is not measured, and takes long on a slow disk.
            for pid in processes:
                os.kill(pid, signal.SIGKILL)
            return memory, listening + seconds

    few = 10
    sessions = 100 if run.options.quick else run.options.sessions
    least, _ = measure(few)
    most, seconds = measure(sessions)
    return {"idle_memory": {"value": (most - least) / (sessions - few) / 1024}, "logged_on": {"value": seconds}}


def load_row(sessions, rate, window, seconds, quick_seconds):
    def measure(run, peer):
        times = run.folder / "times"
        with server(run, peer, sessions, spin=1, dictionary=run.options.dictionary) as (_, port):
            options = {"port": port, "sessions": sessions, "rate": rate, "window": window, "times": times, "cpu": run.other_cpu,
                       "ms": int(1000 * (quick_seconds if run.options.quick else seconds)), "warm_up_ms": 100 if run.options.quick else 1000}  # fmt: skip
            answer = run.other_side.run("load", options)
        return {"value": int(answer["orders"]) / float(answer["seconds"])} if rate == 0 else figures_of(times)

    return measure


def hop_row(run, peer):
    times = run.folder / "times"
    orders = 500 if run.options.quick else 4000
    words = {"cpu": run.other_cpu, "pace_ns": 200_000, "count": orders, "warm_up": 200 if run.options.quick else 1000, "times": times}
    with run.other_side.started("hop", words, "port") as sides:
        port = free_port()
        options = {"port": port, "to_port": sides.first, "store": run.fresh(), "cpu": run.engine_cpu}
        with peer.started("hop", options, "ready"):
            sides.stdin.write(f"{port}\n")
            sides.stdin.flush()
            rest_of(sides, f"{peer.name}: hop")
    return figures_of(times)


@dataclasses.dataclass
class Row:
    name: str
    title: str
    needs: str  # the mode of a peer
    measure: object
    unit: str = "ns"
    more_is_better: bool = False
    own_work: bool = False  # no kernel between the engine and the result
    quick: bool = True
    figures_of: str = ""  # a row that another one measures


def rows_of(options):
    thousand = f"{100 if options.quick else options.sessions:,}"
    rows = [
        Row("read", "parse an ExecutionReport and read 8 fields", "read", read_row, own_work=True),
        Row("encode_order", "encode a NewOrderSingle", "encode", encode_row("D"), own_work=True),
        Row("encode_report", "encode an ExecutionReport", "encode", encode_row("8"), own_work=True),
        Row("hand_over", "encode, persist, hand over to a stand-in, every 25 us", "send",
            send_row(25000, 10000, 2000, True), own_work=True),
        Row("hand_over_flood", "encode, persist, hand over to a stand-in, as fast as possible", "send", send_row(0, 50000, 5000, True), own_work=True),
        Row("send", "encode, persist, send over TCP, every 25 us", "send", send_row(25000, 10000, 2000)),
        Row("send_flood", "encode, persist, send over TCP, as fast as possible; mean: until the reader has all", "send", send_row(0, 50000, 5000)),
        Row("after_1ms", "send after 1 ms of silence", "send", send_row(1_000_000, 1000, 100)),
        Row("after_100ms", "send after 100 ms of silence", "send", send_row(100_000_000, 10, 2), quick=False),
        Row("after_1s", "send after 1 s of silence", "send", send_row(1_000_000_000, 3, 1), quick=False),
        Row("idle_memory", f"memory of an idle session of {thousand}", "serve", idle_rows, "KiB"),
        Row("logged_on", f"time until {thousand} sessions are logged on", "serve", None, "s", figures_of="idle_memory"),
        Row("round_trip", "order to report, 5,000 orders/s, validated, persisted", "serve", load_row(1, 5000, 1, 1, 0.2)),
        Row("clients", "orders/s of 32 clients, validated, persisted, reported", "serve",
            load_row(32, 0, 16, 1, 0.5), "orders/s", more_is_better=True),
        Row("hop", "an order in on one session and out on another, 5,000 orders/s, persisted", "hop", hop_row),
    ]  # fmt: skip
    if options.long_silence:
        rows.insert(-5, Row("after_60s", "send after 60 s of silence", "send", send_row(60_000_000_000, 2, 1)))
    return rows


# --- The table ------------------------------------------------------------------------------------------------------------


def machine_text():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} CPUs, Linux {platform.release()}"


def main_figure(row):
    return "value" if "value" in next(iter(row["engines"].values()))["figures"] else "p50"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def print_table(result):
    print(f"# {result['machine']}; {result['repeats']} repeats in turn; medians of the repeats; {result['date']}")
    losses = []
    for row in result["rows"]:
        engines = row["engines"]
        if not engines:
            continue
        main = main_figure(row)
        order = sorted(engines, key=lambda name: engines[name]["figures"][main], reverse=row["more_is_better"])
        ours = engines.get("NexusFIX", {}).get("figures", {}).get(main)
        columns = STATISTICS if main == "p50" else ("value",)
        few = min(len(engine["repeats"]) for engine in engines.values())
        print(f"\n{row['title']}, {row['unit']}" + ("" if few == result["repeats"] else f" ({few} repeats)"))
        print(f"  {'engine':<16}" + "".join(f"{column:>13}" for column in columns) + f"{'x ours':>9}{'repeats of ' + main:>28}")
        for name in order:
            figures, repeats = engines[name]["figures"], engines[name]["repeats"]
            ratio = figures[main] / ours if ours else float("nan")
            print(f"  {name:<16}" + "".join(f"{number(figures[column]):>13}" for column in columns) + f"{ratio:>9.2f}"
                  + f"{number(min(repeats)) + ' to ' + number(max(repeats)):>28}")  # fmt: skip
        if ours is None or len(order) < 2:
            continue
        rival = next(name for name in order if name != "NexusFIX")
        lead = engines[rival]["figures"][main] / ours
        lead = 1 / lead if row["more_is_better"] else lead
        if lead < 1:
            losses.append(f"{row['title']}: {rival} is {1 / lead:.2f} times as good as NexusFIX")
        elif row["own_work"] and lead < 2:
            losses.append(f"{row['title']}: first, but only {lead:.2f} times as good as {rival}; the goal is 2")
        for column in columns:
            if column == main or lead < 1:
                continue
            best = min(engines, key=lambda name: engines[name]["figures"][column])
            if best != "NexusFIX":
                losses.append(f"{row['title']}, {column}: {best} {number(engines[best]['figures'][column])}, NexusFIX "
                              f"{number(engines['NexusFIX']['figures'][column])}")  # fmt: skip
    for row, name, text in result["failures"]:
        print(f"\nleft out: {row}, {name}: {text}")
    print("\nNexusFIX loses or misses its goal in:" if losses else "\nno row in which NexusFIX loses or misses its goal")
    for loss in losses:
        print(f"  {loss}")


def measure_one(run, row, peer, found, failures):
    try:
        figures = row.measure(run, peer)
    except (RuntimeError, subprocess.SubprocessError, OSError) as error:
        failures.append((row.title, peer.name, str(error)))
        return
    except WrongAnswerError as error:
        raise WrongAnswerError(f"{row.name}, {peer.name}: {error}") from error
    for name, each in figures.items() if row.name in figures else ((row.name, figures),):
        found[name].setdefault(peer.name, []).append(each)
    for child in run.folder.iterdir():
        if child.is_dir():
            shutil.rmtree(child)


def measure_all(options, peers, rows, run):
    """Each repeat takes all engines of a row in turn. Ctrl-C ends it with the results so far."""
    found = {row.name: {} for row in rows}
    failures = []
    with contextlib.suppress(KeyboardInterrupt):
        for repeat in range(options.repeats):
            for row in rows:
                for peer in peers if row.measure else ():
                    if row.needs in peer.rows and not any(failure[:2] == (row.title, peer.name) for failure in failures):
                        print(f"\rrepeat {repeat + 1}/{options.repeats}: {row.name}, {peer.name}\x1b[K", end="", file=sys.stderr, flush=True)
                        measure_one(run, row, peer, found, failures)
    print("\r\x1b[K", end="", file=sys.stderr)
    result = []
    for row in rows:
        engines = {}
        for name, repeats in found[row.name].items():
            figures = {key: statistics.median(each[key] for each in repeats) for key in repeats[0]}
            main = "value" if "value" in figures else "p50"
            engines[name] = {"figures": figures, "repeats": [each[main] for each in repeats]}
        if engines:
            result.append({"name": row.name, "title": row.title, "unit": row.unit, "more_is_better": row.more_is_better,
                           "own_work": row.own_work, "engines": engines})  # fmt: skip
    return result, failures


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--dictionary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peers", type=pathlib.Path, help="folder with other engines")
    parser.add_argument("--repeats", type=int, default=5, help="of all engines in turn (default: %(default)s)")
    parser.add_argument("--only", help="rows, with commas between them")
    parser.add_argument("--engines", help="engines, with commas between them; NexusFIX always takes part")
    parser.add_argument("--sessions", type=int, default=1000, help="idle sessions (default: %(default)s)")
    parser.add_argument("--long-silence", action="store_true", help="also measure an order after 60 s of silence: 2 minutes for each "
                        "engine and repeat")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="within a minute: one repeat, short rows")
    parser.add_argument("--folder", help="where stores are created and removed: on a disk (default: the temporary folder)")
    parser.add_argument("--json", type=pathlib.Path, help="also write all results to this file")
    parser.add_argument("--picture", type=pathlib.Path, help="also draw the table as an SVG file")
    parser.add_argument("--from", dest="former", type=pathlib.Path, nargs="+", metavar="FILE",
                        help="measure nothing: print and draw the results of former runs, which --json wrote")  # fmt: skip
    options = parser.parse_args()
    if options.quick:
        options.repeats = 1
    return options


def find_peers(options):
    """Those built here, those built from what --peers has, and programs there that speak the protocol."""
    peers = [Peer([str(program)], {}) for program in sorted(options.programs.glob("league_*"))
             if program.name not in ("league_other_side", "league_network_stand_in.so") and os.access(program, os.X_OK)]  # fmt: skip
    peers += [Peer(command, environment) for command, environment in known_peers.find(options.peers)]
    peers = [peer.ask() for peer in peers]
    if options.engines:
        wanted = options.engines.split(",")
        peers = [peer for peer in peers if peer.name == "NexusFIX" or peer.name in wanted]
    return sorted(peers, key=lambda peer: peer.name != "NexusFIX")


def merged(files):
    results = [json.loads(file.read_text()) for file in files]
    first = results[0]
    if any(other["machine"] != first["machine"] for other in results):
        sys.exit("bench_league: these runs are of different machines")
    first["rows"] = [row for result in results for row in result["rows"]]
    first["failures"] = [failure for result in results for failure in result["failures"]]
    return first


def measure(options):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        sys.exit("bench_league: it needs two CPUs, one for an engine and one for what it talks to")
    peers = find_peers(options)
    rows = [row for row in rows_of(options) if row.quick or not options.quick]
    if options.only:
        wanted = options.only.split(",")
        unknown = set(wanted) - {row.name for row in rows}
        if unknown:
            sys.exit(f"bench_league: no row {', '.join(sorted(unknown))}; rows are {', '.join(row.name for row in rows)}")
        wanted += [row.figures_of for row in rows if row.name in wanted]  # which are measured together
        rows = [row for row in rows if row.name in wanted or (row.figures_of and row.figures_of in wanted)]
    with (tempfile.TemporaryDirectory(dir=options.folder, prefix="league-") as scratch,
          tempfile.TemporaryDirectory(dir="/dev/shm", prefix="league-") as memory):  # fmt: skip
        folder = pathlib.Path(scratch)
        values = make_values(1)
        lines = ("\t".join(str(each[tag]) for tag in each) for each in values)
        (folder / "values").write_text("".join(line + "\n" for line in lines))
        (folder / "reports.fix").write_text("".join(report_message(each, seq) + "\n" for seq, each in enumerate(values, 1)))
        run = Run(options, folder, pathlib.Path(memory), values, cpus[-1], cpus[0], Peer([str(options.programs / "league_other_side")], {}, "the other side"),
                  str(options.programs / "league_network_stand_in.so"))  # fmt: skip
        found, failures = measure_all(options, peers, rows, run)
    return {"machine": machine_text(), "date": time.strftime("%Y-%m-%d"), "repeats": options.repeats, "rows": found,
            "failures": failures}  # fmt: skip


def main():
    options = read_options()
    try:
        result = merged(options.former) if options.former else measure(options)
    except WrongAnswerError as error:
        print(f"bench_league: WRONG ANSWER: {error}", file=sys.stderr)
        return 1
    print_table(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.picture:
        options.picture.write_text(league_picture.draw(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
