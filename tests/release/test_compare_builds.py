#!/usr/bin/env python3
"""scripts/compare_builds.py with this build, and with one that has another command, option, key, route and metric."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/compare_builds.py"
PROGRAM = os.environ["NFX_PROGRAM"]
OTHER = """#!/bin/sh
# nfx_of_yesterday_total
case $1 in
  help) cat "$0.help" ;;
  config) "{program}" "$@"; printf '| [engine] | type |\\n| `of_yesterday` | text |\\n' ;;
  engine) "{program}" "$@" | sed 's|"/healthz"|"/of_yesterday": {{"get": {{}}}}, "/healthz"|' ;;
esac
"""


def compare(old, new):
    done = subprocess.run([sys.executable, "-B", SCRIPT, old, new], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


class CompareBuilds(unittest.TestCase):
    def test_build_is_equal_to_itself(self):
        code, text = compare(PROGRAM, PROGRAM)
        self.assertEqual(code, 0, text)
        for line in text.splitlines():
            self.assertRegex(line, r"^\w+: [1-9]\d+ before, [1-9]\d+ now, 0 dropped, 0 added$")

    def test_dropped_names_are_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "nfx"
            other.write_text(OTHER.format(program=PROGRAM), encoding="utf-8")
            other.chmod(0o755)
            table = json.loads(subprocess.run([PROGRAM, "help", "--json"], capture_output=True, check=True).stdout)
            table["commands"][0]["options"].append({"names": ["--of-yesterday"]})
            table["commands"].append({"name": "yesterday", "options": [{"names": ["--x"]}], "commands": []})
            (pathlib.Path(folder) / "nfx.help").write_text(json.dumps(table), encoding="utf-8")
            code, text = compare(other, PROGRAM)
        self.assertEqual(code, 1, text)
        name = table["commands"][0]["name"]
        for line in ("- nfx yesterday", f"- nfx {name} --of-yesterday", "- [engine] of_yesterday", "- GET /of_yesterday",
                     "- nfx_of_yesterday_total", "+ nfx_logons_total"):
            self.assertIn(f"  {line}", text)
        self.assertNotIn("--x", text)


if __name__ == "__main__":
    if shutil.which("strings") is None:
        print("skipped: no strings (package binutils)")
        sys.exit(77)
    unittest.main()
