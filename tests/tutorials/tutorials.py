"""Follows a tutorial of docs/ as its reader does: writes its files, runs its commands, and compares what they print.

A page is read from top to bottom. Of a paragraph, what stands directly before a block counts:
  - "... `desk.cpp`:" makes the block the file of that name, in the folder of the terminal. Without a name it
    must be a part of a program of examples/.
  - A block ```sh has commands, one a line, each of which must succeed. After "leave it running:" the last one goes on. After
    "exit code 1" it has to end with that. `./dev install` is not run: NexusFIX is installed from the build.
  - A block ```text has lines that the last command prints, or the one of the terminal that the paragraph names. They may come
    in any order, with others between them. "..." stands for anything, also as a line. Times and long numbers may differ.
  - "second terminal" is where the following commands run, until another one is named. "Ctrl-C in the first terminal" ends the
    command there, which must end with exit code 0 or the one that the paragraph names.
  - "needs QuickFIX" skips the page where its package is missing.
Ports of 127.0.0.1 are replaced by free ones, and /home/you by the test's folder.

Of another page than a tutorial, each ```cpp block must be in cookbook.cpp, which the build compiles and a test runs.
"""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from free_port import free_port  # noqa: E402

PATIENCE_S = 600  # nothing waits for it to pass
SKIPPED = 77
TERMINALS = ("first", "second", "third")
VARIES = (r"\d{8}-\d\d:\d\d:\d\d\.\d{3,9}", r"\d{12,}", r"\b[0-9a-f]{16,}\b")
ANYTHING = r"\.\.\."


class Failed(Exception):
    """The page and this build do not agree."""


class Terminal:
    """Runs one command at a time; its output, standard error included, is read as it comes."""

    def __init__(self, name, folder, environment):
        self.name = name
        self.folder = folder
        self.environment = environment
        self.process = None
        self.command = ""
        self.output = ""
        self.unseen = []  # lines that no block of the page has had yet
        self.ended = False
        self.changed = threading.Condition()

    def start(self, command):
        if self.process is not None and self.process.poll() is None:
            raise Failed(f"{self.command} still runs in the {self.name} terminal, where {command} should")
        self.command, self.output, self.unseen, self.ended = command, "", [], False
        self.process = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        errors="replace", start_new_session=True)
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()

    def read(self, process):
        with process.stdout:
            for line in process.stdout:
                with self.changed:
                    self.output += line
                    self.unseen.append(line.rstrip("\n"))
                    self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def finish(self, code=0):
        """Waits for its end, which has to be this one."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended, PATIENCE_S)
        ended = self.process.wait(PATIENCE_S)
        ended = ended if ended >= 0 else 128 - ended  # as a shell shows it
        if ended != code:
            raise Failed(f"{self.command}: exit code {ended}, not {code}\n{self.output}")

    def interrupt(self, code):
        os.killpg(self.process.pid, signal.SIGINT)
        self.finish(code)

    def expect(self, lines):
        """Waits until all of these were printed, in any order."""
        patterns = [as_pattern(line) for line in lines if line.strip() != "..."]
        with self.changed:
            while patterns:
                found = next((seen for seen in self.unseen if patterns[0].fullmatch(seen)), None)
                if found is not None:
                    self.unseen.remove(found)
                    patterns.pop(0)
                elif self.ended or not self.changed.wait(PATIENCE_S):
                    raise Failed(f"{self.command} did not print\n  {patterns[0].pattern}\nbut\n{self.output}")

    def end(self):
        if self.process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(self.process.pid, number)
                self.process.wait(30)


def as_pattern(line):
    """What matches the line that a page shows."""
    pieces = re.split(f"({'|'.join((*VARIES, ANYTHING))})", line.rstrip())
    varies = [".*" if piece == "..." else next(kind for kind in VARIES if re.fullmatch(kind, piece)) for piece in pieces[1::2]]
    same = [re.escape(piece) for piece in pieces[::2]]
    return re.compile(same[0] + "".join(one + other for one, other in zip(varies, same[1:])) + r"\s*")


def parts(text):
    """The page's paragraphs and blocks: (language, text), without a language for a paragraph or a heading."""
    paragraph, block, language = [], None, ""
    for line in text.splitlines():
        if block is not None:
            if line.startswith("```"):
                yield language, "\n".join(block) + "\n"
                block = None
            else:
                block.append(line)
        elif line.startswith("```") or not line.strip() or line.startswith("#"):
            if paragraph:
                yield "", " ".join(paragraph)
            paragraph = []
            if line.startswith("```"):
                block, language = [], line[3:].strip()
            elif line.startswith("#"):
                yield "", line
        else:
            paragraph.append(line.strip())
    if paragraph:
        yield "", " ".join(paragraph)


class Page:
    def __init__(self, path, home, environment):
        self.path = path
        text = path.read_text(encoding="utf-8")
        for port in sorted(set(re.findall(r"(?:127\.0\.0\.1:|Port=)(\d{4,5})\b", text))):
            text = re.sub(rf"\b{port}\b", str(free_port()), text)
        self.text = text.replace("/home/you", str(home))
        self.terminals = [Terminal(name, home, environment) for name in TERMINALS]
        self.here = self.terminals[0]
        self.exports = []
        self.paragraph = ""

    def named_terminal(self):
        """The one that the paragraph names last."""
        places = {each: self.paragraph.rfind(f"{each.name} terminal") for each in self.terminals}
        named = max(places, key=places.get)
        return named if places[named] >= 0 else None

    def exit_code(self):
        return int((re.findall(r"exit code (\d+)", self.paragraph) or [0])[0])

    def follow(self):
        for language, text in parts(self.text):
            if not language:
                self.read_paragraph(text)
            elif language == "sh":
                self.run(text.splitlines())
            elif language == "text":
                self.here.expect(text.splitlines())
            else:
                self.write(text)

    def read_paragraph(self, text):
        self.paragraph = text
        for name in re.findall(r"Ctrl-C in the (\w+) terminal", text):
            self.terminals[TERMINALS.index(name)].interrupt(self.exit_code())
        self.here = self.named_terminal() or self.here

    def write(self, text):
        name = re.search(r"`([\w./-]+\.\w+)`[^`]*:$", self.paragraph)
        if name is None:
            if not any(text in example.read_text(encoding="utf-8") for example in (ROOT / "examples").glob("*.*")):
                raise Failed(f"not in an example:\n{text}")
        else:
            (self.here.folder / name[1]).write_text(text, encoding="utf-8")

    def run(self, lines):
        stays = self.paragraph.endswith("leave it running:")
        code = self.exit_code()
        for line in lines:
            if line.startswith("export "):
                self.exports.append(line)
                continue
            if line.startswith("./dev install "):
                continue
            folder = re.fullmatch(r"(?:mkdir (\S+) && )?cd (\S+)", line)
            if folder:
                for each in self.terminals:
                    each.folder = each.folder / folder[2]
                if folder[1]:
                    self.here.folder.mkdir()
                continue
            self.here.start("\n".join([*self.exports, line]))
            if not stays or line != lines[-1]:
                self.here.finish(code if line == lines[-1] else 0)


def install(build, prefix):
    """From the finished build. The list of what was installed last belongs to the user of the clone."""
    manifest = build / "install_manifest.txt"
    before = manifest.read_bytes() if manifest.exists() else None
    shutil.rmtree(prefix, ignore_errors=True)
    done = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True, check=False)
    if before is None:
        manifest.unlink(missing_ok=True)
    else:
        manifest.write_bytes(before)
    if done.returncode != 0:
        raise Failed(done.stdout + done.stderr)


def follow(path, options):
    quickfix = "needs QuickFIX" in path.read_text(encoding="utf-8")
    if quickfix and subprocess.run(["pkg-config", "--exists", "quickfix"], check=False).returncode != 0:
        print("skipped: QuickFIX is missing (libquickfix-dev)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        home = pathlib.Path(scratch).resolve()
        (home / "nexusfix").symlink_to(options.prefix.resolve())
        # The page's compiler is that of the build. Without its cache: with a base folder that gives __FILE__ a relative path, by
        # which no dictionary of the installation is found.
        (home / "bin").mkdir()
        compiler = home / "bin/c++"
        compiler.write_text(f'#!/bin/sh\nexec {shutil.which(options.compiler)} "$@"\n', encoding="utf-8")
        compiler.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NFX_")}
        environment |= {"HOME": str(home), "PATH": f"{home / 'bin'}:{environment['PATH']}", "NO_COLOR": "1"}
        packages, = (home / "nexusfix").rglob("nexusfix-engine.pc")
        environment |= {"PATH": f"{home / 'nexusfix/bin'}:{environment['PATH']}", "PKG_CONFIG_PATH": str(packages.parent),
                        "LD_LIBRARY_PATH": str(packages.parent.parent)}  # of shared libraries
        page = Page(path, home, environment)
        try:
            page.follow()
            left = [each.command for each in page.terminals if each.process and each.process.poll() is None]
            if left:
                raise Failed(f"the page ends without ending {left}")
        finally:
            for each in page.terminals:
                each.end()
    print(f"{path.name}: followed to its end")
    return 0


def check_recipes(path):
    def flat(text):
        return "\n".join(line.strip() for line in text.splitlines())

    program = flat((pathlib.Path(__file__).parent / "cookbook.cpp").read_text(encoding="utf-8"))
    recipes = [text for language, text in parts(path.read_text(encoding="utf-8")) if language == "cpp"]
    wrong = [text for text in recipes if flat(text) not in program]
    for text in wrong:
        print(f"{path}: not in cookbook.cpp:\n{textwrap.indent(text, '  ')}", file=sys.stderr)
    print(f"{path.name}: {len(recipes) - len(wrong)} of {len(recipes)} recipes are in cookbook.cpp")
    return 1 if wrong or not recipes else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", metavar="BUILD", type=pathlib.Path, help="install this build into the prefix, and end")
    parser.add_argument("--prefix", type=pathlib.Path, help="where NexusFIX is installed")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("page", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    try:
        if options.install:
            install(options.install, options.prefix)
            return 0
        if options.page.name.startswith("tutorial-"):
            return follow(options.page, options)
        return check_recipes(options.page)
    except Failed as error:
        print(f"{options.page or options.install}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
