"""What benchmarks in Python share: where a figure was measured, and one checked run of the demonstration."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile


def machine():
    models = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    return f"{models[0] if models else 'unknown processor'}, {os.cpu_count()} cores, Linux {platform.release()}"


def demonstration_options(description, idle, quick_repeats, repeats=5, orders=50000, add=None):
    """The command line of a benchmark that repeats the demonstration: what differs is given; `add` adds options."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nfx", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=repeats, help="(default: %(default)s)")
    parser.add_argument("--orders", type=int, default=orders, help="requests per phase (default: %(default)s)")
    parser.add_argument("--rate", type=int, default=20000, help="requests/s in the open loop (default: %(default)s)")
    parser.add_argument("--idle", choices=("spin", "yield", "block"), default=idle)
    parser.add_argument("--quick", action="store_true", help=f"5,000 requests, repeats: {quick_repeats}")
    if add is not None:
        add(parser)
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.orders = quick_repeats, 5000
    return options


def run_demo(nfx, *options):
    """Its result as the JSON file has it. Ends the benchmark when the two sides disagree, which the demonstration checks."""
    with tempfile.TemporaryDirectory() as scratch:
        target = pathlib.Path(scratch) / "demo.json"
        process = subprocess.Popen([nfx, "demo", *map(str, options), "--json", str(target)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        out, err = process.communicate()
        if process.returncode != 0:
            sys.exit(f"the demonstration failed:\n{out}{err}")
        return json.loads(target.read_text())


def run_repeat(options, *more):
    """One run with the options of demonstration_options()."""
    return run_demo(options.nfx, "--orders", options.orders, "--rate", options.rate, "--idle", options.idle, *more)
