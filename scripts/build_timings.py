#!/usr/bin/env python3
"""Lists what a build costs: units by the seconds their compilation took, and headers by the seconds they cost all units
together, so that a header that became heavy is seen on the day it does.

    build_timings.py build/release [--units N] [--headers N] [--json FILE]

Units come from Ninja's log of the build: wall seconds while two jobs or more ran side by side. A header's cost is what
it takes to parse it alone, with everything that it includes, times the units that do. Headers in the precompiled header
are parsed once, whoever includes them, and are left out. Run it by `./dev build --timings`.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")', re.M)
SOURCES = ("include", "src", "apps", "bench", "tests", "examples")


def read_log(path: pathlib.Path) -> dict[str, float]:
    """Seconds by output; of each the last time it was made."""
    seconds = {}
    for line in path.read_text().splitlines():
        columns = line.split("\t")
        if len(columns) == 5:
            seconds[columns[3]] = (int(columns[1]) - int(columns[0])) / 1000
    return seconds


def source_of(output: str) -> str:
    """The path of a unit in the tree: "CMakeFiles/nfx_wire.dir/src/fix/wire/scan.cpp.o" is src/fix/wire/scan.cpp."""
    folder, _, inside = output.partition(".dir/")
    folder = folder.partition("CMakeFiles/")[0]
    inside = inside.removesuffix(".o")
    return inside if inside.startswith(SOURCES) else folder + inside


def units_of_headers(build: pathlib.Path) -> dict[str, int]:
    """How many units include each file, from Ninja's log of dependencies."""
    deps = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    counts: collections.Counter[str] = collections.Counter()
    for line in deps.splitlines():
        if line.startswith("    "):
            counts[os.path.realpath(build / line.strip())] += 1
    return counts


def direct_includes(root: pathlib.Path) -> set[str]:
    """Everything that a file of the tree includes by itself and that is no file of a test or a private header."""
    found = set()
    for top in SOURCES:
        for path in (root / top).rglob("*.[ch]pp"):
            for name in INCLUDE.findall(path.read_text(errors="replace")):
                if name.startswith("<") or name.startswith('"nexusfix/'):
                    found.add(name)
    return found


class Parser:
    """Parses one header alone, with the flags of the build."""

    def __init__(self, build: pathlib.Path, root: pathlib.Path) -> None:
        commands = json.loads((build / "compile_commands.json").read_text())
        unit = next(each for each in commands if each["file"].startswith(str(root / "src")))
        words = shlex.split(unit["command"])
        words = [word for word in words if not word.endswith(("ccache", "sccache"))]
        self.compiler = words[0]
        keep = [word for word in words[1:] if word.startswith(("-I", "-D", "-std", "-f")) and "pch" not in word]
        includes: set[str] = set()
        for each in commands:
            includes.update(re.findall(r"-isystem (\S+)", each["command"]))
        self.flags = keep + [f"-I{root / 'include'}"] + [word for path in sorted(includes) for word in ("-isystem", path)]

    def run(self, name: str | None) -> tuple[float, list[str]] | None:
        text = f"#include {name}\n" if name else "\n"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            [self.compiler, *self.flags, "-x", "c++", "-fsyntax-only", "-H", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        _, errors = process.communicate(text)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode != 0:
            return None
        files = [line.lstrip(". ") for line in errors.splitlines() if line.startswith(".")]
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, files


def header_costs(build: pathlib.Path, root: pathlib.Path, names: set[str], counts: dict[str, int],
                 precompiled: set[str]) -> list[dict]:
    parser = Parser(build, root)
    empty = parser.run(None)
    if empty is None:
        sys.exit(f"build_timings: {parser.compiler} cannot compile an empty file with the flags of {build}")
    rows = []
    for number, name in enumerate(sorted(names), 1):
        if sys.stderr.isatty():
            print(f"\r{number} of {len(names)} headers ", end="", file=sys.stderr)
        if name in precompiled:
            continue
        parsed = parser.run(name)
        if parsed is None or not parsed[1]:
            continue  # a header of another platform, or one that is not installed
        seconds = max(0.0, parsed[0] - empty[0])
        units = counts.get(os.path.realpath(parsed[1][0]), 0)
        rows.append({"header": name.strip('<>"'), "seconds": round(seconds, 3), "units": units,
                     "all": round(seconds * units, 1), "files": len(set(parsed[1]))})
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return sorted(rows, key=lambda row: -row["all"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--units", type=int, default=25, metavar="N", help="list so many units (25)")
    parser.add_argument("--headers", type=int, default=25, metavar="N", help="list so many headers (25)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all of it to FILE too")
    options = parser.parse_args()
    build = options.build.resolve()
    root = pathlib.Path(__file__).resolve().parents[1]
    if not (build / ".ninja_log").is_file():
        sys.exit(f"build_timings: {build} has no .ninja_log; build it with Ninja first")

    log = read_log(build / ".ninja_log")
    units = {source_of(output): seconds for output, seconds in log.items() if output.endswith(".o")}
    links = sum(seconds for output, seconds in log.items() if not output.endswith((".o", ".gch", ".pch")))
    pch = sum(seconds for output, seconds in log.items() if output.endswith((".gch", ".pch")))
    by_folder: collections.Counter[str] = collections.Counter()
    for source, seconds in units.items():
        by_folder["/".join(source.split("/")[:2])] += seconds

    print(f"{len(units)} units, {sum(units.values()):.0f} s of compiling; precompiled headers {pch:.0f} s; "
          f"linking and all else {links:.0f} s\n")
    print("   seconds  unit")
    for source, seconds in sorted(units.items(), key=lambda item: -item[1])[: options.units]:
        print(f"{seconds:10.1f}  {source}")
    print("\n   seconds  folder")
    for folder, seconds in by_folder.most_common(20):
        print(f"{seconds:10.1f}  {folder}")

    modules = (root / "cmake/Modules.cmake").read_text()
    precompiled = set(re.findall(r"<[a-z_]+>", modules[modules.index("set(NFX_STANDARD_HEADERS"):].split(")")[0]))
    rows = header_costs(build, root, direct_includes(root), units_of_headers(build), precompiled)
    print("\n   seconds  units   s each  files  header")
    for row in rows[: options.headers]:
        print(f"{row['all']:10.1f} {row['units']:6d} {row['seconds']:8.2f} {row['files']:6d}  {row['header']}")
    if options.json:
        options.json.write_text(json.dumps({"units": units, "folders": by_folder, "linking": links,
                                            "precompiled": pch, "headers": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
