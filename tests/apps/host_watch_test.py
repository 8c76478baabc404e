"""nfx host watch: its formats, its exit codes, and what it does with a terminal."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from report_page import check
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, expect, run

ENTER, LEAVE = b"\033[?1049h", b"\033[?1049l"


def write(root, file, content):
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def host(root, allowed="1", involuntary=0, steal=0, tasks=True):
    """A host of two CPUs with one engine thread."""
    write(root, "proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n" +
          "".join(f"cpu{i} 10 0 10 {1000 + 10 * steal} 0 0 0 {steal * i} 0 0\n" for i in (0, 1)))
    write(root, "sys/devices/system/cpu/online", "0-1\n")
    write(root, "sys/devices/system/cpu/isolated", "1\n")
    if not tasks:
        return
    folder = "proc/10/task/11/"
    write(root, folder + "stat", "11 (nfx-poll-0) R 1 1 1 0 -1 0 5 0 0 0 3 2 0 0 20 0 3 0 42 1 2 3 0 0 0 0 0 0 0 0 0 0"
                                 " 0 0 -1 1 0 0 0 0 0\n")
    write(root, folder + "status", f"Cpus_allowed_list:\t{allowed}\nvoluntary_ctxt_switches:\t0\n"
                                   f"nonvoluntary_ctxt_switches:\t{involuntary}\n")


class HostWatch(FolderTest):
    def setUp(self):
        super().setUp()
        self.before, self.after = self.folder / "before", self.folder / "after"
        host(self.before)

    def between(self, *arguments):
        return run("host", "watch", "--root-before", str(self.before), "--root-after", str(self.after), *arguments)

    def sleeper(self):
        process = subprocess.Popen(["sleep", str(2 * PATIENCE_S)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    # On copied files, where everything is known.

    def test_undisturbed_host_raises_no_alert(self):
        host(self.after)
        out, _ = expect(self.between(), out="no alerts\n", err="")
        self.assertRegex(out, r"\n   1 isol  .* nfx-poll-0\n")

    def test_drift_is_reported_and_sets_the_exit_code(self):
        host(self.after, allowed="0-1", involuntary=30, steal=10)
        out, _ = expect(self.between("--format", "json"), code=1)
        self.assertEqual(out.count("\n"), 1)
        seen = json.loads(out)
        self.assertEqual([alert["id"] for alert in seen["alerts"]], ["mask-changed", "steal"])
        self.assertEqual(seen["alerts"][0]["subject"], "nfx-poll-0")
        self.assertEqual(seen["alerts"][0]["text"], "CPUs 1 became 0-1")
        self.assertTrue(seen["alerts"][0]["why"] and seen["alerts"][0]["fix"])
        self.assertEqual([cpu["role"] for cpu in seen["cpus"]], ["housekeeping", "isolated"])
        self.assertEqual(seen["threads"][0]["involuntary_switches_per_s"], 30)
        self.assertIsNone(seen["threads"][0]["run_percent"])

    def test_alerts_alone_are_a_line_each(self):
        host(self.after, involuntary=30)
        code, out, _ = self.between("--alerts-only")
        self.assertEqual((code, out), (1, "involuntary-switches  nfx-poll-0: was preempted 30/s\n"))

    def test_isolated_cpus_can_be_named(self):
        host(self.after)
        code, out, _ = self.between("--isolated-cpus", "0", "--format", "json")
        self.assertEqual((code, [cpu["role"] for cpu in json.loads(out)["cpus"]]), (0, ["isolated", "housekeeping"]))
        expect(self.between("--isolated-cpus", "1-"), code=2, err="--isolated-cpus")

    def test_metrics_follow_the_exposition_format(self):
        host(self.after, involuntary=30)
        code, out, _ = self.between("--format", "prometheus")
        self.assertEqual(code, 1)
        self.assertIn('nexusfix_thread_involuntary_switches_total{thread="nfx-poll-0",pid="10",tid="11"} 30\n', out)
        self.assertIn('nexusfix_host_alerts{alert="involuntary-switches"} 1\n', out)
        self.assertIn('nexusfix_cpu_isolated{cpu="1"} 1\n', out)
        for line in out.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) nexusfix_\w+ .+|nexusfix_\w+\{(\w+="[^"]*",?)+\} [0-9.]+)$')

    def test_metrics_are_of_one_interval(self):
        for several in ([], ["--count", "2"], ["--count", "0"]):
            expect(run("host", "watch", "--format", "prometheus", "--interval-ms", "10", *several), code=2, out="",
                   err="--once or --count 1")
        for one in (["--once"], ["--count", "1"]):
            code, out, err = run("host", "watch", "--format", "prometheus", "--interval-ms", "10", *one)
            self.assertIn(code, (0, 1), err)
            heads = [line for line in out.splitlines() if line.startswith("# HELP ")]
            self.assertEqual(len(heads), len(set(heads)))

    def test_report_is_a_whole_page(self):
        host(self.after, involuntary=30)
        report = self.folder / "report.html"
        self.assertEqual(self.between("--html", str(report))[0], 1)
        found = check(self, report.read_text(encoding="utf-8"))
        self.assertEqual([chart["title"].split(",")[0] for chart in found["charts"]], ["CPU 0", "CPU 1"])
        self.assertIn("1 interval in", found["text"])

    def test_report_that_cannot_be_written_is_a_failure(self):
        host(self.after)
        expect(self.between("--html", str(self.folder)), code=2, err=f"cannot write {self.folder}: ")

    def test_what_cannot_be_seen_exits_3(self):
        host(self.after)
        expect(self.between("--pid", "4711"), code=3, out="", err="/proc/4711: no such process")
        (self.before / "proc/stat").unlink()
        _, err = expect(self.between(), code=3)
        self.assertRegex(err, "cannot read .*/proc/stat")

    def test_wrong_usage_exits_2(self):
        for arguments in (["--interval-ms", "1"], ["--format", "xml"], ["--once", "--count", "2"], ["--pid", "-1"],
                          ["--root-before", str(self.before)], ["/nowhere/engine.toml"]):
            with self.subTest(arguments=arguments):
                _, err = expect(run("host", "watch", *arguments), code=2, out="")
                self.assertTrue(err.startswith("nfx: "), err)

    # On this host, where only the shape is known.

    def test_process_is_watched_here(self):
        process = self.sleeper()
        code, out, err = run("host", "watch", "--pid", str(process.pid), "--once", "--interval-ms", "50", "--format", "json")
        self.assertIn(code, (0, 1), err)
        seen = json.loads(out)
        self.assertGreater(seen["interval_s"], 0.04)
        self.assertEqual(len(seen["threads"]), 1)
        thread = seen["threads"][0]
        self.assertEqual((thread["pid"], thread["tid"], thread["thread"]), (process.pid, process.pid, "sleep"))
        self.assertTrue(thread["measured"])
        self.assertTrue(seen["cpus"])
        self.assertRegex(seen["utc"], r"^\d{8}-\d\d:\d\d:\d\d\.\d{3}$")

    def test_count_limits_the_intervals(self):
        process = self.sleeper()
        code, out, err = run("host", "watch", "--pid", str(process.pid), "--count", "3", "--interval-ms", "20", "--format", "json")
        self.assertIn(code, (0, 1), err)
        self.assertEqual(out.count("\n"), 3)

    def test_end_of_the_process_is_an_alert_and_the_end(self):
        process = self.sleeper()
        watch = subprocess.Popen([PROGRAM, "host", "watch", "--pid", str(process.pid), "--interval-ms", "20", "--format", "json"],
                                 stdout=subprocess.PIPE, env=ENVIRONMENT)
        self.addCleanup(watch.stdout.close)
        self.assertTrue(watch.stdout.readline())
        process.kill()
        process.wait()
        rest, _ = watch.communicate(timeout=PATIENCE_S)
        last = json.loads(rest.splitlines()[-1])
        self.assertEqual(watch.returncode, 1)
        self.assertIn(("thread-missing", f"process {process.pid}"), [(a["id"], a["subject"]) for a in last["alerts"]])

    def test_interrupted_watch_still_writes_its_report(self):
        process, report = self.sleeper(), self.folder / "report.html"
        watch = subprocess.Popen([PROGRAM, "host", "watch", "--pid", str(process.pid), "--interval-ms", "20", "--html", str(report),
                                  "--format", "json"], stdout=subprocess.PIPE, env=ENVIRONMENT)
        self.assertTrue(watch.stdout.readline())
        watch.send_signal(signal.SIGTERM)
        watch.communicate(timeout=PATIENCE_S)
        self.assertIn(watch.returncode, (0, 1))
        self.assertIn("</html>", report.read_text(encoding="utf-8"))

    # In a terminal.

    def terminal(self, rows=24, columns=80):
        """A watch in a terminal of its own; its process, the master's end, and how the terminal was set before."""
        process = self.sleeper()
        master, slave = pty.openpty()
        self.addCleanup(os.close, slave)
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        settings = termios.tcgetattr(slave)
        watch = subprocess.Popen([PROGRAM, "host", "watch", "--pid", str(process.pid), "--interval-ms", "50"],
                                 stdin=slave, stdout=slave, stderr=slave, env={**ENVIRONMENT, "TERM": "xterm"},
                                 start_new_session=True)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        return watch, master, slave, settings

    def read_until(self, master, pattern, data=b""):
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, data, re.DOTALL):
            ready, _, _ = select.select([master], [], [], max(0, end - time.monotonic()))
            self.assertTrue(ready, f"{pattern} did not come: {data[-2000:]}")
            data += os.read(master, 65536)
        return data

    def test_terminal_is_drawn_and_put_back_when_q_is_pressed(self):
        watch, master, slave, settings = self.terminal()
        data = self.read_until(master, rb"CPU ROLE.*THREAD .*alert")
        self.assertTrue(data.startswith(ENTER), data[:40])
        self.assertFalse(termios.tcgetattr(slave)[3] & (termios.ECHO | termios.ICANON))
        # The next frame begins at the top, not after the last line; what was read may end anywhere in it.
        lines = re.sub(rb"\033\[[?0-9;]*[a-zA-Z]", b"", data.replace(b"\033[H", b"\r\n")).split(b"\r\n")[:-1]
        self.assertLessEqual(max(len(line.rstrip(b"\r")) for line in lines), 80)
        os.write(master, b"q")
        data = self.read_until(master, re.escape(LEAVE))
        self.assertIn(watch.wait(PATIENCE_S), (0, 1))
        self.assertIn(b"\033[?25h", data)
        self.assertEqual(termios.tcgetattr(slave), settings)

    def test_terminal_is_put_back_by_every_signal_that_ends_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                watch, master, slave, settings = self.terminal()
                self.read_until(master, rb"CPU ROLE")
                watch.send_signal(number)
                self.read_until(master, re.escape(LEAVE))
                self.assertIn(watch.wait(PATIENCE_S), (0, 1))
                self.assertEqual(termios.tcgetattr(slave), settings)

    def test_hang_up_that_is_ignored_ends_nothing(self):
        process = self.sleeper()
        watch = subprocess.Popen(["nohup", PROGRAM, "host", "watch", "--pid", str(process.pid), "--interval-ms", "20",
                                  "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        self.assertTrue(watch.stdout.readline())
        watch.send_signal(signal.SIGHUP)
        self.assertTrue(all(watch.stdout.readline() for _ in range(3)))
        watch.send_signal(signal.SIGTERM)
        watch.communicate(timeout=PATIENCE_S)
        self.assertIn(watch.returncode, (0, 1))

    def test_stop_gives_the_terminal_back_until_it_continues(self):
        watch, master, slave, settings = self.terminal()
        self.read_until(master, rb"CPU ROLE")
        watch.send_signal(signal.SIGTSTP)
        self.read_until(master, re.escape(LEAVE))
        os.waitpid(watch.pid, os.WUNTRACED)
        self.assertEqual(termios.tcgetattr(slave), settings)
        watch.send_signal(signal.SIGCONT)
        self.read_until(master, re.escape(ENTER) + rb".*CPU ROLE")
        os.write(master, b"q")
        self.assertIn(watch.wait(PATIENCE_S), (0, 1))

    def test_resized_terminal_is_drawn_in_its_size(self):
        watch, master, slave, _ = self.terminal(columns=60)
        data = self.read_until(master, rb"CPU ROLE")
        self.assertNotIn(b"FALT THREADS", data)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        watch.send_signal(signal.SIGWINCH)
        self.read_until(master, rb"FALT THREADS")
        os.write(master, b"q")
        self.assertIn(watch.wait(PATIENCE_S), (0, 1))

    def test_a_terminal_of_five_lines_and_twenty_columns_gets_a_frame_of_that_size(self):
        watch, master, _, _ = self.terminal(rows=5, columns=20)
        data = self.read_until(master, rb"\033\[H.*\033\[H.*\033\[H")
        for frame in data.split(b"\033[H")[1:-1]:
            lines = re.sub(rb"\033\[[?0-9;]*[a-zA-Z]", b"", frame).split(b"\r\n")
            self.assertLessEqual(len(lines), 5, lines)
            self.assertLessEqual(max(len(line.rstrip(b"\r")) for line in lines), 20, lines)
            self.assertTrue(lines[0], "it is not empty")
        os.write(master, b"q")
        self.read_until(master, re.escape(LEAVE))
        self.assertIn(watch.wait(PATIENCE_S), (0, 1))

    def test_help_gives_examples(self):
        expect(run("host", "watch", "--help"), out=["nfx host watch engine.toml", "Exit codes:"], err="")


if __name__ == "__main__":
    unittest.main()
