"""Checks that README.md, CONTRIBUTING.md, docs/tools.md and docs/configuration.md are true of this tree and this build."""

import argparse
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from free_port import free_port  # noqa: E402

failures = []


def check(right, message):
    if not right:
        failures.append(message)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)


def wait_for_port(port, process, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            pass
    return False


def check_text(root, nfx):
    readme = (root / "README.md").read_text()
    check(readme.count("\n") <= 90, f"README.md has {readme.count(chr(10))} lines; 90 are allowed")
    programs = blocks(readme, "cpp")
    check((root / "examples/desk.cpp").read_text() in programs, "README.md: its program is not examples/desk.cpp")
    example = (root / "examples/desk_test.cpp").read_text()
    for block in blocks((root / "docs/testing.md").read_text(), "cpp"):
        check(block in example, f"docs/testing.md: not in examples/desk_test.cpp:\n{block}")
    configurations = blocks(readme, "toml")
    check((root / "examples/desk.toml").read_text() in configurations, "README.md: its configuration is not examples/desk.toml")
    listed = (root / "examples/README.md").read_text()
    for example in sorted((root / "examples").rglob("*.cpp")):
        name = example.relative_to(root / "examples").as_posix()
        check(f"]({name})" in listed, f"examples/README.md: {name} is not in its table")
    for target in re.findall(r"\]\(((?!http)[^)#]+)", readme):
        check((root / target).exists(), f"README.md: link to {target}, which does not exist")
    lines = re.findall(r"^    ((?:[a-z_]+/,? )+)", (root / "CONTRIBUTING.md").read_text(), re.M)
    folders = [folder for line in lines for folder in re.findall(r"[a-z_]+", line)]
    check(len(folders) > 9, "CONTRIBUTING.md: the folder map is missing")
    for folder in folders:
        check((root / folder).is_dir(), f"CONTRIBUTING.md: the folder map names {folder}/, which does not exist")
    index = (root / "docs/README.md").read_text()
    for page in sorted((root / "docs").glob("*.md")):
        check(page.name == "README.md" or f"]({page.name})" in index, f"docs/README.md: {page.name} is not listed")
    tools = (root / "docs/tools.md").read_text()
    usage = subprocess.run([str(root / "dev")], capture_output=True, text=True).stdout
    commands = [line.strip() for block in blocks(readme + tools, "sh") for line in block.splitlines() if line.strip()]
    check(len(commands) > 20, "README.md and docs/tools.md: no commands found")
    for line in commands:
        words = line.split("#")[0].split()
        if words[0] == "./dev":
            check(f"./dev {words[1]} " in usage.replace("\n", " \n"), f"README.md: './dev {words[1]}' is not in ./dev's own list")
        if words[0] == "nfx":
            command = words[1:3] if words[1] in ("host", "market", "t2m") else words[1:2]
            helped = subprocess.run([nfx, *command, "--help"], capture_output=True, text=True)
            check(helped.returncode == 0, f"README.md: 'nfx {' '.join(command)}' is not a command")
            group = subprocess.run([nfx, words[1], "--help"], capture_output=True, text=True).stdout
            for option in re.findall(r"--[a-z-]+", line.split("#")[0]):
                check(option in helped.stdout, f"README.md: 'nfx {' '.join(command)}' has no {option}")
            for option in re.findall(r"--[a-z-]+", line):
                check(option in helped.stdout + group, f"README.md: 'nfx {words[1]}' has no {option}")


def check_market_day(root, nfx):
    """The lines from a day of market data to a book, run as they are."""
    tools = (root / "docs/tools.md").read_text()
    lines = [line.split("#")[0].split() for line in re.findall(r"^nfx market .*$", tools, re.M) if "day.itch" in line]
    check([line[2] for line in lines] == ["generate", "stats", "book"], "docs/tools.md: not three lines from a day to a book")
    with tempfile.TemporaryDirectory() as scratch:
        printed = ""
        for line in lines:
            ran = subprocess.run([nfx, *line[1:]], capture_output=True, text=True, cwd=scratch, timeout=6000)
            check(ran.returncode == 0, f"docs/tools.md: {' '.join(line)} ended with {ran.returncode}: {ran.stderr}")
            printed = ran.stdout
        check(re.search(r"^instrument 2 AAAB\n  \d+ orders, [1-9]\d* bid and [1-9]\d* ask levels, live, ", printed, re.M),
              f"docs/tools.md: the last line shows no book:\n{printed}")
        report = pathlib.Path(scratch) / "day.html"
        check(report.exists() and 'id="data"' in report.read_text(), "docs/tools.md: the report has no data")


def check_tick_to_model(root, nfx):
    """The lines from market data to orders, run as they are, but shorter."""
    tools = (root / "docs/tools.md").read_text()
    lines = [line.split("#")[0].split() for line in re.findall(r"^nfx t2m .*$", tools, re.M)]
    check(len(lines) == 5, "docs/tools.md: not five lines from market data to orders")
    short = {"run": ["--messages", "4000"], "replay": [],
             "compare": ["--messages", "200", "--runs", "1", "--noise", "0", "--no-isolate"]}
    with tempfile.TemporaryDirectory() as scratch:
        printed = {}
        for line in lines:
            if {"spin", "compare"} & set(line) and len(os.sched_getaffinity(0)) < 2:
                continue
            ran = subprocess.run([nfx, *line[1:], *short[line[2]]], capture_output=True, text=True, cwd=scratch, timeout=6000)
            check(ran.returncode == 0, f"docs/tools.md: {' '.join(line)} ended with {ran.returncode}: {ran.stderr}")
            printed[" ".join(line[2:])] = ran.stdout
        check("tick to order" in printed["run --orders --record run"], "docs/tools.md: a run without orders")
        check(re.search(r" [1-9]\d* orders \d+; books \d+", printed["replay run"]), "docs/tools.md: a replay without orders")
        if "compare --report t2m.html" in printed:
            check('id="data"' in (pathlib.Path(scratch) / "t2m.html").read_text(), "docs/tools.md: the report has no data")


def check_configuration(root, nfx):
    page = (root / "docs/configuration.md").read_text()
    keys = subprocess.run([nfx, "config", "keys", "--nexusfix"], capture_output=True, text=True).stdout
    check(len(keys) > 10000 and keys in page, "docs/configuration.md: its tables are not what 'nfx config keys --nexusfix' prints")


def check_program(root, nfx, desk):
    port = free_port()
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("desk.toml", "trader.toml"):
            text = (root / "examples" / name).read_text().replace("9878", str(port))
            (pathlib.Path(scratch) / name).write_text(text)
        server = subprocess.Popen([desk, f"{scratch}/desk.toml"])
        try:
            check(wait_for_port(port, server), "examples/desk does not listen")
            order = "35=D|11=first|55=ALFA|54=1|38=100|40=2|44=101.5|60=20260102-10:00:00\n"
            client = subprocess.run([nfx, "connect", f"{scratch}/trader.toml", "--raw"], input=order, capture_output=True, text=True, timeout=600)
            check(client.returncode == 0, f"nfx connect ended with {client.returncode}: {client.stderr}")
            check(re.search(r"35=8.*11=first.*151=100", client.stdout), f"the desk did not confirm the order:\n{client.stdout}")
        finally:
            server.terminate()
            server.wait(timeout=600)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--nfx", required=True)
    parser.add_argument("--desk", required=True)
    options = parser.parse_args()
    options.root = options.root.resolve()
    options.nfx = str(pathlib.Path(options.nfx).resolve())
    check_text(options.root, options.nfx)
    check_market_day(options.root, options.nfx)
    check_tick_to_model(options.root, options.nfx)
    check_configuration(options.root, options.nfx)
    check_program(options.root, options.nfx, options.desk)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
