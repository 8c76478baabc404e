"""Runs the nfx program and builds FIX messages for it. NFX_PROGRAM names the binary."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from free_port import free_port  # noqa: E402, F401

PROGRAM = os.environ["NFX_PROGRAM"]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
# Long enough for a loaded machine; nothing waits for it to pass.
PATIENCE_S = 600

HEADER = [(35, "D"), (34, 2), (49, "CLIENT"), (56, "VENUE"), (52, "20240102-12:00:00.000")]
ORDER = HEADER + [(11, "abc"), (55, "IBM"), (54, 1), (60, "20240102-12:00:00"), (38, 100), (40, 2), (44, "12.5")]


def fix(fields, begin="FIX.4.4", separator="\x01", sum_off=0, length_off=0):
    """One message as bytes; sum_off and length_off make CheckSum and BodyLength wrong by that much."""
    body = "".join(f"{tag}={value}\x01" for tag, value in fields)
    text = f"8={begin}\x019={len(body.encode('latin-1')) + length_off}\x01{body}"
    text += f"10={(sum(text.encode('latin-1')) + sum_off) % 256:03d}\x01"
    return text.replace("\x01", separator).encode("latin-1")


def run(*arguments, data=b"", environment=None):
    """Exit code, standard output and standard error."""
    result = subprocess.run([PROGRAM, *arguments], input=data, capture_output=True, timeout=PATIENCE_S,
                            env={**ENVIRONMENT, **(environment or {})}, check=False)
    return result.returncode, result.stdout.decode("utf-8"), result.stderr.decode("utf-8")


def run_in(folder, *arguments):
    """The same in this folder, without input."""
    result = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S,
                            env=ENVIRONMENT, check=False, cwd=folder)
    return result.returncode, result.stdout.decode("utf-8"), result.stderr.decode("utf-8")


def expect(result, code=0, out=None, err=None, err_lines=None):
    """Checks what run() returns, and returns both outputs. `out` and `err`: parts that they contain; "" if they are empty."""
    found, *outputs = result
    whole = "\n".join(("", *outputs))
    assert found == code, f"exit code {found}, expected {code}:{whole}"
    for output, parts in zip(outputs, (out, err)):
        assert parts != "" or output == "", f"expected no output:{whole}"
        for part in [parts] if isinstance(parts, str) else parts or []:
            assert part in output, f"no {part!r} in{whole}"
    assert err_lines in (None, outputs[1].count("\n")), f"expected {err_lines} lines of errors:{whole}"
    return outputs


class FolderTest(unittest.TestCase):
    """Each test has an empty folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Process:
    """A running program whose lines are read as they come."""

    def __init__(self, *command, folder=None, environment=None, inherit_ignored_signals=False):
        self.process = subprocess.Popen([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**ENVIRONMENT, **(environment or {})}, text=True, cwd=folder,
                                        restore_signals=not inherit_ignored_signals)

    def line_with(self, part):
        """The next printed line that contains this; those before it are dropped."""
        return self.next_line(self.process.stdout, part)

    def error_with(self, part):
        """The same of standard error."""
        return self.next_line(self.process.stderr, part)

    def next_line(self, stream, part):
        # Who waits for a line that never comes finds the end of the output instead.
        watchdog = threading.Timer(PATIENCE_S, self.process.kill)
        watchdog.start()
        try:
            skipped = []
            for line in iter(stream.readline, ""):
                if part in line:
                    return line
                skipped.append(line)
            raise AssertionError(f"{self.process.args[0]} did not print {part!r} but {skipped}")
        finally:
            watchdog.cancel()

    def stop(self, number=signal.SIGTERM):
        """Exit code and everything printed after the lines that were read."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err

    def end(self):
        """For a test that may have stopped it already."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Running(Process):
    """A process that listens on a port of the kernel's choice, which the first line with "listens on" names."""

    def __init__(self, *command, listens_on="stdout", **how):
        super().__init__(*command, **how)
        try:
            self.first_line = self.next_line(getattr(self.process, listens_on), "listens on")
        except AssertionError as error:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"{error}; then {out + err}") from None
        self.port = int(re.search(r"listens on \S*:(\d+)", self.first_line).group(1))


class Server(Running):
    """A running nfx serve."""

    # The ring goes with the test's folder, also when the server is killed.
    TOML = ('[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "CLIENT"\nlisten = "127.0.0.1:0"\n'
            'store_ring_directory = "rings"\n')

    def __init__(self, folder, *options, settings=TOML, **more):
        config = pathlib.Path(folder) / "serve.conf"
        config.write_text(settings, encoding="utf-8")
        super().__init__(PROGRAM, "serve", config, *options, **more)
