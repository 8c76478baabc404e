"""Engines whose adapters are in peers/: how each is recognised in the folder of --peers, and how to get it there. Nothing is
downloaded here."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent / "peers"


def simplefix(folder):
    if not (folder / "simplefix" / "simplefix").is_dir():
        return None
    return [sys.executable, "-B", str(HERE / "simplefix_peer.py")], {"PYTHONPATH": str(folder / "simplefix"), "LEAGUE_REPEATS": "2"}


def java(name, source):
    def find(folder):
        jars = sorted((folder / name).glob("*.jar"))
        if not jars or shutil.which("javac") is None:
            return None
        classes = folder / name / "classes"
        path = ":".join(str(jar) for jar in jars)
        sources = [HERE / "League.java", HERE / source]
        built = classes / source.replace(".java", ".class")
        if not built.exists() or built.stat().st_mtime < max(each.stat().st_mtime for each in sources):
            subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", path, *map(str, sources)], check=True)
        return ["java", "-cp", f"{classes}:{path}", source.removesuffix(".java")], {}

    return find


def hotfix(folder):
    program = folder / "hotfix" / "release" / "hotfix_peer"
    return ([str(program)], {}) if program.is_file() else None


MAVEN = "mvn dependency:copy-dependencies -DoutputDirectory=FOLDER/{} -f bench/engine/league/peers/{}"
KNOWN = (
    ("simplefix", simplefix, "pip install --target FOLDER/simplefix simplefix"),
    ("QuickFIX/J", java("quickfixj", "QuickFixJ.java"), MAVEN.format("quickfixj", "quickfixj.pom")),
    ("Philadelphia", java("philadelphia", "Philadelphia.java"), MAVEN.format("philadelphia", "philadelphia.pom")),
    ("HotFIX", hotfix, "cargo build --release --target-dir FOLDER/hotfix --manifest-path bench/engine/league/peers/hotfix/Cargo.toml"),
)


def find(folder):
    """(command, environment) of each engine that is there; prints how to get the others."""
    found = []
    for name, look, recipe in KNOWN:
        peer = look(folder) if folder else None
        if peer:
            found.append(peer)
        else:
            print(f"# not found: {name}; {recipe}, with --peers FOLDER", file=sys.stderr)
    for program in sorted(folder.glob("league_*")) if folder else ():
        if os.access(program, os.X_OK) and program.is_file():
            found.append(([str(program)], {}))
    return found
