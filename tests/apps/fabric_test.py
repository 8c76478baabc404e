"""nfx fabric: plans of captured machines, simulated steps, and the errors of wrong input."""
import json
import pathlib
import tempfile
import unittest

from report_page import check
from support import expect, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/engine/placement/topologies"
PUBLISHED = ROOT.parent / "shared/topologies/p5.48xlarge.xml"


class FabricPlan(unittest.TestCase):
    def test_every_captured_machine_is_planned_or_refused_by_name(self):
        files = sorted(FIXTURES.glob("*.xml"))
        self.assertGreater(len(files), 5)
        for file in files:
            with self.subTest(file.name):
                code, out, err = run("fabric", "plan", str(file), "--json")
                self.assertEqual(err, "")
                plan = json.loads(out)
                self.assertEqual(code, 1 if plan["refused"] else 0)
                refusals = [f["id"] for f in plan["findings"] if f["severity"] == "refusal"]
                self.assertEqual(bool(refusals), plan["refused"])
                text = run("fabric", "plan", str(file))[1]
                for finding in plan["findings"]:
                    self.assertIn(f'{finding["severity"]}, {finding["id"]}: ', text)

    def test_threads_of_the_published_machine_are_on_the_published_cpus(self):
        if not PUBLISHED.exists():
            self.skipTest(f"{PUBLISHED} is not there: it is not in the repository")
        out, _ = expect(run("fabric", "plan", str(PUBLISHED), "--json", "--card-rate", "100"))
        plan = json.loads(out)
        self.assertEqual([group["cpu"] for group in plan["groups"]], [6, 18, 30, 42, 54, 66, 78, 90])
        self.assertEqual({len(group["cards"]) for group in plan["groups"]}, {4})
        self.assertEqual({group["reach_megabits_per_s"] for group in plan["groups"]}, {400000})
        self.assertTrue(plan["groups"][0]["cards"][0]["link"]["assumed"])
        self.assertIsNone(plan["groups"][0]["switch"])

    def test_a_topology_that_is_not_there_is_one_line(self):
        expect(run("fabric", "plan", "no_such.xml"), code=2, out="", err="no_such.xml: No such file", err_lines=1)


class FabricSimulate(unittest.TestCase):
    def steps(self, *arguments):
        out, _ = expect(run("fabric", "simulate", "--json", *arguments), err="")
        return json.loads(out)["steps"]

    def test_steps_are_those_that_were_published(self):
        rates = [97.433, 287.089, 293.461, 355.301, 1237.738, 1522.567, 2589.488, 3108.283]
        self.assertEqual([step["published_gbps"] for step in self.steps()], rates)

    def test_costs_are_read(self):
        slow = self.steps("--post-ns", "5000")[-1]["simulated"]
        self.assertLess(slow["gbps"], self.steps()[-1]["simulated"]["gbps"])
        self.assertEqual(slow["bottleneck"], "threads")
        switch = self.steps("--switch-rate", "200")[-1]["simulated"]
        self.assertAlmostEqual(switch["gbps"], 1600, delta=20)
        self.assertEqual(switch["bottleneck"], "switches")

    def test_the_table_has_a_line_for_each_step(self):
        out, _ = expect(run("fabric", "simulate"))
        for chapter in ("7 queue", "12 pin", "15 lazy"):
            self.assertIn(chapter, out)


class FabricBench(unittest.TestCase):
    SHORT = ("--seconds", "0.02", "--round-trips", "50", "--idle", "yield")

    def test_pages_and_round_trips_are_counted(self):
        code, out, err = run("fabric", "bench", "--provider", "ring", "--rails", "3", "--groups", "2", "--json", *self.SHORT)
        self.assertEqual((code, err), (0, ""))
        report = json.loads(out)
        self.assertEqual((len(report["rails"]), len(report["groups"])), (3, 2))
        self.assertGreater(min(rail["pages"] for rail in report["rails"]), 0)
        for latency in (report["page_one_way_ns"], report["small_one_way_ns"]):
            self.assertEqual(latency["count"], 50)
            self.assertTrue(0 < latency["p50"] <= latency["p99"] <= latency["p99.9"] <= latency["max"])

    def test_threads_and_groups_are_reported(self):
        out, _ = expect(run("fabric", "bench", "--provider", "socket", "--rails", "2", "--groups", "1", *self.SHORT))
        for text in ("all ", "group 0", "sender   not pinned", "receiver not pinned", "small    64 bytes, one way in us: p50"):
            self.assertIn(text, out)

    def test_more_groups_than_rails_and_unknown_providers_are_one_line(self):
        expect(run("fabric", "bench", "--rails", "1", "--groups", "2"), code=2, out="", err="--groups")
        _, err = expect(run("fabric", "bench", "--provider", "nothing", *self.SHORT), code=1, out="", err_lines=1)
        self.assertRegex(err, "no card for provider 'nothing'|libfabric-dev")


class FabricLadder(unittest.TestCase):
    def test_every_step_is_measured_next_to_the_published_one(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "ladder.html"
            code, out, err = run("fabric", "ladder", "--provider", "ring", "--rails", "1", "--repeats", "1", "--seconds",
                                 "0.01", "--json", "--report", str(page))
            self.assertEqual((code, err), (0, ""))
            content = page.read_text(encoding="utf-8")
        (column,) = json.loads(out)["columns"]
        self.assertEqual([step["chapter"] for step in column["steps"]], [7, 9, 10, 11, 12, 13, 14, 15])
        for step in column["steps"]:
            self.assertGreater(step["gbps"], 0)
            self.assertGreater(step["model_gbps"], 0)
        self.assertEqual(check(self, content)["charts"][0]["points"], [8, 8])


if __name__ == "__main__":
    unittest.main()
