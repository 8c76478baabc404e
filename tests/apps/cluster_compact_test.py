"""nfx cluster compact while gateways of nfx serve run: what it removes, and that the session continues."""
import json
import re
import time
import unittest

from cluster_gateways_support import OWNED, SESSION, GatewaysCase
from support import PATIENCE_S, expect, run

REMOVED = re.compile(SESSION + r": (removed|would remove) (\d+) frames, (\d+) bytes, before the reset at "
                     r"20\d{6}-\d\d:\d\d:\d\d\.\d{9}; (\d+) frames are left\n")


class Compact(GatewaysCase):
    def trade_after_reset(self, name, order):
        """With the configuration of the last trade()."""
        expect(run("connect", self.folder / f"trader-{name}.toml", "--wait", "2", "--logon-wait", "5", "--raw",
                   data=f"35=D|11={order}|55=IBM|54=1|38=100|40=1\n".encode()),
               out=f"11={order}")

    def frames(self):
        return int(self.nfx("ls").split()[1])

    def test_session_continues_on_its_owner_and_on_the_next_one(self):
        self.start_owner_and_other()
        expect(self.trade("a", "first"))
        self.assertRegex(self.nfx("compact"), rf"^{SESSION}: nothing to remove: no reset of the sequence numbers in its \d+ frames\n$")
        self.trade_after_reset("a", "second")
        self.trade_after_reset("a", "third")
        before = self.frames()
        planned = REMOVED.fullmatch(self.nfx("compact", "--dry-run"))
        self.assertEqual(planned[1], "would remove")
        # The last Logout may be stored meanwhile.
        self.assertGreaterEqual(self.frames(), before)
        done = REMOVED.fullmatch(self.nfx("compact", "--session", SESSION))
        self.assertEqual(done.groups()[:3], ("removed", *planned.groups()[1:3]))
        self.assertGreaterEqual(int(done[2]) + int(done[4]), before)
        self.assertGreaterEqual(self.frames(), int(done[4]))
        self.assertRegex(self.nfx("compact"), rf"^{SESSION}: nothing to remove: its \d+ frames begin with the reset at ")
        expect(self.trade("a", "fourth", "next_inbound = 4\nnext_outbound = 4\n"), out="11=fourth")
        self.running["a"].process.kill()
        self.assertIn("next out 7;", self.running["b"].line_with(OWNED))
        expect(self.trade("b", "fifth", "next_inbound = 7\nnext_outbound = 7\n"), out="11=fifth")
        kinds = [json.loads(line)["kind"] for line in self.nfx("tail", "--session", SESSION, "--json").splitlines()]
        self.assertEqual(kinds[0], "reset")
        self.assertEqual(kinds.count("epoch"), 1)

    def test_copy_for_an_audit_keeps_what_is_removed(self):
        of_stream = ("--stream", "AUDITED")
        self.nfx("init", *of_stream, "--replicas", "1", "--lease", "1", "--audit-days", "30")
        self.start("a", cluster='stream = "AUDITED"\n').line_with(OWNED)
        expect(self.trade("a", "first"))
        self.trade_after_reset("a", "second")
        self.running["a"].stop()
        of_session = ("tail", *of_stream, "--session", SESSION, "--json")
        lines = self.nfx(*of_session)
        end = time.monotonic() + PATIENCE_S
        done = None
        while done is None:  # a copy that is behind keeps the stream from losing what it does not have
            self.assertLess(time.monotonic(), end)
            done = REMOVED.fullmatch(self.nfx("compact", *of_stream))
        self.assertEqual(self.nfx(*of_session, "--audit"), lines)
        # The copy answers reads of the stream too, with the frames that are removed from it.
        self.assertTrue(lines.endswith(self.nfx(*of_session)))

    def test_session_that_is_not_there_is_one_line(self):
        expect(run("cluster", "compact", "--session", "NONE", "--url", self.url), code=1, out="",
               err="stream NEXUSFIX has no frames of a session NONE; nfx cluster ls lists its sessions", err_lines=1)


if __name__ == "__main__":
    unittest.main()
