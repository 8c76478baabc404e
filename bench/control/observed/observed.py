"""What it costs to watch an engine: the order demonstration with latencies measured, 'nfx top' on the trader's engine and
a scrape of its metrics each second, beside the same without any of these. The two alternate: off on, on off, off on.

One CPU is kept for all but the two sides, as [placement] keeps one for housekeeping: the sides are on the last two of the
others, or share the only other one. Idle CPUs are not halted (/dev/cpu_dma_latency), as waking one up in a virtual machine
takes 20 to 400 us, which differs from second to second. --kernel-places does neither.

Each run trades by schedule, one order at a time and with a full window, and checks itself; a run that disagrees ends the
benchmark. The ratio of a figure is that of a run with to the run without next to it. Shown are the median of the repeats
and the range that has the median of endless repeats with 95 % confidence, whatever their distribution. A figure is above
its limit where the whole range is, and within it where no part of the range is above. --watch nothing compares the same
twice: how far its ratios are from 1 is what the host alone makes. './dev bench engine_time' has the engine's own time with
and without latencies. Exit status: 1 where a figure is above its limit, otherwise 0; without --watch all, or with --quick,
there are no limits.
"""

import math
import os
import pathlib
import pty
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness"))
from demonstration import demonstration_options, machine, run_repeat  # noqa: E402

REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LIMITS = {"p50": 1.02, "p99": 1.05}


class Host:
    """Where the sides run, and whether idle CPUs are halted, until the benchmark ends."""

    def __init__(self, kernel_places):
        cpus = sorted(os.sched_getaffinity(0))
        self.of_sides, self.awake = [], None
        if kernel_places or len(cpus) < 2:
            return
        self.of_sides = cpus[max(1, len(cpus) - 2):]
        os.sched_setaffinity(0, set(cpus) - set(self.of_sides))  # what is started inherits it
        try:
            file = os.open("/dev/cpu_dma_latency", os.O_WRONLY)
            os.write(file, bytes(4))  # 0 us
            self.awake = file
        except OSError:
            pass  # it is told by the first line

    def __str__(self):
        if not self.of_sides:
            return "the kernel places the threads"
        return (f"sides on CPU {' and '.join(map(str, self.of_sides))}, all else on {os.sched_getaffinity(0)}, idle CPUs "
                f"{'halted' if self.awake is None else 'not halted'}")

    def place(self, trader):
        """Waits for the venue, which the trader starts. The first thread of each process is its poll thread; threads that it
        has started since it was placed are with it, and are moved."""
        if not self.of_sides:
            return
        others = os.sched_getaffinity(0)
        end = time.monotonic() + 1  # longer than the sides take to start all threads
        while time.monotonic() < end:
            for pid, cpu in ((trader, self.of_sides[0]), (child_of(trader), self.of_sides[-1])):
                try:
                    for thread in os.listdir(f"/proc/{pid}/task") if pid is not None else []:
                        os.sched_setaffinity(int(thread), {cpu} if int(thread) == pid else others)
                except OSError:
                    pass  # a thread has ended
            time.sleep(0.02)


def child_of(parent):
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[1]) == parent:
            return int(stat.parent.name)
    return None


class Watchers:
    """'nfx top' in a terminal of its own, and the scraper, from when the engine's socket is there until stop()."""

    def __init__(self, nfx, path):
        self.path = path
        self.done = threading.Event()
        self.scrapes = self.redrawn = 0
        self.top = None
        self.threads = [threading.Thread(target=self.scrape), threading.Thread(target=self.watch, args=(nfx,))]
        for thread in self.threads:
            thread.start()

    def there(self):
        while not os.path.exists(self.path):
            if self.done.wait(0.02):
                return False
        return True

    def scrape(self):
        if not self.there():
            return
        while True:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                    client.settimeout(5)
                    client.connect(self.path)
                    client.sendall(REQUEST)
                    answer = b"".join(iter(lambda: client.recv(1 << 16), b""))
                self.scrapes += answer.startswith(b"HTTP/1.1 200") and b"# EOF" in answer
            except OSError:
                pass  # the engine has ended
            if self.done.wait(1.0):
                return

    def watch(self, nfx):
        if not self.there():
            return
        self.terminal, others_end = pty.openpty()
        self.top = subprocess.Popen([nfx, "top", "--socket", self.path], stdin=others_end, stdout=others_end, stderr=others_end,
                                    env=dict(os.environ, TERM="xterm", LINES="40", COLUMNS="120"))
        os.close(others_end)
        if self.done.is_set():
            self.top.terminate()  # stop() may not have seen it
        try:
            while True:
                self.redrawn += len(os.read(self.terminal, 1 << 16)) != 0
        except OSError:
            pass  # it has ended

    def stop(self):
        self.done.set()
        if self.top is not None:
            try:
                os.write(self.terminal, b"q")
                self.top.wait(5)
            except (OSError, subprocess.TimeoutExpired):
                self.top.kill()
                self.top.wait()
        for thread in self.threads:
            thread.join()
        if self.top is not None:
            os.close(self.terminal)


def measure(options, host, watch):
    if watch != "all":
        return run_repeat(options, *(["--no-latency"] if watch == "nothing" else []), started=host.place)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "control.sock")
        watchers = Watchers(options.nfx, path)
        try:
            result = run_repeat(options, "--control", path, started=host.place)
        finally:
            watchers.stop()
    if watchers.scrapes == 0 or watchers.redrawn == 0:
        sys.exit(f"nothing watched it: {watchers.scrapes} scrapes, {watchers.redrawn} changes of the screen")
    return result


def figures(result):
    opened, single, full = result["phases"]
    return {"open loop p50": opened["p50_ns"], "open loop p99": opened["p99_ns"], "one order p50": single["p50_ns"],
            "one order p99": single["p99_ns"], "time a message": 1e9 / full["messages_per_s"]}


def range_of_median(values, confidence=0.95):
    """Between these two of the values; None where they are too few."""
    ordered, left = sorted(values), (1 - confidence) / 2 * 2 ** len(values)
    below = 0  # ways in which at most `rank` of them are below the median
    for rank in range(len(values)):
        below += math.comb(len(values), rank)
        if below > left:
            return (ordered[rank - 1], ordered[-rank]) if rank > 0 else None
    return None


def main():
    # Many short runs: a shared host is fast or slow for minutes, and interrupts some of the runs.
    def add(parser):
        parser.add_argument("--kernel-places", action="store_true",
                            help="let the kernel place all threads, and halt idle CPUs")
        parser.add_argument("--watch", choices=("all", "latencies", "nothing"), default="all",
                            help="what one run of a pair has (default: %(default)s)")

    options = demonstration_options(__doc__, idle="block", quick_repeats=1, repeats=40, orders=20000, add=add)
    host = Host(options.kernel_places)
    limited = options.watch == "all" and not options.quick
    print(f"# {machine()}; idle {options.idle}; {host}; load {os.getloadavg()[0]:.2f}; times in us, with nothing and with "
          f"{options.watch}")
    ratios = {}
    for repeat in range(1, options.repeats + 1):
        runs = [("off", "nothing"), ("on", options.watch)]
        # Whichever is first can find another host than the second.
        of = {which: figures(measure(options, host, watch)) for which, watch in (runs if repeat % 2 else runs[::-1])}
        row = []
        for name in of["off"]:
            ratios.setdefault(name, []).append(of["on"][name] / of["off"][name])
            row.append(f"{name} {of['off'][name] / 1000:.2f} {of['on'][name] / 1000:.2f}")
        print(f"{repeat}: " + ", ".join(row))
    failed = False
    for name, values in ratios.items():
        limit = LIMITS["p99" if name.endswith("p99") else "p50"]
        likely = range_of_median(values)
        text = f"{name:>15}: {statistics.median(values):.3f}"
        if likely is not None:
            text += f", {likely[0]:.3f} to {likely[1]:.3f}"
        if limited and likely is not None:
            failed |= likely[0] > limit
            text += f" (limit {limit}: {'above' if likely[0] > limit else 'within' if likely[1] <= limit else 'not decided'})"
        print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
