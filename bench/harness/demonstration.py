"""What benchmarks in Python share: where a figure was measured, and one checked run of the demonstration."""

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


def run_demo(nfx, *options):
    """Its result as the JSON file has it. Ends the benchmark when the two sides disagree, which the demonstration checks."""
    with tempfile.TemporaryDirectory() as scratch:
        target = pathlib.Path(scratch) / "demo.json"
        done = subprocess.run([nfx, "demo", *map(str, options), "--json", str(target)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"the demonstration failed:\n{done.stdout}{done.stderr}")
        return json.loads(target.read_text())
