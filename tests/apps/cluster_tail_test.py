"""nfx cluster tail: the frames of a session, each once and in order, across takeovers."""
import json
import os
import signal
import subprocess
import threading
import unittest

from cluster_support import Up, test_with_cluster
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, expect, run

WRITER = os.environ["NFX_CLUSTER_WRITER"]
MESSAGES, TAKEOVERS = 3000, 4


def order(number):
    secrets = "554=***|95=7|96=***|" if number % 1000 == 1 else ""
    return f"8=FIX.4.4|35=D|{secrets}11={number}|55=ABC|54=1|38=100|40=2|44=12.5|"


class Tail(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.up = Up()
        cls.addClassCleanup(cls.up.stop)

    def tail(self, *options):
        return run("cluster", "tail", *self.up.options("reader"), *options)

    def write(self, session, messages=MESSAGES, takeovers=TAKEOVERS):
        subprocess.run([WRITER, self.up.settings["url"], self.up.settings["ca"], self.up.folder / "gateway.creds",
                        "NEXUSFIX", session, str(messages), str(takeovers)], check=True, capture_output=True,
                       timeout=PATIENCE_S * 5)

    def check_all(self, lines):
        messages = [line for line in lines if line["kind"] == "message"]
        self.assertEqual([line["number"] for line in messages], list(range(1, MESSAGES + 1)))
        self.assertEqual([line["message"] for line in messages], [order(n) for n in range(1, MESSAGES + 1)])
        self.assertEqual({line["direction"] for line in messages}, {"out"})
        epochs = [line for line in lines if line["kind"] == "epoch"]
        self.assertEqual([(line["epoch"], line["gateway"]) for line in epochs],
                         [(n, f"{n:016x}") for n in range(1, TAKEOVERS + 2)])
        keys = [(line["frame"], line.get("record", 0)) for line in lines]
        self.assertEqual(keys, sorted(set(keys)))
        self.assertEqual(sorted({frame for frame, _ in keys}), list(range(1, keys[-1][0] + 1)))
        for line in lines:
            self.assertEqual(line["session"], lines[0]["session"])
            self.assertEqual(line["gateway"], f"{line['epoch']:016x}")
            self.assertRegex(line["stored"], r"^20\d{6}-\d\d:\d\d:\d\d\.\d{9}$")
        stamps = [line["stored"] for line in lines]
        self.assertEqual(stamps, sorted(stamps))

    def test_each_record_is_one_line_in_order_across_takeovers_without_secrets(self):
        self.write("DESK")
        out, _ = expect(self.tail("--session", "DESK", "--json"), err="")
        self.assertNotIn("hunter2", out)
        self.assertNotIn("ter|", out)
        lines = [json.loads(line) for line in out.splitlines()]
        self.check_all(lines)
        last = lines[-1]["frame"]
        for first in (2, last // 2, last):
            out, _ = expect(self.tail("--session", "DESK", "--json", "--from", str(first)), err="")
            self.assertEqual([json.loads(line) for line in out.splitlines()],
                             [line for line in lines if line["frame"] >= first])
        self.assertEqual(self.tail("--session", "DESK", "--from", str(last + 1)), (0, "", ""))
        code, text, err = self.tail("--session", "DESK")
        self.assertEqual((code, err, text.count("\n")), (0, "", len(lines)))
        self.assertIn(f" out {MESSAGES} {order(MESSAGES)}\n", text)

    def test_follow_prints_what_is_stored_meanwhile(self):
        follower = subprocess.Popen([PROGRAM, "cluster", "tail", *self.up.options("reader"), "--session", "LIVE", "--json",
                                     "--follow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
        watchdog = threading.Timer(PATIENCE_S * 5, follower.kill)
        watchdog.start()
        try:
            self.write("LIVE")
            lines = []
            for line in iter(follower.stdout.readline, ""):
                lines.append(json.loads(line))
                if lines[-1].get("number") == MESSAGES:
                    break
            self.check_all(lines)
            follower.send_signal(signal.SIGTERM)
            out, err = follower.communicate(timeout=PATIENCE_S)
            self.assertEqual((follower.returncode, out, err), (0, "", ""))
        finally:
            watchdog.cancel()
            follower.kill()
            follower.communicate()

    def test_compact_by_a_user_who_may_not_purge_is_one_line_with_the_permission(self):
        self.write("KEPT", messages=100, takeovers=1)
        kept = "KEPT: nothing to remove: no reset of the sequence numbers in its "
        for user in ("gateway", "reader"):
            code, out, err = run("cluster", "compact", *self.up.options(user), "--session", "KEPT", "--timeout", "1")
            self.assertEqual((code, out, err.count("\n")), (1, "", 1), err)
            self.assertIn("no answer to $JS.API.STREAM.PURGE.NEXUSFIX; does this user have permission for it? Use the "
                          "credentials of admin (--credentials), or --dry-run", err)
            expect(run("cluster", "compact", *self.up.options(user), "--dry-run"), out=kept, err="")
        expect(run("cluster", "compact", *self.up.options("admin")), out=kept, err="")

    def test_a_session_that_is_not_there_and_a_stream_that_is_not_there_are_one_line(self):
        expect(self.tail("--session", "NONE"), code=1, out="",
               err="stream NEXUSFIX has no frames of a session NONE; nfx cluster ls lists its sessions", err_lines=1)
        options = list(self.up.options("admin"))
        options[3] = "OTHER"
        expect(run("cluster", "tail", *options, "--session", "NONE"), code=1, out="",
               err="stream OTHER: no server has it; make it with nfx cluster init", err_lines=1)


if __name__ == "__main__":
    test_with_cluster()
