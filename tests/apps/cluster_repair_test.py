"""nfx cluster repair: a message on a session's subject that no gateway has written, and the session afterwards."""
import socket
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from support import PATIENCE_S, expect, run


class Repair(GatewaysCase):
    def publish(self, payload, subject=f"NEXUSFIX.s.{SESSION}"):
        """As any client of NATS with permission for the subject does."""
        host, port = self.server.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), PATIENCE_S) as client:
            heard = b""
            client.sendall(b'CONNECT {"verbose":false}\r\n' + b"PUB %s %d\r\n%s\r\nPING\r\n" %
                           (subject.encode(), len(payload), payload))
            while b"PONG\r\n" not in heard:
                heard += client.recv(4096)

    def repair(self, *arguments):
        return run("cluster", "repair", "--session", SESSION, *arguments, "--url", self.url)

    def test_junk_is_listed_and_removed_and_a_gateway_owns_the_session_again(self):
        self.start("a").line_with(OWNED)
        self.assertEqual(self.trade("a", "first")[0], 0)
        self.running["a"].stop()
        out, _ = expect(self.repair(), err="")
        self.assertRegex(out, rf"^{SESSION}: nothing to repair: all \d+ messages are its frames\n$")
        self.publish(b"junk")
        self.publish(b"x" * 200)
        # Without the repair no gateway owns it, and each names the remedy.
        self.start("b").line_with("nfx cluster repair --session NAME lists it")
        out, _ = expect(self.repair(), code=1, err="")
        self.assertRegex(out, rf"{SESSION}: sequence \d+, stored 20\S+, 4 bytes: less than a header\n")
        self.assertRegex(out, rf"{SESSION}: sequence \d+, stored 20\S+, 200 bytes: not a frame of NexusFIX\n")
        self.assertRegex(out, rf"{SESSION}: 2 messages are not its frames, next to \d+ that are; --remove deletes them")
        out, _ = expect(self.repair("--remove"), err="")
        self.assertRegex(out, rf"{SESSION}: removed 2 messages; its \d+ frames are left, and a gateway can own it\n$")
        self.running["b"].line_with(OWNED)
        expect(self.trade("b", "second", "next_inbound = 4\nnext_outbound = 4\n"), out="11=second")
        expect(self.repair(), err="")

    def test_a_subject_that_has_junk_alone_is_listed_too(self):
        self.publish(b"", subject="NEXUSFIX.s.OTHER")
        expect(run("cluster", "repair", "--session", "OTHER", "--url", self.url), code=1,
               out="OTHER: 1 messages are not its frames, next to 0 that are", err="")

    def test_session_that_is_not_there_is_one_line(self):
        expect(run("cluster", "repair", "--session", "NONE", "--url", self.url), code=1, out="",
               err="stream NEXUSFIX has no frames of a session NONE; nfx cluster ls lists its sessions", err_lines=1)


if __name__ == "__main__":
    unittest.main()
