"""nfx host doctor, explain and collect, on descriptions of hosts and on copies of this one."""
import json
import pathlib
import unittest

from support import FolderTest, expect, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTS = ROOT / "tests/host/host/hosts"


class HostDoctor(FolderTest):
    def examine(self, host):
        code, out, err = run("host", "doctor", "--root", str(host), "--format", "json")
        self.assertEqual(err, "")
        return code, json.loads(out)

    def test_text_names_what_was_seen_and_wanted_and_the_fixes(self):
        out, _ = expect(run("host", "doctor", "--root", str(HOSTS / "clocksource_hpet")), code=2, err="")
        self.assertRegex(out, r"failure +power\.clocksource +hpet; available: hpet acpi_pm\n +wanted: tsc\n +now: .*\n +boot: ")
        self.assertNotIn("\ngood ", out)
        self.assertRegex(out, r"\n\d+ checks: 1 failure, ")

    def test_all_shows_what_is_good_too(self):
        _, out, _ = run("host", "doctor", "--all", "--root", str(HOSTS / "bare_metal_good"))
        self.assertRegex(out, r"\ngood +isolation\.isolcpus +")

    def test_json_has_every_check_with_its_explanation(self):
        code, found = self.examine(HOSTS / "memory_defaults")
        self.assertEqual(code, 1)
        self.assertGreaterEqual(len({f["id"] for f in found["findings"]}), 45)
        self.assertEqual(found["summary"]["checks"], len({f["id"] for f in found["findings"]}))
        for finding in found["findings"]:
            for key in ("area", "title", "result", "source", "why", "risk"):
                self.assertTrue(finding[key], finding)

    def test_exit_codes_follow_the_worst_finding(self):
        for host, code in (("bare_metal_good", 0), ("memory_defaults", 1), ("partition_invalid", 2), ("empty", 2),
                           ("unprivileged", 3)):
            with self.subTest(host):
                self.assertEqual(run("host", "doctor", "--root", str(HOSTS / host))[0], code)

    def test_what_could_not_be_seen_is_listed(self):
        _, out, _ = run("host", "doctor", "--root", str(HOSTS / "unprivileged"))
        self.assertRegex(out, r"\ncannot tell +power\.cpu_dma_latency +/dev/cpu_dma_latency: Permission denied\n")

    def test_a_copy_of_a_copy_gives_the_same(self):
        expect(run("host", "collect", str(self.folder / "copy"), "--root", str(HOSTS / "two_sockets")), out=" files, ",
               err="")
        self.assertEqual(self.examine(self.folder / "copy"), self.examine(HOSTS / "two_sockets"))

    def test_this_host_can_be_collected_and_examined(self):
        code, out, err = run("host", "collect", str(self.folder / "copy"))
        self.assertIn(code, (0, 3), err)
        self.assertTrue((self.folder / "copy/proc/cmdline").is_file(), out)
        code, found = self.examine(self.folder / "copy")
        self.assertIn(code, (0, 1, 2, 3))
        # Only the ids: a copy lacks what only the running kernel answers.
        live = json.loads(run("host", "doctor", "--format", "json")[1])
        self.assertEqual([f["id"] for f in live["findings"]], [f["id"] for f in found["findings"]])

    def test_collect_refuses_a_folder_with_files(self):
        (self.folder / "mine").write_text("x", encoding="utf-8")
        expect(run("host", "collect", str(self.folder)), code=1, out="", err="not empty")

    def test_collect_lists_what_it_would_copy(self):
        out, _ = expect(run("host", "collect", "--list"), out="/proc/irq/default_smp_affinity\n")
        self.assertNotIn("environ", out)

    def test_explain_gives_the_reason(self):
        out, _ = expect(run("host", "explain", "scheduler.rt_throttling"), err="")
        for part in ("reads", "sched_rt_runtime_us=950000", "fix now", "fix at boot", "risk"):
            self.assertIn(part, out)

    def test_explain_of_an_unknown_check_suggests_one(self):
        expect(run("host", "explain", "isolation.isolcpu"), code=2, out="", err="did you mean isolation.isolcpus?")
        self.assertIn("did you mean memory.ksm?", run("host", "explain", "ksm")[2])

    def test_explain_alone_lists_the_checks(self):
        out, _ = expect(run("host", "explain"))
        self.assertGreaterEqual(len(out.splitlines()), 45)


if __name__ == "__main__":
    unittest.main()
