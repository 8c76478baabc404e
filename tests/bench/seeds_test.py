"""The table of published figures, on made-up results: nothing is measured."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(os.environ["NFX_SEEDS_FOLDER"])
sys.path.insert(0, str(FOLDER))
sys.dont_write_bytecode = True
import published  # noqa: E402
import results  # noqa: E402
import seeds  # noqa: E402

MACHINE = {"cpu": "a processor", "cores": 2, "kernel": "Linux 6", "compiler": "g++ 12", "flags": "-O3", "ghz": 2.0,
           "governor": "performance", "isolated": "none", "hypervisor": "", "assertions": False}


def places(run):
    """Every row that the table wants of a run."""
    for figure in published.TABLE:
        if figure.run == run:
            yield from (place for place in (figure.ours_before, figure.ours_after) if place)


def document(run, value=lambda place: 10.0, note=""):
    """Results with every row of the table: three repeats, or a note why there are none."""
    groups = {}
    for place in places(run):
        one = {key: value(place) for key in ("mean", "p50", "p99", "p99_9", "max")}
        row = {"section": place.section, "name": place.row.rstrip("*"), "note": note, "repeats": [] if note else [one] * 3,
               "counters": {"switches": 0, "migrations": 7}}
        groups.setdefault(place.group, {})[place.section, place.row] = row
    listed = [{"name": name, "rows": list(rows.values())} for name, rows in groups.items()]
    return {"machine": MACHINE, "counters": "none", "groups": listed}


def row_of(figure, doc):
    return results.Row(figure, {figure.run: results.Results(doc)})


class Table(unittest.TestCase):
    def test_has_every_published_figure_of_the_three_documents(self):
        figures = {(figure.document, figure.before, figure.after) for figure in published.TABLE}
        wanted = [("001", 730, 520), ("001", 520, 380), ("001", 380, 290), ("001", 290, 260), ("001", 260, 246), ("001", 730, 246),
                  ("004", 361.5, 336.0), ("004", 392.0, 365.2), ("004", 150, 11.8), ("004", 6.7, 84.5), ("004", None, 11.6),
                  ("004", None, 13.0), ("004", 20.0, 15.2), ("004", 17.4, 12.7), ("004", 61.4, 52.3), ("004", None, 39.4),
                  ("004", None, 36.0), ("004", None, 92.6), ("004", None, 25.4), ("004", 75.6, 12.3), ("004", 76.7, 20.7),
                  ("004", None, 11.4), ("004", None, 11.2), ("004", None, 16.6), ("004", None, 88.0), ("004", None, "41% less"), ("000", None, "15 to 25% less"),
                  ("000, 004", 15.0, 14.7), ("000, 004", 14.9, 14.5), ("000, 004", 18.8, 17.3), ("000, 004", 19.6, 18.4),
                  ("000", None, "3 to 4"), ("000", None, "50 to 100"), ("000", None, 70), ("000", 150, 70),
                  ("000", None, "1,000 to 5,000"), ("000", "100 to 1,000 a second", 0)]
        for figure in wanted:
            self.assertIn(figure, figures)

    def test_measures_each_parsing_technique_in_both_orders_and_removed(self):
        for name, _, _ in published.PHASES:
            conditions = [figure.condition for figure in published.TABLE if figure.technique == name]
            self.assertEqual(conditions, ["added in the published order", "added in the reverse order", "removed from all eight"])

    def test_has_a_command_and_a_condition_in_every_row(self):
        for figure in published.TABLE:
            self.assertRegex(seeds.command(figure.run), r"^\./dev bench [a-z_]+")
            self.assertTrue(figure.condition)

    def test_reports_a_row_that_the_benchmark_no_longer_has(self):
        doc = document("path")
        for group in doc["groups"]:
            group["rows"] = [row for row in group["rows"] if row["name"] != "all"]
        figure = next(figure for figure in published.TABLE if figure.run == "path")
        with self.assertRaisesRegex(results.Missing, '"all"'):
            row_of(figure, doc)


class Rows(unittest.TestCase):
    FIGURE = published.Published("001", "t", 200, 100, "path", published.Place("g", "s", "before"),
                                 published.Place("g", "s", "after"), "c")

    def measured(self, before, after, figure=FIGURE):
        rows = [{"section": "s", "name": name, "note": "", "counters": {"migrations": 0},
                 "repeats": [dict.fromkeys(("mean", "p50", "p99", "p99_9", "max"), value) for value in values]}
                for name, values in (("before", before), ("after", after))]
        return row_of(figure, {"machine": MACHINE, "counters": "", "groups": [{"name": "g", "rows": rows}]})

    def test_a_factor_is_the_median_of_the_ratios_of_the_same_repeats(self):
        row = self.measured([100, 900, 120], [50, 300, 40])
        self.assertEqual(row.factor, 3)
        self.assertEqual((min(row.spread), max(row.spread)), (2, 3))

    def test_reaches_the_published_factor_only_when_it_is_at_least_as_large(self):
        self.assertEqual(self.measured([200, 210], [100, 100]).verdict, results.REACHED)
        self.assertEqual(self.measured([150, 160], [100, 100]).verdict, results.SMALLER)

    def test_is_not_seen_when_a_repeat_contradicts_it(self):
        self.assertEqual(self.measured([150, 90, 150], [100, 100, 100]).verdict, results.UNSEEN)
        self.assertEqual(self.measured([100.5, 100.6], [100, 100]).verdict, results.UNSEEN)

    def test_is_slower_when_every_repeat_is(self):
        self.assertEqual(self.measured([90, 80], [100, 100]).verdict, results.SLOWER)
        self.assertEqual(self.measured([99.5, 99.6], [100, 100]).verdict, results.UNSEEN)

    def test_compares_with_a_factor_that_was_published_without_times(self):
        claimed = self.FIGURE._replace(before=None, after="41% less", claimed=1.7)
        self.assertEqual(self.measured([180, 190], [100, 100], claimed).verdict, results.REACHED)
        self.assertEqual(self.measured([150, 160], [100, 100], claimed).verdict, results.SMALLER)

    def test_does_not_judge_a_published_cost(self):
        self.assertEqual(self.measured([90, 80], [100, 100], self.FIGURE._replace(before=None)).verdict, results.COST)

    def test_judges_a_technique_without_published_figures_by_its_repeats(self):
        unpublished = self.FIGURE._replace(before=None, after=None)
        self.assertEqual(self.measured([110, 120], [100, 100], unpublished).verdict, results.REACHED)

    def test_counts_cycles_and_throughput_by_the_measured_frequency(self):
        self.assertEqual(results.in_unit(5.0, "cycles", 2.0), 10)
        self.assertEqual(results.in_unit(4.0, "M/s", 2.0), 250)
        self.assertEqual(results.in_unit(16.0, "bytes/cycle of 64", 2.0), 2)

    def test_a_published_throughput_improves_when_it_grows(self):
        self.assertAlmostEqual(results.published_factor(self.FIGURE._replace(before=5, after=10, unit="M/s")), 2)
        self.assertIsNone(results.published_factor(self.FIGURE._replace(before="50 to 100")))

    def test_names_why_a_row_cannot_be_had_here(self):
        row = row_of(next(figure for figure in published.TABLE if figure.run == "io_uring"),
                     document("io_uring", note="io_uring_setup: Operation not permitted"))
        self.assertEqual(seeds.cells(row)[7], "left out: io_uring_setup: Operation not permitted")


class Program(unittest.TestCase):
    def test_makes_the_table_of_stored_results_without_measuring(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for run in published.RUNS:
                (folder / f"{run}.json").write_text(json.dumps(document(run, lambda place: 10.0 + len(place.row))))
            done = subprocess.run([sys.executable, "-B", str(FOLDER / "seeds.py"), "--build", name, "--folder", name, "--reuse",
                                   "--markdown", str(folder / "t.md"), "--json", str(folder / "t.json")],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("a processor, 2 cores", done.stdout)
            rows = json.loads((folder / "t.json").read_text())
            self.assertEqual(len(rows), len(published.TABLE))
            self.assertEqual((folder / "t.md").read_text().count("\n"), len(published.TABLE) + 2)
            self.assertTrue(all(row["command"].startswith("./dev bench ") for row in rows))

    def test_names_the_benchmark_that_is_not_built(self):
        with tempfile.TemporaryDirectory() as name:
            done = subprocess.run([sys.executable, "-B", str(FOLDER / "seeds.py"), "--build", name, "--only", "path"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("./dev build --target bench_techniques", done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
