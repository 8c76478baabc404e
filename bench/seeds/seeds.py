"""Measures every published figure of the techniques again, and shows both in one table: published before, after and
factor; the same here; how the repeats judge it; the condition under which it is true; and the command of the row.

Each benchmark runs once, its rows in turn, five repeats, answers checked before they are timed. A factor is the median of
the repeats' own ratios, with the least and the most. Compare factors, not nanoseconds: the machines differ.

  reached       at least the published factor (or, where none was published, better in every repeat)
  smaller here  better in every repeat, by less than published
  not seen here better in some repeats, worse in others, or by less than 1%
  slower here   worse in every repeat, by more than 1%
  measured      a cost, with nothing to compare it with
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from published import RUNS, TABLE  # noqa: E402
from results import LeftOut, Results, Row  # noqa: E402

# The same sources, optimised in other ways: what is measured of each is a row of a benchmark.
PRESETS = ("release", "lto", "pgo")
PRESET_ROWS = {
    "wire": {"NexusFIX MessageView": "NexusFIX MessageView", "the small parser": "+ [[gnu::hot]]"},
    "gate": {"session": "session", "engine": "engine"},
}


def command(run):
    return "./dev bench " + " ".join(RUNS[run])


def program(build, name):
    places = [build / "bench" / name / f"bench_{name}", build / "bench" / f"bench_{name}"]
    return next((place for place in places if place.is_file()), None)


def run_program(path, arguments, target):
    done = subprocess.run([str(path), *arguments, "--json", str(target)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{path.name} {' '.join(arguments)} failed:\n{done.stdout[-2000:]}{done.stderr}")
    return json.loads(target.read_text())


def limits(run, options):
    """Arguments that shorten a run, or leave out what this user may not do."""
    more = []
    if run == "pinning":
        if os.geteuid() != 0 or options.no_isolation:
            more.append("--no-isolation")
        if options.quick:
            more += ["--repeats", "1", "--warm-up", "500", "--measured", "2000", "--hiccup-seconds", "0.2"]
    elif options.quick:
        more += ["--repeats", "2"]
        more += ["--quick"] if run == "ladder" else []
        more += ["--operations", "20000"] if RUNS[run][0] == "techniques" else []
        more += ["--messages", "20000"] if RUNS[run][0] == "deferred" else []
    return more


def preset_repeat(path, name, target, machine):
    """One repeat of the rows that are measured of every preset: {section: percentiles}."""
    rows = PRESET_ROWS[name]
    if name == "gate":
        found = {row["name"]: row for row in run_program(path, ["--rows", ",".join(rows.values()), "--rounds", "60"], target)["rows"]}
        keys = {"p50": "ns_p50", "p99": "ns_p99", "p99_9": "ns_p999", "max": "ns_max"}
    else:
        results = Results(run_program(path, ["--only", "ladder", "--repeats", "1", "--quick"], target))
        machine.update(results.machine)
        found = {row["name"]: row for row in results.rows.values()}
        keys = {"p50": "ns_median", "p99": "ns_p99", "p99_9": "ns_p99_9", "max": "ns_max"}
    return {section: {key: next(row for known, row in found.items() if known.startswith(begin))[source]
                      for key, source in keys.items()}
            for section, begin in rows.items()}


def measure_presets(build, options, target):
    """Each preset in turn, a b c a b c: the host's slow phases meet all of them."""
    rows = {(section, preset): [] for sections in PRESET_ROWS.values() for section in sections for preset in PRESETS}
    machine = {}
    for _ in range(2 if options.quick else 5):
        for name in PRESET_ROWS:
            for preset in PRESETS:
                path = program(build.parent / preset, name)
                repeat = preset_repeat(path, name, target, machine) if path else {}
                for section, percentiles in repeat.items():
                    rows[section, preset].append(percentiles)
    wanted = " ".join(f"bench_{name}" for name in PRESET_ROWS)
    listed = [{"section": section, "name": preset, "repeats": repeats,
               "note": "" if repeats else f"not built: ./dev build --preset {preset} --target {wanted}"}
              for (section, preset), repeats in rows.items()]
    document = {"machine": machine, "counters": "", "groups": [{"name": "presets", "rows": listed}]}
    target.write_text(json.dumps(document))
    return document


def measure(options, folder):
    """The results of every run, read from the folder where they are there already."""
    results = {}
    for run, (name, *arguments) in RUNS.items():
        if options.only and run != options.only:
            continue
        target = folder / f"{run}.json"
        if options.reuse and target.is_file():
            results[run] = Results(json.loads(target.read_text()))
            continue
        print(f"measuring {command(run)}", file=sys.stderr, flush=True)
        if run == "presets":
            results[run] = Results(measure_presets(options.build, options, target))
            continue
        path = program(options.build, name)
        if path is None:
            sys.exit(f"bench_{name} is not built: ./dev build --target bench_{name}")
        results[run] = Results(run_program(path, [*arguments, *limits(run, options)], target))
    return results


def number(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if value >= 10000 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def factor(value, spread=()):
    if value is None:
        return "-"
    text = f"{value:.2f}"
    return text if len(spread) < 2 else f"{text} ({min(spread):.2f} to {max(spread):.2f})"


def pair(before, after, unit):
    """"730, 520 us"; one number for a cost, nothing where there are no results."""
    texts = [number(value) for value in (before, after) if value is not None]
    return ", ".join(texts) + unit if texts else "-"


HEAD = ["document", "technique", "published: before, after", "factor", "here: before, after", "factor (repeats)",
        "after: p50 / p99 / p99.9 / max", "result", "condition", "command"]


def cells(row):
    figure = row.figure
    unit = "" if figure.unit == "ns" else " " + figure.unit.split(" of ")[0]
    tail = " / ".join(map(number, row.tail)) if row.tail else "-"
    judged = row.verdict if not row.left_out else "left out: " + row.left_out
    return [figure.document, figure.technique, pair(figure.before, figure.after, "" if figure.claimed else unit), factor(row.factor_published),
            pair(row.before, row.after, unit), factor(row.factor, row.spread), tail, judged, figure.condition,
            command(figure.run)]


def as_object(row):
    figure = row.figure
    return {"document": figure.document, "technique": figure.technique, "unit": figure.unit, "published_before": figure.before,
            "published_after": figure.after, "published_factor": row.factor_published, "before": row.before, "after": row.after,
            "factor": row.factor, "factors_of_repeats": list(row.spread), "tail": row.tail, "verdict": row.verdict,
            "left_out": row.left_out, "condition": figure.condition, "command": command(figure.run)}


def markdown(rows):
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for row in rows:
        texts = [text.replace("|", "\\|") for text in cells(row)]
        texts[-1] = f"`{texts[-1]}`"
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def print_table(rows):
    table = [HEAD, *(cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD) - 1)]
    for line in table:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)) + "  " + line[-1])


def describe(results):
    machines = {json.dumps({key: value for key, value in run.machine.items() if key != "ghz"}, sort_keys=True)
                for run in results.values() if run.machine}
    first = next((run for run in results.values() if run.machine), None)
    if first is None:
        return
    machine = first.machine
    ghz = statistics.median(run.machine["ghz"] for run in results.values() if run.machine)
    print(f"machine   {machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, {machine['compiler']}, {machine['flags']}")
    print(f"state     {ghz:.2f} GHz, governor: {machine['governor']}, isolated CPUs: {machine['isolated']}, "
          f"hypervisor: {machine['hypervisor'] or 'none'}")
    print("counters  " + next((run.counters for run in results.values() if run.counters), "unknown"))
    if len({json.loads(text)["cpu"] for text in machines}) > 1:
        print("WARNING   the results are from different machines: not for quoting")
    if machine["assertions"]:
        print("WARNING   compiled with assertions: not for quoting")


def main():
    parser = argparse.ArgumentParser(prog="bench_seeds", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="two short repeats: to see that all rows are there")
    parser.add_argument("--only", choices=RUNS, help="the rows of one benchmark")
    parser.add_argument("--folder", type=pathlib.Path, help="where the benchmarks' results are stored (default: nowhere)")
    parser.add_argument("--reuse", action="store_true", help="measure only what has no results in the folder yet")
    parser.add_argument("--no-isolation", action="store_true", help="leave out what needs root and changes the host")
    parser.add_argument("--markdown", type=pathlib.Path, help="also write the table to this file")
    parser.add_argument("--json", type=pathlib.Path, help="also write the table to this file")
    options = parser.parse_args()
    if options.reuse and options.folder is None:
        parser.error("--reuse needs --folder")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        results = measure(options, folder)
    rows = [Row(figure, results) for figure in TABLE if not options.only or figure.run == options.only]
    describe(results)
    print_table(rows)
    if options.markdown:
        options.markdown.write_text(markdown(rows))
    if options.json:
        options.json.write_text(json.dumps([as_object(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
