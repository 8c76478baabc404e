"""Cores of running engines, as gcore writes them, contain none of the passwords that the engines know."""
import mmap
import secrets
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, Running
from tls_support import Certificates, ssl

PIECE = 12


def new_secret(pieces=3):
    """Each piece of 12 digits is in no other memory by chance."""
    return secrets.token_hex(PIECE // 2 * pieces)


def why_no_cores():
    if not shutil.which("gcore"):
        return "gcore is missing (package gdb)"
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(["sleep", "600"]) as sleeper:
        made = subprocess.run(["gcore", "-o", f"{folder}/core", str(sleeper.pid)], capture_output=True, text=True, check=False)
        sleeper.kill()
        return "" if made.returncode == 0 else f"gcore cannot read a process: {made.stderr.strip()}"


class Started(Running):
    """nfx serve, also of an initiator, which listens on nothing."""

    def __init__(self, file, environment=None):
        self.process = subprocess.Popen([PROGRAM, "serve", str(file), "--messages"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**ENVIRONMENT, **(environment or {})})


class CoreSecrets(FolderTest):
    def start(self, name, settings, environment=None):
        (self.folder / name).mkdir()
        file = self.folder / name / "engine.conf"
        file.write_text(settings, encoding="utf-8")
        file.chmod(0o600)
        started = Started(file, environment)
        self.addCleanup(started.end)
        return started

    def venue(self, *keys, head=()):
        started = self.start("venue", "\n".join([
            *head, "[log]", 'directory = "logs"', "messages = true", "[[session]]", 'sender_comp_id = "VENUE"',
            'target_comp_id = "CLIENT"', 'listen = "127.0.0.1:0"', 'store_ring_directory = "rings"', *keys]))
        started.port = int(started.line_with("listens on").rsplit(":", 1)[1])
        return started

    def client(self, port, *keys, head=(), environment=None):
        return self.start("client", "\n".join([
            *head, "[[session]]", 'role = "initiator"', 'sender_comp_id = "CLIENT"', 'target_comp_id = "VENUE"',
            f'connect = "127.0.0.1:{port}"', 'store_ring_directory = "rings"', *keys]), environment)

    def expect_none(self, started, known, *hidden):
        """A piece of a secret would be too much: each is looked for."""
        subprocess.run(["gcore", "-o", str(self.folder / "core"), str(started.process.pid)], check=True, capture_output=True,
                       timeout=PATIENCE_S)
        core = self.folder / f"core.{started.process.pid}"
        with open(core, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            self.assertGreater(memory.find(known.encode()), 0, "the core lacks what is no secret: it proves nothing")
            found = []
            for secret in hidden:
                for begin in range(0, len(secret), PIECE):
                    piece = secret[begin:begin + PIECE].encode()
                    at = memory.find(piece)
                    while at >= 0:
                        found.append((hidden.index(secret), begin, hex(at), memory[max(at - 60, 0):at + 60]))
                        at = memory.find(piece, at + 1)
        core.unlink()
        self.assertEqual(found, [])

    def expect_none_on_both_sides(self, venue, client, *known_and_hidden):
        venue.line_with("logged on")
        client.line_with("logged on")
        self.expect_none(venue, *known_and_hidden)
        self.expect_none(client, *known_and_hidden)

    def test_passwords_in_the_file(self):
        user, password, new_password = new_secret(), new_secret(), new_secret()
        venue = self.venue(f'username = "{user}"', f'password = "{password}"')
        client = self.client(venue.port, f'username = "{user}"', f'password = "{password}"',
                             f'logon_fields = ["925={new_password}"]')
        self.expect_none_on_both_sides(venue, client, user, password, new_password)

    def test_short_passwords_in_the_file(self):
        user, password, new_password = new_secret(), new_secret(pieces=1), new_secret(pieces=1)
        venue = self.venue(f'username = "{user}"', f'password = "{password}"')
        client = self.client(venue.port, f'username = "{user}"', f"password = '{password}'",
                             f'logon_fields = "925={new_password}"')
        self.expect_none_on_both_sides(venue, client, user, password, new_password)

    def test_passwords_in_the_environment_over_io_uring(self):
        user, password = new_secret(), new_secret()
        head = ("[engine]", 'transport = "io_uring"')
        venue = self.venue(f'username = "{user}"', f'password = "{password}"', head=head)
        client = self.client(venue.port, f'username = "{user}"', 'password_env = "PASSWORD"', head=head,
                             environment={"PASSWORD": password})
        self.expect_none_on_both_sides(venue, client, user, password)

    def test_passwords_in_quickfix_settings(self):
        user, password, raw_data = new_secret(), new_secret(), new_secret()
        venue = self.venue(f'username = "{user}"', f'password = "{password}"')
        client = self.start("client", "\n".join([
            "[DEFAULT]", "ConnectionType=initiator", "NonStopSession=Y", "HeartBtInt=30", "[SESSION]", "BeginString=FIX.4.4",
            "SenderCompID=CLIENT", "TargetCompID=VENUE", "SocketConnectHost=127.0.0.1", f"SocketConnectPort={venue.port}",
            f"LogonTag=553={user}", f"LogonTag1=554={password}", f"LogonTag2=95={len(raw_data)}", f"LogonTag3=96={raw_data}"]))
        self.expect_none_on_both_sides(venue, client, user, password, raw_data)

    def test_a_password_that_is_wrong(self):
        user, password, wrong = new_secret(), new_secret(), new_secret()
        venue = self.venue(f'username = "{user}"', f'password = "{password}"')
        client = self.client(venue.port, f'username = "{user}"', f'password = "{wrong}"')
        venue.error_with("credentials")
        self.expect_none(venue, user, password, wrong)
        client.line_with("logged out")
        self.expect_none(client, user, wrong)

    @unittest.skipIf(ssl is None or not shutil.which("openssl"), "the command openssl or Python's module ssl is missing")
    def test_passwords_within_tls_and_the_password_of_a_private_key(self):
        user, password, of_key = new_secret(), new_secret(), new_secret()
        made = Certificates()
        self.addCleanup(made.folder.cleanup)
        made.openssl("pkey", "-in", made.file("server.key"), "-aes256", "-passout", f"pass:{of_key}", "-out",
                     made.file("locked.key"))
        keys = (f'username = "{user}"', f'password = "{password}"', "tls = true")
        venue = self.venue(*keys, f'tls_certificate = "{made.file("server.crt")}"', f'tls_key = "{made.file("server.key")}"')
        client = self.client(venue.port, *keys, f'tls_ca = "{made.file("ca.pem")}"',
                             f'tls_certificate = "{made.file("server.crt")}"', f'tls_key = "{made.file("locked.key")}"',
                             'tls_key_password_env = "KEY_PASSWORD"', environment={"KEY_PASSWORD": of_key})
        self.expect_none_on_both_sides(venue, client, user, password, of_key)


if __name__ == "__main__":
    if reason := why_no_cores():
        print(f"SKIPPED: {reason}")
        sys.exit(77)
    unittest.main(verbosity=2)
