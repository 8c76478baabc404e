"""nfx serve under a service manager: readiness, watchdog, stopping; nfx engine health; and the unit that is installed."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import support
from support import PATIENCE_S, PROGRAM, FolderTest, Server, expect, run

UNIT = pathlib.Path(os.environ["NFX_UNIT"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = """[control]
socket = "control.sock"
audit = "audit.log"
[[session]]
sender_comp_id = "NEXUSFIX"
target_comp_id = "CLIENT"
listen = "127.0.0.1:0"
store = "memory"
"""
# What systemd-analyze may state: 0 is best, 10 is worst. docs/monitoring.md has the number.
WORST_EXPOSURE = 1.8


class Service(FolderTest):
    def setUp(self):
        super().setUp()
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.bind(str(self.folder / "notify"))
        self.manager.settimeout(PATIENCE_S)

    def serve(self, **environment):
        before = dict(support.ENVIRONMENT)
        support.ENVIRONMENT.update(environment)
        try:
            server = Server(self.folder, settings=SETTINGS)
        finally:
            support.ENVIRONMENT.clear()
            support.ENVIRONMENT.update(before)
        self.addCleanup(server.end)
        return server

    def next(self):
        return self.manager.recv(256).decode()

    def health(self, *options):
        return run("engine", "health", *options, environment={"NFX_CONTROL": str(self.folder / "control.sock")})

    def test_the_manager_is_told(self):
        server = self.serve(NOTIFY_SOCKET=str(self.folder / "notify"), WATCHDOG_USEC="300000")
        self.assertEqual([self.next(), self.next(), self.next()], ["READY=1", "WATCHDOG=1", "WATCHDOG=1"])
        # Ready is what a client sees too.
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_S).close()
        self.assertEqual(server.stop()[0], 0)
        self.manager.setblocking(False)
        rest = []
        try:
            while True:
                rest.append(self.next())
        except BlockingIOError:
            pass
        self.assertEqual(rest.count("STOPPING=1"), 1, rest)
        self.assertEqual(set(rest) - {"WATCHDOG=1"}, {"STOPPING=1"})

    def test_another_process_s_watchdog_is_not_ours(self):
        server = self.serve(NOTIFY_SOCKET=str(self.folder / "notify"), WATCHDOG_USEC="300000", WATCHDOG_PID="1")
        self.assertEqual(self.next(), "READY=1")
        self.assertEqual(server.stop()[0], 0)
        self.assertEqual(self.next(), "STOPPING=1")

    def test_health_is_an_exit_code(self):
        expect(self.health(), code=3, out="", err="control.sock")
        server = self.serve()
        live, ready = "live: all poll threads answer\n", "ready: Logons are accepted\n"
        self.assertEqual(self.health(), (0, live + ready, ""))
        self.assertEqual(self.health("--live"), (0, live, ""))
        self.assertEqual(self.health("--ready"), (0, ready, ""))
        environment = {"NFX_CONTROL": str(self.folder / "control.sock")}
        self.assertEqual(run("engine", "drain", environment=environment)[0], 0)
        code, out, err = self.health()
        self.assertEqual((code, out), (1, live))
        self.assertIn("the engine drains", err)
        self.assertEqual(self.health("--live")[0], 0)
        self.assertEqual(self.health("--ready")[0], 1)
        self.assertEqual(run("engine", "end-drain", environment=environment)[0], 0)
        self.assertEqual(self.health()[0], 0)
        self.assertEqual(self.health("--live", "--ready")[0], 2)
        self.assertEqual(server.stop()[0], 0)


class Unit(unittest.TestCase):
    def setUp(self):
        self.text = UNIT.read_text(encoding="utf-8")

    def value(self, key):
        return re.search(rf"^{key}=(.*)$", self.text, re.MULTILINE).group(1)

    def test_its_name_is_the_one_that_a_plan_is_for(self):
        self.assertIn(f"/{UNIT.name}.d/50-nexusfix.conf", (ROOT / "src/host/host/boot/systemd.cpp").read_text(encoding="utf-8"))
        self.assertNotIn("\nCPUAffinity=", self.text)  # the plan's

    def test_a_crash_writes_no_passwords_to_a_core(self):
        self.assertEqual(self.value("LimitCORE"), "0")

    def test_its_user_s_folders_hold_no_record_that_root_follows(self):
        header = (ROOT / "src/host/host/apply.hpp").read_text(encoding="utf-8")
        records = re.findall(r'_state_folder = "([^"]+)"', header)
        self.assertEqual(len(records), 2)
        for kind, above in ("RuntimeDirectory", "/run"), ("StateDirectory", "/var/lib"), ("LogsDirectory", "/var/log"):
            owned = f"{above}/{self.value(kind)}"
            for record in records:
                self.assertFalse(f"{record}/".startswith(f"{owned}/"), f"{record} is in {owned}, of the service's user")

    def test_it_starts_commands_that_exist(self):
        self.assertEqual(self.value("Type"), "notify")
        words = self.value("ExecStart").split()
        self.assertTrue(words[0].endswith("/bin/nfx"), words)
        self.assertEqual(run(*[word for word in words[1:] if not word.startswith("/")], "--help")[0], 0, words)
        # A journal's ring in shared memory has what is not yet on disk; systemd would remove it with the last process.
        self.assertEqual(self.value("RemoveIPC"), "no")
        self.assertEqual(self.value("LimitMEMLOCK"), "infinity")

    def test_a_wrong_configuration_ends_it_for_good(self):
        # RestartPreventExitStatus= is for the main process: what fails before it is started again for ever.
        self.assertNotIn("\nExecStartPre=", self.text)
        with tempfile.TemporaryDirectory() as folder:
            wrong = pathlib.Path(folder) / "engine.toml"
            wrong.write_text(SETTINGS + "lisen = 1\n", encoding="utf-8")
            code, _, err = run(*self.value("ExecStart").split()[1:-1], wrong)
        self.assertEqual(str(code), self.value("RestartPreventExitStatus"))
        self.assertIn("lisen", err)
        # Restarts of anything else come to the limit within the interval, when a start takes as long as the pause.
        pause_s = int(re.fullmatch(r"(\d+)s", self.value("RestartSec")).group(1))
        interval_s = 60 * int(re.fullmatch(r"(\d+)min", self.value("StartLimitIntervalSec")).group(1))
        self.assertLess(2 * pause_s * int(self.value("StartLimitBurst")), interval_s)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is missing (package systemd)")
    def test_systemd_takes_it_and_its_exposure_is_as_documented(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / UNIT.name
            unit.write_text(re.sub(r"(?<==)\S*/bin/nfx", PROGRAM, self.text), encoding="utf-8")
            result = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)],
                                    capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.assertNotIn(UNIT.name, result.stderr)
            result = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
                                    capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        found = re.search(r"Overall exposure level for \S+: ([\d.]+)", result.stdout)
        self.assertIsNotNone(found, result.stdout + result.stderr)
        self.assertLessEqual(float(found.group(1)), WORST_EXPOSURE, result.stdout)
        self.assertIn(f"states {WORST_EXPOSURE}", (ROOT / "docs/monitoring.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
