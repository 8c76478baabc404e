#!/usr/bin/env python3
"""Checks the rules of the source tree that a compiler does not: who includes whom, what pure modules leave alone, how a
file begins, and how long it is. Prints file:line, the rule and the fix; exit status 1 when a rule is broken, 2 when misused.

    check_layers.py [--root DIR]
"""

import argparse
import pathlib
import re
import sys
from collections.abc import Iterator

# These compute from their arguments alone. What reads dictionary files is the one exception.
PURE_MODULES = ("wire", "dictionary", "session", "market", "strategy", "cluster")
PURE_EXCEPTIONS = re.compile(r"dictionary/load\.")

LINES_ADVISED = 600
LINES_MAX = 700
TABLES = {"src/host/host/doctor/table.cpp"}  # one table is one idea, however many rows it has

SOURCE_FOLDERS = ("include", "src", "apps", "tests", "bench", "examples")
SOURCE_SUFFIXES = (".hpp", ".cpp")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

OS_HEADER = re.compile(
    r"^(sys|linux|netinet|arpa|net|asm)/"
    r"|^(unistd|fcntl|poll|netdb|sched|pthread|signal|time|dirent|dlfcn|semaphore)\.h$"
    r"|^(fstream|iostream|filesystem|thread|mutex|shared_mutex|condition_variable|future|stop_token|semaphore|latch"
    r"|barrier|csignal|ctime)$"
)

OS_CALL = re.compile(
    r"\b(system|steady|high_resolution|utc|tai|gps|file)_clock::now\b"
    r"|\b(clock_gettime|gettimeofday|timespec_get|fopen|this_thread)\b"
    r"|\bread_(utc|monotonic|clocks)\s*\("
    r"|\b(std::)?time\s*\(\s*(nullptr|NULL|0|&)"
)

# What is printed passes one place, which escapes it. An assertion that fails prints what the compiler gave it.
PRINT_FOLDERS = ("include", "src", "apps")
PRINT_EXCEPTIONS = ("src/engine/log/print.cpp", "src/fix/base/assert.cpp")
PRINT = re.compile(
    r"\bstd(out|err)\b|\bSTD(OUT|ERR)_FILENO\b|\bstd::w?(cout|cerr|clog)\b"
    r"|\b(v?printf|puts|putchar(_unlocked)?|perror|psignal|psiginfo|v?dprintf)\s*\("
    r"|\bwrite\s*\(\s*[12]\s*,"
)
STRING = re.compile(r'"(\\.|[^"\\])*"')

LANGUAGE = "nexusfix/base/language.hpp"

UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def read_layers(path: pathlib.Path) -> tuple[dict[str, set[str]], dict[str, str], list[str]]:
    """The modules each module may include, itself among them; each one's product; and what is wrong with the file."""
    allowed: dict[str, set[str]] = {}
    products: dict[str, str] = {}
    problems = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r"^([a-z]+)/([a-z]+):(.*)$", line)
        if not match:
            continue
        module, below = match[2], match[3].split()
        products[module] = match[1]
        for name in below:
            if name not in allowed:
                problems.append(
                    f"{path.name}:{number}: {module} lists {name}, which is not on a line above; move that line up"
                )
        allowed[module] = {module, *below}
    if not allowed:
        problems.append(f'{path.name}:1: no line of the form "product/module: the modules it may include"')
    return allowed, products, problems


def without_comments(line: str) -> str:
    return line.split("//", 1)[0]


class Checker:
    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.allowed, self.products, self.problems = read_layers(root / "layers.txt")
        self.notes: list[str] = []

    def run(self) -> None:
        self.check_folders()
        for top in ("include/nexusfix", "src"):
            for path in self.sources(top):
                folders = path.relative_to(self.root / top).parts[1 if top == "src" else 0:-1]
                if folders and folders[0] in self.allowed:
                    self.check_module_file(path, folders[0], private=top == "src")
                if top != "src" and path.suffix == ".hpp":
                    self.check_language(path)
        for top in SOURCE_FOLDERS:
            for path in self.sources(top):
                self.check_any_file(path)

    def check_language(self, path: pathlib.Path) -> None:
        """A header that includes others of the project reaches the one that names the language; the lowest include it."""
        relative = path.relative_to(self.root / "include").as_posix()
        if relative != LANGUAGE and '#include "nexusfix/' not in path.read_text():
            self.report(path, 1, f'include "{LANGUAGE}", so that a program compiled as C++20 gets a sentence')

    def sources(self, top: str) -> Iterator[pathlib.Path]:
        for path in sorted((self.root / top).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                yield path

    def report(self, path: pathlib.Path, number: int, text: str) -> None:
        self.problems.append(f"{path.relative_to(self.root).as_posix()}:{number}: {text}")

    def check_folders(self) -> None:
        for folder in sorted((self.root / "include/nexusfix").glob("*/")):
            if folder.is_dir() and folder.name not in self.allowed:
                self.report(folder, 1, f"module {folder.name} has no line in layers.txt; add it, lowest first")
        for folder in sorted((self.root / "src").glob("*/*/")):
            if folder.is_dir() and self.products.get(folder.name) != folder.parent.name:
                self.report(folder, 1, f"{folder.parent.name}/{folder.name} has no line in layers.txt; add it, lowest first")

    def check_module_file(self, path: pathlib.Path, module: str, private: bool) -> None:
        relative = path.relative_to(self.root).as_posix()
        pure = module in PURE_MODULES and not PURE_EXCEPTIONS.search(relative)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                self.check_include(path, number, module, private, quoted=match[1] == '"', target=match[2])
                if pure and OS_HEADER.search(match[2]):
                    self.report(path, number, f"pure module {module} includes <{match[2]}>; take what it gives as an "
                                "argument, or move the code to a module that may")
                continue
            call = OS_CALL.search(without_comments(line)) if pure else None
            if call:
                self.report(path, number, f"pure module {module} uses {call[0].strip()}; take the time or the bytes as "
                            "an argument")

    def check_include(
        self, path: pathlib.Path, number: int, module: str, private: bool, quoted: bool, target: str
    ) -> None:
        parts = target.split("/")
        if ".." in parts:
            self.report(path, number, f'"{target}" climbs out of its folder; write the path from include/ or src/')
            return
        public = parts[0] == "nexusfix"
        if public and len(parts) == 2:
            self.report(path, number, f'module {module} includes the umbrella "{target}"; include what it uses')
            return
        if not public and not quoted:
            return
        if not public and not private:
            self.report(path, number, f'installed header includes "{target}", which is not installed; '
                        "move what it needs to include/nexusfix")
            return
        if not public and len(parts) == 1:
            return  # A file in the same folder.
        other = parts[1] if public else parts[0]
        if other not in self.allowed:
            if public or list((self.root / "src").glob(f"*/{other}/")):
                self.report(path, number, f'"{target}" belongs to no module of layers.txt')
        elif other not in self.allowed[module]:
            below = " ".join(sorted(self.allowed[module] - {module})) or "nothing"
            self.report(path, number, f'{module} may include {below}, not "{target}"; let a module above join the two, '
                        "or move the shared part down")

    def check_prints(self, path: pathlib.Path, lines: list[str]) -> None:
        for number, line in enumerate(lines, 1):
            match = PRINT.search(without_comments(STRING.sub('""', line)))
            if match and "::dup2(" not in line:  # which redirects a stream
                self.report(path, number, f"{match[0]}: print through log/print.hpp, which escapes control characters")

    def check_any_file(self, path: pathlib.Path) -> None:
        lines = path.read_text().splitlines()
        if len(lines) > LINES_MAX and path.relative_to(self.root).as_posix() not in TABLES:
            self.report(path, LINES_MAX + 1, f"{len(lines)} lines, at most {LINES_MAX}; split off a second idea")
        elif len(lines) > LINES_ADVISED:
            self.notes.append(f"{path.relative_to(self.root).as_posix()}: {len(lines)} lines; does it hold one idea?")
        if not lines or not lines[0].startswith("// "):
            self.report(path, 1, "no opening; begin with a comment that states what the file does and why it exists")
        relative = path.relative_to(self.root).as_posix()
        if relative.startswith(tuple(f"{top}/" for top in PRINT_FOLDERS)) and relative not in PRINT_EXCEPTIONS:
            self.check_prints(path, lines)
        for number, line in enumerate(lines, 1):
            match = UNFINISHED.search(line)
            if match:
                self.report(path, number, f"{match[0]}: finish it, or state in the documentation what is missing")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args(arguments).root.resolve()
    if not (root / "layers.txt").is_file():
        print(f"check_layers: no layers.txt in {root}", file=sys.stderr)
        return 2
    checker = Checker(root)
    checker.run()
    for line in checker.notes:
        print(f"note: {line}")
    for line in checker.problems:
        print(line)
    print(f"check_layers: {len(checker.allowed)} modules, {len(checker.problems)} broken rules")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
