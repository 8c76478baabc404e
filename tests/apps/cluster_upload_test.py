"""nfx serve whose session was local before: the cluster gets the journal's sequence numbers and its newest messages at once, whatever ends
the gateway then."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from store_support import MAKER
from support import PATIENCE_S, expect

MESSAGES = 20_000
TEXT = "x" * 200
NUMBERS = f"with next in 77, next out {MESSAGES + 1};"


class Upload(GatewaysCase):
    def make_journal(self):
        folder = self.folder / "a"
        folder.mkdir()
        messages = (f"message {seq} 8 {TEXT}\n" + "sync\n" * (seq % 100 == 0) for seq in range(1, MESSAGES + 1))
        lines = "".join(messages) + f"out {MESSAGES + 1}\nin 77\n"
        made = subprocess.run([MAKER, folder / "store", "FIX.4.4:VENUE->TRADER", folder / "rings", str(64 << 20)],
                              input=lines, capture_output=True, text=True, check=True, timeout=600)
        self.assertNotIn("refused", made.stdout)

    def wait_for_frames(self, count):
        end = time.monotonic() + PATIENCE_S
        while int((re.search(rf"^{SESSION} +(\d+)", self.nfx("ls"), re.MULTILINE) or [0, 0])[1]) < count:
            self.assertLess(time.monotonic(), end)

    def stored(self):
        """The numbers of the messages that were sent, and the kinds of all lines."""
        lines = [json.loads(line) for line in self.nfx("tail", "--session", SESSION, "--json").splitlines()]
        return [line["number"] for line in lines if line.get("message")], {line["kind"] for line in lines}

    def kill(self, name):
        os.kill(self.running[name].process.pid, signal.SIGKILL)
        self.running[name].process.wait()

    def check_that_b_and_then_a_continue(self, end, frames=2, **settings):
        """`end` ends gateway a as soon as the stream has a number of frames; the first one is of its epoch."""
        self.make_journal()
        a = self.start("a", **settings)
        self.start("b", **settings)
        self.wait_for_frames(frames)
        end("a")
        self.assertRegex(a.process.stdout.read(), f"{NUMBERS}.*, but for [0-9]+ messages before them")
        self.assertIn(NUMBERS, self.running["b"].line_with(OWNED))
        numbers, kinds = self.stored()
        self.assertEqual(numbers, list(range(MESSAGES + 1 - len(numbers), MESSAGES + 1)))
        self.assertGreater(len(numbers), 3000, "the newest messages that a frame takes")
        self.assertIn("began", kinds)
        self.start("a", **settings)
        self.kill("b")
        line = self.running["a"].line_with(OWNED)
        self.assertIn(NUMBERS, line)
        self.assertNotIn("earlier session", line)
        archived = list((self.folder / "a" / "store").rglob("archive/*"))
        self.assertEqual(archived, [])

    def test_another_gateway_continues_after_a_kill(self):
        self.check_that_b_and_then_a_continue(self.kill)

    def test_another_gateway_continues_after_a_stop(self):
        self.check_that_b_and_then_a_continue(lambda name: self.running[name].process.send_signal(signal.SIGTERM))

    def test_numbers_that_async_reserved_before_a_kill_do_not_keep_the_journal_out(self):
        self.make_journal()
        self.start("a", durability="async")
        self.wait_for_frames(1)
        self.kill("a")
        line = self.start("a", durability="async").line_with(OWNED)
        # Numbers are reserved 1,024 at a time, from the first message of the upload on.
        next_out = int(re.search(r"with next in 77, next out ([0-9]+);", line)[1])
        self.assertIn(next_out, range(MESSAGES + 1, MESSAGES + 1 + 1024 + 1))
        self.assertNotIn("not sent", line)

    def test_trader_continues_and_the_next_owner_has_all_numbers(self):
        self.make_journal()
        self.start("a").line_with(OWNED)
        expect(self.trade("a", "order", f"next_inbound = {MESSAGES + 1}\nnext_outbound = 77\n"))
        self.assertEqual(self.running["a"].stop()[0], 0)
        self.assertIn(f"next in {77 + 3}", self.start("b").line_with(OWNED))


if __name__ == "__main__":
    unittest.main()
