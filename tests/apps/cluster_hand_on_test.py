"""Two gateways of nfx serve that hand connections on to the one that owns the session, on one nats-server on loopback."""
import re
import socket
import time
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from support import PATIENCE_S, expect, free_port


# Between two tries: a gateway prints at most 20 of its lines about connections in a second.
TRY_AGAIN_S = 0.1


class HandOn(GatewaysCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.addresses = {"a": f"127.0.0.1:{self.port}", "b": f"127.0.0.2:{self.port}"}
        self.cluster = 'wrong_gateway = "hand_on"\naddresses = ["a=127.0.0.1", "b=127.0.0.2"]\n'

    def start(self, name, cluster="", session="", before=""):
        running = super().start(name, cluster or self.cluster, session, before)
        self.assertIn("and hands on while another gateway owns it", running.first_line)
        running.line_with("are handed on to these, at most")
        return running

    def start_and_know(self, **more):
        """The other gateway has read who the owner is: a connection that it hands on is the proof."""
        self.start_owner_and_other(**more)
        self.assertIn(b"\x0135=A\x01", self.first_answer("127.0.0.2"))
        self.running["b"].line_with("TRADER handed on to")
        self.running["b"].line_with("no longer handed on")

    def first_answer(self, address):
        """Of a Logon, which is sent again until it has one."""
        end = time.monotonic() + PATIENCE_S
        answer = b""
        while answer == b"" and time.monotonic() < end:
            with socket.create_connection((address, self.port), timeout=PATIENCE_S) as client:
                client.sendall(self.logon(seq=1))
                answer = client.recv(4096)
            if answer == b"":
                time.sleep(TRY_AGAIN_S)
        return answer

    def test_trader_reaches_the_owner_through_the_other_gateway(self):
        metrics = self.folder / "b.prom"
        self.start("a", session='allowed_addresses = ["127.0.0.1"]\n').line_with(OWNED)
        self.start("b", before=f'[log]\nmetrics_file = "{metrics}"\n')
        end = time.monotonic() + PATIENCE_S
        code, orders = 1, 0
        while code != 0 and time.monotonic() < end:  # until b knows the owner
            orders += 1
            code, out, err = self.trade("b", f"order-{orders}")
            if code != 0:
                time.sleep(TRY_AGAIN_S)
        self.assertEqual(code, 0, err)
        self.assertIn(f"11=order-{orders}", out)
        begun = self.running["b"].line_with("TRADER handed on to")
        self.assertRegex(begun, rf"handed on to gateway a at 127\.0\.0\.1:{self.port}, from 127\.0\.0\.1:\d+")
        ended = self.running["b"].line_with("no longer handed on to gateway a")
        self.assertRegex(ended, r"has closed the connection; \d+ bytes to the gateway, \d+ back, \d+ s")
        self.running["b"].stop()
        self.assertIn('nfx_handed_on_total{gateway="b"} 1\n', metrics.read_text(encoding="utf-8"))
        self.assertIn('nfx_handed_on_ended_total{gateway="b"} 1\n', metrics.read_text(encoding="utf-8"))

    def test_session_of_a_killed_owner_continues_at_the_gateway_that_handed_it_on(self):
        self.start_and_know()
        with socket.create_connection(("127.0.0.2", self.port), timeout=PATIENCE_S) as client:
            client.sendall(self.logon(seq=1))
            self.assertIn(b"\x0135=A\x01", client.recv(4096))
            self.running["a"].process.kill()
            self.read_all(client)  # the end of the owner is the end of this connection
        self.running["b"].line_with("the gateway")
        self.running["b"].line_with(OWNED)
        expect(self.trade("b", "second", "next_inbound = 2\nnext_outbound = 2\n"), out="11=second")

    def test_owner_that_cannot_be_reached_is_a_line_with_the_reason(self):
        self.start("a").line_with(OWNED)
        self.start("b", self.cluster.replace("a=127.0.0.1", "a=127.0.0.3"))
        line = ""
        while "no gateway is known to own its session" in line or not line:
            with socket.create_connection(("127.0.0.2", self.port), timeout=PATIENCE_S) as client:
                client.sendall(self.logon(seq=1))
                self.assertEqual(self.read_all(client), b"")
            line = self.running["b"].line_with("not handed on")
            time.sleep(TRY_AGAIN_S)
        self.assertIn(f"gateway a at 127.0.0.3:{self.port} cannot be reached: refused, from 127.0.0.1:", line)

    def test_half_closed_connection_is_closed_on_both_sides(self):
        self.start_and_know()
        with socket.create_connection(("127.0.0.2", self.port), timeout=PATIENCE_S) as client:
            client.sendall(self.logon(seq=1))
            self.assertIn(b"\x0135=A\x01", client.recv(4096))
            client.shutdown(socket.SHUT_WR)
            self.read_all(client)
        self.assertIn("the peer has closed the connection", self.running["b"].line_with("no longer handed on"))

    def test_reader_that_is_slow_gets_everything(self):
        self.start_and_know()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(PATIENCE_S)
            client.connect(("127.0.0.2", self.port))
            client.sendall(self.logon(seq=1))
            self.assertIn(b"\x0135=A\x01", client.recv(4096))
            for seq in range(2, 202):
                client.sendall(self.message("D", seq, (11, seq), (58, "x" * 1000)))
            received = b""
            while b"\x0111=201\x01" not in received[-4096:]:
                piece = client.recv(2048)
                self.assertNotEqual(piece, b"")
                received += piece
        answers = [int(each) for each in re.findall(rb"\x0111=(\d+)\x01", received)]
        self.assertEqual(answers, list(range(2, 202)))

    def test_connections_beyond_the_limit_are_closed_with_the_setting_to_raise(self):
        self.start_and_know(cluster=self.cluster + "hand_on_max = 1\n")
        with socket.create_connection(("127.0.0.2", self.port), timeout=PATIENCE_S) as first:
            first.sendall(self.logon(seq=1))
            self.assertIn(b"\x0135=A\x01", first.recv(4096))
            with socket.create_connection(("127.0.0.2", self.port), timeout=PATIENCE_S) as second:
                second.sendall(self.logon(seq=1))
                self.assertEqual(self.read_all(second), b"")
            self.assertIn("raise [cluster] hand_on_max", self.running["b"].line_with("not handed on"))

    def test_connections_follow_a_session_that_moves(self):
        self.start_and_know()
        self.nfx("move", SESSION, "--to", "b")
        self.running["b"].line_with(OWNED)
        self.assertIn(b"\x0135=A\x01", self.first_answer("127.0.0.1"))
        self.running["a"].line_with("TRADER handed on to gateway b")


if __name__ == "__main__":
    unittest.main()
