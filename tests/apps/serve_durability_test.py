"""What nfx serve guarantees with each answer: the process is killed, and all that was not synced is lost with it."""
import datetime
import os
import re
import signal
import socket
import subprocess
import unittest

from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, expect, fix, run

POWER_LOSS = os.environ["NFX_POWER_LOSS"]
SESSION = "FIX.4.4:NEXUSFIX->CLIENT"


class Peer:
    """A client that sees each message the moment it comes, and sends nothing when the server is gone."""

    def __init__(self, port, number):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self.next = number
        self.received = b""

    def send(self, kind, *fields):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S.%f")[:-3]
        self.socket.sendall(fix([(35, kind), (34, self.next), (49, "CLIENT"), (52, now), (56, "NEXUSFIX"), *fields]))
        self.next += 1

    def receive(self):
        """The next message's fields."""
        while True:
            found = re.match(rb"8=FIX.*?\x0110=\d{3}\x01", self.received)
            if found:
                self.received = self.received[found.end():]
                return dict(field.split("=", 1) for field in found[0].decode().split("\x01")[:-1])
            more = self.socket.recv(65536)
            if not more:
                raise AssertionError(f"the server closed the connection after {self.received!r}")
            self.received += more

    def await_kind(self, kind):
        while (message := self.receive())["35"] != kind:
            pass
        return message

    def close(self):
        self.socket.close()


class Durability(FolderTest):
    def setUp(self):
        super().setUp()
        (self.folder / "synced").mkdir()
        self.server = None

    def serve(self, durability):
        config = self.folder / "serve.toml"
        config.write_text('[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "CLIENT"\n'
                          'listen = "127.0.0.1:0"\nstore_directory = "store"\nstore_ring_directory = "rings"\n'
                          'segment_size = 262144\nring_size = 262144\nsync_interval_ms = 60000\n'
                          f'durability = "{durability}"\n', encoding="utf-8")
        # The sanitizers of such a build want to be the first library; here they may be the second.
        environment = {**ENVIRONMENT, "LD_PRELOAD": POWER_LOSS, "NFX_SYNCED": str(self.folder / "synced"),
                       "ASAN_OPTIONS": "verify_asan_link_order=0"}
        self.server = subprocess.Popen([PROGRAM, "serve", str(config), "--echo"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=environment, text=True)
        self.addCleanup(self.end, self.server)
        first_line = self.server.stdout.readline()
        return int(re.search(r"listens on 127\.0\.0\.1:(\d+)", first_line).group(1))

    @staticmethod
    def end(server):
        if server.poll() is None:
            server.kill()
        server.communicate()

    def lose_power(self):
        """Ends the process with what was not synced, and the memory that outlives a process."""
        self.server.send_signal(signal.SIGKILL)
        self.server.communicate(timeout=PATIENCE_S)
        for ring in (self.folder / "rings").iterdir():
            ring.unlink()
        for file in (self.folder / "store").glob("*/*.nfxj"):
            synced = self.folder / "synced" / str(file.stat().st_ino)
            file.write_bytes(synced.read_bytes() if synced.exists() else b"")

    def numbers(self):
        """Next in and next out, as they are in the files."""
        out, _ = expect(run("store", "seq", "show", str(self.folder / "store")))
        return tuple(map(int, re.search(r"next in (\d+), next out (\d+)", out).groups()))

    def orders_kept(self):
        code, out, err = run("store", "cat", str(self.folder / "store"), "--raw")
        if "no session is stored here" in err:  # nothing of the journal was synced yet, not even its folder's name
            return []
        self.assertEqual(code, 0, err)
        return re.findall(r"\|11=(\w+)\|", out)

    def trade(self, durability, lives):
        """Each life: Logon, some orders, and the power goes the moment the last answer is here."""
        sent = []
        next_number = 1
        seen = 0
        for life in range(lives):
            peer = Peer(self.serve(durability), next_number)
            self.addCleanup(peer.close)
            peer.send("A", (98, 0), (108, 30))
            self.assertGreater(int(peer.await_kind("A")["34"]), seen)
            for order in range(1 + 3 * life):
                sent.append(f"o{life}x{order}")
                peer.send("D", (11, sent[-1]), (55, "IBM"), (54, 1), (38, 100), (40, 1), (60, "20240102-12:00:00"))
                answer = peer.await_kind("D")
                self.assertEqual(answer["11"], sent[-1])
                seen = int(answer["34"])
            next_number = peer.next
            self.lose_power()
            yield sent, next_number, seen

    def check_promise(self, durability):
        for sent, next_number, seen in self.trade(durability, 4):
            self.assertEqual(self.orders_kept(), sent)
            self.assertEqual(self.numbers(), (next_number, seen + 1))

    def test_with_group_an_answer_is_durable_before_it_leaves(self):
        self.check_promise("group")

    def test_with_message_an_answer_is_durable_before_it_leaves(self):
        self.check_promise("message")

    def test_with_an_interval_that_is_not_over_an_answer_may_be_lost_and_the_journal_is_whole_all_the_same(self):
        for sent, _, _ in self.trade("interval", 1):
            # Wherever it was when the power went, in memory or written without a sync.
            self.assertNotIn(sent[0], self.orders_kept())
            code, _, err = run("store", "verify", str(self.folder / "store"))
            self.assertTrue(code == 0 or "no session is stored here" in err, err)


if __name__ == "__main__":
    unittest.main()
