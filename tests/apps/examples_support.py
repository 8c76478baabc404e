"""The programs of examples/, with the configurations beside them, moved to a test's folder and to other ports."""
import os
import pathlib
import re
import socket

from peer import Peer
from support import PATIENCE_S, FolderTest, Process, Running, expect

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
BUILT = pathlib.Path(os.environ["NFX_EXAMPLES_BUILT"])


def values(message, *tags):
    return [message[tag] for tag in tags]


class ExampleTest(FolderTest):
    def config(self, name, port, *lines):
        """A configuration of the examples with this port, and with these lines for its session in place of its own."""
        path = self.folder / pathlib.Path(name).name
        text = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", (EXAMPLES / name).read_text(encoding="utf-8"))
        for line in lines:
            text = re.sub(rf"(?m)^{line.split()[0]} = .*\n", "", text)
        path.write_text("\n".join((text, 'store_ring_directory = "rings"', *lines, "")), encoding="utf-8")
        return path

    def start(self, program, *arguments, kind=Process, **how):
        process = kind(BUILT / program, *arguments, folder=self.folder, **how)
        self.addCleanup(process.end)
        return process

    def serve(self, program, config):
        """An acceptor, when it listens."""
        return self.start(program, config, kind=Running, listens_on="stderr")

    def connect(self, program, name, port, *lines):
        """An initiator, which tries again soon."""
        soon = ("reconnect_delay_ms = 20", "reconnect_delay_max_ms = 20")
        return self.start(program, self.config(name, port, *soon, *lines))

    def stop(self, process):
        """Exit code 0 is the only right one."""
        out, err = expect(process.stop())
        return out, err


class Venue:
    """Accepts one connection after the other, as the counterparty of an initiator."""

    def __init__(self, sender, target):
        self.names = sender, target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(PATIENCE_S)
        self.port = self.listener.getsockname()[1]

    def accept(self, number=1):
        """The next connection, logged on; `number` is that of the Logon's answer."""
        peer = Peer.accepted(self.listener, *self.names, number)
        peer.logon = peer.receive_kind("A")
        peer.send("A", (98, 0), (108, 30))
        return peer

    def close(self):
        self.listener.close()
