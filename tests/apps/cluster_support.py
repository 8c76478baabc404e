"""A cluster of nats-servers by nfx cluster up, for the tests of what uses one."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import unittest

from support import ENVIRONMENT, PATIENCE_S, PROGRAM, run

SERVER = os.environ.get("NFX_NATS_SERVER") or shutil.which("nats-server", path=str(pathlib.Path.home() / "go/bin"))
START_S = 600
SKIPPED = 77


def test_with_cluster():
    """Runs the calling file's tests; exit code 77 where nats-server or libnats is missing."""
    missing = None if SERVER else "nats-server 2.12 or later (./dev deps nats builds one)"
    if "libnats-dev" in run("cluster", "check", "--url", "nats://127.0.0.1:1", "--timeout", "1")[2]:
        missing = "libnats-dev, when nfx was built,"
    if missing:
        print(f"SKIPPED: {missing} is missing")
        sys.exit(SKIPPED)
    unittest.main()


class Up:
    """A running nfx cluster up, with three servers where it is not said; `lines` are what it printed until it was ready."""

    def __init__(self, *options, port=0, local=3):
        self.process = subprocess.Popen(
            [PROGRAM, "cluster", "up", "--local", str(local), "--port", str(port), "--server", SERVER, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
        watchdog = threading.Timer(START_S, self.process.kill)
        watchdog.start()
        self.lines = []
        for line in iter(self.process.stdout.readline, ""):
            self.lines.append(line.rstrip("\n"))
            if line.startswith("ready;"):
                break
        watchdog.cancel()
        if not self.lines or not self.lines[-1].startswith("ready;"):
            self.process.kill()
            raise AssertionError(f"no cluster: {self.lines} {self.process.communicate()[1]}")
        self.settings = dict(line.split(" = ") for line in self.lines if " = " in line)
        self.settings = {name: json.loads(value) for name, value in self.settings.items()}
        self.settings["url"] = ",".join(self.settings["servers"])
        self.folder = pathlib.Path(self.settings["ca"]).parent
        self.servers = {words[0]: (int(words[1].split(":")[1]), int(words[3]))
                        for words in (line.split() for line in self.lines if line.startswith("  n"))}

    def options(self, user="gateway"):
        return ("--url", self.settings["url"], "--stream", self.settings["stream"], "--ca", self.settings["ca"],
                "--credentials", str(self.folder / f"{user}.creds"))

    def stop(self, number=signal.SIGTERM):
        """Exit code, and what it printed after it was ready."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err
