#!/usr/bin/env python3
"""The package of the tool without an error or a warning of lintian, and the unit within its score of exposure."""

import shutil
import sys

import packing
from packing import output, run

# In tenths, of 100: what `systemd-analyze security` may state at most.
EXPOSURE = 20


def main():
    args = packing.arguments()
    skipped = 0
    if shutil.which("systemd-analyze"):
        unit = args.build / "package/nexusfix.service"
        output("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}", unit)
        too_strict = run("systemd-analyze", "security", "--offline=true", "--threshold=1", unit, stdout=-3, stderr=-3)
        assert too_strict.returncode != 0, "a threshold that nothing meets is not met"
        print(f"nexusfix.service: exposure of at most {EXPOSURE / 10}")
    else:
        print("skipped: systemd-analyze is missing (package systemd)")
        skipped += 1
    if shutil.which("lintian") and shutil.which("cpack") and shutil.which("dpkg-shlibdeps"):
        args.scratch.mkdir(parents=True)
        package = packing.packed(args.build, args.scratch, args.version)
        said = output("lintian", "--allow-root", "--fail-on", "error,warning", "--display-info", package)
        print(f"lintian: no error and no warning{': ' if said else ''}{said}")
        shutil.rmtree(args.scratch)
    else:
        print("skipped: lintian is missing (./dev deps packagetest)")
        skipped += 1
    return packing.SKIPPED if skipped == 2 else 0


if __name__ == "__main__":
    sys.exit(main())
