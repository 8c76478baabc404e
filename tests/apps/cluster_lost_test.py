"""nfx serve whose cluster does not answer for longer than lost_after_ms: both values of when_lost."""
import os
import signal
import socket
import time
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from support import PATIENCE_S, expect

LOST = "the cluster has not answered for 1000 ms"


class Lost(GatewaysCase):
    def begin(self, when_lost):
        """Gateway a owns the session, and the trader is logged on."""
        self.start("a", f'when_lost = "{when_lost}"\nlost_after_ms = 1000\n').line_with(OWNED)
        self.trader = self.connect()
        self.addCleanup(self.trader.close)
        self.trader.sendall(self.logon(seq=1))
        self.read_until(b"\x0135=A\x01")
        self.addCleanup(self.server.resume)

    def connect(self):
        """The gateway listens soon after it has printed that it owns the session."""
        host, port = self.addresses["a"].split(":")
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return socket.create_connection((host, int(port)), timeout=PATIENCE_S)
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)

    def order(self, seq):
        self.trader.sendall(self.message("D", seq, (11, f"order-{seq}"), (55, "IBM"), (54, 1), (38, 100), (40, 1)))

    def read_until(self, part):
        received = b""
        while part not in received:
            piece = self.trader.recv(4096)
            self.assertNotEqual(piece, b"", received)
            received += piece
        return received

    def test_stop_closes_the_connection_and_the_session_continues_afterwards(self):
        self.begin("stop")
        self.server.pause()
        self.order(2)
        self.assertEqual(self.read_all(self.trader), b"", "an answer that no other gateway would know")
        self.assertIn(f"no longer owned by this gateway: {LOST}", self.running["a"].line_with("no longer owned"))
        self.server.resume()
        owned = self.running["a"].line_with(OWNED)
        # The order was stored in the journal and perhaps in the stream; its answer was not sent, and is repeated.
        self.assertRegex(owned, "next out [23];")
        expect(self.trade("a", "order-3", "next_inbound = 2\nnext_outbound = 3\n"), out="11=order-3")

    def test_continue_answers_from_the_journal_alone_and_the_cluster_has_all_of_it_afterwards(self):
        self.begin("continue")
        self.server.pause()
        self.order(2)
        self.read_until(b"11=order-2\x01")
        self.running["a"].line_with(f"{LOST}: it continues with its journal alone (when_lost = \"continue\")")
        for seq in range(3, 30):
            self.order(seq)
            self.read_until(f"11=order-{seq}\x01".encode())
        self.server.resume()
        self.running["a"].line_with("the cluster answers again")
        self.order(30)
        self.read_until(b"11=order-30\x01")
        expect(self.running["a"].stop(), err="")
        self.start("b").line_with(OWNED)
        stored = self.nfx("tail", "--session", SESSION)
        for seq in range(2, 31):
            self.assertEqual(stored.count(f"11=order-{seq}|"), 1, seq)

    def test_full_stream_is_named_with_the_remedy(self):
        full = "the stream is full and stores nothing (maximum bytes exceeded): run nfx cluster compact, or raise max_bytes"
        self.nfx("init", "--replicas", "1", "--lease", "1", "--stream", "SMALL", "--max-bytes", "4096")
        a = self.start("a", 'stream = "SMALL"\nlost_after_ms = 1000\n')
        a.line_with(OWNED)
        self.trader = self.connect()
        self.addCleanup(self.trader.close)
        self.trader.sendall(self.logon(seq=1))
        self.read_until(b"\x0135=A\x01")
        self.trader.sendall(self.message("D", 2, (11, "order"), (55, "IBM"), (54, 1), (38, 100), (40, 1), (58, "x" * 5000)))
        self.assertEqual(self.read_all(self.trader), b"")
        lines = a.line_with(full), a.line_with("no longer owned by this gateway: ")
        self.assertIn(f"nothing was stored for 1000 ms: {full}", lines[1])

    def test_orders_that_were_answered_without_the_cluster_are_not_requested_again_after_a_restart(self):
        self.begin("continue")
        self.server.pause()
        self.order(2)
        self.read_until(b"11=order-2\x01")
        for seq in range(3, 30):
            self.order(seq)
            self.read_until(f"11=order-{seq}\x01".encode())
        os.kill(self.running["a"].process.pid, signal.SIGKILL)
        self.running["a"].process.wait()
        self.server.resume()
        owned = self.start("a").line_with(OWNED)
        self.assertIn("with next in 30, next out 30;", owned)
        self.assertRegex(owned, "the cluster gets [0-9]+ messages and both sequence numbers of the time without it")
        expect(self.trade("a", "order-30", "next_inbound = 30\nnext_outbound = 30\n"), out="11=order-30")
        self.assertEqual(self.running["a"].stop()[0], 0)
        self.assertEqual(list((self.folder / "a" / "store").rglob("alone")), [])
        self.start("b").line_with(OWNED)
        stored = self.nfx("tail", "--session", SESSION)
        for seq in range(2, 31):
            self.assertEqual(stored.count(f"11=order-{seq}|"), 1, seq)


if __name__ == "__main__":
    unittest.main()
