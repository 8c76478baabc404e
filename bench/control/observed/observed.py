"""What it costs to watch an engine: the order demonstration with latencies measured, and its metrics and latencies read each
second as a scraper and 'nfx top' do, beside the same without any of these. The two alternate: off on, on off.

One row: the medians of the ratios, with to without, of the round trip's p50 and p99 (orders by schedule) and of the time a
message with a full window. Each run checks itself; one that disagrees ends the benchmark. A shared host makes several per cent of
its own. './dev bench engine_time' has the engine's own time with and without latencies.
"""

import os
import pathlib
import socket
import statistics
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness"))
from demonstration import demonstration_options, machine, run_repeat  # noqa: E402

TARGETS = ("/metrics", "/v1/sessions", "/v1/latency?window=10s", "/v1/slowest?window=10s")


class Watcher(threading.Thread):
    """Reads all targets each second, from when the engine's socket is there until stop()."""

    def __init__(self, path):
        super().__init__()
        self.path, self.done, self.read = path, threading.Event(), 0
        self.start()

    def ask(self, target):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(5)
            client.connect(self.path)
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            return b"".join(iter(lambda: client.recv(1 << 16), b"")).startswith(b"HTTP/1.1 200")

    def run(self):
        while not os.path.exists(self.path):
            if self.done.wait(0.02):
                return
        while True:
            try:
                self.read += all(map(self.ask, TARGETS))
            except OSError:
                pass  # the engine has ended
            if self.done.wait(1.0):
                return

    def stop(self):
        self.done.set()
        self.join()


def figures(options, watched):
    if not watched:
        result = run_repeat(options, "--no-latency")
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "control.sock")
            watcher = Watcher(path)
            try:
                result = run_repeat(options, "--control", path)
            finally:
                watcher.stop()
        if watcher.read == 0:
            sys.exit("nothing watched it")
    opened, _, full = result["phases"]
    return {"p50": opened["p50_ns"], "p99": opened["p99_ns"], "time a message": 1e9 / full["messages_per_s"]}


def main():
    options = demonstration_options(__doc__, idle="block", quick_repeats=1, repeats=12, orders=20000)
    ratios = []
    for repeat in range(options.repeats):
        # Whichever is first can find another host than the second.
        of = {watched: figures(options, watched) for watched in ((False, True) if repeat % 2 == 0 else (True, False))}
        ratios.append({name: of[True][name] / of[False][name] for name in of[True]})
    row = ", ".join(f"{name} {statistics.median(each[name] for each in ratios):.3f}" for name in ratios[0])
    print(f"observed / not observed, medians of {options.repeats}: {row}; {machine()}, idle {options.idle}")


if __name__ == "__main__":
    main()
