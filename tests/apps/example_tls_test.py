"""examples/tls.cpp by the commands in its comment, and what the wrong certificates lead to."""
import re
import subprocess

from examples_support import EXAMPLES, ExampleTest
from support import ENVIRONMENT, PATIENCE_S, expect, run_in
from tls_support import test_with_tls

CERTIFICATES = re.findall(r"^//   (openssl req .*)$", (EXAMPLES / "tls.cpp").read_text(encoding="utf-8"), re.MULTILINE)


class Tls(ExampleTest):
    def setUp(self):
        super().setUp()
        for command in CERTIFICATES:
            self.run_openssl(command)

    def run_openssl(self, command):
        subprocess.run(command.split(), check=True, capture_output=True, cwd=self.folder, env=ENVIRONMENT, timeout=PATIENCE_S)

    def both(self):
        acceptor = self.serve("tls", self.config("tls_acceptor.toml", 0))
        return acceptor, self.connect("tls", "tls_initiator.toml", acceptor.port)

    def test_both_ends(self):
        acceptor, initiator = self.both()
        self.assertEqual(acceptor.line_with(""), "VENUE got: nobody else can read this\n")
        self.assertEqual(initiator.line_with(""), "TRADER got: nor this answer\n")
        self.stop(initiator)
        self.stop(acceptor)

    def test_its_check_of_the_configuration(self):
        self.config("tls_acceptor.toml", 0)
        expect(run_in(self.folder, "tls", "check", "--config", "tls_acceptor.toml", "--peer", "trader.crt"),
               out="TRADER")

    def test_a_client_with_another_name_is_refused(self):
        self.run_openssl(CERTIFICATES[1].replace("trader.example", "other.example"))
        acceptor, initiator = self.both()
        self.assertIn("other.example", acceptor.error_with("Logon refused"))
        initiator.error_with("the peer refused")

    def test_a_server_with_another_name_is_refused(self):
        self.run_openssl(CERTIFICATES[0].replace("/CN=venue.example", "/CN=other.example"))
        _, initiator = self.both()
        self.assertIn("venue.example", initiator.error_with("cannot connect"))


if __name__ == "__main__":
    test_with_tls()
