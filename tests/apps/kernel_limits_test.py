"""nfx serve at limits of the kernel. At that of its address space, Logons that need more memory than there is are refused, with a
line that says so, and the session that is logged on goes on. Once the limit is raised, new sessions log on. At that of the size of
a file, the log loses records and says so, and the session goes on."""
import datetime
import pathlib
import re
import resource
import socket
import tempfile
import unittest

from support import PATIENCE_S, Server, expect, fix

SETTINGS = """
[engine]
max_dynamic_sessions = 2000
[log]
directory = "log"
metrics_file = "metrics.prom"
[[session]]
sender_comp_id = "NEXUSFIX"
target_comp_id = "*"
template = true
listen = "127.0.0.1:0"
{store}
"""
# Bytes beyond what the process has when its first session is logged on.
LIMITS = [kibibytes << 10 for kibibytes in (0, 4, 16, 64, *range(128, 4096, 128), *range(4096, 40960, 2048))]


class Peer:
    def __init__(self, port, name):
        self.name, self.next_number, self.received = name, 1, b""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.send("A", (98, 0), (108, 3600))

    def send(self, msg_type, *fields):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S")
        self.socket.sendall(fix([(35, msg_type), (34, self.next_number), (49, self.name), (56, "NEXUSFIX"), (52, now), *fields]))
        self.next_number += 1

    def gets(self, part):
        """Whether this comes before the connection ends."""
        while part not in self.received:
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return False
            self.received += more
        return True

    def logs_on(self):
        return self.gets(b"\x0135=A\x01")

    def is_answered(self, request):
        self.send("1", (112, request))
        return self.gets(f"\x01112={request}\x01".encode())


class KernelLimits(unittest.TestCase):
    def peer(self, name):
        peer = Peer(self.server.port, name)
        self.addCleanup(peer.socket.close)
        return peer

    def serves_on(self, store):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        self.server = Server(folder, settings=SETTINGS.format(store=store))
        self.addCleanup(self.server.end)
        pid = self.server.process.pid
        innocent = self.peer("INNOCENT")
        self.assertTrue(innocent.logs_on())
        pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[0])
        _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
        # Each limit ends the memory at another place.
        refused = []
        for more in LIMITS:
            resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hard))
            if not self.peer(f"WITH-{more}").logs_on():
                refused.append(f"WITH-{more}")
            self.assertIsNone(self.server.process.poll(), more)
            self.assertTrue(innocent.is_answered(f"STILL-HERE-{more}"))
        self.assertGreater(len(refused), 1, "the limits refused none")
        resource.prlimit(pid, resource.RLIMIT_AS, (hard, hard))
        for name in refused:
            self.assertTrue(self.peer(name).logs_on(), name)
        _, err = expect(self.server.stop())
        # Lines beyond the first few of a second are counted in one.
        self.assertRegex(err, r"Logon refused: no_memory: .*cannot map \d+ bytes for ")
        metrics = (folder / "metrics.prom").read_text(encoding="utf-8")
        counted = re.findall(r'^nfx_logon_refused_total{.*reason="(?:no_memory|store)".*} (\d+)$', metrics, re.MULTILINE)
        self.assertEqual(sum(map(int, counted)), len(refused), metrics)

    def test_files_at_their_largest_size(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = Server(folder.name, "--echo", settings=SETTINGS.format(store='store = "memory"'))
        self.addCleanup(self.server.end)
        peer = self.peer("INNOCENT")
        self.assertTrue(peer.logs_on())
        _, hard = resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (1 << 16, hard))
        for number in range(200):  # three times as many bytes
            peer.send("B", (148, f"{number}."), (33, 1), (58, "x" * 1000))
            self.assertTrue(peer.gets(f"\x01148={number}.\x01".encode()), number)
        code, out, err = self.server.stop()
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"log: cannot write \S*messages-\S*: File too large")

    def test_sessions_in_memory(self):
        self.serves_on('store = "memory"')

    def test_sessions_with_a_journal(self):
        self.serves_on('store_directory = "stores"\nstore_ring_directory = "rings"')


if __name__ == "__main__":
    unittest.main()
