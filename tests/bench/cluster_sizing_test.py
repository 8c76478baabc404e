"""bench_sizing plan and simulate: costs that are measured on a cluster, plans from them, and the loss of a site."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from cluster_support import Up, test_with_cluster

POINT = {"frames_per_s": 100, "server_cores": 0.1, "gateway_cores": 0.02, "release_p50_us": 500, "release_p99_us": 900}
COSTS = {"version": 1, "machine": "made", "cores": 8, "replicas": 3, "release_ns_per_byte": 20, "server_ns_per_byte": 10,
         "gateway_us_per_record": 2, "bytes_per_s": 5e7, "busiest_server_share": 0.4, "stored_bytes_per_frame": 60,
         "points": [POINT, {**POINT, "frames_per_s": 10000, "server_cores": 1, "gateway_cores": 0.2, "release_p50_us": 2000}]}


def run_sizing(*arguments):
    done = subprocess.run([os.environ["NFX_BENCH_SIZING"], *arguments], capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout, done.stderr


class Plan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.costs = str(pathlib.Path(folder.name, "costs.json"))
        pathlib.Path(self.costs).write_text(json.dumps(COSTS), encoding="utf-8")

    def plan(self, *options):
        return run_sizing("plan", "--costs", self.costs, *options)

    def test_a_plan_follows_from_the_costs(self):
        code, out, err = self.plan("--sessions", "1000", "--rate", "10", "--size", "200", "--gateways", "4")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("costs of 3 replicas on made, 8 processors\n", out)
        self.assertIn("  frames        10000/s with 1.0 records each, 3.0 MB/s\n", out)
        self.assertIn("  streams       2 (shards), each at 50% of what one does\n", out)
        self.assertIn("  servers       3 with 8 processors;", out)
        self.assertIn("  gateways      4 with 8 processors;", out)
        self.assertIn("  network       each server 3.0 MB/s in, 2.0 MB/s out; each gateway 740.0 kB/s out\n", out)
        self.assertIn("each server 3.6 MB/s, 102.5 GB in a day of 8.0 hours, 102.5 GB for 1 days\n", out)

    def test_what_does_not_fit_is_a_line_and_an_exit_code(self):
        code, out, _ = self.plan("--sessions", "100000", "--rate", "100", "--gateways", "1")
        self.assertEqual(code, 1)
        self.assertIn("  does not fit  each gateway uses ", out)

    def test_costs_that_are_not_there_are_one_line_with_the_remedy(self):
        pathlib.Path(self.costs).unlink()
        code, out, err = self.plan()
        self.assertEqual((code, out, err.count("\n")), (1, "", 1))
        self.assertIn(f"{self.costs} (--costs) cannot be read: measure it with bench_sizing plan --measure --costs", err)
        code, _, err = self.plan("--measure")
        self.assertEqual(code, 2)
        self.assertIn("--servers is needed", err)

    def test_costs_are_measured_on_a_cluster_and_predictions_compared_with_it(self):
        up = Up()
        self.addCleanup(up.stop)
        place = (*up.options(), "--servers", str(up.folder), "--seconds", "0.5")
        code, out, err = self.plan("--measure", *place)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn(f"written to {self.costs}\n", out)
        costs = json.loads(pathlib.Path(self.costs).read_text(encoding="utf-8"))
        self.assertEqual((costs["replicas"], len(costs["samples"])), (3, 7))
        for point in costs["points"]:
            self.assertGreater(point["server_cores"], 0)
            self.assertLessEqual(point["release_p50_us"], point["release_p99_us"])
        # As many frames as records at ten a second, and the bytes of them.
        slow = costs["samples"][0]
        self.assertLess(abs(slow["records_per_s"] - 80), 20)
        self.assertGreater(slow["stored_bytes_per_s"], slow["bytes_per_s"])
        code, out, err = self.plan("--compare", *place, "--sessions", "8", "--rate", "10", "--size", "300")
        self.assertEqual((code, err), (0, ""), out)
        rows = dict(re.findall(r"(?m)^(\S.*?) +([0-9.]+) +[0-9.]+ +(?:-?[0-9]+%|-)$", out))
        self.assertEqual(float(rows["records/s"]), 80)
        self.assertEqual(len(rows), 8, out)
        code, out, _ = self.plan("--sessions", "100", "--rate", "1")
        self.assertIn("  frames        100/s with 1.0 records each", out)


class Simulate(unittest.TestCase):
    def test_one_seed_gives_one_result(self):
        options = ("simulate", "--sessions", "20000", "--gateways", "100")
        first, second = run_sizing(*options, "--seed", "3"), run_sizing(*options, "--seed", "3")
        self.assertEqual(first, second)
        self.assertEqual(first[0], 0)
        self.assertNotEqual(run_sizing(*options, "--seed", "4")[1], first[1])

    def test_the_bound_of_logons_holds_and_is_printed(self):
        code, out, err = run_sizing("simulate", "--sessions", "20000", "--gateways", "10", "--logons", "40")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"Logons +at most 40/s on one gateway \(limit 40\); [1-9][0-9]* refused and tried again")

    def test_more_sites_than_servers_are_wrong_usage(self):
        code, out, err = run_sizing("simulate", "--sites", "5")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--servers and --gateways are at least --sites", err)


if __name__ == "__main__":
    test_with_cluster()
