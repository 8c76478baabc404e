"""`./dev bench compare`: is one version slower than another? Builds bench_gate from both and runs them in turn.

Exit status: 0 no row is slower beyond noise, or the machine is too noisy to tell; 1 a row is slower; 2 it could not run.
"""

import argparse
import contextlib
import csv
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import gate_plots
import gate_stats
import plant

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "build" / "compare"
WORK_TREE = "."
TREES_KEPT = 6  # of commits, with what was built of them
SLICES = 8  # of each version and launch
SLICE_NS = 4e6
BATCHES_MIN = 5  # of a slice


class CannotRun(Exception):
    pass


def run(command, cwd=ROOT, **how):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, **how)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-30:])
        raise CannotRun(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{last}")
    return done.stdout


# --- Trees and programs -----------------------------------------------------------------------------------------------


def commit_of(name):
    return run(["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]).strip()


def unpack(commit, folder):
    """The tree of a commit, without any history."""
    if (folder / "dev").exists():
        os.utime(folder)
        return
    trees = [path for path in BASE.iterdir() if path.is_dir() and len(path.name) == len(commit)]
    for path in sorted(trees, key=lambda path: path.stat().st_mtime)[: 1 - TREES_KEPT]:
        shutil.rmtree(path)
    folder.mkdir(parents=True, exist_ok=True)
    archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
    unpacked = subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=False)
    if archive.wait() != 0 or unpacked.returncode != 0:
        raise CannotRun(f"git archive {commit} failed")
    # A version older than the gate is measured by this one's, where that still compiles.
    if not (folder / "bench" / "gate" / "bench_gate.cpp").exists():
        shutil.copytree(ROOT / "bench" / "gate", folder / "bench" / "gate", dirs_exist_ok=True)


def copy_work_tree(folder):
    """The files that git knows of, or would take in, as they are now. Unchanged ones keep their times."""
    names = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]).split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, folder / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for path in [path for part in folder.iterdir() if part.name != "build" for path in (part, *part.rglob("*"))]:
        if path.is_file() and str(path.relative_to(folder)) not in wanted:
            path.unlink()


def build(folder):
    """bench_gate of a tree, by the release preset whatever PRESET says. Every function begins a cache line: otherwise
    code that grows moves all code behind it, which makes that up to 5% faster or slower.
    """
    environment = dict(os.environ, PRESET="release", CXXFLAGS="-falign-functions=64",
                       CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")  # fmt: skip
    run(["./dev", "build", "--target", "bench_gate"], cwd=folder, env=environment)
    program = folder / "build" / "release" / "bench" / "gate" / "bench_gate"
    if not program.exists():
        raise CannotRun(f"{program} was not built")
    return program


def program_of(version):
    """(What the version is called, its program.) The work tree is built where it is copied to, as commits are."""
    if version == WORK_TREE:
        copy_work_tree(BASE / "work-tree")
        return "work tree", build(BASE / "work-tree")
    commit = commit_of(version)
    unpack(commit, BASE / commit)
    return f"{version} ({commit[:9]})" if version != commit else commit[:9], build(BASE / commit)


# --- Measuring --------------------------------------------------------------------------------------------------------


def usable_cpus():
    return sorted(os.sched_getaffinity(0))


def pin_to(cpu):
    with contextlib.suppress(OSError):  # a CPU may be taken away; not pinned, a launch is noisier
        os.sched_setaffinity(0, {cpu})


class Server:
    """A bench_gate that measures what it is asked for. Waiting, it takes no CPU."""

    def __init__(self, program, cpu):
        self.process = subprocess.Popen(
            [str(program), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: pin_to(cpu),
        )
        try:
            self.rows = self._answer()["rows"]
        except CannotRun:
            self.close()
            raise

    def _answer(self):
        text = ""
        for line in self.process.stdout:
            text += line
            with contextlib.suppress(json.JSONDecodeError):
                return json.loads(text)
        raise CannotRun(f"{self.process.args[0]} ended with exit status {self.process.wait()}")

    def batches(self, row, count):
        try:
            self.process.stdin.write(f"{row} {count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # _answer says more
        return self._answer()["ns"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def measure_launch(programs, rows, cpu, swapped, batches_of):
    """{row: log ratio}, and {row: ns of the old}, of two new processes."""
    with contextlib.ExitStack() as stack:
        servers = []
        for program in programs:
            copy = BASE / f"{os.getpid()}-{len(servers)}"
            stack.callback(copy.unlink, missing_ok=True)
            shutil.copy(program, copy)
            servers.append(Server(copy, cpu))
            stack.callback(servers[-1].close)
        ratios, times = {}, {}
        for row in rows:
            if row not in batches_of:
                begin = time.monotonic_ns()
                servers[0].batches(row, 1)  # makes the row and checks it
                begin = time.monotonic_ns()
                servers[0].batches(row, 10)
                spent = (time.monotonic_ns() - begin) / 10
                batches_of[row] = max(BATCHES_MIN, int(SLICE_NS / spent))
            count = batches_of[row]
            for server in servers:
                server.batches(row, max(1, count // 2))
            slices = ([], [])
            for i in range(SLICES):
                # A B B A A B B A: what drifts meets both alike.
                first = (i + swapped) % 2
                for which in (first, 1 - first):
                    slices[which].append(servers[which].batches(row, count))
            ratios[row] = gate_stats.launch_log_ratio(*slices)
            times[row] = min(map(gate_stats.low_quantile, slices[0]))
        return ratios, times


def compare(programs, wanted, launches_max, say):
    """{row: Verdict}, {row: ns of the old}, launches. Launches until every row is decided, or so many were made."""
    cpus = usable_cpus()
    with contextlib.ExitStack() as stack:
        both = []
        for program in programs:
            server = Server(program, cpus[-1])
            stack.callback(server.close)
            both.append(server.rows)
    unknown = set(wanted) - set(both[1])
    if unknown:
        raise CannotRun(f"no row {', '.join(sorted(unknown))}; there are {', '.join(both[1])}")
    rows = [row for row in both[1] if not wanted or row in wanted]
    for row in [row for row in rows if both[0].get(row) != both[1][row]]:
        say(f"{row}: measures something else than in the old version; not compared")
        rows.remove(row)
    if not rows:
        raise CannotRun("the versions have no row in common")
    logs = {row: [] for row in rows}
    times = {row: [] for row in rows}
    batches_of = {}
    undecided = list(rows)
    launches = 0
    while undecided and launches < launches_max:
        cpu = cpus[-1 - launches % len(cpus)]
        ratios, old_ns = measure_launch(programs, undecided, cpu, launches // len(cpus), batches_of)
        launches += 1
        for row in undecided:
            logs[row].append(ratios[row])
            times[row].append(old_ns[row])
        undecided = [row for row in undecided if gate_stats.judge(logs[row]).word == gate_stats.UNDECIDED]
    verdicts = {row: gate_stats.judge(logs[row], last=True) for row in rows}
    return verdicts, {row: min(ns) for row, ns in times.items()}, logs


def planted_program(row, unchanged):
    """The work tree with as much more work in one row as makes it 5% slower than the program `unchanged`."""
    folder = BASE / "planted"
    copy_work_tree(folder)
    function = plant.apply(row, folder)
    program = build(folder)

    def with_steps(steps):
        return plant.set_steps(program, BASE / "planted-n", steps)

    # None first: the code of the loop alone, which is compiled into the function, makes it faster or slower too.
    tried, steps = {}, 0
    for _ in range(12):
        busy = with_steps(steps)
        batches_of, logs = {}, []
        for launch in range(gate_stats.LAUNCHES_MIN):
            logs.append(measure_launch([unchanged, busy], [row], usable_cpus()[-1], launch, batches_of)[0][row])
        tried[steps] = gate_stats.judge(logs, last=True).ratio - 1
        print(f"{steps} steps in {function}: {tried[steps]:+.1%}", file=sys.stderr)
        if tried[0] >= plant.SHARE or abs(tried[steps] - plant.SHARE) < plant.SHARE / 10:
            break
        steps = next_steps(tried, plant.SHARE)
        if steps in tried:
            break
    steps = min(tried, key=lambda each: abs(tried[each] - plant.SHARE))
    return f"work tree, {steps} steps of work in {function}: {tried[steps]:+.1%} when set", with_steps(steps)


def next_steps(tried, wanted):
    """Between the steps that were too few and too many, in proportion; twice as many where none were too many."""
    below = max(steps for steps, slowdown in tried.items() if slowdown < wanted)
    above = min((steps for steps, slowdown in tried.items() if slowdown >= wanted), default=None)
    if above is None:
        return max(2 * below, 8)
    if above <= below + 1:
        return above
    part = (wanted - tried[below]) / (tried[above] - tried[below])
    return min(max(below + round((above - below) * part), below + 1), above - 1)


def show(names, verdicts, times, logs):
    print(f"old: {names[0]}\nnew: {names[1]}\n")
    print(f"{'row':<12} {'old ns':>10} {'new/old':>8} {'99.5% interval':>17} {'launches':>9}  verdict")
    for row, verdict in verdicts.items():
        print(
            f"{row:<12} {times[row]:>10.1f} {verdict.ratio:>8.3f} {verdict.interval:>17} {len(logs[row]):>9}  "
            f"{verdict.word}"
        )
    slower = [row for row, verdict in verdicts.items() if verdict.word == gate_stats.SLOWER]
    noisy = [row for row, verdict in verdicts.items() if verdict.word == gate_stats.NOISY]
    if noisy:
        print(f"\nNo verdict on {', '.join(noisy)}: the machine is too noisy.")
    if slower:
        print(f"\nSLOWER beyond noise: {', '.join(slower)}.")
    else:
        print(f"\nNo row is slower by {gate_stats.THRESHOLD:.1%} beyond noise.")
    return 1 if slower else 0


# --- History ----------------------------------------------------------------------------------------------------------

HISTORY = ROOT / "docs" / "speed" / "history.csv"
COLUMNS = ["version", "commit", "date", "machine", "row", "revision", "ns_p50", "ns_p99", "ns_p999", "ns_max",
           "ns_reference", "ratio", "ratio_low", "ratio_high"]  # fmt: skip


def tag_of(commit):
    return run(["git", "tag", "--points-at", commit, "--sort=version:refname"]).split("\n")[0]


def add_to_history(versions):
    """Runs the suite of each version and replaces its lines in the history; draws the plots anew."""
    lines = []
    if HISTORY.exists():
        with HISTORY.open(newline="") as file:
            lines = list(csv.DictReader(file))
    for version in versions:
        commit = commit_of(version)
        name, program = program_of(version)
        figures = BASE / "suite.json"
        print(f"measuring {name}", file=sys.stderr)
        run([str(program), "--json", str(figures)])
        report = json.loads(figures.read_text())
        date = run(["git", "show", "-s", "--format=%cs", commit]).strip()
        lines = [line for line in lines if line["commit"] != commit[:9]]
        for row in report["rows"]:
            line = {"version": tag_of(commit) or commit[:9], "commit": commit[:9],
                    "date": date, "machine": report["machine"]["cpu"], "row": row["name"]}  # fmt: skip
            lines.append(line | {key: f"{row[key]:.4g}" if key.startswith("ratio") else round(row[key], 1)
                                 for key in COLUMNS[5:]})  # fmt: skip
    order = run(["git", "rev-list", "--topo-order", "--reverse", "HEAD", *versions]).split()
    place = {commit[:9]: number for number, commit in enumerate(order)}
    lines.sort(key=lambda line: place.get(line["commit"], -1))
    HISTORY.parent.mkdir(parents=True, exist_ok=True)
    with HISTORY.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    gate_plots.draw(lines, HISTORY.parent)
    print(f"{HISTORY.relative_to(ROOT)}: {len(lines)} lines")


# --- Command line -----------------------------------------------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("versions", nargs="*", metavar="OLD NEW", help="commits, or . for the work tree (HEAD~1 .)")
    parser.add_argument("--rows", default="", help="these alone, separated by commas")
    parser.add_argument("--rounds", type=int, default=gate_stats.LAUNCHES_MAX,
                        help="launches of undecided rows at most (%(default)s)")  # fmt: skip
    parser.add_argument("--repeat", type=int, default=1, help="compare so many times; one table each")
    parser.add_argument("--json", help="write the verdicts there as well")
    parser.add_argument("--plant", metavar="ROW", choices=plant.names(),
                        help="compare the work tree with itself, 5%% of work added to: %(choices)s")  # fmt: skip
    parser.add_argument("--history", action="store_true",
                        help="measure the given versions by the suite and add them to docs/speed")  # fmt: skip
    return parser.parse_args()


def versions_of(given):
    if len(given) > 2:
        raise CannotRun("compare takes OLD and NEW")
    return (given + ["HEAD~1", WORK_TREE][len(given) :]) if given else ["HEAD~1", WORK_TREE]


def main():
    options = arguments()
    BASE.mkdir(parents=True, exist_ok=True)
    if options.history:
        add_to_history(options.versions or ["HEAD"])
        return 0
    if options.plant:
        named = [program_of(WORK_TREE)]
        named.append(planted_program(options.plant, named[0][1]))
    else:
        named = [program_of(version) for version in versions_of(options.versions)]
    names, programs = zip(*named, strict=True)
    wanted = [row for row in options.rows.split(",") if row]
    status, reports = 0, []
    for _ in range(options.repeat):
        verdicts, times, logs = compare(programs, wanted, options.rounds, print)
        status = max(status, show(names, verdicts, times, logs))
        reports.append({row: vars(verdict) | {"log_ratios": logs[row]} for row, verdict in verdicts.items()})
        if options.json:
            Path(options.json).write_text(json.dumps({"versions": names, "comparisons": reports}, indent=1) + "\n")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CannotRun, OSError, ValueError) as error:
        print(f"bench compare: {error}", file=sys.stderr)
        sys.exit(2)
