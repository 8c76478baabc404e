"""examples/broker.cpp by the commands in its comment: clients of one template, and those that it refuses."""
import subprocess
import unittest

from examples_support import BUILT, ExampleTest
from peer import Peer
from support import PATIENCE_S


class Broker(ExampleTest):
    def broker(self, clients="CLIENT1 first-password\nCLIENT2 second-password\n"):
        (self.folder / "clients.txt").write_text(clients, encoding="utf-8")
        return self.serve("broker", self.config("broker.toml", 0))

    def client(self, broker, name, *fields):
        peer = Peer(broker.port, name, "BROKER")
        self.addCleanup(peer.close)
        peer.send("A", (98, 0), (108, 30), *fields)
        return peer

    def test_the_client_of_the_comment(self):
        broker = self.broker()
        path = self.config("broker_client.toml", broker.port)
        client = self.start("initiator", path, environment={"CLIENT_PASSWORD": "first-password"})
        client.line_with("order ")
        client.line_with("NEW, filled 0")
        self.stop(client)
        self.stop(broker)

    def test_every_client_has_a_session_of_its_own(self):
        broker = self.broker()
        for name, password in (("CLIENT1", "first-password"), ("CLIENT2", "second-password")):
            peer = self.client(broker, name, (553, name), (554, password))
            self.assertEqual(peer.receive_kind("A")["34"], "1")
            peer.send("D", (11, "a"), (55, "ALFA"), (54, 1), (60, "20261129-12:00:00"), (38, 100), (40, 1))
            report = peer.receive_kind("8")
            self.assertEqual((report["37"], report["11"], report["151"]), (f"{name}-2", "a", "100"))

    def test_others_leave_nothing(self):
        broker = self.broker()
        for name, *fields in (("CLIENT1",), ("CLIENT1", (554, "second-password")), ("CLIENT1", (554, "first-password ")),
                              ("CLIENT3", (554, "first-password")), ("*", (554, "first-password"))):
            self.assertIsNone(self.client(broker, name, *fields).receive())
            broker.error_with("Logon refused")
        store = self.folder / "store"
        self.assertEqual([] if not store.exists() else [each.name for each in store.iterdir() if each.is_dir()], [])
        self.stop(broker)

    def test_without_its_file_it_says_so_but_checks_and_helps(self):
        path = self.config("broker.toml", 0)
        run = lambda *arguments: subprocess.run([BUILT / "broker", *arguments], cwd=self.folder, capture_output=True, text=True,
                                                timeout=PATIENCE_S, check=False)
        done = run(path)
        self.assertEqual((done.returncode, done.stderr), (1, "broker: clients.txt must have lines of a CompID and a password\n"))
        self.assertEqual(run("--help").returncode, 0)
        self.assertEqual(run("--check", path).returncode, 0)


if __name__ == "__main__":
    unittest.main()
