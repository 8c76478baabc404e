"""nfx serve whose session was local before: the cluster gets all of its journal, also when the gateway is killed meanwhile."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from store_support import MAKER
from support import PATIENCE_S

MESSAGES = 60_000
TEXT = "x" * 200


class Upload(GatewaysCase):
    def make_journal(self):
        folder = self.folder / "a"
        folder.mkdir()
        messages = (f"message {seq} 8 {TEXT}\n" + "sync\n" * (seq % 100 == 0) for seq in range(1, MESSAGES + 1))
        lines = "".join(messages) + f"out {MESSAGES + 1}\nin 77\n"
        made = subprocess.run([MAKER, folder / "store", "FIX.4.4:VENUE->TRADER", folder / "rings", str(64 << 20)],
                              input=lines, capture_output=True, text=True, check=True, timeout=120)
        self.assertNotIn("refused", made.stdout)

    def frames(self):
        return int((re.search(rf"^{SESSION} +(\d+)", self.nfx("ls"), re.MULTILINE) or [0, 0])[1])

    def stored(self):
        """The numbers of the messages that were sent, and the kinds of all lines."""
        lines = [json.loads(line) for line in self.nfx("tail", "--session", SESSION, "--json").splitlines()]
        return [line["number"] for line in lines if line.get("message")], {line["kind"] for line in lines}

    def test_upload_that_is_cut_is_continued(self):
        self.make_journal()
        self.start("a").line_with(OWNED)
        end = time.monotonic() + PATIENCE_S
        while self.frames() < 2:  # the first one is of the epoch
            self.assertLess(time.monotonic(), end)
        os.kill(self.running["a"].process.pid, signal.SIGKILL)
        self.running["a"].process.wait()
        cut, _ = self.stored()
        self.assertEqual(cut, list(range(1, len(cut) + 1)))
        line = self.start("a").line_with(OWNED)
        if 0 < len(cut) < MESSAGES:
            self.assertIn("the cluster had the first of the journal's records and gets the others", line)
        code, out, err = self.trade("a", "order", f"next_inbound = {MESSAGES + 1}\nnext_outbound = 77\n")
        self.assertEqual(code, 0, out + err)
        stored, kinds = self.stored()
        self.assertEqual(stored[:MESSAGES], list(range(1, MESSAGES + 1)))
        self.assertIn("began", kinds)
        self.assertIn(f"next in {77 + 3}", self.end_and_own())

    def end_and_own(self):
        """The line of the next owner, which had no journal."""
        self.assertEqual(self.running["a"].stop()[0], 0)
        return self.start("b").line_with(OWNED)


if __name__ == "__main__":
    unittest.main()
