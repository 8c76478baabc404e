"""examples/signed_logon.cpp: both sides as processes, with HMAC-SHA256 and Ed25519; a relay between them changes one bit of
what is signed."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from support import ENVIRONMENT, PATIENCE_S

PROGRAM = os.environ["NFX_SIGNED_LOGON"]

SESSION = """[[session]]
role = "{role}"
sender_comp_id = "{us}"
target_comp_id = "{them}"
{address}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def flip(message, field):
    """The message with the lowest bit of the field's sixth byte changed, and a CheckSum that is right again."""
    body = message[:message.rindex(b"10=")]
    at = body.index(field) + len(field) + 5
    body = body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]
    return body + b"10=%03d\x01" % (sum(body) % 256)


class Relay:
    """Passes on the first connection that finds the server listening, with its first message changed."""

    def __init__(self, port, change):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, args=(port, change), daemon=True).start()

    def run(self, port, change):
        with self.listener:
            while True:
                client, _ = self.listener.accept()
                with client:
                    try:
                        server = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
                    except ConnectionRefusedError:  # not listening yet; the client tries again
                        continue
                    with server:
                        return self.relay(client, server, change)

    @staticmethod
    def relay(client, server, change):
        logon = b""
        while not re.search(b"\x0110=[0-9]{3}\x01$", logon):
            logon += client.recv(4096)
        server.sendall(change(logon))
        while data := server.recv(4096):
            client.sendall(data)


class SignedLogon(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.port = free_port()

    def start(self, role, us, them, address, key):
        config = self.folder / f"{us}.toml"
        config.write_text(SESSION.format(role=role, us=us, them=them, address=address), encoding="utf-8")
        process = subprocess.Popen([PROGRAM, str(config), str(key)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=ENVIRONMENT, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def line(self, stream, process):
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        try:
            return stream.readline()
        finally:
            watchdog.cancel()

    def keys(self, kind):
        """Of the venue and of the trader."""
        if kind == "hmac":
            secret = self.folder / "secret.txt"
            secret.write_text("not much of a secret", encoding="utf-8")
            return secret, secret
        private, public = self.folder / "private.pem", self.folder / "public.pem"
        for command in (["genpkey", "-algorithm", "ed25519", "-out", str(private)],
                        ["pkey", "-in", str(private), "-pubout", "-out", str(public)]):
            subprocess.run(["openssl", *command], check=True, capture_output=True, timeout=PATIENCE_S)
        return public, private

    def sides(self, kind, change=None):
        venue_key, trader_key = self.keys(kind)
        venue = self.start("acceptor", "VENUE", "TRADER", f'listen = "127.0.0.1:{self.port}"', venue_key)
        port = Relay(self.port, change).port if change else self.port
        address = f'connect = "127.0.0.1:{port}"\nreconnect_delay_ms = 50\nreconnect_delay_max_ms = 50'
        return venue, self.start("initiator", "TRADER", "VENUE", address, trader_key)

    def test_both_sides_agree(self):
        for kind in ("hmac", "ed25519"):
            with self.subTest(kind):
                venue, trader = self.sides(kind)
                self.assertEqual(self.line(trader.stdout, trader), "TRADER: logged on\n")
                self.assertEqual(self.line(venue.stdout, venue), "VENUE: logged on\n")
                trader.kill()
                venue.kill()
                venue.wait()

    def test_one_bit_is_enough_to_be_refused(self):
        for kind in ("hmac", "ed25519"):
            for name, field in (("signature", b"\x0196="), ("SendingTime", b"\x0152=")):
                with self.subTest(kind, field=name):
                    venue, trader = self.sides(kind, lambda logon, field=field: flip(logon, field))
                    self.assertIn("refused by the application", self.line(venue.stderr, venue))
                    trader.kill()
                    venue.kill()
                    venue.wait()

    def test_a_public_key_cannot_sign(self):
        public, _ = self.keys("ed25519")
        trader = self.start("initiator", "TRADER", "VENUE", f'connect = "127.0.0.1:{self.port}"', public)
        self.start("acceptor", "VENUE", "TRADER", f'listen = "127.0.0.1:{self.port}"', public)
        self.assertEqual(self.line(trader.stdout, trader), "TRADER: the Logon cannot be signed with this key\n")

    def test_a_file_without_a_key_is_an_error(self):
        empty = self.folder / "empty"
        empty.touch()
        process = self.start("initiator", "TRADER", "VENUE", 'connect = "127.0.0.1:1"', empty)
        self.assertIn("no key in this file", process.communicate(timeout=PATIENCE_S)[1])
        self.assertEqual(process.returncode, 2)


if __name__ == "__main__":
    if not shutil.which("openssl"):
        print("skipped: the command openssl (package openssl) is not here")
        sys.exit(77)
    unittest.main()
