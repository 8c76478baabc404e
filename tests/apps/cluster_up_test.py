"""nfx cluster up: three nats-servers with TLS and users, which end with it."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from cluster_support import SERVER, Up, test_with_cluster
from support import PATIENCE_S, expect, free_port, run

WRITER = os.environ["NFX_CLUSTER_WRITER"]


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Cluster(unittest.TestCase):
    def setUp(self):
        self.up = Up()
        self.addCleanup(self.up.stop)

    def assert_nothing_remains(self):
        end = time.monotonic() + PATIENCE_S
        while any(is_running(pid) or is_open(port) for port, pid in self.up.servers.values()):
            self.assertLess(time.monotonic(), end, "a server or a port remains")
            time.sleep(0.02)

    def test_gateway_may_write_sessions_reader_may_not_and_nobody_without_tls(self):
        self.assertEqual(list(self.up.servers), ["n1", "n2", "n3"])
        expect(run("cluster", "check", *self.up.options()),
               out=["good  stream NEXUSFIX has 3 replicas", "good  stream NEXUSFIX can be written"], err="")
        expect(run("cluster", "init", *self.up.options(), "--timeout", "1"), code=1,
               err="no answer to $JS.API.STREAM.CREATE.NEXUSFIX; does this user have permission for it?")
        self.assertEqual(run("cluster", "ls", *self.up.options("reader")), (0, "", ""))
        out, err = expect(run("cluster", "check", *self.up.options("reader"), "--timeout", "1"), code=1)
        self.assertIn("KV_NEXUSFIX", out + err)
        plain = ("--url", self.up.settings["url"].replace("tls:", "nats:"), "--timeout", "5")
        expect(run("cluster", "check", *plain, "--credentials", str(self.up.folder / "gateway.creds")), code=1,
               err="the server requires TLS")
        expect(run("cluster", "check", *self.up.options()[:-2]), code=1, err_lines=1)
        logs = "".join(path.read_text(encoding="utf-8") for path in self.up.folder.glob("n?.log"))
        # What was refused above, and nothing that the tools themselves do for every user.
        self.assertIn("Publish Violation", logs)
        self.assertNotIn("Subscription Violation", logs)
        self.assertEqual(self.up.stop(signal.SIGINT), (0, "", ""))
        self.assert_nothing_remains()
        self.assertFalse(self.up.folder.exists())

    def test_a_server_that_ends_is_named_in_one_line_and_the_others_continue(self):
        port, pid = self.up.servers["n2"]
        os.kill(pid, signal.SIGKILL)
        line = self.up.process.stderr.readline()
        self.assertEqual(line, f"nfx: server n2 (127.0.0.1:{port}, pid {pid}) was killed by signal 9; 2 of 3 run; its log is "
                               f"{self.up.folder}/n2.log\n")
        end = time.monotonic() + PATIENCE_S
        while "can be written" not in run("cluster", "check", *self.up.options(), "--timeout", "5")[1]:
            self.assertLess(time.monotonic(), end, "no new leader")
        for name in ("n1", "n3"):
            os.kill(self.up.servers[name][1], signal.SIGTERM)
        _, err = expect(self.up.stop(0), code=1, out="")
        self.assertEqual(err.count("\n"), 3)
        self.assertIn("nfx: all servers have ended\n", err)

    def test_nothing_remains_when_it_is_killed(self):
        self.up.process.kill()
        self.up.process.wait(PATIENCE_S)
        self.assert_nothing_remains()
        # It could not remove its folder.
        shutil.rmtree(self.up.folder)


class Folder(unittest.TestCase):
    def test_sessions_of_a_folder_are_there_at_the_next_start_and_two_clusters_cannot_share_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for start in range(2):
                up = Up("--folder", folder)
                self.addCleanup(up.stop)
                code, out, err = run("cluster", "ls", *up.options("reader"))
                self.assertEqual((code, out.startswith("DESK  "), err), (0, start == 1, ""))
                if start == 0:
                    subprocess.run([WRITER, up.settings["url"], up.settings["ca"], up.folder / "gateway.creds", "NEXUSFIX",
                                    "DESK", "10", "0"], check=True, capture_output=True, timeout=PATIENCE_S)
                expect(run("cluster", "up", "--folder", folder, "--port", "0", "--server", SERVER), code=1, out="",
                       err=f"--folder: {folder} is in use by another cluster", err_lines=1)
                self.assertEqual(up.stop(), (0, "", ""))
                self.assertTrue(pathlib.Path(folder, "n1").is_dir())


class One(unittest.TestCase):
    def test_one_server_becomes_ready_and_check_says_that_it_is_one_replica(self):
        up = Up(local=1)
        self.addCleanup(up.stop)
        self.assertIn("starting one of nats-server", up.lines[0])
        expect(run("cluster", "check", *up.options()), code=1,
               out=["FAIL  stream NEXUSFIX has 1 replica", "good  stream NEXUSFIX can be written"], err="")

    def test_a_server_that_waits_for_its_leader_is_not_said_to_be_old(self):
        with tempfile.TemporaryDirectory() as folder:
            port, route, absent = (free_port() for _ in range(3))
            config = pathlib.Path(folder, "n1.conf")
            config.write_text(f'server_name: n1\nlisten: "127.0.0.1:{port}"\njetstream {{ store_dir: "{folder}/n1" }}\n'
                              f'cluster {{ name: c, listen: "127.0.0.1:{route}", routes: ["nats://127.0.0.1:{absent}"] }}\n',
                              encoding="utf-8")
            server = subprocess.Popen([SERVER, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)
            end = time.monotonic() + PATIENCE_S
            while not is_open(port):
                self.assertLess(time.monotonic(), end, "nats-server does not listen")
                time.sleep(0.02)
            code, out, err = run("cluster", "check", "--url", f"nats://127.0.0.1:{port}", "--timeout", "5")
            self.assertEqual((code, out, err.count("\n")), (1, "", 1), err)
            self.assertTrue("JetStream does not answer yet" in err or "no answer to $JS.API.INFO" in err, err)
            self.assertNotIn("older than", err)


class Refused(unittest.TestCase):
    def refused(self, *arguments):
        _, err = expect(run("cluster", "up", *arguments), code=1, out="", err_lines=1)
        return err

    def test_other_programs_are_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "nats-server")
            for output, text in (("nats-server: v2.9.10", " is nats-server 2.9.10, and a cluster needs 2.12 or later"),
                                 ("nats-server: v1.99.0", " is nats-server 1.99.0, and"), ("hello", " is not a nats-server")):
                program.write_text(f"#!/bin/sh\necho '{output}'\n", encoding="utf-8")
                program.chmod(0o755)
                err = self.refused("--server", str(program))
                self.assertIn(f"{program}{text}", err)
                self.assertIn("./dev deps nats builds one", err)
            missing = f"{folder}/missing"
            self.assertIn(f"{missing} (--server) is not a program", self.refused("--server", missing))

    def test_a_port_in_use_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            if port > 65535 - 6:
                self.skipTest("the kernel chose one of the last ports")
            self.assertIn(f"127.0.0.1:{port} is in use: choose other ports with --port",
                          self.refused("--server", SERVER, "--port", str(port)))
        self.assertIn("up to 65535", self.refused("--server", SERVER, "--port", "65534"))


if __name__ == "__main__":
    test_with_cluster()
