"""Schemathesis sends a running nfx serve requests that it makes from the OpenAPI description, right and wrong ones."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import PATIENCE_S, Server, free_port

# The program schemathesis, for example that of a virtual environment.
FUZZER = os.environ.get("NFX_SCHEMATHESIS", "schemathesis")
TOKEN = "t" * 40
SETTINGS = """[control]
audit = "audit.log"
http = "127.0.0.1:{port}"
tokens = "tokens"
[[session]]
sender_comp_id = "NEXUSFIX"
target_comp_id = "CLIENT"
listen = "127.0.0.1:0"
store = "memory"
"""
# A request that is right by its schema is refused where its text is no configuration, or its sequence numbers are others.
# A GET has no body, so one with a body is refused before its path is read. 503 and 504 are described: a busy machine.
NOT_CHECKED = "positive_data_acceptance,unsupported_method,not_a_server_error"


class Fuzzed(unittest.TestCase):
    def test_answers_every_request_as_described(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "tokens").write_text(f"operator tester {TOKEN}\n", encoding="utf-8")
            (folder / "tokens").chmod(0o600)
            port = free_port()
            server = Server(folder, settings=SETTINGS.format(port=port))
            self.addCleanup(server.end)
            # Below the rate of a user, which is another answer; without stop, which ends the engine.
            done = subprocess.run(
                [FUZZER, "run", f"http://127.0.0.1:{port}/v1/openapi.json", "--header", f"Authorization: Bearer {TOKEN}",
                 "--exclude-operation-id", "stop_engine", "--exclude-checks", NOT_CHECKED, "--rate-limit", "150/s",
                 "--max-examples", "20", "--seed", "1", "--suppress-health-check", "all"],
                cwd=folder, capture_output=True, text=True, timeout=5 * PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if shutil.which(FUZZER) is None:
        print(f"skipped: {FUZZER} is not there (pip install schemathesis; NFX_SCHEMATHESIS names the program)")
        sys.exit(77)
    unittest.main()
