"""Runs the order demonstration among noisy processes, not isolated and isolated in turn: A B A B. Needs root.

The demonstration checks itself; a run that disagrees ends the comparison. Latency counts from when a request was due in the
open loop, and from when it was sent in the closed loop, which therefore leaves out whoever waited to be sent.
"""

import argparse
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from demonstration import machine, run_demo  # noqa: E402

PERCENTILES = ("p50_ns", "p99_ns", "p99_9_ns", "max_ns")
PHASES = ("open loop", "closed loop, one at a time", "closed loop, window full")


def one_run(options, isolate):
    chosen = ["--isolate"] if isolate else ["--idle", options.idle]
    return run_demo(options.nfx, "--orders", options.orders, "--noise", options.noise, *chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nfx", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--noise", type=int, default=4, help="noisy processes (default: %(default)s)")
    parser.add_argument("--orders", type=int, default=20000, help="requests per phase (default: %(default)s)")
    parser.add_argument("--idle", choices=("auto", "spin", "yield", "block"), default="spin",
                        help="of the run that is not isolated (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="one repeat of 2,000 requests")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("noisy_demo: SKIPPED: isolating CPUs needs root")
        return
    if options.quick:
        options.repeats, options.orders = 1, 2000
    print(f"# {machine()}; {options.noise} noisy processes, {options.orders} orders a phase; round trips in us")
    print(f"{'repeat':>6} {'':<13}{'phase':<28}" + "".join(f"{name[:-3].replace('_', '.'):>11}" for name in PERCENTILES))
    ratios = {phase: {name: [] for name in PERCENTILES} for phase in PHASES}
    for repeat in range(1, options.repeats + 1):
        both = [one_run(options, isolate) for isolate in (False, True)]
        for which, result in zip(("not isolated", "isolated"), both):
            for phase, figures in zip(PHASES, result["phases"]):
                print(f"{repeat:>6} {which:<13}{phase:<28}"
                      + "".join(f"{figures[name] / 1000:>11.1f}" for name in PERCENTILES), flush=True)
        for phase, noisy, quiet in zip(PHASES, both[0]["phases"], both[1]["phases"]):
            for name in PERCENTILES:
                ratios[phase][name].append(noisy[name] / quiet[name])
    print("median of the repeats' ratios, not isolated / isolated:")
    for phase in PHASES:
        print(f"{'':<20}{phase:<28}" + "".join(f"{statistics.median(ratios[phase][name]):>10.1f}x" for name in PERCENTILES))


if __name__ == "__main__":
    main()
