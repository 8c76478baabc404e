"""nfx host apply, verify and revert on this very host: the host afterwards must equal the host before.

Changes the host for some seconds and puts it back, so it runs only as root and with NFX_LIVE_HOST=yes in the
environment. NFX_PROGRAM names the binary. NFX_LIVE_ROUNDS (100) is how often apply is killed, NFX_LIVE_SEED when.
"""
import glob
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ.get("NFX_PROGRAM", "nfx")
ROUNDS = int(os.environ.get("NFX_LIVE_ROUNDS", "100"))
SEED = int(os.environ.get("NFX_LIVE_SEED", str(time.time_ns() % 1_000_000)))

CONFIG = """[engine]
idle = "spin"
[placement]
[[session]]
sender_comp_id = "US"
target_comp_id = "THEM"
role = "acceptor"
listen = "127.0.0.1:9878"
"""

SETTINGS = ["/proc/irq/default_smp_affinity", "/proc/irq/*/smp_affinity_list", "/proc/irq/*/smp_affinity",
            "/sys/devices/virtual/workqueue/cpumask", "/sys/devices/virtual/workqueue/*/cpumask",
            "/proc/sys/kernel/sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_period_us",
            "/proc/sys/kernel/timer_migration", "/proc/sys/kernel/numa_balancing",
            "/proc/sys/kernel/watchdog_cpumask", "/proc/sys/kernel/watchdog", "/proc/sys/kernel/nmi_watchdog",
            "/proc/sys/vm/stat_interval", "/sys/class/net/*/queues/*/rps_cpus", "/sys/class/net/*/queues/*/xps_cpus",
            "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
            "/sys/kernel/debug/sched/fair_server/cpu*/runtime", "/sys/kernel/mm/transparent_hugepage/enabled"]
GROUP_FILES = ["cpuset.cpus", "cpuset.mems", "cpuset.cpus.partition", "cgroup.subtree_control"]


def read(file):
    try:
        return pathlib.Path(file).read_bytes()
    except OSError as error:
        return error.errno


def settings():
    """Every setting and every control group, with what is in it."""
    seen = {file: read(file) for pattern in SETTINGS for file in sorted(glob.glob(pattern))}
    for folder, _, files in os.walk("/sys/fs/cgroup"):
        # Other controllers' groups come and go with what else runs here.
        if "cgroup.procs" not in files or not any(name in files for name in GROUP_FILES):
            continue
        seen[folder + "/"] = None
        for name in GROUP_FILES:
            if name in files:
                seen[f"{folder}/{name}"] = read(f"{folder}/{name}")
    return seen


def tasks():
    """Mask and groups of every task, by number and start time."""
    seen = {}
    for folder in glob.glob("/proc/[0-9]*/task/[0-9]*"):
        try:
            stat = pathlib.Path(folder, "stat").read_text(encoding="utf-8", errors="replace")
            start = stat.rsplit(")", 1)[1].split()[19]
            mask = next(line.split(":")[1].strip() for line in
                        pathlib.Path(folder, "status").read_text(encoding="utf-8", errors="replace").splitlines()
                        if line.startswith("Cpus_allowed_list:"))
            groups = pathlib.Path(folder, "cgroup").read_text(encoding="utf-8")
        except (OSError, StopIteration):
            continue  # it has ended
        name = stat[stat.index("(") + 1:stat.rindex(")")]
        seen[int(folder.rsplit("/", 1)[1]), start] = (name, mask, groups)
    return seen


class Live(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name) / "state"
        self.config = pathlib.Path(folder.name) / "engine.toml"
        self.config.write_text(CONFIG, encoding="utf-8")
        # Whatever happens, the host is put back, before the record goes with the folder.
        self.addCleanup(lambda: any(self.host("revert")[0] == 0 for _ in range(5)))
        self.before = settings(), tasks()

    def command(self, name, *arguments):
        return [PROGRAM, "host", name, *arguments, "--state", str(self.state)]

    def host(self, name, *arguments):
        began = time.monotonic()
        result = subprocess.run(self.command(name, *arguments), capture_output=True, text=True, check=False, timeout=60)
        return result.returncode, result.stdout + result.stderr, time.monotonic() - began

    def apply(self):
        # Engines of others that run here stay where they are.
        return self.host("apply", str(self.config), "--runtime", "--while-trading")

    def assert_as_before(self, when):
        settings_before, tasks_before = self.before
        self.assertEqual(settings(), settings_before, when)
        after = tasks()
        both = tasks_before.keys() & after.keys()
        self.assertGreater(len(both), 5)
        # Workers of the kernel change their names with what they do.
        differing = {key: (tasks_before[key], after[key]) for key in both if tasks_before[key][1:] != after[key][1:]}
        self.assertEqual(differing, {}, when)
        return len(both)

    def test_apply_verify_apply_and_revert_leave_the_host_as_it_was(self):
        code, out, applied = self.apply()
        self.assertIn(code, (0, 1), out)
        self.assertNotEqual(settings(), self.before[0])
        code, out, verified = self.host("verify")
        self.assertIn(code, (0, 1), out)
        self.assertNotIn("violated", out)
        record = self.state / "changes.jsonl"
        mark = record.stat().st_mtime_ns, record.stat().st_size
        now = settings()
        code, out, again = self.apply()
        self.assertEqual(code, 0, out)
        self.assertIn("nothing changed", out)
        self.assertEqual((record.stat().st_mtime_ns, record.stat().st_size), mark)
        self.assertEqual(settings(), now)
        code, out, reverted = self.host("revert")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"restored (\d+) of \1\n")
        compared = self.assert_as_before("after revert")
        print(f"apply {applied * 1e3:.0f} ms, verify {verified * 1e3:.0f} ms, second apply {again * 1e3:.0f} ms, "
              f"revert {reverted * 1e3:.0f} ms; {len(self.before[0])} settings and {compared} tasks as before",
              file=sys.stderr)

    def test_kill_at_any_time_and_revert_leave_the_host_as_it_was(self):
        durations = []
        for _ in range(3):
            durations.append(self.apply()[2])
            self.assertEqual(self.host("revert")[0], 0)
        duration = statistics.median(durations)
        chance = random.Random(SEED)
        killed = touched = 0
        for number in range(ROUNDS):
            wait = chance.uniform(0, duration)
            with subprocess.Popen(self.command("apply", str(self.config), "--runtime", "--while-trading"),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                # When the kill comes is what is tested, so nothing is waited for but the time.
                time.sleep(wait)
                process.send_signal(signal.SIGKILL)
                killed += process.wait() == -signal.SIGKILL
            touched += (self.state / "changes.jsonl").exists()
            code, out, _ = self.host("revert")
            self.assertEqual(code, 0, f"round {number}, seed {SEED}: {out}")
            self.assert_as_before(f"round {number}, killed after {wait * 1e6:.0f} us, seed {SEED}")
        print(f"seed {SEED}: {ROUNDS} rounds, {killed} killed in mid-apply, {touched} of them had changed something; "
              f"apply takes {duration * 1e3:.0f} ms", file=sys.stderr)
        self.assertGreater(touched, 0)


if __name__ == "__main__":
    if os.environ.get("NFX_LIVE_HOST") != "yes" or os.geteuid() != 0:
        print("SKIPPED: changes this host; needs root and NFX_LIVE_HOST=yes")
        sys.exit(0)
    unittest.main()
