"""nfx serve: a session is served where a gateway can, and begins in the cluster with the journal that some gateway has."""
import pathlib
import subprocess
import tempfile
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from store_support import MAKER
from support import PROGRAM, Running, expect, run

MESSAGES = 50
NUMBERS = f"with next in 77, next out {MESSAGES + 1};"


class Serves(GatewaysCase):
    """Of the two gateways, the hash gives the session to a."""

    def make_journal(self, name):
        folder = self.folder / name
        folder.mkdir()
        lines = "".join(f"message {seq} 8 report\n" for seq in range(1, MESSAGES + 1)) + f"out {MESSAGES + 1}\nin 77\n"
        subprocess.run([MAKER, folder / "store", "FIX.4.4:VENUE->TRADER", folder / "rings", str(1 << 20)], input=lines,
                       capture_output=True, text=True, check=True, timeout=600)

    def control(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp")  # a socket's path is short
        self.addCleanup(folder.cleanup)
        self.socket = pathlib.Path(folder.name) / "control"
        return f'[control]\nsocket = "{self.socket}"\naudit = "{folder.name}/audit.log"\n'

    def test_gateway_with_the_journal_of_a_local_session_owns_it_first(self):
        self.make_journal("b")
        self.start("a")
        self.start("b")
        line = self.running["b"].line_with(OWNED)
        self.assertIn(NUMBERS, line)
        self.assertIn("gets the journal's records", line)
        self.assertEqual(self.running["b"].stop()[0], 0)
        self.assertIn(NUMBERS, self.running["a"].line_with(OWNED))

    def test_journal_that_comes_too_late_is_reported(self):
        self.start("a").line_with(OWNED)
        self.make_journal("b")
        line = self.start("b").line_with("the cluster never had any of it")
        self.assertIn(f"has next in 77, next out {MESSAGES + 1}", line)
        self.assertIn(str(self.folder / "b" / "store"), line)

    def test_session_that_one_gateway_does_not_have_is_owned_by_the_other(self):
        folder = self.folder / "a"
        folder.mkdir()
        config = folder / "gateway.toml"
        config.write_text(
            f'[cluster]\nservers = ["{self.url}"]\ngateway = "a"\ngateways = ["a", "b"]\nlease_s = 1\n[[session]]\n'
            f'sender_comp_id = "VENUE"\ntarget_comp_id = "OTHER"\nlisten = "{self.addresses["a"]}"\ndictionary = "none"\n'
            f'durability = "replicated"\nstore_ring_directory = "{folder}/rings"\n', encoding="utf-8")
        a = Running(PROGRAM, "serve", config, "--echo")
        self.addCleanup(a.end)
        self.start("b").line_with(OWNED)

    def test_session_whose_journal_cannot_be_opened_is_owned_by_the_other(self):
        (self.folder / "a" / "store").mkdir(parents=True)
        (self.folder / "a" / "store").chmod(0o777)
        a = self.start("a")
        self.start("b").line_with(OWNED)
        _, out, _ = a.stop()
        self.assertIn("is not served: ", out)

    def test_session_that_an_operator_has_removed_is_owned_by_the_other(self):
        self.start("a", before=self.control()).line_with(OWNED)
        self.start("b")
        expect(run("session", "remove", "FIX.4.4:VENUE->TRADER", "--socket", str(self.socket)))
        self.running["b"].line_with(OWNED)

    def test_session_is_not_moved_to_a_gateway_that_does_not_take_it(self):
        self.start("a", before=self.control()).line_with(OWNED)
        self.start("b")
        self.nfx("move", SESSION, "--to", "a")
        self.assertEqual(run("session", "remove", "FIX.4.4:VENUE->TRADER", "--socket", str(self.socket))[0], 0)
        b = self.running["b"]
        b.line_with(OWNED)
        self.assertEqual(self.trade("b", "order", "next_inbound = 1\nnext_outbound = 1\n")[0], 0)
        self.start_a_again()
        self.running["a"].line_with(OWNED)

    def test_numbers_that_an_operator_sets_back_end_the_session_with_a_line(self):
        self.start("a", before=self.control()).line_with(OWNED)
        self.assertEqual(self.trade("a", "order", "next_inbound = 1\nnext_outbound = 1\n")[0], 0)
        for option in ("--next-in", "--next-out"):
            expect(run("session", "set", "FIX.4.4:VENUE->TRADER", option, "2", "--force", "--socket", str(self.socket)))
            self.running["a"].line_with("no longer owned by this gateway: its sequence numbers went back without a reset")
            self.assertIn("with next in 4, next out 4;", self.running["a"].line_with(OWNED))

    def test_reset_that_the_cluster_did_not_store_is_reported(self):
        self.start("a", cluster="lost_after_ms = 1000\n", before=self.control()).line_with(OWNED)
        self.assertEqual(self.trade("a", "order", "next_inbound = 1\nnext_outbound = 1\n")[0], 0)
        self.addCleanup(self.server.resume)
        self.server.pause()
        code, out, err = run("session", "set", "FIX.4.4:VENUE->TRADER", "--next-out", "50", "--force", "--socket", str(self.socket))
        self.assertEqual(code, 0, out + err)
        self.running["a"].line_with("a change by an operator, of its sequence numbers was not stored")

    def start_a_again(self):
        self.assertEqual(self.running["a"].stop()[0], 0)
        self.start("a")


if __name__ == "__main__":
    unittest.main()
