"""Every answer of a running nfx serve is one that its OpenAPI description has, and every described one occurs."""
import collections
import http.client
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

try:
    from openapi_support import Description, NotDescribed, changed, objects_in, read_json
except ImportError:
    print("SKIPPED: Python's module jsonschema (package python3-jsonschema) is missing")
    sys.exit(77)
from peer import Peer
from support import PATIENCE_S, PROGRAM, Server, free_port
from tls_support import Certificates

Answer = collections.namedtuple("Answer", "status headers body")
OPERATORS = [f"operator{i}" for i in range(16)]  # each may send 400 requests at once
TOKENS = {name: name.ljust(40, "t") for name in [*OPERATORS, "viewer"]}
SESSION = "/v1/sessions/{session}"
CLIENT, MEMORY, LATER = (f"FIX.4.4:NEXUSFIX->{peer}" for peer in ("CLIENT", "MEMORY", "LATER"))
# Members that are not in every document. Without one of them it is still as described.
OPTIONAL = {"why", "problems", "session", "kernel_to_read", "read_to_application", "in_application", "send_to_commit",
            "commit_to_socket", "request_to_answer", "durable_lag"}
# These answers come from a poll thread that hangs, from sixteen requests that wait for a disk, or from a program without
# a configuration file. tests/control/control/openapi_test.cpp makes them with a substitute. It also makes every 504, and every
# 429: the engine serves the control plane with the lowest priority, so on a busy machine no user is over the limit.
SUBSTITUTED = {("GET", "/healthz", 503), ("GET", "/v1/engine/reload", 409), ("GET", "/v1/engine/reload", 503),
               ("GET", SESSION, 503), ("GET", SESSION + "/store", 503)}


def session_text(target, *lines):
    return "\n".join(["[[session]]", 'sender_comp_id = "NEXUSFIX"', f'target_comp_id = "{target}"',
                      'listen = "127.0.0.1:0"', *lines, ""])


class ControlPlane:
    """An nfx serve, and what it has answered."""

    def __init__(self, test, sessions, **more):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.port = free_port()
        tokens = self.folder / "tokens"
        tokens.write_text("".join(f"{'viewer' if name == 'viewer' else 'operator'} {name} {token}\n"
                                  for name, token in TOKENS.items()), encoding="utf-8")
        tokens.chmod(0o600)
        control = f'[control]\naudit = "audit.log"\nhttp = "127.0.0.1:{self.port}"\ntokens = "{tokens}"\n'
        self.settings = control + sessions
        self.server = Server(self.folder, settings=self.settings, **more)
        test.addCleanup(self.server.end)
        self.turn = 0

    def configure(self, text):
        (self.folder / "serve.conf").write_text(text, encoding="utf-8")

    def ask(self, method, target, body=None, user="operator", host=None, **headers):
        """`user` None: without a token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            headers = {"Host": host or f"127.0.0.1:{self.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
            if user == "operator":
                self.turn += 1
                user = OPERATORS[self.turn % len(OPERATORS)]
            if user is not None:
                headers["Authorization"] = "Bearer " + TOKENS[user]
            if body is not None:
                headers.setdefault("Content-Type", "application/json")
                headers.setdefault("Content-Length", str(len(body)))
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(None if body is None else body.encode())
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode("utf-8"))
        finally:
            connection.close()


def target_of(path, session=CLIENT):
    return path.replace("{session}", urllib.parse.quote(session, safe=""))


class Described(unittest.TestCase):
    def setUp(self):
        printed = subprocess.run([PROGRAM, "engine", "openapi"], capture_output=True, check=True, text=True)
        self.description = Description(read_json(printed.stdout))
        self.seen = collections.defaultdict(list)

    def described(self, method, path, answer):
        """The answer's document."""
        self.description.check(method, path, answer)
        self.seen[method, path, answer.status].append(answer)
        return json.loads(answer.body) if answer.headers["Content-Type"].endswith("json") else answer.body

    def expect(self, plane, status, method, path, body=None, session=CLIENT, query="", **more):
        """The document of a described answer with this status."""
        answer = plane.ask(method, target_of(path, session) + query, body, **more)
        self.assertEqual(answer.status, status, f"{method} {path} {body}: {answer.body}")
        document = self.described(method, path, answer)
        if body is not None and status == 200:
            self.assertEqual(self.description.body_errors(method, path, body), [], f"{method} {path} {body}")
        return document

    def expect_wrong_body(self, plane, method, path, body, **more):
        self.expect(plane, 400, method, path, body, **more)
        self.assertNotEqual(self.description.body_errors(method, path, body), [], f"{method} {path} {body}")

    def until(self, condition):
        give_up = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.05)

    def change(self, plane, command, body=None, status=200, **more):
        return self.expect(plane, status, "POST", f"{SESSION}/{command}", body, **more)

    def test_every_answer_is_described_and_every_described_one_occurs(self):
        plane = ControlPlane(self, session_text("CLIENT") + session_text("MEMORY", 'store = "memory"'))
        self.refuse_on_every_route(plane)
        self.use_a_session(plane)
        self.read_a_journal(plane)
        self.reload(plane)
        self.drain(plane)
        self.expect(plane, 200, "POST", "/v1/engine/stop")
        self.reload_certificates()
        self.lose_the_audit_log()
        self.be_placed()
        self.be_without_latencies()
        self.require_every_described_answer()
        self.find_planted_mistakes()

    def refuse_on_every_route(self, plane):
        for method, path in self.description.operations():
            def refused(status, body=None, method=method, path=path, **more):
                return self.expect(plane, status, method, path, body, **more)
            refused(421, host="evil.example")
            refused(403, Origin="http://evil.example")
            refused(413, Content_Length="20000")
            refused(431, X="x" * 9000)
            refused(400, Content_Length="+1")
            self.described(method, path, plane.ask("PATCH", target_of(path)))
            self.described(method, path, plane.ask(method, target_of(path) + "?unknown=1", "{" if method == "POST" else None))
            needs = self.description.operation(method, path)["x-role"]
            self.assertEqual(needs == "none", self.description.operation(method, path).get("security") == [])
            if needs != "none":
                refused(401, user=None)
                refused(401, Authorization="Bearer " + "u" * 40, user=None)
            if needs == "operator":
                refused(403, user="viewer")
            if "{session}" in path:
                body = '{"config": ""}' if path.endswith("/change") else '{"next_out": 5}' if path.endswith("/set") else None
                body = '{"from": 1}' if path.endswith("/resend") else body
                refused(404, body, session="FIX.4.4:NEXUSFIX->NOBODY")
                refused(404, body, session="987654", If_Match="*")
                if method == "POST":
                    refused(412, body, If_Match='"0.77.77.0"')
            if method == "POST":
                refused(415, "{}", Content_Type="text/plain")
                for body in ("[]", "{", '{"planted": 1}'):
                    refused(400, body)
            elif self.description.operation(method, path).get("parameters", [{}])[-1].get("in") == "query":
                refused(400, query="?planted=1")

    def use_a_session(self, plane):
        for path in ("/healthz", "/readyz"):
            self.expect(plane, 200, "GET", path, user=None)
        self.assertTrue(self.expect(plane, 200, "GET", "/metrics").endswith("# EOF\n"))
        self.assertEqual(self.expect(plane, 200, "GET", "/v1/openapi.json"), self.description.document)
        self.change(plane, "test-request", status=409)
        for command, body in (("set", '{"next_out": 9}'), ("reset", None), ("resend", '{"from": 1}')):
            self.change(plane, command, body, 428)
        self.change(plane, "set", '{"next_out": 9, "expected": {"next_out": 8}}', 412)
        for body in ("{}", '{"next_out": 0}', '{"next_out": "1"}', '{"next_out": 1.5}', '{"next_out": 999999999999999999}',
                     '{"next_in": 1, "from": 1}', '{"next_in": 1, "expected": {"from": 1}}'):
            self.expect_wrong_body(plane, "POST", SESSION + "/set", body)
        for body in ("{}", '{"from": 0}'):
            self.expect_wrong_body(plane, "POST", SESSION + "/resend", body)
        self.expect_wrong_body(plane, "POST", SESSION + "/logout", json.dumps({"text": "x" * 257}))
        self.change(plane, "resend", '{"from": 1}', 409, If_Match="*")
        self.change(plane, "set", '{"next_in": 1, "next_out": 9, "expected": {"next_in": 1, "next_out": 1}}')
        self.change(plane, "reset", '{"expected": {"next_out": 9}}')
        self.expect(plane, 200, "GET", SESSION + "/messages")
        peer = Peer(plane.server.port)
        self.addCleanup(peer.close)
        peer.log_on()
        self.change(plane, "hold")
        self.change(plane, "release")
        peer.send("D", (11, "a"), (55, "IBM"), (54, 1), (60, "20240102-12:00:00"), (38, 100), (40, 1))
        self.change(plane, "test-request")
        peer.receive_kind("1")
        self.change(plane, "resend", '{"from": 99}', 422, If_Match="*")
        self.change(plane, "resend", '{"from": 1}', If_Match="*")
        self.change(plane, "set", '{"next_out": 1}', 409, If_Match="*")
        messages = self.expect(plane, 200, "GET", SESSION + "/messages", query="?limit=5")["messages"]
        self.assertEqual({each["direction"] for each in messages}, {"in", "out"})
        self.until(lambda: self.expect(plane, 200, "GET", SESSION + "/store/tail")["messages"])
        self.assertEqual(self.expect(plane, 200, "GET", SESSION)["state"], "logged_on")
        for window in ("1s", "10s", "1min", "1day", "start"):
            latency = self.expect(plane, 200, "GET", "/v1/latency", query="?window=" + window)
            self.expect(plane, 200, "GET", "/v1/slowest", query="?window=" + window)
        self.assertNotEqual([each["stages"] for each in latency["sessions"]], [])
        self.until(lambda: self.expect(plane, 200, "GET", "/v1/slowest", query="?window=start")["moments"])
        self.change(plane, "reset", If_Match="*")
        self.change(plane, "reset", None, 409, If_Match="*")  # the peer does not answer
        for command in ("drop", "logon", "logout", "enable", "disable", "enable"):
            self.change(plane, command)
        peer.close()
        for method, path in self.description.operations():
            if method == "GET" and path != "/v1/engine/reload":
                self.expect(plane, 200, method, path)
        add = ("POST", "/v1/sessions", json.dumps({"config": session_text("LATER", "logout_timeout_s = 60")}))
        self.expect(plane, 200, *add)
        self.expect(plane, 409, *add)
        self.expect(plane, 422, "POST", "/v1/sessions", '{"config": "[[session]]"}')
        for body in ("{}", '{"config": 1}', '{"config": "", "text": ""}'):
            self.expect_wrong_body(plane, "POST", "/v1/sessions", body)
        self.remove_a_session(plane, LATER)
        self.expect(plane, 200, *add)  # also while its journal is still being closed
        self.change(plane, "remove", '{"text": "bye"}', session=LATER)
        for level in ("warning", "info"):
            self.expect(plane, 200, "POST", "/v1/engine/log-level", json.dumps({"level": level}))
        for body in ("{}", '{"level": "loud"}'):
            self.expect_wrong_body(plane, "POST", "/v1/engine/log-level", body)

    def remove_a_session(self, plane, name):
        """Its peer does not answer the Logout: until it is gone, what is requested of it is a conflict."""
        peer = Peer(plane.server.port, sender="LATER")
        self.addCleanup(peer.close)
        peer.log_on()
        self.change(plane, "remove", '{"text": "bye"}', session=name)
        for command in ("logout", "disable", "drop", "hold", "release", "remove"):
            self.change(plane, command, status=409, session=name)
        self.assertEqual(self.expect(plane, 409, "GET", SESSION, session=name)["session"]["state"], "logout_sent")
        for end in ("/messages", "/store"):
            self.expect(plane, 409, "GET", SESSION + end, session=name)
        peer.close()
        self.until(lambda: plane.ask("GET", target_of(SESSION, name)).status == 404)

    def read_a_journal(self, plane):
        for end in ("", "/verify", "/tail"):
            self.expect(plane, 200, "GET", SESSION + "/store" + end)
            self.expect(plane, 409, "GET", SESSION + "/store" + end, session=MEMORY)
        segment = max((plane.folder / "store").rglob("*"), key=lambda file: file.stat().st_size if file.is_file() else 0)
        content = bytearray(segment.read_bytes())
        content[100:4000] = bytes(255 - byte for byte in content[100:4000])
        segment.write_bytes(content)
        self.assertNotEqual(self.expect(plane, 200, "GET", SESSION + "/store/verify")["findings"], [])
        segment.rename(segment.with_suffix(".gone"))
        for end in ("/verify", "/tail"):
            self.described("GET", SESSION + "/store" + end, plane.ask("GET", target_of(SESSION + "/store" + end)))

    def plan(self, plane, status=200):
        """One a second is made."""
        answers = []
        self.until(lambda: answers.append(plane.ask("GET", "/v1/engine/reload")) or answers[-1].status != 429)
        self.assertEqual(answers[-1].status, status, answers[-1].body)
        return self.described("GET", "/v1/engine/reload", answers[-1])

    def reload(self, plane):
        reload = "/v1/engine/reload"
        self.assertEqual(self.plan(plane)["sessions"], [])
        self.assertEqual(self.expect(plane, 200, "POST", reload)["result"], "nothing_to_do")
        plane.configure(plane.settings + "resend_timeout_s = 20\n" + session_text("NEXT") + "[engine]\nmax_fields = 600\n")
        self.assertEqual(len(self.plan(plane)["sessions"]), 2)
        report = self.expect(plane, 200, "POST", reload)
        self.assertEqual((report["result"], len(report["sessions"]), len(report["engine"])), ("incomplete", 2, 1))
        plane.configure("[[session]]")
        self.plan(plane, 422)
        self.expect(plane, 422, "POST", reload)
        self.change(plane, "change", json.dumps({"config": session_text("CLIENT", "max_latency_s = 60")}))
        self.change(plane, "change", '{"config": ""}', 422)

    def drain(self, plane):
        self.expect(plane, 200, "POST", "/v1/engine/drain", '{"text": "maintenance"}')
        self.assertEqual(self.expect(plane, 200, "GET", "/v1/engine")["state"], "draining")
        self.expect(plane, 503, "GET", "/readyz")
        for command, body in (("logon", None), ("enable", None), ("change", json.dumps({"config": session_text("CLIENT")}))):
            self.change(plane, command, body, 409)
        self.expect(plane, 409, "POST", "/v1/engine/reload")
        self.expect(plane, 409, "POST", "/v1/sessions", json.dumps({"config": session_text("OTHER")}))
        self.expect(plane, 200, "POST", "/v1/engine/end-drain")

    def reload_certificates(self):
        certificates = Certificates()
        self.addCleanup(certificates.folder.cleanup)
        plane = ControlPlane(self, session_text(
            "CLIENT", "tls = true", f'tls_certificate = "{certificates.file("server.crt")}"',
            f'tls_key = "{certificates.file("server.key")}"'))
        self.assertEqual(self.expect(plane, 200, "POST", "/v1/engine/reload-tls")["result"], "done")
        pathlib.Path(certificates.file("server.crt")).write_text("no certificate", encoding="utf-8")
        self.assertEqual(self.expect(plane, 200, "POST", "/v1/engine/reload-tls")["result"], "incomplete")

    def lose_the_audit_log(self):
        """What is audited is not done when its line cannot be written."""
        plane = ControlPlane(self, session_text("CLIENT"), inherit_ignored_signals=True)
        resource.prlimit(plane.server.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        for method, path in self.description.operations():
            if self.description.operation(method, path)["x-role"] != "operator":
                continue
            body = {"set": '{"next_out": 5}', "resend": '{"from": 1}', "change": '{"config": ""}',
                    "sessions": '{"config": ""}', "log-level": '{"level": "info"}'}.get(path.rsplit("/", 1)[-1])
            problem = self.expect(plane, 503, method, path, body, If_Match="*")
            self.assertEqual(problem["type"], "urn:nexusfix:problem:no-audit")

    def be_placed(self):
        cpu = min(os.sched_getaffinity(0))
        plane = ControlPlane(self, session_text("CLIENT") + f'[placement]\nenabled = true\nhousekeeping = "{cpu}"\n')
        for path in ("/v1/threads", "/v1/placement"):
            self.assertNotEqual(self.expect(plane, 200, "GET", path)["threads"], [])

    def be_without_latencies(self):
        plane = ControlPlane(self, session_text("CLIENT") + "[engine]\nlatency = false\n")
        self.assertFalse(self.expect(plane, 200, "GET", "/v1/latency")["measured"])
        self.expect(plane, 200, "GET", "/v1/slowest")

    def require_every_described_answer(self):
        missing = [(method, path, int(status)) for method, path in self.description.operations()
                   for status in self.description.operation(method, path)["responses"]
                   if (method, path, int(status)) not in self.seen]
        missing = [each for each in missing if each not in SUBSTITUTED and each[2] not in (429, 504)]
        self.assertEqual(missing, [], "these are described and did not occur")

    def find_planted_mistakes(self):
        """A member more or less, in an answer or in the description, at any depth, is found."""
        longest = {}
        for (method, path, _), answers in self.seen.items():
            for answer in answers:
                schema = self.description.schema(method, path, answer)
                if schema not in longest or len(answer.body) > len(longest[schema][2].body):
                    longest[schema] = (method, path, answer)
        # The description itself is any object.
        samples = [each for each in longest.values()
                   if each[2].headers["Content-Type"].endswith("json") and each[1] != "/v1/openapi.json"]
        planted = sum(self.find_in_answer(*each) for each in samples)
        self.assertGreater(planted, 500)
        schemas = self.description.document["components"]["schemas"]
        members = [(name, member) for name, schema in schemas.items() for member in schema.get("properties", {})]
        self.assertGreater(len(members), 150)
        for name, member in members:
            if member not in OPTIONAL:
                self.find_in_description(samples, name, lambda at, member=member: at["properties"].pop(member))
        for name in {name for name, _ in members}:
            self.find_in_description(samples, name, lambda at: at.update(required=[*at.get("required", []), "planted"]))

    def find_in_answer(self, method, path, answer):
        """How many mistakes."""
        document = json.loads(answer.body)
        planted = 0

        def plant(place, change):
            other = answer._replace(body=json.dumps(changed(document, place, change)))
            with self.assertRaises(NotDescribed, msg=f"{method} {path} {place}: {other.body}"):
                self.description.check(method, path, other)

        for place in objects_in(document):
            plant(place, lambda at: at.update(planted=1))
            there = document
            for name in place:
                there = there[name]
            for name in set(there) - OPTIONAL:
                plant(place, lambda at, name=name: at.pop(name))
                plant(place, lambda at, name=name: at.update({name: {"planted": 1}}))
                planted += 1
        return planted

    def find_in_description(self, samples, name, change):
        other = Description(changed(self.description.document, ("components", "schemas", name), change))
        for method, path, answer in samples:
            try:
                other.check(method, path, answer)
            except NotDescribed:
                return
        self.fail(f"a mistake in the schema {name} is not found")


if __name__ == "__main__":
    if shutil.which("openssl") is None:
        print("SKIPPED: the command openssl (package openssl) is missing")
        sys.exit(77)
    unittest.main()
