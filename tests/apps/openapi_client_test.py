"""A client that openapi-python-client generates from the description that a running nfx serve answers."""
import datetime
import importlib
import os
import subprocess
import sys
import unittest
import urllib.request

from peer import Peer
from support import PATIENCE_S, FolderTest, Server, free_port

# A Python that has the generator and what its clients import, for example that of a virtual environment.
PYTHON = os.environ.get("NFX_OPENAPI_PYTHON", sys.executable)
TOKEN = "t" * 40
NAME = "FIX.4.4:NEXUSFIX->CLIENT"
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


def generator_is_there():
    wanted = "import attr, httpx, openapi_python_client"
    return subprocess.run([PYTHON, "-c", wanted], capture_output=True, check=False).returncode == 0


def moment(text):
    return datetime.datetime.strptime(text, "%Y%m%d-%H:%M:%S.%f")


class GeneratedClient(FolderTest):
    def setUp(self):
        super().setUp()
        tokens = self.folder / "tokens"
        tokens.write_text(f"operator tester {TOKEN}\n", encoding="utf-8")
        tokens.chmod(0o600)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.server = Server(self.folder, settings=SETTINGS.format(port=port))
        self.addCleanup(self.server.end)

    def generated(self):
        """The modules of the client, from the description that the engine answers."""
        request = urllib.request.Request(self.url + "/v1/openapi.json", headers={"Authorization": "Bearer " + TOKEN})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            (self.folder / "openapi.json").write_bytes(answer.read())
        (self.folder / "config.yml").write_text("post_hooks: []\n", encoding="utf-8")
        made = subprocess.run(
            [PYTHON, "-m", "openapi_python_client", "generate", "--path", "openapi.json", "--meta", "none",
             "--output-path", "nexusfix_client", "--config", "config.yml"],
            cwd=self.folder, capture_output=True, text=True, timeout=5 * PATIENCE_S, check=False)
        said = made.stdout + made.stderr
        self.assertEqual(made.returncode, 0, said)
        self.assertNotIn("WARNING", said)
        self.assertNotIn("Unable", said)
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        return importlib.import_module("nexusfix_client")

    def call(self, tag, operation, *arguments, **more):
        module = importlib.import_module(f"nexusfix_client.api.{tag}.{operation}")
        return module.sync(*arguments, client=self.client, **more)

    def model(self, name):
        return getattr(importlib.import_module("nexusfix_client.models"), name)

    def test_reads_and_steers_an_engine(self):
        self.client = self.generated().AuthenticatedClient(base_url=self.url, token=TOKEN)
        self.assertEqual(self.call("engine", "get_engine").state.value, "serving")
        before = self.call("sessions", "show_session", NAME)
        self.assertIsNone(before.logged_on_since)
        self.assertIsNone(before.last_in)
        self.assertIsNone(before.last_end)
        self.assertTrue(before.in_hours)

        peer = Peer(self.server.port)
        self.addCleanup(peer.close)
        peer.log_on()
        during = self.call("sessions", "show_session", NAME)
        self.assertEqual(during.state.value, "logged_on")
        self.assertLessEqual(moment(during.logged_on_since), moment(during.last_in) + datetime.timedelta(seconds=1))
        peer.send("5", (58, "going home"))
        peer.receive_kind("5")
        while self.call("sessions", "show_session", NAME).state.value != "disconnected":
            pass  # the engine ends the connection now
        after = self.call("sessions", "show_session", NAME)
        self.assertEqual((after.last_end.reason.value, after.last_end.text), ("peer_logged_out", "going home"))
        self.assertIsNone(after.logged_on_since)

        (listed,) = self.call("sessions", "list_sessions").sessions
        self.assertEqual(listed.name, NAME)
        body = self.model("SetSessionBody")(next_out=120)
        done = self.call("sessions", "set_session", NAME, body=body, if_match="*")
        self.assertEqual((done.result.value, done.next_out), ("done", 120))
        refused = self.call("sessions", "set_session", NAME, body=body)
        self.assertEqual((type(refused).__name__, refused.status.value), ("ExpectedNeededProblem", 428))
        self.assertEqual(self.call("sessions", "show_session", "NOBODY").status.value, 404)


if __name__ == "__main__":
    if not generator_is_there():
        print(f"skipped: {PYTHON} has no openapi-python-client (pip install openapi-python-client; NFX_OPENAPI_PYTHON "
              "names a Python that has it)")
        sys.exit(77)
    if PYTHON != sys.executable and os.path.realpath(PYTHON) != os.environ.get("NFX_OPENAPI_STARTED"):
        # The client that it generates imports packages of the same Python.
        os.execve(PYTHON, [PYTHON, "-B", *sys.argv], {**os.environ, "NFX_OPENAPI_STARTED": os.path.realpath(PYTHON)})
    unittest.main()
