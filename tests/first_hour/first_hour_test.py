"""The first hour with programs that do something else: the step that fails is named, and the exit code is 1."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

FIRST_HOUR = pathlib.Path(__file__).resolve().parent / "first_hour.py"


class FirstHour(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.built = pathlib.Path(folder.name)

    def program(self, name, script):
        path = self.built / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)

    def run_steps(self, *options):
        done = subprocess.run([sys.executable, "-B", FIRST_HOUR, "--built", self.built, *options], capture_output=True, text=True,
                              timeout=600, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_a_server_that_does_not_listen(self):
        self.program("apps/nfx/nfx", "echo 'nfx: no licence' >&2; exit 2\n")
        code, out, _ = self.run_steps("--only", "refused")
        self.assertEqual(code, 1)
        self.assertIn("0 of 1 steps passed; failed: refused", out)
        self.assertIn("nfx: no licence", out)

    def test_a_client_that_is_not_refused(self):
        self.program("apps/nfx/nfx", 'echo "nothing listens on 127.0.0.1:1"\n')
        code, out, _ = self.run_steps("--only", "refused")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: apps/nfx/nfx connect client.toml --wait 0: exit code 0, not 1", out)

    def test_a_program_that_is_not_there_and_the_steps_after_it(self):
        code, out, _ = self.run_steps()
        self.assertEqual(code, 1)
        self.assertIn("0 of 5 steps passed; failed: settings, decode, learn, signed, refused", out)

    def test_a_step_that_needs_a_build_is_not_left_out_silently(self):
        code, out, err = self.run_steps("--only", "demo")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("the step 'demo' needs a build", err)


if __name__ == "__main__":
    unittest.main()
