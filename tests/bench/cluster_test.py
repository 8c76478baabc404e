"""Runs the benchmark of the cluster shortly: what is stored is compared, and its tables have all rows."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SERVER = os.environ.get("NFX_NATS_SERVER") or shutil.which("nats-server", path=str(pathlib.Path.home() / "go/bin"))
SKIPPED = 77


def run(*arguments):
    done = subprocess.run([os.environ["NFX_BENCH_CLUSTER"], *arguments], capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout, done.stderr


class Cluster(unittest.TestCase):
    def test_measures_frames_of_owners_and_raw_publishes(self):
        status, out, errors = run("--quick", "--server", SERVER)
        self.assertEqual(status, 0, errors)
        for name in ("raw publish of the same bytes", "frame of an owner"):
            rows = re.findall(rf"(?m)^ *{name} +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)", out)
            self.assertEqual(len(rows), 3, out)
            for row in rows:
                _, p50, p99, p999, longest, ratio = map(float, row)
                self.assertTrue(0 < p50 <= p99 <= p999 <= longest and ratio > 0, row)
        for sessions in (1, 64):
            for name in ("raw publishes", "frames of owners"):
                row = re.search(rf"(?m)^{sessions} +sessions, {name} +([0-9]+) +([0-9]+) +([0-9.]+) ", out)
                self.assertIsNotNone(row, out)
                records, frames, each = map(float, row.groups())
                # Of figures that are rounded.
                self.assertAlmostEqual(records, frames * each, delta=records * 0.05 + each)

    def test_reports_why_it_cannot_run(self):
        status, _, errors = run("--quick", "--server", "/proc/no/such/server")
        self.assertEqual(status, 2)
        self.assertIn("/proc/no/such/server (--server) is not a program", errors)


if __name__ == "__main__":
    if not SERVER:
        print("SKIPPED: nats-server 2.12 or later is missing (./dev deps nats builds one)")
        sys.exit(SKIPPED)
    unittest.main()
