"""Compiles a program that reads and builds ten messages of FIX 4.4 with generated classes, and the same program with
QuickFIX's classes (package libquickfix-dev), in turn (A B A B), and compares times and sizes.

Both programs are run once before anything is timed. Times are processor time of the compiler, user and system, which
other work on the machine disturbs less than the clock on the wall.
"""

import argparse
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from demonstration import machine  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compile_time: failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def seconds_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def code_size(file):
    return int(run(["size", str(file)]).splitlines()[1].split()[0])


class Program:
    def __init__(self, name, source, flags, libraries):
        self.name, self.source, self.flags, self.libraries = name, HERE / source, flags, libraries

    def compile(self, compiler, level, folder):
        self.object = folder / f"{self.source.stem}.o"
        return seconds_of([compiler, *self.flags, level, "-c", str(self.source), "-o", str(self.object)])

    def link(self, compiler, folder):
        executable = folder / self.source.stem
        run([compiler, str(self.object), *self.libraries, "-pthread", "-Wl,--gc-sections", "-s", "-o", str(executable)])
        return executable


def compare(compiler, level, programs, repeats):
    times = {program.name: [] for program in programs}
    print(f"\n{compiler} {level}")
    print(f"{'':20}{'compile s':>10}{'+-%':>6}{'object code':>14}{'executable':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sizes = {}
        for program in programs:
            program.compile(compiler, level, folder)
            executable = program.link(compiler, folder)
            if not run([str(executable)]).strip().isdigit():
                sys.exit(f"compile_time: {program.name} says nothing sensible")
            sizes[program.name] = code_size(program.object), executable.stat().st_size
        for _ in range(repeats):
            for program in programs:
                times[program.name].append(program.compile(compiler, level, folder))
    for program in programs:
        taken = times[program.name]
        middle = statistics.median(taken)
        spread = 50 * (max(taken) - min(taken)) / middle
        print(f"{program.name:20}{middle:>10.2f}{spread:>6.1f}{sizes[program.name][0]:>14,}{sizes[program.name][1]:>12,}")
    if len(programs) == 2:
        ratio = statistics.median(b / a for a, b in zip(*(times[program.name] for program in programs)))
        print(f"{'QuickFIX takes':20}{ratio:>9.2f}x{'':6}{sizes[programs[1].name][0] / sizes[programs[0].name][0]:>13.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True, help="that of this build; the other one of g++ and clang++-19 is added where it is installed")
    for name in ("include", "generated", "library"):
        parser.add_argument(f"--{name}", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two repeats, -O0 left out")
    options = parser.parse_args()
    repeats = 2 if options.quick else options.repeats

    programs = [Program("generated", "typed_messages.cpp", ["-std=c++23", "-I", options.include, "-I", options.generated],
                        [options.library])]
    if pathlib.Path("/usr/include/quickfix/fix44/NewOrderSingle.h").exists():
        programs.append(Program("QuickFIX", "quickfix_messages.cpp", ["-std=c++14", "-w"], ["-lquickfix"]))
    else:
        print("QuickFIX's headers are missing (package libquickfix-dev), so there is nothing to compare with")
    compilers = [options.compiler]
    compilers += [other for other in ("g++", "clang++-19") if shutil.which(other) and not same_program(other, options.compiler)]
    print(f"# {machine()}; {repeats} repeats in turn; medians; executables stripped, libquickfix shared, libnexusfix static")
    for compiler in compilers:
        for level in ["-O2"] if options.quick else ["-O0", "-O2"]:
            compare(compiler, level, programs, repeats)


def same_program(a, b):
    return pathlib.Path(shutil.which(a)).resolve() == pathlib.Path(shutil.which(b) or b).resolve()


if __name__ == "__main__":
    main()
