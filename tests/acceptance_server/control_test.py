"""The control port of the acceptance server: sets sequence numbers while it runs."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from free_port import free_port  # noqa: E402


def connected(port):
    """A connection, as soon as the server listens."""
    end = time.monotonic() + 600
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=600)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise


def message(fields):
    body = "".join(field + "\x01" for field in fields.split("|"))
    head = f"8=FIX.4.4\x019={len(body)}\x01"
    return f"{head}{body}10={sum((head + body).encode()) % 256:03}\x01".encode()


class ControlPort(unittest.TestCase):
    def setUp(self):
        self.port = free_port()
        self.control = self.port + 1
        server = subprocess.Popen([os.environ["NFX_ACCEPTANCE_SERVER"], "--port", str(self.port), "--no-reset",
                                   "--one-version", "FIX.4.4", "--control", str(self.control)])
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        connected(self.port).close()

    def set(self, query, session="FIX.4.4:ISLD->TW"):
        url = f"http://127.0.0.1:{self.control}/set?session={urllib.parse.quote(session, safe=':->')}&{query}"
        connected(self.control).close()
        try:
            with urllib.request.urlopen(url, timeout=600) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_numbers_are_those_that_were_set(self):
        self.assertEqual(self.set("NEXTSENDERSEQNUM=2000"), 200)
        self.assertEqual(self.set("NEXTTARGETSEQNUM=7"), 200)
        with connected(self.port) as peer:
            peer.sendall(message("35=A|34=7|49=TW|52=" + time.strftime("%Y%m%d-%H:%M:%S", time.gmtime()) +
                                 "|56=ISLD|98=0|108=30"))
            answer = peer.recv(4096).decode()
        self.assertTrue(re.search("\x0135=A\x0134=2000\x01", answer), answer)

    def test_what_is_not_understood_is_refused(self):
        self.assertEqual(self.set("NEXTSENDERSEQNUM=2000", session="FIX.4.4:ISLD->OTHER"), 404)
        for query in ("NEXTSENDERSEQNUM=x", "OTHER=1"):
            self.assertEqual(self.set(query), 400)
        self.assertEqual(self.set("NEXTSENDERSEQNUM=0"), 409)


if __name__ == "__main__":
    unittest.main()
