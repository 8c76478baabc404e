"""nfx host plan: which thread runs where, on a machine made of files, and its exit codes."""
import json
import unittest

from support import FolderTest, expect, run

CONFIG = """[engine]
poll_threads = {polls}
idle = "{idle}"
{placement}
[defaults]
role = "acceptor"
begin_string = "FIX.4.4"
listen = "127.0.0.1:9"
[[session]]
sender_comp_id = "US"
target_comp_id = "THEM"
"""


class Plan(FolderTest):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        self.machine(cpus=4)

    def file(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")

    def machine(self, cpus, command_line="root=/dev/vda1", isolated=""):
        """A host of this many cores on one node, as in its /proc and /sys."""
        every = f"0-{cpus - 1}"
        mask = f"{(1 << cpus) - 1:x}"
        base = "sys/devices/system/cpu"
        for name in ("online", "present", "possible"):
            self.file(f"{base}/{name}", every)
        self.file(f"{base}/isolated", isolated)
        self.file(f"{base}/nohz_full", isolated)
        for cpu in range(cpus):
            topology = f"{base}/cpu{cpu}/topology"
            self.file(f"{topology}/core_id", str(cpu))
            self.file(f"{topology}/physical_package_id", "0")
            for name in ("thread_siblings", "core_cpus"):
                self.file(f"{topology}/{name}", f"{1 << cpu:x}")
                self.file(f"{topology}/{name}_list", str(cpu))
            for name in ("core_siblings", "package_cpus"):
                self.file(f"{topology}/{name}", mask)
                self.file(f"{topology}/{name}_list", every)
        self.file("sys/devices/system/node/online", "0")
        self.file("sys/devices/system/node/node0/cpumap", mask)
        self.file("sys/devices/system/node/node0/cpulist", every)
        self.file("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 8000000 kB")
        self.file("proc/cpuinfo", "\n".join(f"processor\t: {cpu}\n" for cpu in range(cpus)))
        self.file("proc/meminfo", "MemTotal: 8000000 kB")
        self.file("proc/cmdline", command_line)
        self.file("proc/sys/kernel/osrelease", "6.1.0-18-amd64")
        self.file("proc/sys/kernel/sched_rt_runtime_us", "950000")

    def plan(self, *options, polls=1, idle="spin", placement="[placement]"):
        config = self.folder / "engine.toml"
        config.write_text(CONFIG.format(polls=polls, idle=idle, placement=placement), encoding="utf-8")
        return run("host", "plan", str(config), "--root", str(self.root), *options)

    def test_warns_about_a_core_that_is_not_isolated(self):
        out, _ = expect(self.plan(), code=1, err="")
        self.assertRegex(out, r"nfx-poll-0 +poll +spin +1 ")
        self.assertIn("warning [not-isolated]", out)
        self.assertIn("nfx-poll-0 (CPU 1): 1: US->THEM", out)

    def test_is_content_with_a_host_that_is_set_up(self):
        self.machine(cpus=4, command_line="isolcpus=1 nohz_full=1 rcu_nocbs=1", isolated="1")
        out, _ = expect(self.plan(), err="")
        self.assertNotIn("warning", out)

    def test_refuses_more_busy_polling_threads_than_cores(self):
        expect(self.plan(polls=9), code=5, out=["refusal [oversubscribed-spinners]", "set [engine] poll_threads = 3"],
               err="")

    def test_json_has_it_all(self):
        code, out, _ = self.plan("--format", "json",
                                 placement='[placement.log]\nthreads = 1\n[log]\nmetrics_file = "nfx.prom"')
        self.assertEqual(code, 1)
        plan = json.loads(out)
        self.assertEqual(plan["isolated"], "1")
        self.assertEqual(plan["housekeeping"], "0,2-3")
        self.assertEqual([(each["name"], each["cpus"]) for each in plan["threads"]],
                         [("nfx-poll-0", "1"), ("nfx-defer-0", "0,2-3"), ("nfx-flush-0", "0,2-3"),
                          ("nfx-log-0", "0,2-3")])
        self.assertEqual(plan["sessions"], [{"name": "US->THEM", "poll_thread": 0, "cpus": "1"}])
        self.assertFalse(plan["refused"])
        self.assertRegex(plan["hash"], "^[0-9a-f]{16}$")
        for finding in plan["findings"]:
            self.assertTrue(all(finding[key] for key in ("severity", "id", "subject", "text", "fix")), finding)

    def test_prints_the_isolated_cpus_alone(self):
        self.assertEqual(self.plan("--isolated-only", polls=2)[1], "1-2\n")

    def test_pins_no_thread_without_a_placement_section(self):
        expect(self.plan(idle="block", placement=""), out="note [placement-off]", err="")

    def test_refuses_a_device_that_is_not_there(self):
        expect(self.plan(placement='[placement.poll]\nnear = "each_grup"'), code=5, out="did you mean each_group?")

    def test_needs_a_configuration(self):
        expect(run("host", "plan"), code=2, out="", err="CONFIG")


if __name__ == "__main__":
    unittest.main()
