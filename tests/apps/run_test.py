"""A program made with nfx::run, examples/desk.cpp, as a user runs it: command line, exit codes, signals, lines, journals."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from support import ENVIRONMENT, PATIENCE_S, FolderTest, expect, fix, free_port
from tls_support import Certificates, ssl

DESK = os.environ["NFX_DESK"]
TOML = ('[[session]]\nsender_comp_id = "DESK"\ntarget_comp_id = "CLIENT"\nlisten = "127.0.0.1:0"\n'
        'store_ring_directory = "rings"\ndictionary = "none"\ncheck_latency = false\n')
CFG = """[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort=0
StartTime=00:00:00
EndTime=00:00:00
UseDataDictionary=N
[SESSION]
BeginString=FIX.4.4
SenderCompID=DESK
TargetCompID=CLIENT
"""


def run(*arguments):
    result = subprocess.run([DESK, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_S,
                            env=ENVIRONMENT, check=False)
    return result.returncode, result.stdout, result.stderr


class Desk:
    def __init__(self, config):
        self.process = subprocess.Popen([DESK, str(config)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=ENVIRONMENT)
        self.lines = []
        self.port = int(re.search(r":(\d+)$", self.line_with("listens on")).group(1))

    def line_with(self, part):
        watchdog = threading.Timer(PATIENCE_S, self.process.kill)
        watchdog.start()
        try:
            for line in iter(self.process.stderr.readline, ""):
                self.lines.append(line.rstrip("\n"))
                if part in line:
                    return self.lines[-1]
            raise AssertionError(f"no line with {part!r}: {self.lines}")
        finally:
            watchdog.cancel()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, "\n".join(self.lines) + "\n" + err

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Run(FolderTest):
    def config(self, text=TOML, name="desk.toml"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def desk(self, *arguments):
        desk = Desk(self.config(*arguments))
        self.addCleanup(desk.end)
        return desk

    def client(self, desk):
        client = socket.create_connection(("127.0.0.1", desk.port), timeout=PATIENCE_S)
        self.addCleanup(client.close)
        return client

    @staticmethod
    def message(kind, number, *fields):
        return fix([(35, kind), (34, number), (49, "CLIENT"), (56, "DESK"), (52, "20240102-12:00:00"), *fields])

    @staticmethod
    def read_until(client, part):
        received = b""
        while part not in received:
            more = client.recv(65536)
            if not more:
                raise AssertionError(f"closed before {part!r}: {received!r}")
            received += more
        return received

    def test_version_and_help_end_with_0(self):
        for option in ("--version", "-V"):
            out, _ = expect(run(option), err="")
            self.assertRegex(out, r"^NexusFIX \d+\.\d+\.\d+\n$")
        for option in ("--help", "-h"):
            out, _ = expect(run(option), err="")
            for part in ("desk [--check] CONFIG", "SIGHUP", "Exit codes: 0 done, 1 failed, 2 wrong usage"):
                self.assertIn(part, out)

    def test_wrong_command_lines_are_one_line_and_2(self):
        config = self.config()
        for arguments, part in ((["--chek", config], "unknown option --chek; did you mean --check?"),
                                ([], "no configuration"), (["--check"], "no configuration"),
                                ([config, "other.toml"], "one configuration at a time"),
                                ([self.folder / "missing.toml"], "missing.toml")):
            with self.subTest(part):
                _, err = expect(run(*arguments), code=2, out="")
                self.assertTrue(err.startswith("desk: ") and part in err, err)
                self.assertEqual(err.count("\n"), 1)

    def test_a_wrong_key_is_named_with_its_line(self):
        _, err = expect(run("--check", self.config(TOML + "heartbeat_intervall_s = 3\n")), code=2)
        self.assertRegex(err, r"^desk: .*desk\.toml:8:25: .*did you mean heartbeat_interval_s\?.*\n$")

    def test_an_address_in_use_is_2(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            code, out, err = run(self.config(TOML.replace(":0", f":{port}")))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("cannot listen", err.splitlines()[-1])

    def test_check_prints_what_would_run_and_makes_nothing(self):
        expect(run("--check", self.config()),
               out=["ok, 1 session", "acceptor FIX.4.4:DESK->CLIENT listens on 127.0.0.1:0, without a dictionary",
                    f"1 session has its journal in {self.folder}/store"],
               err="")
        self.assertFalse((self.folder / "store").exists())

    def test_check_tries_the_addresses_and_releases_them(self):
        address = ("127.0.0.1", free_port())
        config = self.config(TOML.replace(":0", f":{address[1]}"))
        self.assertEqual(run("--check", config)[0], 0)
        with socket.socket() as taken:
            taken.bind(address)  # without SO_REUSEADDR
            taken.listen()
            code, out, err = run("--check", config)
        self.assertEqual((code, err.count("\n")), (0, 1), err)
        self.assertIn("ok, 1 session", out)
        self.assertIn(f"desk: a start now fails: cannot listen: bind 127.0.0.1:{address[1]}: Address already in use;", err)
        expect(run("--check", self.config(TOML.replace("127.0.0.1", "192.0.2.1"))), code=2, out="",
               err="cannot listen: bind 192.0.2.1:0", err_lines=1)
        self.assertFalse((self.folder / "store").exists())

    def test_quickfix_settings_are_read_in_the_same_place(self):
        expect(run("--check", self.config(CFG, "desk.cfg")), out="acceptor FIX.4.4:DESK->CLIENT")

    def test_serves_and_ends_orderly_with_its_messages_in_a_journal(self):
        desk = self.desk()
        client = self.client(desk)
        client.sendall(self.message("A", 1, (98, 0), (108, 30)))
        self.read_until(client, b"\x0135=A\x01")
        desk.line_with("FIX.4.4:DESK->CLIENT logged on, next in 2, next out 2")
        client.sendall(self.message("D", 2, (11, "first"), (55, "ALFA"), (54, 1), (38, 100)))
        self.read_until(client, b"\x0111=first\x01")
        desk.process.send_signal(signal.SIGINT)
        self.read_until(client, b"\x0135=5\x01")
        client.sendall(self.message("5", 3))
        out, err = desk.process.communicate(timeout=PATIENCE_S)
        self.assertEqual((desk.process.returncode, out), (0, ""))
        said = "\n".join(desk.lines) + err
        self.assertIn(f"store: 1 session has its journal in {self.folder}/store", said)
        self.assertRegex(said, r"idle: block: without \[placement\]")
        again = Desk(self.folder / "desk.toml")
        self.addCleanup(again.end)
        again.line_with("resumes with next in 4, next out 4")
        self.assertEqual(again.stop()[0], 0)

    def test_store_memory_makes_no_folder(self):
        desk = self.desk(TOML + 'store = "memory"\n')
        desk.line_with("1 session in memory")
        self.assertEqual(desk.stop()[0], 0)
        self.assertFalse((self.folder / "store").exists())

    def test_notices_and_refused_logons_are_lines_without_control_characters(self):
        desk = self.desk()
        client = self.client(desk)
        client.sendall(fix([(35, "A"), (34, 1), (49, "STR\x1b[31mANGER"), (56, "DESK"), (52, "20240102-12:00:00"),
                            (98, 0), (108, 30)]))
        line = desk.line_with("Logon refused")
        self.assertIn("ANGER", line)
        self.assertNotIn("\x1b", line)
        second = self.client(desk)
        second.sendall(self.message("A", 1, (98, 0), (108, 30)))
        self.read_until(second, b"\x0135=A\x01")
        second.sendall(fix([(35, "0"), (34, 2), (49, "CLIENT"), (56, "DESK"), (52, "20240102-12:00:00")], sum_off=1))
        desk.line_with("notice: garbled message ignored")

    def test_hangup_reloads_and_does_not_end_the_program(self):
        desk = self.desk()
        desk.process.send_signal(signal.SIGHUP)
        desk.line_with("SIGHUP: nothing to reload")
        self.assertEqual(desk.stop()[0], 0)

    @unittest.skipUnless(ssl and shutil.which("openssl"), "needs Python's module ssl and the command openssl")
    def test_hangup_reloads_certificates(self):
        made = Certificates()
        made.issue("renewed", "IP:127.0.0.1")
        certificate, key = (str(self.folder / name) for name in ("own.crt", "own.key"))

        def install(name):
            shutil.copy(made.file(name + ".crt"), certificate)
            shutil.copy(made.file(name + ".key"), key)

        def shown():
            context = ssl.create_default_context(cafile=made.file("ca.pem"))
            with context.wrap_socket(self.client(desk), server_hostname="127.0.0.1") as client:
                return client.getpeercert()["serialNumber"]

        install("server")
        desk = self.desk(TOML + f'tls = true\ntls_certificate = "{certificate}"\ntls_key = "{key}"\n')
        first = shown()
        install("renewed")
        self.assertEqual(shown(), first)
        desk.process.send_signal(signal.SIGHUP)
        desk.line_with("tls: certificates, keys and revocation lists are reloaded")
        self.assertNotEqual(shown(), first)
        pathlib.Path(key).write_text("no key\n", encoding="utf-8")
        desk.process.send_signal(signal.SIGHUP)
        self.assertIn("the files loaded before stay in use", desk.line_with("tls: FIX.4.4:DESK->CLIENT: "))
        self.assertNotEqual(shown(), first)
        self.assertEqual(desk.stop()[0], 0)

    def test_a_second_signal_ends_immediately(self):
        desk = self.desk(TOML + "logout_timeout_s = 600\n")
        client = self.client(desk)
        client.sendall(self.message("A", 1, (98, 0), (108, 30)))
        self.read_until(client, b"\x0135=A\x01")
        desk.process.send_signal(signal.SIGTERM)
        self.read_until(client, b"\x0135=5\x01")  # which is not answered
        desk.process.send_signal(signal.SIGTERM)
        desk.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(desk.process.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
