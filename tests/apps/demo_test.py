"""nfx demo: how its sides wait and why, and that a preempted row is measured again and named in a note."""
import json
import os
import pathlib
import tempfile
import unittest

from support import expect, run

TITLES = ("orders a second", "one order at a time", "orders unanswered")
ROWS = ("open loop, at the set rate", "closed loop, one at a time", "closed loop, window full")


class Demo(unittest.TestCase):
    def demo(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "demo.json"
            out, _ = expect(run("demo", "--no-dictionary", "--json", str(result), *options))
            return out, json.loads(result.read_text(encoding="utf-8"))

    def expect_honest_rows(self, out, result):
        self.assertEqual([phase["name"] for phase in result["phases"]], list(ROWS))
        notes = [line for line in out.splitlines() if line.startswith("  note: ")]
        rows = list(zip(TITLES, result["phases"])) + ([("same bytes over TCP, no FIX", result["floor"])] if "floor" in result else [])
        for title, row in rows:
            with self.subTest(title, row=row):
                self.assertEqual(len([line for line in out.splitlines() if title in line and not line.startswith("  note: ")]), 1)
                self.assertEqual(any(title in note for note in notes), row["spoilt"])
                if row["spoilt"]:
                    self.assertTrue(row["repeated"], "a preempted row is measured once more")
        self.assertEqual(len(notes), 1 if any(row["spoilt"] for _, row in rows) else 0)

    def test_without_cpus_of_its_own_auto_blocks_and_states_why(self):
        out, result = self.demo("--orders", "200")
        self.assertIn("  idle block: the two sides share their CPUs with other work; --isolate changes that\n", out)
        self.assertEqual(result["idle"], "block")
        self.expect_honest_rows(out, result)

    def test_busy_polling_among_noisy_processes_is_not_shown_without_a_note(self):
        noise = 2 * (os.cpu_count() or 1)
        out, result = self.demo("--orders", "500", "--rate", "500", "--idle", "spin", "--noise", str(noise))
        self.assertIn("  idle spin: from --idle\n", out)
        self.expect_honest_rows(out, result)
        self.assertTrue(result["phases"][0]["spoilt"], result["phases"][0])

    def test_on_one_cpu_busy_polling_is_not_compared_with_two_threads_that_busy_poll(self):
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        try:
            out, result = self.demo("--orders", "200", "--idle", "yield")
        finally:
            os.sched_setaffinity(0, allowed)
        self.assertNotIn("floor", result)
        self.assertNotIn("without FIX", out)
        self.expect_honest_rows(out, result)

    def test_more_than_can_be_traded_is_late_and_complete(self):
        """Without a limit of unanswered requests, the reports do not fit into the venue's send buffer."""
        out, result = self.demo("--orders", "40000", "--rate", "5000000")
        self.assertIn("both sides agree on every sequence number", out)
        self.expect_honest_rows(out, result)


if __name__ == "__main__":
    unittest.main()
