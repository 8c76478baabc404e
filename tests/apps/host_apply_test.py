"""nfx host apply, verify and revert on a folder that stands for a host; nothing of this host is touched."""
import json
import os
import shutil
import stat
import subprocess
import unittest

from support import PROGRAM, FolderTest, expect, run

CONFIG = """[engine]
idle = "spin"
[placement]
[[session]]
sender_comp_id = "US"
target_comp_id = "THEM"
role = "acceptor"
listen = "127.0.0.1:9878"
dictionary = "none"  # the user without rights may be unable to read a shipped one
"""
CPUSET = "sys/fs/cgroup/cpuset"


class HostApply(FolderTest):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "engine.toml"
        self.config.write_text(CONFIG, encoding="utf-8")
        self.root = self.folder / "root"
        self.state = self.folder / "state"
        self.put("proc/self/mounts", "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n")
        self.put("proc/cmdline", "quiet\n")
        self.put("proc/sys/vm/stat_interval", "1\n")
        self.put("proc/irq/10/smp_affinity_list", "0-1\n")
        self.put("proc/irq/10/effective_affinity_list", "0\n")
        for name in "online", "present":
            self.put(f"sys/devices/system/cpu/{name}", "0-1\n")
        for cpu in 0, 1:
            for name, value in ("core_id", cpu), ("physical_package_id", 0), ("core_cpus", f"{1 << cpu:x}"), \
                    ("core_cpus_list", cpu), ("thread_siblings", f"{1 << cpu:x}"), ("thread_siblings_list", cpu), \
                    ("core_siblings", 3), ("package_cpus", 3):
                self.put(f"sys/devices/system/cpu/cpu{cpu}/topology/{name}", f"{value}\n")
            self.put(f"sys/devices/system/cpu/cpu{cpu}/online", "1\n")
        self.put("proc/meminfo", "MemTotal: 1048576 kB\n")
        self.put("proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n")
        self.put(f"{CPUSET}/cpuset.cpus", "0-1\n")
        self.put(f"{CPUSET}/cpuset.mems", "0\n")
        self.put(f"{CPUSET}/tasks", "1\n50\n")
        self.put(f"{CPUSET}/cgroup.procs", "1\n50\n")
        self.task(1, "init")
        self.task(50, "server")

    def put(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def get(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def task(self, pid, name):
        folder = f"proc/{pid}/task/{pid}"
        self.put(f"{folder}/stat", f"{pid} ({name}) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n")
        self.put(f"{folder}/status", f"Name:\t{name}\nCpus_allowed_list:\t0-1\n")

    def tree(self):
        return {str(file.relative_to(self.root)): file.read_bytes() if file.is_file() else None
                for file in self.root.rglob("*")}

    def host(self, command, *arguments):
        return run("host", command, *arguments, "--root", str(self.root), "--state", str(self.state))

    def apply(self, *arguments):
        return self.host("apply", str(self.config), *arguments)

    def test_apply_verify_and_revert_leave_the_tree_as_it_was(self):
        before = self.tree()
        expect(self.apply("--runtime"), out="0 refused", err="")
        self.assertEqual(self.get("proc/irq/10/smp_affinity_list"), "0")
        self.assertIn("list:\t0\n", self.get("proc/50/task/50/status"))
        expect(self.host("verify"), err="")
        code, out, err = self.apply("--runtime")
        self.assertEqual((code, out, err), (0, "nothing changed: the host is as planned\n", ""))
        out, _ = expect(self.host("revert"), err="")
        self.assertRegex(out, r"restored (\d+) of \1\n")
        self.assertEqual(self.tree(), before)
        self.assertFalse(self.state.exists())

    def test_the_record_is_for_its_owner_alone(self):
        self.apply("--runtime")
        self.assertEqual(stat.S_IMODE(self.state.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE((self.state / "changes.jsonl").stat().st_mode), 0o600)

    def test_without_a_state_folder_the_record_is_below_the_root(self):
        before = self.tree()
        expect(run("host", "apply", str(self.config), "--runtime", "--root", str(self.root)))
        self.assertTrue((self.root / "run/nexusfix-host/changes.jsonl").exists())
        run("host", "revert", "--root", str(self.root))
        shutil.rmtree(self.root / "run")
        self.assertEqual(self.tree(), before)

    def test_dry_run_lists_and_writes_nothing(self):
        before = self.tree()
        expect(self.apply("--runtime", "--dry-run"), out="/proc/sys/vm/stat_interval: 1 -> 120", err="")
        out, _ = expect(self.apply("--runtime", "--dry-run", "--format", "json"), err="")
        rows = {row["path"]: row for row in json.loads(out)["changes"]}
        self.assertEqual(rows["/proc/irq/10/smp_affinity_list"]["wanted"], "0")
        self.assertEqual(rows["/proc/irq/10/smp_affinity_list"]["seen"], "0-1\n")
        self.assertEqual(self.tree(), before)
        self.assertFalse(self.state.exists())

    def test_json_reports_are_json(self):
        for command in (("apply", str(self.config), "--runtime"), ("verify",), ("revert",)):
            out, _ = expect(self.host(*command, "--format", "json"), err="")
            self.assertEqual(json.loads(out)["exit"], 0)

    def test_a_pending_interrupt_is_a_warning_until_it_has_come(self):
        self.put("proc/irq/10/effective_affinity_list", "1\n")
        expect(self.apply("--runtime"), code=1, out="pending")
        self.assertEqual(self.host("verify")[0], 1)
        self.put("proc/irq/10/effective_affinity_list", "0\n")
        self.assertEqual(self.host("verify")[0], 0)

    def test_verify_names_who_is_back_on_the_isolated_cpu(self):
        self.apply("--runtime")
        self.task(77, "intruder")
        expect(self.host("verify", str(self.config)), code=2, out="intruder (77)")

    def test_verify_without_anything_applied_is_inconclusive(self):
        expect(self.host("verify"), code=3, out="", err="nothing is applied")

    def test_a_trading_engine_is_left_alone(self):
        before = self.tree()
        self.task(90, "nfx-poll-0")
        expect(self.apply("--runtime"), code=2, out="", err="process 90")
        self.assertEqual(self.apply("--runtime", "--while-trading")[0], 0)
        self.host("revert")
        shutil.rmtree(self.root / "proc/90")
        self.assertEqual(self.tree(), before)

    def test_a_plan_that_leaves_no_housekeeping_is_invalid(self):
        before = self.tree()
        self.config.write_text(CONFIG.replace('"spin"', '"spin"\npoll_threads = 2'), encoding="utf-8")
        _, err = expect(self.apply("--runtime"), code=5, out="")
        self.assertTrue(err.startswith("nfx: "), err)
        self.assertEqual(self.tree(), before)

    def test_runtime_or_boot_must_be_specified(self):
        for arguments in ((), ("--runtime", "--boot"), ("--runtime", "--install"), ("--runtime", "--output", "/tmp")):
            _, err = expect(self.apply(*arguments), code=2, out="")
            self.assertTrue(err.startswith("nfx: "), err)

    def test_revert_without_a_record_reports_it(self):
        self.assertEqual(self.host("revert"), (0, "nothing to restore: there is no record of changes\n", ""))

    def test_boot_files_can_be_written_elsewhere_first(self):
        before = self.tree()
        output = self.folder / "boot"
        expect(self.apply("--boot", "--output", str(output)), err="")
        self.assertEqual(self.apply("--boot")[0], 0)
        self.assertEqual(self.tree(), before)

    def test_installed_boot_files_wait_for_the_reboot_and_can_be_taken_back(self):
        before = self.tree()
        expect(self.apply("--boot", "--install"), code=4, err="")
        self.assertEqual(self.host("revert", "--boot")[0], 0)
        self.assertEqual(self.tree(), before)

    def test_without_root_this_host_is_not_touched(self):
        if os.geteuid() == 0:
            # Where others may not reach the program, nothing can be shown.
            program = self.folder / "nfx"
            shutil.copy(PROGRAM, program)
            program.chmod(0o755)
            self.folder.chmod(0o755)
            self.config.chmod(0o644)
            identity = {"user": 65534, "group": 65534, "extra_groups": []}
        else:
            program, identity = PROGRAM, {}
        for arguments in (("apply", str(self.config), "--runtime"), ("revert",)):
            result = subprocess.run([program, "host", *arguments], capture_output=True, check=False, text=True,
                                    **identity)
            self.assertIn(result.returncode, (3, 5), result.stderr)
            if result.returncode == 3:
                self.assertIn("root", result.stderr)


if __name__ == "__main__":
    unittest.main()
