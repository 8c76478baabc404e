"""Runs the order demonstration several times, each beside a raw TCP ping-pong of the same bytes, and compares the two.

Every repeat is one process run that first trades (warm-up, open loop, one order at a time, window full) and then measures
the floor, so the two alternate: A B A B. The demonstration checks itself; a repeat that disagrees ends the run.
"""

import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness"))
from demonstration import demonstration_options, machine, run_repeat  # noqa: E402


def main():
    options = demonstration_options(__doc__, idle="spin", quick_repeats=2)
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
