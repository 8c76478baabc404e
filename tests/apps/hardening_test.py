"""What a release build of the program, and of the libraries beside it, has against damaged memory, as readelf shows it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from support import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NFX_BUILD"])
X86 = os.uname().machine == "x86_64"


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options], capture_output=True, text=True, check=True).stdout


class Hardening(unittest.TestCase):
    def files(self):
        return [pathlib.Path(PROGRAM), *sorted(BUILD.glob("libnexusfix*.so"))]

    def test_program_is_position_independent_and_binds_and_protects_its_tables_at_start(self):
        for file in self.files():
            self.assertRegex(readelf("--file-header", file), r"Type:\s+DYN", file)
            dynamic = readelf("--dynamic", file)
            self.assertRegex(dynamic, r"BIND_NOW|FLAGS_1\)\s+Flags:.*\bNOW\b", file)
            segments = readelf("--program-headers", file)
            self.assertIn("GNU_RELRO", segments, file)
            self.assertRegex(segments, r"GNU_STACK\s+\S+ \S+ \S+ \S+ \S+ RW\s", file)

    def test_program_checks_its_stack_and_the_bounds_of_copies(self):
        for file in self.files():
            symbols = readelf("--dyn-syms", file)
            self.assertIn("__stack_chk_fail", symbols, file)
            self.assertRegex(symbols, r"__(mem|str|sn?printf|vsn?printf|read|poll|fdelt)\w*_chk\b", file)

    def test_functions_without_a_stack_check_are_those_that_the_documentation_names(self):
        marked = set()
        for file in (ROOT / "src").rglob("*.cpp"):
            marked.update(re.findall(r"no_stack_protector\]\][^(;]*?(\w+::\w+)\(", file.read_text(encoding="utf-8")))
        text = (ROOT / "docs/security.md").read_text(encoding="utf-8")
        paragraph = text[text.index("do without the stack check"):text.index("They are marked")]
        self.assertEqual(set(re.findall(r"`(\w+::\w+)`", paragraph)), marked)
        self.assertGreater(len(marked), 5)

    @unittest.skipUnless(X86, "a property of x86-64")
    def test_objects_of_the_engine_mark_where_jumps_may_land(self):
        # The note of a program is what all of its objects have, those of other packages too: so each of ours.
        objects = [file for file in BUILD.glob("CMakeFiles/nfx_*.dir/**/*.o") if "headers" not in str(file)]
        self.assertGreater(len(objects), 20)
        for file in objects:
            self.assertRegex(readelf("--notes", file), r"x86 feature:.*IBT.*SHSTK", file)


if __name__ == "__main__":
    if not shutil.which("readelf"):
        print("SKIPPED: readelf is missing (package binutils)")
        sys.exit(77)
    command = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    if not re.search(r"^NFX_HARDENING:BOOL=ON$", command, re.MULTILINE) or \
            not re.search(r"^CMAKE_BUILD_TYPE:\w+=Release$", command, re.MULTILINE) or \
            re.search(r"^NFX_SANITIZE:\w+=\w", command, re.MULTILINE):
        print("SKIPPED: this is not a hardened release build")
        sys.exit(77)
    unittest.main()
