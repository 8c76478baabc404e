"""misuse.cpp: every line marked "refused" is refused, or warned of, with the text of its mark."""
import argparse
import collections
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).with_name("misuse.cpp")


class Misuse(unittest.TestCase):
    def test_every_mark_has_its_diagnostic(self):
        command = [options.compiler, "-std=c++23", "-fsyntax-only", "-Wall", "-fmax-errors=0"]
        command += [f"-I{folder}" for folder in options.include] + [str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
        self.assertNotEqual(done.returncode, 0, done.stderr)
        said = re.findall(r"(?:error|warning): (.*)", done.stderr)
        marks = collections.Counter(re.findall(r"// refused: (.*)", SOURCE.read_text(encoding="utf-8")))
        for text, count in marks.items():
            self.assertGreaterEqual(sum(text in each for each in said), count, f"{text}\n{done.stderr}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=["misuse_test.py", *rest])
