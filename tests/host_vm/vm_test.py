"""Plans a virtual machine, plays its boot loader with the artefacts, boots it again, and checks that the plan holds.

Exit 77: skipped, with a line that names what is missing; NFX_WITH_VM=yes enables it. NFX_PROGRAM names nfx,
NFX_VM_CACHE the folder for the kernel.
"""
import base64
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import machine  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ["NFX_PROGRAM"]
CACHE = os.environ.get("NFX_VM_CACHE", os.path.join(tempfile.gettempdir(), "nexusfix-vm"))
GRUB = "etc/default/grub.d/50-nexusfix.cfg"
SKIPPED = 77


def cpus(text):
    """The CPUs of a list such as 0-3,8."""
    found = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def mask(text):
    value = int(text.strip().replace(",", ""), 16)
    return {cpu for cpu in range(value.bit_length()) if value >> cpu & 1}


def settings(text):
    """The lines NAME=VALUE."""
    return dict(line.partition("=")[::2] for line in text.splitlines() if "=" in line)


def words(parameters):
    return dict(word.partition("=")[::2] for word in parameters.split())


def base_archive():
    archive = machine.Archive()
    archive.copy("bin/busybox", machine.busybox())
    archive.copy("init", os.path.join(HERE, "init.sh"))
    archive.copy("etc/vm.toml", os.path.join(HERE, "vm.toml"), 0o644)
    archive.copy("usr/bin/nfx", PROGRAM)
    for library in machine.libraries(PROGRAM):
        archive.copy(library, library)
    return archive


def boot(kernel, initrd, disks, parameters, step):
    accel = machine.accelerator()
    result = machine.run(machine.qemu_command(kernel, initrd, disks, f"{parameters} vm_step={step}", accel))
    with open(os.path.join(CACHE, f"boot-{step}.log"), "w", encoding="utf-8") as log:
        log.write(result.text)
    print(f"boot {step}: {result.seconds:.1f} s with {accel}", flush=True)
    return result


class TracedMachine(unittest.TestCase):
    """nfx host noise on Debian's real-time kernel, which has the osnoise tracer; its other kernels have not."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        initrd = os.path.join(folder, "initrd")
        with open(initrd, "wb") as file:
            file.write(base_archive().pack())
        try:
            cls.machine = boot(machine.kernel(CACHE, "rt"), initrd, [], "", "noise")
        except machine.Missing as missing:
            raise unittest.SkipTest(str(missing)) from None

    def report(self, section):
        self.assertEqual(self.machine.exit[section], 0, self.machine.output[section])
        return json.loads(self.machine.output[section])

    def test_noise_uses_osnoise_and_names_what_interrupted_its_thread(self):
        report = self.report("noise")
        self.assertEqual(report["attribution"]["tracer"], "osnoise", report["notes"])
        causes = {(cause["kind"], cause["name"]) for cause in report["cpus"][0]["causes"]}
        self.assertIn(("task", "sh"), causes)
        self.assertLessEqual({kind for kind, _ in causes},
                             {"timer", "interrupt", "softirq", "ipi", "nmi", "kernel", "task", "hardware"})

    def test_noise_puts_the_tracers_settings_back_also_after_a_signal(self):
        self.assertEqual(self.machine.exit["noise_ended_by_a_signal"], 0)
        self.assertEqual(self.machine.output["tracing_after"], self.machine.output["tracing_before"])

    def test_noise_leaves_the_osnoise_of_another_alone(self):
        report = self.report("noise_beside_another")
        self.assertEqual(report["attribution"]["tracer"], "events")
        self.assertTrue(any("rtla/current_tracer is osnoise" in note for note in report["notes"]), report["notes"])
        self.assertEqual(self.machine.output["tracing_of_another_after"], self.machine.output["tracing_of_another"])


class PlannedMachine(unittest.TestCase):
    """Boots three times, once for all tests: as it comes, with the artefacts, and with another plan's hash."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.kernel = machine.kernel(CACHE)
        archive = base_archive()
        archive.copy("lib/modules/tls.ko", machine.module(cls.kernel, "net/tls/tls.ko"), 0o644)
        cls.base = archive.pack()
        cls.disks = [(cls.disk("few.img"), 2), (cls.disk("many.img"), 8)]
        cls.plain = cls.boot("plain", "")
        cls.artefacts = cls.unpack(cls.plain.output["artefacts"])
        cls.parameters = cls.boot_loader_parameters()
        cls.planned = cls.boot("planned", cls.parameters)
        planned_hash = words(cls.parameters)["nexusfix.plan"]
        cls.other_hash = ("f" if planned_hash[0] != "f" else "0") + planned_hash[1:]
        cls.other = cls.boot("other", cls.parameters.replace(planned_hash, cls.other_hash))
        cls.isolated = cpus(words(cls.parameters)["isolcpus"].split("domain,")[1])
        cls.housekeeping = set(range(8)) - cls.isolated

    @classmethod
    def disk(cls, name):
        path = os.path.join(cls.folder, name)
        with open(path, "wb") as file:
            file.truncate(64 << 20)
        return path

    @classmethod
    def boot(cls, step, parameters):
        initrd = os.path.join(cls.folder, "initrd")
        with open(initrd, "wb") as file:
            file.write(cls.base)
            if step != "plain":
                # The kernel unpacks one archive after the other.
                file.write(cls.artefacts.pack())
        return boot(cls.kernel, initrd, cls.disks, parameters, step)

    @classmethod
    def unpack(cls, text):
        """The artefacts, as files of the machine's next boot; and below the test's folder."""
        archive = machine.Archive()
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(text))) as tar:
            for member in tar.getmembers():
                if member.isfile():
                    name = os.path.normpath(member.name)
                    archive.file(f"out/{name}", tar.extractfile(member).read(), member.mode & 0o777)
        return archive

    @classmethod
    def artefact(cls, name):
        return cls.artefacts.entries[f"out/{name}"][1].decode()

    @classmethod
    def boot_loader_parameters(cls):
        """What grub-mkconfig would take from the drop-in."""
        path = os.path.join(cls.folder, "drop-in.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(cls.artefact(GRUB))
        result = subprocess.run(["sh", "-euc", 'GRUB_CMDLINE_LINUX=; . "$0"; printf %s "$GRUB_CMDLINE_LINUX"', path],
                                capture_output=True, text=True, check=True)
        return result.stdout

    def knows(self, command):
        return command in self.plain.output["commands"].split()

    def test_a_machine_as_it_comes_does_not_follow_the_plan(self):
        self.assertEqual(cpus(settings(self.plain.output["cpus"])["/sys/devices/system/cpu/isolated"]), set())
        self.assertIn(self.plain.exit["verify"], (2, 4), self.plain.output["verify"])

    def test_the_machine_is_the_one_that_the_test_is_about(self):
        seen = settings(self.plain.output["cpus"])
        self.assertEqual(cpus(seen["/sys/devices/system/cpu/online"]), set(range(8)))
        self.assertEqual(cpus(seen["/sys/devices/system/cpu/cpu2/topology/thread_siblings_list"]), {2, 3})
        self.assertEqual(cpus(seen["/sys/devices/system/node/node1/cpulist"]), {4, 5, 6, 7})

    def test_the_tls_doctor_finds_the_kernels_encryption_exactly_when_its_module_is_there(self):
        self.assertRegex(self.plain.output["kernel_tls_without_module"], r"kernel TLS +not offered: TCP_ULP knows no")
        self.assertRegex(self.plain.output["kernel_tls_with_module"], r"kernel TLS +offered, not used: ")

    def test_apply_reports_what_to_do_with_the_artefacts(self):
        self.assertEqual(self.plain.exit["apply"] & ~4, 0, self.plain.output["apply"])
        self.assertIn("update-grub", self.plain.output["apply"])

    def test_the_parameters_are_those_of_the_plan(self):
        if not self.knows("plan"):
            self.skipTest("this nfx has no 'host plan'")
        plan = json.loads(self.plain.output["plan"])
        text = json.dumps(plan)
        self.assertIn(words(self.parameters)["nexusfix.plan"], text)

    def test_the_kernel_has_isolated_the_isolated_cpus(self):
        seen = settings(self.planned.output["cpus"])
        self.assertTrue(self.isolated)
        self.assertEqual(cpus(seen["/sys/devices/system/cpu/isolated"]), self.isolated)
        self.assertEqual(cpus(seen["/sys/devices/system/cpu/nohz_full"]), self.isolated)
        self.assertEqual(cpus(seen["/proc/sys/kernel/watchdog_cpumask"]), self.housekeeping)
        self.assertEqual(mask(seen["/proc/irq/default_smp_affinity"]), self.housekeeping)
        self.assertEqual(mask(seen["init"]), self.housekeeping)

    def test_smt_siblings_of_isolated_cpus_are_isolated(self):
        seen = settings(self.planned.output["cpus"])
        for cpu in self.isolated:
            siblings = cpus(seen[f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"])
            self.assertLessEqual(siblings, self.isolated)

    def test_threads_are_on_the_nodes_that_the_plan_names(self):
        if not self.knows("plan"):
            self.skipTest("this nfx has no 'host plan'")
        seen = settings(self.planned.output["cpus"])
        for thread in json.loads(self.plain.output["plan"])["threads"]:
            where = thread["cpus"] if isinstance(thread["cpus"], str) else ",".join(map(str, thread["cpus"]))
            # Threads that sleep belong to no node.
            if thread.get("numa_node") is not None:
                node = cpus(seen[f"/sys/devices/system/node/node{thread['numa_node']}/cpulist"])
                self.assertLessEqual(cpus(where), node, thread)

    def test_the_sysctl_drop_in_is_taken(self):
        self.assertEqual(self.planned.exit["sysctls"], 0, self.planned.output["sysctls"])
        self.assertNotIn("error", self.planned.output["sysctls"].lower())

    def test_verify_reports_that_the_boot_is_as_planned(self):
        for item in ("boot.plan", "boot.isolcpus", "boot.nohz_full", "boot.rcu_nocbs", "smt.siblings", "numa.nodes"):
            self.assert_holds(item, self.planned.output["verify"])

    def test_verify_finds_nothing_that_run_time_can_still_change(self):
        if not self.knows("runtime"):
            self.skipTest("this nfx has no 'host apply --runtime'")
        text = self.planned.output["verify_after"]
        self.assertIn(self.planned.exit["apply"], (0, 1), self.planned.output["apply"])
        self.assertIn(self.planned.exit["verify_after"], (0, 1), text)
        self.assertNotIn("violated", text)

    def assert_holds(self, item, text):
        lines = [line for line in text.splitlines() if item in line.split()]
        self.assertTrue(lines, f"nothing about {item} in:\n{text}")
        self.assertTrue(all(line.startswith("ok") for line in lines), text)

    def test_managed_interrupts_avoid_the_isolated_cpus_where_a_queue_has_others(self):
        queues = self.interrupts("nvme0q")
        self.assertGreaterEqual(len(queues), 3)  # two for data, one for administration
        for name, (_, effective) in queues.items():
            self.assertFalse(effective & self.isolated, f"{name} goes to {effective}")

    def test_managed_interrupts_of_isolated_cpus_alone_are_named(self):
        stay = [name for name, (allowed, _) in self.interrupts("nvme1q").items() if allowed <= self.isolated]
        self.assertEqual(len(stay), len(self.isolated))
        for name in stay:
            self.assertRegex(self.planned.output["steer"], rf"{name}\) stays on CPUs")
        self.assertEqual(self.planned.exit["steer"], 1, self.planned.output["steer"])
        if self.knows("doctor"):
            self.assertTrue(any(name in self.planned.output["doctor"] for name in stay))

    def test_other_interrupts_are_away_from_the_isolated_cpus(self):
        for name, (allowed, effective) in self.interrupts("").items():
            if not name.startswith("nvme"):
                self.assertFalse((effective or allowed) & self.isolated, f"{name} goes to {effective or allowed}")

    def test_a_boot_with_another_plan_is_seen(self):
        self.assertIn(self.other.exit["verify"], (2, 4), self.other.output["verify"])
        self.assertIn(self.other_hash, self.other.output["verify"])

    def test_what_is_applied_at_run_time_can_be_reverted(self):
        if not self.knows("runtime"):
            self.skipTest("this nfx has no 'host apply --runtime'")
        self.assertIn(self.plain.exit["runtime_apply"], (0, 1, 4), self.plain.output["runtime_apply"])
        self.assertNotEqual(self.plain.output["runtime_apply"], "")
        self.assertEqual(self.plain.exit["runtime_revert"], 0, self.plain.output["runtime_revert"])
        self.assertEqual(self.plain.output["state_after"].splitlines(), self.plain.output["state_before"].splitlines())

    def interrupts(self, prefix):
        """Those with a handler of that name: by name, where they may go and where they really go."""
        found = {}
        for line in self.planned.output["interrupts"].splitlines():
            parts = line.split(" ")
            if len(parts) >= 4 and parts[1] and parts[1].startswith(prefix):
                found[parts[1]] = (cpus(parts[2]), cpus(parts[3]))
        return found


def main():
    if os.environ.get("NFX_WITH_VM") != "yes":
        print("SKIPPED: boots virtual machines, which takes its time; set NFX_WITH_VM=yes")
        return SKIPPED
    os.makedirs(CACHE, exist_ok=True)
    try:
        machine.qemu()
        machine.busybox()
        print("kernel:", machine.kernel(CACHE), flush=True)
    except machine.Missing as missing:
        print(f"SKIPPED: {missing}")
        return SKIPPED
    result = unittest.main(exit=False, verbosity=2).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
