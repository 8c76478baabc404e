"""The limits of the attacks can fail: judge.py on costs that were made up, and the table's own consistency."""
import dataclasses
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "apps"))
os.environ.setdefault("NFX_PROGRAM", "nfx")
os.environ.setdefault("NFX_ATTACK_INNOCENT", "attack_innocent")

from attack import all_attacks, chosen  # noqa: E402
from beside import Beside  # noqa: E402
from judge import judge  # noqa: E402
from table import VARIANTS, Attack, Limits  # noqa: E402

ATTACK = Attack("made_up", "", "", lambda target: {}, limits=Limits(out_mb=10, out_mb_s=1))


def made(under_attack=120.0, probes=(), **costs):
    phases = {each: {"p99_us": 120.0} for each in ("alone", "after", "control")}
    cost = {"memory_mb": 0, "memory_after_mb": 0, "shm_after_mb": 0, "disk_mb": 0, "shm_mb": 0, "lines": 0, "fds": 0, **costs}
    return {"failures": [], "phases": {**phases, "attack": {"p99_us": under_attack}}, "cost": cost, "probes": list(probes),
            "result": {"units": 1, "bytes_in": 0}}


class OpenFiles:
    """A server whose descriptors are these, one list after the other; the last one stays."""

    def __init__(self, *lists):
        self.lists = list(lists)

    def open_files(self):
        return self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]

    def sample(self):
        return {"fds": len(self.open_files()), "memory": 0}

    def lines(self):
        return {"lines": 0}


class Descriptors(unittest.TestCase):
    def after(self, *lists):
        beside = Beside.__new__(Beside)
        beside.made, beside.server = {"samples": {}}, OpenFiles(*lists)
        beside.sample_settled("after", 0.2, 1)
        return beside.made["samples"]["after"]

    def test_what_is_open_for_a_moment_does_not_count(self):
        self.assertEqual(self.after(["log", "/proc/stat"], ["log", "/proc/1/status"], ["log"])["fds"], 1)

    def test_what_stays_open_counts(self):
        after = self.after(["log", "/proc/stat"], ["log", "socket:[7]"])
        self.assertEqual((after["fds"], after["open"]), (2, ["log", "socket:[7]"]))


class Judge(unittest.TestCase):
    def failures(self, measured, quick=False):
        slow, failures = judge(ATTACK, measured, 5, quick)
        return slow + failures

    def test_an_attack_that_costs_nothing_passes(self):
        self.assertEqual(self.failures(made()), [])

    def test_each_cost_beyond_its_limit_fails_by_its_name(self):
        for cost, words in (({"memory_mb": 9}, "MB of memory"), ({"disk_mb": 9}, "MB of disk"),
                            ({"shm_mb": 2}, "shared memory"),
                            ({"memory_after_mb": 5, "shm_after_mb": 4}, "still used"),
                            ({"lines": 601}, "lines more"), ({"fds": 1}, "descriptors")):
            with self.subTest(words):
                found = self.failures(made(**cost))
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])

    def test_a_descriptor_too_many_is_named(self):
        self.assertIn("limit 0: socket:[7]", self.failures(made(fds=1, opened=["socket:[7]"]))[0])

    def test_the_first_use_of_a_session_adds_its_ring_and_a_descriptor(self):
        attack = dataclasses.replace(ATTACK, limits=dataclasses.replace(ATTACK.limits, first_used=1))
        self.assertEqual(judge(attack, made(fds=1, shm_mb=5), 5, False), ([], []))
        self.assertEqual(len(judge(attack, made(fds=2, shm_mb=6), 5, False)[1]), 2)

    def test_a_latency_half_as_large_again_fails_and_one_slow_phase_without_attack_does_not_excuse_it(self):
        slow = made(under_attack=181)
        slow["phases"]["alone"]["p99_us"] = 9000
        self.assertIn("1.51 times", self.failures(slow)[0])
        self.assertEqual(self.failures(made(under_attack=180)), [])

    def test_an_effect_that_stays_after_the_attack_does_not_excuse_it(self):
        slow = made(under_attack=9000)
        slow["phases"]["after"]["p99_us"] = slow["phases"]["control"]["p99_us"] = 9000
        self.assertIn("75.00 times", self.failures(slow)[0])

    def test_the_quick_form_fails_only_for_a_latency_far_out(self):
        self.assertEqual(self.failures(made(under_attack=4000), quick=True), [])
        self.assertEqual(len(self.failures(made(under_attack=40000), quick=True)), 1)

    def test_a_late_or_failed_legitimate_logon_fails(self):
        self.assertEqual(self.failures(made(probes=[0.1] * 20)), [])
        self.assertIn("2 of 20", self.failures(made(probes=[0.1] * 18 + [1.1, None]))[0])

    def test_bytes_sent_to_the_attacker_are_limited_by_the_seconds(self):
        measured = made()
        measured["result"]["bytes_in"] = 15_000_000
        self.assertEqual(self.failures(measured), [])
        measured["result"]["bytes_in"] = 16_000_000
        self.assertIn("16 MB sent to the attacker", self.failures(measured)[0])

    def test_an_attack_that_does_nothing_proves_nothing(self):
        measured = made()
        measured["result"]["units"] = 0
        self.assertIn("did nothing", self.failures(measured)[0])


class Table(unittest.TestCase):
    def test_names_differ_and_variants_exist(self):
        names = [each.name for each in all_attacks()]
        self.assertEqual(len(names), len(set(names)))
        for each in all_attacks():
            self.assertTrue(set(each.variants) <= set(VARIANTS), each.name)

    def test_a_name_or_a_category_chooses(self):
        self.assertEqual([each.name for each in chosen(all_attacks(), ["dead_peer"])], ["dead_peer"])
        self.assertEqual({each.category for each in chosen(all_attacks(), ["files"])}, {"files"})
        with self.assertRaises(SystemExit):
            chosen(all_attacks(), ["nothing"])


if __name__ == "__main__":
    unittest.main()
