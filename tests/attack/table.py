"""What an attack is: its row in the table, its limits, and the configuration that it needs."""
import dataclasses
import pathlib
import re
import secrets
from collections.abc import Callable

from support import free_port, run
from tls_support import ssl

VARIANTS = {
    # name: transport, poll threads, TLS
    "plain": ("epoll", 1, False),
    "uring": ("io_uring", 1, False),
    "threads": ("epoll", 2, False),
    "tls": ("epoll", 1, True),
    "all": ("io_uring", 2, True),
}
ANY = tuple(VARIANTS)
WITHOUT_TLS = ("plain", "uring", "threads")
WITH_TLS = ("tls", "all")


@dataclasses.dataclass(frozen=True)
class Limits:
    """The most that an attack may cost; None: no limit. Beyond what the innocent alone costs in the same time."""

    p99_ratio: float | None = 1.5  # of the innocent's p99, to the one without the attack
    memory_mb: float | None = 8  # private memory of the server, the most during the attack
    disk_mb: float | None = 8  # of the store and log folders, the most during the attack
    shm_mb: float | None = 1  # of the rings
    fds: int | None = 0  # descriptors that are still open after it
    first_used: int = 0  # sessions whose first Logon is the attack's: each adds the ring of its journal and a descriptor
    lines_s: float | None = 100  # lines a second, after the first 100: standard output, standard error and event log
    back_mb: float = 8  # memory and shared memory that are still used after it
    out_mb: float | None = None  # bytes sent to the attacker: so many at any rate
    out_mb_s: float = 0  # and so many for each second


@dataclasses.dataclass(frozen=True)
class Attack:
    name: str
    about: str
    rate: str  # its intensity, as the program keeps it
    run: Callable  # run(target) -> counts, in the attacker's process; or run(stage) -> failures, when it is alone
    category: str = "logon"
    limits: Limits = Limits()
    sessions: Callable = None  # sessions(settings) -> texts of the sessions attacked; None: EVIL
    check: Callable = None  # check(evidence) -> failures
    variants: tuple = ANY
    probe: tuple | None = None  # CompID and fields of Logons that must succeed within a second during the attack
    warm: bool = False  # the probe logs on once before, so that what its session occupies is not the attack's cost
    engine: Callable = None  # engine(settings) -> lines of [engine]
    terminal: str = "file"  # what standard output is: "file", or a pipe that is "stalled" or "closed"
    quick: bool = True  # part of --quick; another one like it is
    alone: bool = False  # without an innocent: what files do
    allowed: bool = False  # sessions have allowed_addresses, and the attacker's is not among them
    control: bool = False  # the server has a control plane, and the attacker knows it
    https: bool = False  # that has TLS and certificates in place of tokens


class Control:
    """The control plane of the server under attack: its socket, its port, and the token or certificate of each role."""

    def __init__(self, folder, certificates=None):
        self.certificates = certificates  # of HTTP with TLS, or None
        self.contexts = {}
        self.socket = pathlib.Path(folder) / "control.sock"
        self.port = free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.tokens = {role: secrets.token_hex(32) for role in ("operator", "viewer")}
        file = pathlib.Path(folder) / "tokens"
        file.touch(mode=0o600)
        if certificates:
            file.write_text("operator operator\nviewer viewer\n", encoding="ascii")
            access = (f'clients = "{file}"\ntls_ca = "{certificates.file("ca.pem")}"\n'
                      f'tls_certificate = "{certificates.file("server.crt")}"\ntls_key = "{certificates.file("server.key")}"\n')
        else:
            file.write_text("".join(f"{role} {role}-1 {token}\n" for role, token in self.tokens.items()), encoding="ascii")
            access = f'tokens = "{file}"\n'
        self.text = (f'[control]\nsocket = "{self.socket}"\nhttp = "{self.host}"\n{access}'
                     f'audit = "{pathlib.Path(folder) / "audit.log"}"\n')

    def context(self, certificate):
        """Of a client with this certificate, or without one."""
        if certificate not in self.contexts:
            made = ssl.create_default_context(cafile=self.certificates.file("ca.pem"))
            made.check_hostname = False
            if certificate:
                made.load_cert_chain(self.certificates.file(certificate + ".crt"), self.certificates.file(certificate + ".key"))
            self.contexts[certificate] = made
        return self.contexts[certificate]


@dataclasses.dataclass
class Evidence:
    """What a check may read, after the attack and before the server ends."""

    server: object
    target: object  # for another connection
    result: dict  # what the attacker returned
    probes: list  # seconds that each Logon of the probe took; None: it failed


class Settings:
    """Writes a configuration for one variant."""

    def __init__(self, folder, variant, tls, allowed=False):
        self.folder = folder
        self.transport, self.threads, self.encrypted = VARIANTS[variant]
        self.certificates = tls
        self.tls = tls if self.encrypted else None
        self.allowed = allowed
        self.control = None  # set by text()
        # Sessions with one listen address have one poll thread.
        self.innocent_host = "127.0.0.9" if self.threads == 2 else "127.0.0.1"

    def session(self, target, *lines, sender="NEXUSFIX", host="127.0.0.1", thread=0, allowed=()):
        text = [f'[[session]]\nsender_comp_id = "{sender}"\ntarget_comp_id = "{target}"', f'listen = "{host}:0"',
                f"poll_thread = {thread}", f'store_ring_directory = "{self.folder.shm}"']
        if self.allowed:
            text.append(f"allowed_addresses = {list(allowed)}".replace("'", '"'))
        if self.tls:
            text += ["tls = true", f'tls_certificate = "{self.tls.file("server.crt")}"',
                     f'tls_key = "{self.tls.file("server.key")}"']
        return "\n".join([*text, *lines]) + "\n"

    def template(self, *lines, **how):
        return self.session("*", "template = true", *lines, **how)

    def set_if_known(self, key, value):
        """A line for a key that this nfx has; none for an older one."""
        known = re.search(f"(?m)^\\| `{key}` ", run("config", "keys", "--nexusfix")[1])
        return [f"{key} = {value}"] if known else []

    def mutual(self):
        """Lines for a session whose peer needs a certificate."""
        return ('tls_client_certificate = "require"', f'tls_ca = "{self.tls.file("ca.pem")}"')

    def text(self, attack):
        innocent = self.session("INNOCENT", *(self.mutual() if attack.name == "wrong_certificate" else ()),
                                *(('tls_peer_names = "innocent.example"',) if attack.name == "wrong_certificate" else ()),
                                "segment_size = 1048576", host=self.innocent_host, thread=self.threads - 1,
                                allowed=("127.1.0.1",))
        attacked = attack.sessions(self) if attack.sessions else [self.session("EVIL", allowed=("127.2.0.1",))]
        if attack.probe and attack.probe[0] == "PROBE":
            attacked = [*attacked, self.session("PROBE", 'store = "memory"', allowed=("127.2.0.1",))]
        engine = [f'[engine]\ntransport = "{self.transport}"\npoll_threads = {self.threads}',
                  *(attack.engine(self) if attack.engine else ())]
        self.control = Control(self.folder.path, self.certificates if attack.https else None) if attack.control else None
        return ("\n".join(engine) + "\n" + (self.control.text if self.control else "") +
                f'[log]\ndirectory = "{self.folder.path / "log"}"\n' + innocent + "".join(attacked))
