"""nfx host noise: what it prints, and what it refuses. Nothing here depends on how noisy the machine is."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from report_page import check
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, expect, run

# One CPU that this process may use, whatever the host's other CPUs are isolated for.
CPU = str(min(os.sched_getaffinity(0)))
BRIEF = ("host", "noise", "--seconds", "0.05", "--no-trace", "--cpus", CPU)
NOBODY = 65534


class HostNoise(FolderTest):
    def test_the_text_has_a_line_per_cpu_and_the_reason_why_nothing_is_attributed(self):
        out, _ = expect(run(*BRIEF), err="")
        self.assertRegex(out, r"^1 CPU, 0\.05 s, pinned, ordinary scheduler\n")
        self.assertRegex(out, rf"\n +{CPU}( +[0-9.]+){{14}}\n")
        self.assertIn("Single stalls cannot be attributed: it was not requested.", out)

    def test_json_counts_a_window_per_millisecond(self):
        out, _ = expect(run(*BRIEF, "--format", "json"))
        report = json.loads(out)
        self.assertEqual(report["schema"], "nexusfix.noise.2")
        for cpu in report["cpus"]:
            self.assertEqual(cpu["windows"], 50)
            self.assertGreater(cpu["readings"], 0)
            self.assertLessEqual(cpu["p50_us"], cpu["max_us"])

    def test_prometheus_text_has_types_before_samples(self):
        out, _ = expect(run(*BRIEF, "--format", "prometheus"))
        typed = set()
        for line in out.splitlines():
            if line.startswith("# TYPE "):
                typed.add(line.split()[2])
            elif not line.startswith("#"):
                name = re.match(r"[a-z_]+", line).group()
                self.assertIn(re.sub(r"_(bucket|sum|count)$", "", name), typed)
                float(line.rsplit(" ", 1)[1])

    def test_threads_that_are_not_pinned_are_numbered(self):
        out, _ = expect(run(*BRIEF, "--unpinned", "--format", "json"))
        report = json.loads(out)
        self.assertFalse(report["pinned"])
        self.assertTrue(all("thread" in entry for entry in report["cpus"]))

    def test_the_page_is_written_and_refers_to_no_other_file(self):
        page = self.folder / "noise.html"
        expect(run(*BRIEF, "--html", str(page)), err="")
        charts = check(self, page.read_text(encoding="utf-8"))["charts"]
        self.assertEqual([chart["title"] for chart in charts[:2]],
                         ["Worst stall per window (logarithmic)", "Distribution of the worst stall per window (logarithmic)"])
        self.assertGreater(charts[0]["points"][0], 1)

    def test_a_comparison_has_a_ratio_per_cpu_and_goes_to_standard_error_when_programs_read(self):
        file = self.folder / "before.json"
        out, _ = expect(run(*BRIEF, "--format", "json"))
        file.write_text(out, encoding="utf-8")
        out, _ = expect(run(*BRIEF, "--compare", str(file)))
        self.assertRegex(out, r"\nNow divided by then; below 1: less noise now\n(.*\n)+  all ")
        out, err = expect(run(*BRIEF, "--compare", str(file), "--format", "json"))
        json.loads(out)
        self.assertIn("Now divided by then", err)

    def test_wrong_usage_is_refused_before_anything_is_measured(self):
        other = self.folder / "other.json"
        other.write_text("{}", encoding="utf-8")
        everything = "0-%d" % (os.cpu_count() - 1)
        for arguments, part in ((("--cpus", "x"), "--cpus x: "), (("--cpus", "8000"), "not online: 8000"),
                                (("--cpus", " "), "expected CPUs"), (("--seconds", "0"), "--seconds"),
                                (("--format", "xml"), "--format"), (("--compare", str(other)), "other.json: "),
                                (("--fifo", "100"), "--fifo"), (("--fifo", "1", "--cpus", everything), "on all CPUs")):
            with self.subTest(arguments=arguments):
                expect(run("host", "noise", "--no-trace", "--seconds", "0.01", *arguments), code=2, out="", err=part)

    def test_a_page_that_cannot_be_written_is_known_before_the_measurement(self):
        expect(run("host", "noise", "--seconds", "600", "--no-trace", "--html", "/nowhere/noise.html"), code=1, out="",
               err="cannot write /nowhere/noise.html: ")

    def test_who_may_not_trace_gets_numbers_the_reason_and_exit_code_3(self):
        identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            result = subprocess.run([PROGRAM, "host", "noise", "--seconds", "0.05", "--cpus", CPU, "--attribute",
                                     "--format", "json"],
                                    capture_output=True, timeout=PATIENCE_S, env=ENVIRONMENT, check=False, cwd="/",
                                    **identity)
        except (PermissionError, OSError) as error:
            self.skipTest(f"the program cannot be run as another user here: {error}")
        self.assertEqual(result.returncode, 3, result.stderr)
        attribution = json.loads(result.stdout)["attribution"]
        self.assertFalse(attribution["done"])
        self.assertIn("trac", attribution["why_not"])
        self.assertIn(b"gaps are not attributed: ", result.stderr)

    def test_ctrl_c_ends_the_measurement_and_reports_what_was_seen(self):
        with subprocess.Popen([PROGRAM, "host", "noise", "--seconds", "3000", "--no-trace", "--cpus", CPU, "--format",
                               "json"], stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
            # Its threads have their names shortly before they measure.
            while not any(name.startswith("nfx-noise") for name in thread_names(process.pid)):
                self.assertIsNone(process.poll())
            process.terminate()
            out, _ = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(json.loads(out)["interrupted"])


def thread_names(pid):
    names = []
    for comm in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        try:
            names.append(comm.read_text(encoding="utf-8"))
        except OSError:
            pass
    return names


if __name__ == "__main__":
    unittest.main()
