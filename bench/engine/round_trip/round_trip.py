"""Runs the order demonstration several times, each beside a raw TCP ping-pong of the same bytes, and compares the two.

Every repeat is one process run that first trades (warm-up, open loop, one order at a time, window full) and then measures
the floor, so the two alternate: A B A B. The demonstration checks itself; a repeat that disagrees ends the run.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile


def machine():
    models = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    return f"{models[0] if models else 'unknown processor'}, {os.cpu_count()} cores, Linux {platform.release()}"


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nfx", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--orders", type=int, default=50000, help="requests per phase (default: %(default)s)")
    parser.add_argument("--rate", type=int, default=20000, help="requests/s in the open loop (default: %(default)s)")
    parser.add_argument("--idle", choices=("spin", "yield", "block"), default="spin")
    parser.add_argument("--quick", action="store_true", help="5,000 requests, repeats: 2")
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.orders = 2, 5000
    return options


def run_repeat(options):
    """The result as the JSON file has it. Ends the benchmark when the two sides disagree, which the demonstration checks."""
    with tempfile.TemporaryDirectory() as scratch:
        target = pathlib.Path(scratch) / "demo.json"
        command = [options.nfx, "demo", "--orders", str(options.orders), "--rate", str(options.rate), "--idle", options.idle,
                   "--json", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"the demonstration failed:\n{done.stdout}{done.stderr}")
        return json.loads(target.read_text())


def main():
    options = read_options()
    print(f"# {machine()}; idle {options.idle}; FIX.4.4 with dictionary, memory store; times in us")
    head = ("repeat", "floor p50", "p99", "1 order p50", "p99", "p99.9", "ratio p50", "open p50", "p99", "messages/s")
    print("".join(f"{name:>12}" for name in head))
    ratios, rates = [], []
    for repeat in range(1, options.repeats + 1):
        result = run_repeat(options)
        opened, single, full = result["phases"]
        if "floor" not in result:
            sys.exit("it needs two CPUs: on one, two threads that busy-poll a connection measure the scheduler")
        floor = result["floor"]
        ratios.append(single["p50_ns"] / floor["p50_ns"])
        rates.append(full["messages_per_s"])
        times = (floor["p50_ns"], floor["p99_ns"], single["p50_ns"], single["p99_ns"], single["p99_9_ns"])
        print(f"{repeat:>12}" + "".join(f"{ns / 1000:>12.1f}" for ns in times) + f"{ratios[-1]:>12.2f}"
              + f"{opened['p50_ns'] / 1000:>12.1f}{opened['p99_ns'] / 1000:>12.1f}{rates[-1]:>12.0f}")
    print(f"median ratio to the floor at p50: {statistics.median(ratios):.2f}; median sustained messages/s: {statistics.median(rates):.0f}")


if __name__ == "__main__":
    main()
