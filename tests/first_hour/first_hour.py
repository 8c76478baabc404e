#!/usr/bin/env python3
"""A new user's first hour with this clone, step by step: the commands that README.md and docs/ print, real processes, loopback.

Each step builds what it needs, runs, and checks what it sees. At the end a table: seconds of each step and command, and what
was seen. Steps that need a result of another step (a log, an installation) make it when it is missing. Everything but the
build goes to a temporary folder. Exit code 0: all steps passed; 1: a step failed, which is named; 2: wrong usage.
"""
import argparse
import os
import pathlib
import platform
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
for module_folder in ("apps", "readme"):
    sys.path.insert(0, str(ROOT / "tests" / module_folder))
# The tests' modules want it when they are imported; each step names the program that it runs.
os.environ.setdefault("NFX_PROGRAM", "nfx")

from hour import Failed, Hour  # noqa: E402
from steps import STEPS  # noqa: E402


def arguments():
    own = argparse.ArgumentParser(prog="./dev first-hour", description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter,
                                  epilog="steps:\n" + "".join(f"  {each.name:10} {each.about}\n" for each in STEPS))
    own.add_argument("--only", action="append", metavar="STEP", choices=[each.name for each in STEPS],
                     help="only this step; may be repeated")
    own.add_argument("--keep", action="store_true", help="leave the temporary folder")
    own.add_argument("--built", type=pathlib.Path, metavar="FOLDER",
                     help="build nothing, use the programs of this build folder; without the steps that need a build")
    own.add_argument("--preset", default="release", help=argparse.SUPPRESS)
    own.add_argument("--packages", type=float, default=0, help=argparse.SUPPRESS)  # seconds that ./dev took for them
    options = own.parse_args()
    if options.built:
        for each in STEPS:
            if each.builds and each.name in (options.only or ()):
                own.error(f"the step '{each.name}' needs a build: leave out --built")
    return options


def chosen(options):
    return [each for each in STEPS if (not options.only or each.name in options.only) and not (options.built and each.builds)]


def host():
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "") if hasattr(platform, "freedesktop_os_release") else ""
    cache = "ccache is installed" if shutil.which("ccache") else "no compiler cache"
    return f"{system}, {platform.machine()}, {len(os.sched_getaffinity(0))} CPUs, {cache}"


def minutes(seconds):
    tenths = round(seconds * 10)
    return f"{tenths // 600:3d}:{tenths % 600 / 10:04.1f}"


def table(hour, packages):
    """Minutes and seconds of each step and, indented, of its commands; then what was seen."""
    lines = [f"first hour: {host()}", ""]
    if packages >= 1:
        lines += [f"{minutes(packages)}  packages", "          apt-get install of what ./dev deps --check lists as missing", ""]
    for step in hour.results:
        lines.append(f"{minutes(step.seconds)}  {step.name}: {step.about}")
        lines += [f"        {minutes(command.seconds)}  {command.text}" for command in step.commands]
        lines += [f"          {'FAILED: ' if step.failed else '-> '}{line}" for line in step.seen]
        lines.append("")
    total = packages + sum(step.seconds for step in hour.results)
    failed = [step.name for step in hour.results if step.failed]
    lines.append(f"{minutes(total)}  {len(hour.results) - len(failed)} of {len(hour.results)} steps passed"
                 + (f"; failed: {', '.join(failed)}" if failed else ""))
    return "\n".join(lines)


def main():
    options = arguments()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="first-hour-"))
    hour = Hour(ROOT, scratch, options.preset, options.built)
    try:
        for step in chosen(options):
            hour.take(step)
    finally:
        hour.end()
        if options.keep:
            print(f"first-hour: the temporary folder is {scratch}", file=sys.stderr)
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print(table(hour, options.packages))
    return 1 if any(step.failed for step in hour.results) else 0


if __name__ == "__main__":
    sys.exit(main())
