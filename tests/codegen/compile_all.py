"""Generates messages, instantiates every class template among them, and has the compiler check all of it."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
TEMPLATE = re.compile(r"^template <typename (View|Writer)>\nclass (\w+) ", re.M)
BASE = re.compile(r"public (Shared\w+(?:Fields|Setters))<(\w+)<(View|Writer)>")


def arguments_of(parameter, file):
    if parameter == "View":
        return ["nfx::GroupEntry" if file.parent.name == "groups" else "nfx::MessageView"]
    return ["nfx::FieldWriter", "nfx::FieldWriter&"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nfx", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("codegen", nargs="+")
    options = parser.parse_args()

    shutil.rmtree(options.work, ignore_errors=True)
    out = options.work / "generated"
    subprocess.run([options.nfx, "codegen", *options.codegen, "--namespace", "all", "--out", str(out)], check=True)
    files = sorted(out.rglob("*.hpp"))
    lines = ['#include "generated/messages.hpp"', '#include "generated/names.hpp"']
    for file in files:
        for parameter, name in TEMPLATE.findall(file.read_text()):
            lines += [f"template class nfx::all::{name}<{argument}>;" for argument in arguments_of(parameter, file)]
    # Functions of a base class are made with it alone: once in a message and once in a group's entry.
    bases = {}
    for file in files:
        for base, name, parameter in BASE.findall(file.read_text()):
            bases.setdefault((base, file.parent.name), (name, arguments_of(parameter, file)[0]))
    for (base, _), (name, argument) in sorted(bases.items()):
        more = f", {argument}" if base.endswith("Fields") else ""
        lines.append(f"template class nfx::all::{base}<nfx::all::{name}<{argument}>{more}>;")
    if len(lines) < len(files):
        sys.exit(f"{len(lines) - 1} classes found in {len(files)} files: the generated code is not understood any more")
    source = options.work / "all.cpp"
    source.write_text("\n".join(lines) + "\n")
    command = [options.compiler, "-std=c++23", *WARNINGS, "-fsyntax-only", "-I", options.include, "-I", str(options.work), str(source)]
    print(f"{len(lines) - 1} classes from {len(files)} files")
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
