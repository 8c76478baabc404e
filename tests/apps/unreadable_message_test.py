"""Messages whose BodyLength is wrong, or beyond every limit, sent to nfx serve by a socket again whenever they are requested: the
number is given up after as many ResendRequests as configured, and the session goes on."""
import re
import unittest

from peer import Peer
from support import FolderTest, Server

ATTEMPTS = 3
SERVE = ('[log]\ndirectory = "log"\n[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "CLIENT"\nlisten = "127.0.0.1:0"\n'
         f'store = "memory"\nresend_timeout_s = 1\nmax_resend_attempts = {ATTEMPTS}\ndictionary = "none"\n')
ORDER = [(11, "abc"), (55, "IBM"), (54, 1), (60, "20240102-12:00:00"), (38, 100), (40, 2), (44, "12.5")]


class Unreadable(FolderTest):
    def serve(self, more=""):
        server = Server(self.folder, settings=SERVE + more)
        self.addCleanup(server.end)
        return server

    def events(self):
        return "".join(file.read_text(encoding="utf-8") for file in (self.folder / "log").glob("events*"))

    def requests_until_given_up(self, server, bytes_of):
        """The peer loses nothing but time: it answers each request with the same bytes, and logs on again when it is cut off."""
        number, requests, peer = 2, 0, Peer(server.port)
        peer.log_on()
        bad = bytes_of(peer)
        peer.socket.sendall(bad)
        peer.send("D", *ORDER, number=number + 1)
        peer.next = number + 2
        for _ in range(20):
            try:
                message = peer.receive()
            except ConnectionResetError:
                message = None
            if message is None:
                peer.close()
                peer = Peer(server.port, number=peer.next)
                peer.send("A", (98, 0), (108, 30))
            elif message["35"] == "2" and message["7"] == str(number):
                requests += 1
                peer.socket.sendall(bad)
                peer.send("1", (112, f"after {requests}"))
            elif message["35"] == "0" and message.get("112") == f"after {ATTEMPTS}":
                break
            self.assertLessEqual(requests, ATTEMPTS)
        peer.send("1", (112, "the end"))
        self.assertEqual(peer.receive_kind("0")["112"], "the end")
        peer.close()
        return requests

    def check_given_up(self, length):
        server = self.serve()

        def bytes_of(peer):
            whole = peer.message("D", *ORDER, number=2)
            return re.sub(rb"\x019=\d+\x01", b"\x019=" + length + b"\x01", whole)

        self.assertEqual(self.requests_until_given_up(server, bytes_of), ATTEMPTS)
        server.stop()
        lines = [line for line in self.events().splitlines() if "message unreadable, not delivered" in line]
        self.assertEqual(len(lines), 1, self.events())
        self.assertIn(f"BodyLength(9)={length.decode()[:18]}, [engine] max_message_size = 1000000: raise it", lines[0])

    def test_a_length_between_the_largest_limit_and_ten_million(self):
        self.check_given_up(b"9000000")

    def test_a_length_of_nine_digits(self):
        self.check_given_up(b"999999999")

    def test_a_length_that_no_number_has(self):
        self.check_given_up(b"99999999999999999999")

    def test_a_message_of_twelve_million_bytes_is_skipped_at_once(self):
        server = self.serve()
        peer = Peer(server.port)
        peer.log_on()
        peer.socket.sendall(peer.message("B", (148, "x" * 12_000_000), number=2))
        peer.next = 3
        peer.send("1", (112, "next"))
        self.assertEqual(peer.receive_kind("0")["112"], "next")
        peer.close()
        server.stop()
        self.assertRegex(self.events(), r"message too large, not delivered: 120000\d\d bytes, "
                                        r"\[engine\] max_message_size = 1000000: raise it")

    def test_the_session_stays_logged_out_where_that_is_chosen(self):
        server = self.serve('too_large_message = "logout"\n')
        peer = Peer(server.port)
        peer.log_on()
        peer.socket.sendall(peer.message("B", (148, "x" * 9_000_000), number=2))
        self.assertEqual(peer.receive_kind("5")["58"], "message too large")
        peer.send("5", number=3)
        self.assertIsNone(peer.receive())
        again = Peer(server.port, number=4)
        self.addCleanup(again.close)
        again.send("A", (98, 0), (108, 30))
        try:
            self.assertIsNone(again.receive())
        except ConnectionResetError:
            pass
        _, _, err = server.stop()
        self.assertIn("Logon refused: disabled: ", err)


if __name__ == "__main__":
    unittest.main()
