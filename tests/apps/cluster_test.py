"""nfx cluster: explanations, and one line for each thing that is wrong; with nats-server on loopback where it is there."""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from support import expect, free_port, run

SERVER = os.environ.get("NFX_NATS_SERVER") or shutil.which("nats-server", path=str(pathlib.Path.home() / "go/bin"))


class Why(unittest.TestCase):
    def owner(self, *arguments):
        out, _ = expect(run("cluster", "why", "FIX.4.4:DESK->VENUE", *arguments), err="")
        lines = out.splitlines()
        self.assertEqual(lines.pop(), "no server was asked: these are the options given here, and 'nfx cluster ls' shows who "
                                      "owns it now")
        return lines[0], lines[1:]

    def test_owner_is_the_highest_weight_of_those_alive(self):
        first, rest = self.owner("--gateways", "a,b,c")
        order = [line.split()[1] for line in rest]
        self.assertEqual(sorted(order), ["a", "b", "c"])
        self.assertEqual(first, f"FIX.4.4:DESK->VENUE: {order[0]} (the highest weight of the gateways that are alive)")
        self.assertIn(f": {order[1]} (", self.owner("--gateways", "a,b,c", "--lost", order[0])[0])
        self.assertIn(f": {order[1]} (", self.owner("--gateways", "a,b,c", "--draining", order[0])[0])
        self.assertIn(f": {order[2]} (pinned", self.owner("--gateways", "a,b,c", "--pin", order[2])[0])

    def test_a_lost_gateway_that_is_not_in_the_list_is_wrong_usage(self):
        expect(run("cluster", "why", "S", "--gateways", "a", "--lost", "x"), code=2, out="",
               err="x is not one of --gateways")

    def test_control_characters_of_a_name_are_escaped(self):
        out, _ = expect(run("cluster", "why", "S\x1b[2J", "--gateways", "a"))
        self.assertNotIn("\x1b", out)


class WithoutServer(unittest.TestCase):
    def test_each_command_fails_with_one_line(self):
        for command in ("init", "check", "ls"):
            with self.subTest(command):
                code, out, err = run("cluster", command, "--url", "nats://user:hidden@127.0.0.1:1", "--timeout", "1")
                self.assertEqual((code, out, err.count("\n")), (1, "", 1), err)
                self.assertNotIn("hidden", err)
                self.assertTrue("nats://127.0.0.1:1: " in err or "libnats-dev" in err, err)

    def test_a_server_that_does_not_answer_after_its_greeting_is_left_in_time(self):
        def greet():
            greeting = {"server_id": "X", "version": "2.14.0", "proto": 1, "headers": True, "max_payload": 1 << 20}
            with listener.accept()[0] as client, contextlib.suppress(OSError):
                client.sendall(b"INFO " + json.dumps(greeting).encode() + b"\r\n")
                while client.recv(4096):
                    pass

        with socket.create_server(("127.0.0.1", 0)) as listener:
            greeter = threading.Thread(target=greet)
            greeter.start()
            code, out, err = run("cluster", "check", "--url", f"nats://127.0.0.1:{listener.getsockname()[1]}", "--timeout", "1")
            if "libnats-dev" in err:
                socket.create_connection(listener.getsockname()).close()
            greeter.join()
        self.assertEqual((code, out, err.count("\n")), (1, "", 1), err)

    def test_a_stream_with_a_dot_is_refused(self):
        _, err = expect(run("cluster", "check", "--stream", "a.b"), code=1)
        self.assertTrue("letters, digits, - and _" in err or "libnats-dev" in err, err)


@unittest.skipUnless(SERVER, "no nats-server: ./dev deps nats builds one")
class WithServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.port = free_port()
        cls.server = subprocess.Popen(
            [SERVER, "-a", "127.0.0.1", "-p", str(cls.port), "-js", "-sd", cls.folder.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 600
        while time.monotonic() < end:
            code, _, cls.error = run("cluster", "check", *cls.options())
            if "libnats-dev" in cls.error:
                raise unittest.SkipTest("built without libnats")
            if cls.error == "":
                return
        raise AssertionError(cls.error)

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        cls.server.wait()
        cls.folder.cleanup()

    @classmethod
    def options(cls):
        return ("--url", f"nats://127.0.0.1:{cls.port}", "--stream", "TEST")

    def test_streams_are_missing_then_made_then_listed(self):
        expect(run("cluster", "check", *self.options()), code=1,
               out="FAIL  stream TEST: stream not found; make it with nfx cluster init\n", err="")
        for command in (("drain", "a"), ("move", "S", "--to", "a"), ("settings",)):
            expect(run("cluster", *command, *self.options()), code=1, out="", err="make it with nfx cluster init",
                   err_lines=1)
        expect(run("cluster", "init", *self.options(), "--replicas", "1", "--lease", "1.5"), code=2,
               err="--lease: expected whole seconds")
        # One server has no three replicas.
        expect(run("cluster", "init", *self.options()), code=1, out="", err="stream TEST was not made: ", err_lines=1)
        code, out, err = run("cluster", "init", *self.options(), "--replicas", "1", "--max-bytes", "8192", "--lease", "3")
        self.assertEqual((code, out, err), (0, "made the streams TEST and KV_TEST\n", ""))
        expect(run("cluster", "check", *self.options()), code=1,
               out=["FAIL  stream TEST has 1 replica; a lost machine loses it: make it with 3\n",
                    "good  stream TEST refuses when it is full\n", "of 8192 bytes\n",
                    "good  stream TEST can be written\n"],
               err="")
        self.assertEqual(run("cluster", "ls", *self.options()), (0, "", ""))
        code, out, err = run("cluster", "drain", "zzz", *self.options())
        self.assertEqual((code, out), (0, "drain zzz\n"))
        self.assertEqual(err, "nfx: no gateway zzz is known to the cluster now; the setting has an effect when one of this name runs\n")
        code, _, err = run("cluster", "move", "NOPE", "--to", "zzz", *self.options())
        self.assertEqual((code, err.count("\n")), (0, 2))
        self.assertIn("no session NOPE is known", err)
        self.assertEqual(run("cluster", "move", "NOPE", "--undo", *self.options())[2], "")
        expect(run("cluster", "init", *self.options(), "--replicas", "1", "--max-bytes", "9000"), code=1,
               err="already in use", err_lines=1)


if __name__ == "__main__":
    unittest.main()
