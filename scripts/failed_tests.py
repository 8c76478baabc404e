#!/usr/bin/env python3
"""The failed tests of a run, each with the end of what it printed.

  scripts/failed_tests.py build/release/test.xml

Reads the JUnit file that `./dev test` leaves in the build folder. Prints nothing when all passed.
"""

import argparse
import xml.etree.ElementTree


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="test.xml of the build folder")
    parser.add_argument("--tests", type=int, default=5, help="tests with their output (default 5); the others by name")
    parser.add_argument("--lines", type=int, default=30, help="lines of each test, from its end (default 30)")
    wanted = parser.parse_args()
    failed = [case for case in xml.etree.ElementTree.parse(wanted.file).getroot().iter("testcase")
              if case.get("status") == "fail"]
    for number, case in enumerate(failed):
        print(f"failed: {case.get('name')} ({float(case.get('time', 0)):.1f} s)")
        if number < wanted.tests:
            for line in (case.findtext("system-out") or "").splitlines()[-wanted.lines:]:
                print(f"  {line[:300]}")


main()
