"""Gateways of nfx serve on one nats-server on loopback, for the tests of what they do."""
import pathlib
import tempfile
import time
import unittest

from cluster_tls_test import SERVER, Server
from support import PROGRAM, Running, expect, fix, free_port, run

SESSION = "VENUE-TRADER"
OWNED = "owned by this gateway from epoch"


@unittest.skipUnless(SERVER, "no nats-server: ./dev deps nats builds one")
class GatewaysCase(unittest.TestCase):
    """Gateways a and b, which both listen for a trader once they own its session."""

    @classmethod
    def setUpClass(cls):
        if "libnats-dev" in run("cluster", "check", "--url", "nats://127.0.0.1:1", "--timeout", "1")[2]:
            raise unittest.SkipTest("built without libnats")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = Server(folder.name)
        self.addCleanup(self.server.stop)
        self.url = f"nats://{self.server.address}"
        self.nfx("init", "--replicas", "1", "--lease", "1")
        self.addresses = {name: f"127.0.0.1:{free_port()}" for name in "ab"}
        self.running = {}

    def nfx(self, command, *arguments):
        out, _ = expect(run("cluster", command, *arguments, "--url", self.url), err="")
        return out

    def start(self, name, cluster="", session="", before="", durability="replicated"):
        """`cluster` and `session` are more lines of the sections, `before` other sections."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        config = folder / "gateway.toml"
        config.write_text(
            f'{before}[cluster]\nservers = ["{self.url}"]\ngateway = "{name}"\ngateways = ["a", "b"]\nlease_s = 1\n{cluster}'
            f'[[session]]\nsender_comp_id = "VENUE"\ntarget_comp_id = "TRADER"\nlisten = "{self.addresses[name]}"\n'
            f'durability = "{durability}"\ndictionary = "none"\nstore_ring_directory = "{folder}/rings"\n{session}',
            encoding="utf-8")
        running = Running(PROGRAM, "serve", config, "--echo")
        self.addCleanup(running.end)
        self.running[name] = running
        return running

    def start_owner_and_other(self, **more):
        """The first one owns the session before the second one starts."""
        self.start("a", **more).line_with(OWNED)
        self.start("b", **more)

    def trade(self, name, order, *more):
        """One order to a gateway, with the numbers of the sessions before."""
        config = self.folder / f"trader-{name}.toml"
        config.write_text(
            '[[session]]\nrole = "initiator"\nsender_comp_id = "TRADER"\ntarget_comp_id = "VENUE"\ndictionary = "none"\n'
            f'connect = "{self.addresses[name]}"\n' + "".join(more), encoding="utf-8")
        return run("connect", config, "--no-reset", "--wait", "2", "--logon-wait", "5", "--raw",
                   data=f"35=D|11={order}|55=IBM|54=1|38=100|40=1\n".encode())

    @staticmethod
    def message(kind, seq, *fields, peer="TRADER"):
        """As this peer sends it now, for a connection of the test's own."""
        now = time.strftime("%Y%m%d-%H:%M:%S.000", time.gmtime())
        return fix([(35, kind), (34, seq), (49, peer), (56, "VENUE"), (52, now), *fields])

    def logon(self, seq, peer="TRADER"):
        return self.message("A", seq, (98, 0), (108, 30), (141, "Y"), peer=peer)

    @staticmethod
    def read_all(client):
        received = b""
        while piece := client.recv(4096):
            received += piece
        return received
