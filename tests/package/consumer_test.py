#!/usr/bin/env python3
"""Programs of users, built from the packages in a bare Debian root with a compiler: README's program and its test by
pkg-config and by find_package, and classes of an own dictionary. Then the program serves, and nfx sends it an order.

It needs what root_test.py needs, and is skipped where that is.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import packing
from packing import run
from root_test import Root

COMPILERS = ["cmake", "g++", "make", "pkg-config"]
FIND_PACKAGE = """
cmake_minimum_required(VERSION 3.25)
project(desk LANGUAGES CXX)
find_package(NexusFIX REQUIRED COMPONENTS engine testing)
add_executable(desk desk.cpp)
target_link_libraries(desk PRIVATE nexusfix::engine)
add_executable(desk_test desk_test.cpp)
target_link_libraries(desk_test PRIVATE nexusfix::testing)
"""
ORDER = "35=D|11=one|55=IBM|54=1|38=100|40=1|60=20240102-12:00:00\n"


def timed(what, work):
    begin = time.monotonic()
    work()
    print(f"{what}: {time.monotonic() - begin:.0f} s", flush=True)


def trade(root):
    """With the program as pkg-config has built it."""
    desk = subprocess.Popen(["chroot", str(root.folder), "sh", "-c", "cd /programs && exec ./desk desk.toml"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        give_up = time.monotonic() + 600
        while True:
            done = run("chroot", root.folder, "nfx", "connect", "/programs/trader.toml", "--logon-wait", "5", "--wait", "2", "--raw",
                       input=ORDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode == 0:
                break
            assert desk.poll() is None, desk.stderr.read()
            assert time.monotonic() < give_up, done.stdout
        assert "35=8" in done.stdout and "11=one" in done.stdout, done.stdout
    finally:
        desk.terminate()
    said = desk.communicate(timeout=600)[1]
    assert desk.returncode == 0, said


def check(root):
    def shell(text):
        return root.do("sh", "-euc", f"cd /programs && {text}")

    (root.folder / "programs").mkdir()
    shell("cp -r /usr/share/doc/nexusfix/examples/* .")
    (root.folder / "programs/found").mkdir()
    (root.folder / "programs/found/CMakeLists.txt").write_text(FIND_PACKAGE, encoding="utf-8")
    shell("cp desk.cpp desk_test.cpp found")
    timed("README's program by pkg-config", lambda: shell("c++ -O2 desk.cpp -o desk $(pkg-config --cflags --libs nexusfix-engine)"))
    timed("its test by pkg-config", lambda: shell(
        "c++ desk_test.cpp -o desk_test $(pkg-config --cflags --libs nexusfix-testing) && ./desk_test"))
    timed("a program that only parses, by pkg-config", lambda: shell(
        "c++ parse_log.cpp -o parse_log $(pkg-config --cflags --libs nexusfix-fix)"))
    needed = root.do("ldd", "/programs/parse_log")
    for library in ("ssl", "crypto", "uring", "hwloc"):
        assert f"lib{library}" not in needed, needed
    timed("both by find_package", lambda: shell("cmake -S found -B found/build && cmake --build found/build && found/build/desk_test"))
    timed("classes of an own dictionary", lambda: shell(
        "cmake -S custom_dictionary -B custom && cmake --build custom && custom/custom_dictionary --help"))
    trade(root)
    print("nfx connect got a report from the program")


def main():
    args = packing.arguments()
    if os.environ.get("NFX_OWN_NAMESPACES") is None:
        why = packing.missing("cpack", "dpkg-deb", "mmdebstrap", "unshare", "chroot")
        if why:
            print(f"skipped: {why}")
            return packing.SKIPPED
        args.scratch.mkdir(parents=True)
        packages = [packing.packed(args.build, args.scratch, args.version, component) for component in ("tool", "develop")]
        needed = {each for package in packages for each in packing.needed_by(package)} - {"nexusfix"}
        archive, why = packing.bare_root(args.build, sorted(needed) + COMPILERS)
        if why:
            print(f"skipped: mmdebstrap cannot make a root: {why}")
            return packing.SKIPPED
        try:
            return packing.in_own_namespaces(NFX_PACKAGES=" ".join(map(str, packages)), NFX_ARCHIVE=str(archive))
        finally:
            shutil.rmtree(args.scratch, ignore_errors=True)
    packing.prepare_namespaces()
    root = Root(pathlib.Path(os.environ["NFX_ARCHIVE"]), args.scratch / "root")
    for package in os.environ["NFX_PACKAGES"].split():
        root.install(package)
    check(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
