"""What the steps of the first hour run commands with: each is timed, checked and listed in the table."""
import dataclasses
import shlex
import subprocess
import sys
import time

from support import ENVIRONMENT, Running

BUILD_PATIENCE_S = 7200  # one core, without a compiler cache


class Failed(Exception):
    """A step did not see what it has to see."""


@dataclasses.dataclass
class Command:
    text: str
    seconds: float


@dataclasses.dataclass
class Result:
    name: str
    about: str
    seconds: float = 0.0
    failed: bool = False
    commands: list = dataclasses.field(default_factory=list)
    seen: list = dataclasses.field(default_factory=list)


class Hour:
    """Runs steps in one clone. `built` is a folder with programs, or None: the steps build with ./dev."""

    def __init__(self, root, scratch, preset, built=None):
        self.root = root
        self.scratch = scratch
        self.preset = preset
        self.built = built.resolve() if built else None
        self.build = self.built or root / "build" / preset
        self.prefix = scratch / "prefix"
        self.results = []
        self.log = None  # a message log, when a step has made one
        self.processes = []
        # The list of what was installed last belongs to the user of the clone.
        self.manifest = self.build / "install_manifest.txt"
        self.manifest_before = self.manifest.read_bytes() if self.manifest.exists() else None

    def take(self, step):
        """Runs a step; what goes wrong in it is its result."""
        self.results.append(Result(step.name, step.about))
        result = self.results[-1]
        print(f"first-hour: {step.name}: {step.about}", file=sys.stderr, flush=True)
        begin = time.monotonic()
        try:
            result.seen += step.run(self)
        except Exception as error:  # whatever it is, the other steps are taken too
            result.failed = True
            result.seen += (str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}").splitlines()
            print(f"first-hour: {step.name} FAILED: {error}", file=sys.stderr, flush=True)
        finally:
            self.end_processes()
        result.seconds = time.monotonic() - begin

    def end_processes(self):
        for process in self.processes:
            process.end()
        self.processes.clear()

    def end(self):
        self.end_processes()
        if self.built is None and self.manifest.exists():
            if self.manifest_before is None:
                self.manifest.unlink()
            else:
                self.manifest.write_bytes(self.manifest_before)

    def folder(self, name):
        path = self.scratch / name
        path.mkdir(exist_ok=True)
        return path

    def shown(self, text):
        """As the user would type it: without the folders of this run."""
        return (str(text).replace(str(self.prefix), "PREFIX").replace(str(self.scratch) + "/", "")
                .replace(str(self.build) + "/", "").replace(str(self.root) + "/", ""))

    def listed(self, text, seconds):
        self.results[-1].commands.append(Command(self.shown(text), seconds))

    def command(self, *words, folder=None, data="", expect=0, **environment):
        """Exit code is `expect`; gives standard output and standard error."""
        return self.timed([str(each) for each in words], shlex.join(map(str, words)), folder, data, expect, environment)

    def shell(self, line, folder, **environment):
        return self.timed(["sh", "-c", line], line, folder, "", 0, environment)

    def timed(self, words, text, folder, data, expect, environment):
        print(f"first-hour:   {self.shown(text)}", file=sys.stderr, flush=True)
        begin = time.monotonic()
        done = subprocess.run(words, cwd=folder or self.root, input=data, capture_output=True, text=True, errors="replace",
                              env={**ENVIRONMENT, "PRESET": self.preset, **environment}, timeout=BUILD_PATIENCE_S, check=False)
        self.listed(text, time.monotonic() - begin)
        if done.returncode != expect:
            tail = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
            raise Failed(f"{self.shown(text)}: exit code {done.returncode}, not {expect}\n{tail}")
        return done.stdout, done.stderr

    def serve(self, *words, folder, listens_on="stdout"):
        """A server that runs until the end of the step."""
        begin = time.monotonic()
        server = Running(*words, folder=folder, listens_on=listens_on)
        self.processes.append(server)
        self.listed(shlex.join(map(str, words)) + " &", time.monotonic() - begin)
        return server

    def install(self):
        """Once, for all steps that need it."""
        if not self.prefix.exists():
            self.command("./dev", "install", self.prefix)

    @property
    def nfx(self):
        """The installed program, unless nothing is built."""
        if self.built is not None:
            return self.build / "apps/nfx/nfx"
        self.install()
        return self.prefix / "bin/nfx"

    def target(self, name):
        """A program of the tree, built when that is allowed."""
        if self.built is None:
            self.command("./dev", "build", "--target", name)
        return self.build / "examples" / name


def found(pattern, text, what):
    """The match of a regular expression in what a command printed."""
    match = pattern.search(text)
    if match is None:
        raise Failed(f"{what}: nothing like {pattern.pattern!r} in\n{text}")
    return match
