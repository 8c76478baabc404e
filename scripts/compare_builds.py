#!/usr/bin/env python3
"""Lists what a user of the program nfx finds dropped or added between two builds: commands, options, keys of configurations,
routes of the control API, and metrics.

    compare_builds.py OLD_NFX NEW_NFX     exit status 0: nothing was dropped; 1: something was; 2: wrong usage

Each dropped name needs a row under Breaking in CHANGELOG.md. Metrics are the names in the program's data: it needs binutils.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator

METRIC = re.compile(r"\b(?:nfx|nexusfix)_[a-z0-9_]*[a-z0-9]\b")


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commands(node: dict, words: str) -> Iterator[tuple[str, dict]]:
    for each in node["commands"]:
        name = f"{words} {each['name']}"
        yield name, each
        yield from commands(each, name)


def names_of(nfx: str) -> dict[str, set[str]]:
    every = list(commands(json.loads(run(nfx, "help", "--json")), "nfx"))
    section, keys = "", set()
    for line in run(nfx, "config", "keys", "--nexusfix").splitlines():
        if heading := re.match(r"\| (\[\S+) \|", line):
            section = heading[1]
        elif key := re.match(r"\| `([^`]+)`", line):
            keys.add(f"{section} {key[1]}")
    paths = json.loads(run(nfx, "engine", "openapi"))["paths"]
    return {
        "commands": {name for name, _ in every},
        "options": {f"{name} {option}" for name, each in every for row in each["options"] for option in row["names"]},
        "keys": keys,
        "routes": {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods if method != "parameters"},
        "metrics": set(METRIC.findall(run("strings", "--data", nfx))),
    }


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    old, new = map(names_of, sys.argv[1:])
    # The options of a command that only one build has are not listed with it.
    both = old["commands"] & new["commands"]
    for build in (old, new):
        build["options"] = {option for option in build["options"] if option.rpartition(" ")[0] in both}
    for kind in old:
        dropped, added = sorted(old[kind] - new[kind]), sorted(new[kind] - old[kind])
        print(f"{kind}: {len(old[kind])} before, {len(new[kind])} now, {len(dropped)} dropped, {len(added)} added")
        for sign, names in (("-", dropped), ("+", added)):
            print("".join(f"  {sign} {name}\n" for name in names), end="")
    return 1 if any(old[kind] - new[kind] for kind in old) else 0


if __name__ == "__main__":
    sys.exit(main())
