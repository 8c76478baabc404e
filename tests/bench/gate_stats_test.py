"""The speed gate's statistics, on made-up times: seeds are fixed, nothing is measured."""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.environ["NFX_GATE_FOLDER"])
sys.dont_write_bytecode = True
import gate_plots  # noqa: E402
import gate_stats  # noqa: E402
import plant  # noqa: E402

SLICES = 8
BATCHES = 20


class Machine:
    """Times as a shared virtual machine gives them, in ns: it changes its speed, interrupts batches, and puts each
    process where it is a percent faster or slower."""

    def __init__(self, seed, spoilt=0.0):
        self.random = random.Random(seed)
        self.spoilt = spoilt

    def slice(self, ns):
        speed = self.random.choice((1, 1, 1, 1.15))
        noise = (1 + abs(self.random.gauss(0, 0.02)) + self.random.choice((0, 0, 0, 0, 0.5, 20)) for _ in range(BATCHES))
        return [ns * speed * each for each in noise]

    def launch(self, slowdown):
        old_ns, new_ns = 100 * math.exp(self.random.gauss(0, 0.01)), 100 * math.exp(self.random.gauss(0, 0.01))
        new_ns *= 1 + slowdown
        if self.random.random() < self.spoilt:
            new_ns *= self.random.choice((0.5, 2, 10))
        old, new = [], []
        for _ in range(SLICES):
            old.append(self.slice(old_ns))
            new.append(self.slice(new_ns))
        return gate_stats.launch_log_ratio(old, new)


def verdict_of(machine, slowdown):
    """As compare.py requests launches."""
    logs = []
    for launches in range(1, gate_stats.LAUNCHES_MAX + 1):
        logs.append(machine.launch(slowdown))
        verdict = gate_stats.judge(logs, last=launches == gate_stats.LAUNCHES_MAX)
        if verdict.word != gate_stats.UNDECIDED:
            return verdict
    raise AssertionError("no verdict after the last launch")


class Verdicts(unittest.TestCase):
    def test_identical_code_is_not_called_slower(self):
        for seed in range(100):
            self.assertEqual(verdict_of(Machine(seed), 0).word, gate_stats.SAME, f"seed {seed}")

    def test_five_percent_are_called_slower(self):
        for seed in range(100):
            self.assertEqual(verdict_of(Machine(seed), 0.05).word, gate_stats.SLOWER, f"seed {seed}")

    def test_an_improvement_is_reported_and_never_called_slower(self):
        words = [verdict_of(Machine(seed), -0.08).word for seed in range(50)]
        self.assertNotIn(gate_stats.SLOWER, words)
        self.assertGreater(words.count(gate_stats.FASTER), 40)

    def test_spoilt_launches_change_no_verdict(self):
        for seed in range(30):
            self.assertEqual(verdict_of(Machine(seed, spoilt=0.1), 0).word, gate_stats.SAME, f"seed {seed}")
            self.assertEqual(verdict_of(Machine(seed, spoilt=0.1), 0.05).word, gate_stats.SLOWER, f"seed {seed}")

    def test_a_machine_without_a_clear_result_is_called_noisy(self):
        rng = random.Random(4)
        logs = [rng.choice((-0.4, 0.5)) for _ in range(gate_stats.LAUNCHES_MAX)]
        self.assertEqual(gate_stats.judge(logs, last=True).word, gate_stats.NOISY)

    def test_few_launches_are_not_enough_for_a_verdict(self):
        logs = [0.2] * (gate_stats.LAUNCHES_MIN - 1)
        self.assertEqual(gate_stats.judge(logs).word, gate_stats.UNDECIDED)

    def test_the_interval_holds_the_median_as_often_as_its_level(self):
        rng = random.Random(5)
        held = 0
        for _ in range(2000):
            low, high = gate_stats.median_interval([rng.gauss(0, 1) for _ in range(15)], 0.95)
            held += low <= 0 <= high
        self.assertGreater(held / 2000, 0.94)
        self.assertLess(held / 2000, 0.99)

    def test_interrupted_batches_do_not_move_a_slice(self):
        self.assertEqual(gate_stats.low_quantile([100] * 6 + [9000] * 4), 100)


class Tools(unittest.TestCase):
    def test_every_plant_finds_its_function(self):
        root = Path(os.environ["NFX_GATE_FOLDER"]).parents[1]
        with tempfile.TemporaryDirectory() as folder:
            for row in plant.names():
                place = plant.PLACES[row]
                copy = Path(folder) / place.file
                copy.parent.mkdir(parents=True, exist_ok=True)
                before = (root / place.file).read_text()
                copy.write_text(before)
                self.assertIn(plant.apply(row, Path(folder)), place.signature)
                after = copy.read_text()
                self.assertEqual(after.count("planted()"), 2, row)
                self.assertEqual(after.count("{") - before.count("{"), plant.CHAIN.count("{") + ("{" in place.code))

    def test_the_work_of_a_planted_program_can_be_set(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            program.write_bytes(b"code" + plant.MARK.to_bytes(8, "little") + bytes(8) + b"more")
            copy = plant.set_steps(program, Path(folder) / "copy", 300)
            self.assertEqual(copy.read_bytes()[12:], (300).to_bytes(8, "little") + b"more")

    def test_a_plot_has_a_point_for_every_version(self):
        lines = [
            {"version": f"v{i}", "commit": f"{i:09}", "row": "parse", "revision": "1", "ratio": f"{0.5 + i / 10}",
             "ratio_low": f"{0.4 + i / 10}", "ratio_high": f"{0.6 + i / 10}", "ns_p50": "100"} for i in range(5)
        ]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            gate_plots.draw(lines, Path(folder))
            picture = (Path(folder) / "parse.svg").read_text()
            self.assertEqual(picture.count("<title>"), 5)
            self.assertIn("range of the repeats", picture, "what is drawn has a key")
            self.assertNotIn("logarithmic", picture)

    def test_a_plot_marks_a_version_that_is_slower_beyond_the_range_and_is_logarithmic_where_ratios_span_decades(self):
        lines = [
            {"version": f"v{i}", "commit": f"{i:09}", "row": "parse", "revision": "1", "ratio": f"{ratio}",
             "ratio_low": f"{ratio * 0.9}", "ratio_high": f"{ratio * 1.1}", "ns_p50": "100"}
            for i, ratio in enumerate((0.1, 0.105, 20, 15))
        ]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            gate_plots.draw(lines, Path(folder))
            picture = (Path(folder) / "parse.svg").read_text()
        slower = [part for part in picture.split("<circle")[1:] if part.startswith(' class="slower"')]
        self.assertEqual(len(slower), 2, "the third version, and the key")
        self.assertIn("v2 000000002", slower[0])
        self.assertIn("(logarithmic)", picture)


class Program(unittest.TestCase):
    program = os.environ.get("NFX_BENCH_GATE", "")

    @unittest.skipUnless(program, "bench_gate is not built")
    def test_measures_every_row_and_its_reference(self):
        with tempfile.TemporaryDirectory() as folder:
            figures = Path(folder) / "gate.json"
            done = subprocess.run([self.program, "--rounds", "1", "--json", str(figures)], capture_output=True, text=True,
                                  timeout=600, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.loads(figures.read_text())["rows"]
        self.assertLessEqual({"parse", "index", "encode", "session", "send", "store", "queue", "transport", "engine",
                              "round_trip"}, {row["name"] for row in rows})  # fmt: skip
        for row in rows:
            self.assertTrue(0 < row["ns_p50"] <= row["ns_p99"] <= row["ns_p999"] <= row["ns_max"], row)
            self.assertTrue(0 < row["ratio_low"] <= row["ratio"] <= row["ratio_high"], row)

    @unittest.skipUnless(program, "bench_gate is not built")
    def test_measures_what_is_requested(self):
        done = subprocess.run([self.program, "--serve"], input="parse 3\nencode 2\n", capture_output=True, text=True,
                              timeout=600, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r'\{"row":"parse","ns":\[[0-9.]+(,[0-9.]+){2}\]\}\n')
        self.assertRegex(done.stdout, r'\{"row":"encode","ns":\[[0-9.]+,[0-9.]+\]\}\n$')

    @unittest.skipUnless(program, "bench_gate is not built")
    def test_names_a_row_that_is_not_there(self):
        done = subprocess.run([self.program, "--rows", "parsing"], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no row 'parsing'", done.stderr)


if __name__ == "__main__":
    unittest.main()
