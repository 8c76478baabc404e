"""Attacks by what a person opens or connects to: a control socket that another program serves, recordings and stores that
somebody else made, certificates of any shape, and files that were exchanged for something that blocks. No innocent session;
each returns what was wrong, as texts."""
import json
import os
import pathlib
import re
import resource
import socket
import struct
import subprocess
import tempfile
import threading
import time

from file_attacks import Case, mutate, used
from market_support import metadata, record
from support import ENVIRONMENT, PATIENCE_S, PROGRAM
from table import Attack, Limits
from tls_support import Certificates, ssl

MEMORY = 1 << 30
HOSTILE = ["\x1b[2J\x1b[H", "a\nFORGED", "\u202egnp.exe", "</title><script>alert(1)</script>", "x" * 10000, "\x9b31m", ""]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f\u202a-\u202e\u2066-\u2069]")


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def what_nfx_does(*arguments, environment=None, seconds=30):
    """Empty, or what is wrong with how a command of nfx ends: killed, too long, or control characters in what it prints."""
    shown = "nfx " + " ".join(str(each) for each in arguments[:3])
    try:
        done = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds,
                              env={**ENVIRONMENT, **(environment or {})}, preexec_fn=limited, check=False)
    except subprocess.TimeoutExpired:
        return f"{shown} does not end within {seconds} s"
    if done.returncode < 0 or done.returncode > 6:
        return f"{shown} ended with {done.returncode}: {done.stderr[-200:]!r}"
    text = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    if CONTROL.search(text) or re.search("(?m)^FORGED", text):
        return f"{shown} prints a control character"
    return "" if done.returncode == 0 or done.stderr or done.stdout else f"{shown} fails and says nothing"


class Server:
    """Passes each connection of this listening socket to serve(), on a thread of its own."""

    def __init__(self, listener):
        self.listener = listener
        self.listener.settimeout(0.1)
        self.ends = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends:
            try:
                client, _ = self.listener.accept()
            except OSError:
                continue
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def stop(self):
        self.ends = True
        self.thread.join()
        self.listener.close()


class ControlServer(Server):
    """A UNIX socket that answers every request with these bytes."""

    def __init__(self, path, answer):
        self.answer = answer
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(16)
        super().__init__(listener)

    def serve(self, client):
        with client:
            client.settimeout(20)
            try:
                while client.recv(65536):
                    for piece in self.answer():
                        client.sendall(piece)
            except OSError:
                pass


def answer_of(body, kind="application/json", status="200 OK"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return [f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data]


def hostile_control(_):
    """What nfx session, engine and top do with the answers of a program that is no engine, as root might ask one."""
    session = {"state": "logged_on", "enabled": True, "connected": True, "next_in": 2**63, "next_out": -1, "queued": 1e308,
               "peer": HOSTILE[0], "counters": {"messages_in_total": 2**64}}
    document = {"complete": True, "version": HOSTILE[0], "state": HOSTILE[1], "pid": -1, "utc": HOSTILE[2],
                "sessions": [{**session, "name": name, "identity": name} for name in HOSTILE],
                "running": [{"name": name, "state": name, "tid": 2**70} for name in HOSTILE], "problem": HOSTILE[0]}
    deep = b"[" * 200_000 + b"]" * 200_000

    def endless(begin, piece):
        yield begin
        for _ in range(2000):
            yield piece

    answers = {
        "hostile names": lambda: answer_of(document),
        "a list in place of an object": lambda: answer_of([document]),
        "deep JSON": lambda: answer_of(deep),
        "deep JSON in an object": lambda: answer_of(b'{"sessions":' * 100_000 + b"1" + b"}" * 100_000),
        "a document that is none": lambda: answer_of(b"\x1b]0;title\x07 FORGED\n", "text/plain\x1b[2J", "500 \x1b[2J"),
        "a length that never comes": lambda: [b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n{"],
        "an endless body": lambda: endless(b"HTTP/1.1 200 OK\r\n\r\n{\"sessions\": \"", b"x" * (1 << 20)),
        "an endless head": lambda: endless(b"HTTP/1.1 200 OK\r\nX: ", b"x" * (1 << 20)),
        "what is not HTTP": lambda: [b"\0" * 4096],
    }
    failures = []
    for name, answer in answers.items():
        with tempfile.TemporaryDirectory() as folder:
            server = ControlServer(pathlib.Path(folder) / "control.sock", answer)
            try:
                to = {"NFX_CONTROL": str(pathlib.Path(folder) / "control.sock")}
                for command in (("session", "list"), ("engine", "health"), ("top", "--once", "--interval", "0.2"),
                                ("top", "--once", "--interval", "0.2", "--view", "threads")):
                    what = what_nfx_does(*command, environment=to)
                    if what:
                        failures.append(f"{name}: {what}")
            finally:
                server.stop()
    return failures


def hostile_recordings(stage):
    """Recordings of market data with any bytes: statistics, their page, books and conversions end, and are text."""
    failures = []
    extreme = [record("A", side, order, price, 2**32 - 1, sequence=2**32 - 1, time=max(time_ns, 1000))
               for order, (side, price, time_ns) in enumerate(
                   [("B", 9_223_372_036_854_775_806, 2**64 - 2), ("A", 9_223_372_036_854_773_000, 2**64 - 3),
                    ("B", -9_223_372_036_854_775_807, 0), ("A", 1, 2**63), ("B", 0, 1)])]
    bytes_of = {
        "extreme prices and times": metadata(2) + b"".join(extreme),
        "neighbouring prices": metadata(2) + b"".join(
            record("A", "BA"[n % 2], n, 9_200_000_000_000_000_000 + 2000 * n, 1, time=1_703_462_400_000_000_000 + n)
            for n in range(50)),
        "hostile symbols": metadata(2, [(name.encode("utf-8")[:20].decode("utf-8", "ignore"), n)
                                        for n, name in enumerate(HOSTILE)]) +
                           b"".join(record("A", "B", n, 10**9, 1, instrument=n % len(HOSTILE)) for n in range(50)),
        "a length without bytes": b"DBN\x02" + struct.pack("<I", 0xffffffff) + b"GLBX",
        "counts without entries": metadata(2)[:108] + struct.pack("<IIIII", *[0xffffffff] * 5),
        "nothing": b"",
        "another magic": b"\x28\xb5\x2f\xfd" + os.urandom(4096),
    }
    good = metadata(2) + b"".join(record("A", "BA"[n % 2], n, (100 + n % 7) * 10**9, 1) for n in range(200))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(stage.mutations // 4):
            file = pathlib.Path(folder) / "good"
            file.write_bytes(good)
            mutate(stage.rng, file)
            bytes_of[f"mutation {number}"] = file.read_bytes()
        for name, data in bytes_of.items():
            file, page = pathlib.Path(folder) / "day.dbn", pathlib.Path(folder) / "report.html"
            file.write_bytes(data)
            page.unlink(missing_ok=True)
            for command in (("market", "stats", file, "--report", page), ("market", "book", file)):
                what = what_nfx_does(*command)
                if what:
                    failures.append(f"{name}: {what}")
            if page.exists() and re.search(r"(?i)<script>alert|\x1b|\u202e", page.read_text("utf-8", "surrogateescape")):
                failures.append(f"{name}: the page has what a name contains")
    return failures[:8]


def hostile_quickfix_stores(stage):
    """Stores of QuickFIX that somebody sends: damaged, with impossible numbers, and with links, FIFOs and devices as files."""
    name = "FIX.4.4-DESK-VENUE"
    texts = [b"8=FIX.4.4\x019=5\x0135=0\x0110=161\x01"] * 20
    header, at = "", 0
    for number, text in enumerate(texts, 1):
        header += f"{number},{at},{len(text)} "
        at += len(text)
    good = {"body": b"".join(texts), "header": header.encode(), "seqnums": b"0000000021 : 0000000009",
            "session": b"20260101-07:08:09"}

    def with_file(extension, content):
        return lambda folder: (folder / f"{name}.{extension}").write_bytes(content)

    def special(extension, make):
        def prepare(folder):
            (folder / f"{name}.{extension}").unlink()
            make(folder / f"{name}.{extension}")
        return prepare

    def damaged(folder):
        mutate(stage.rng, folder / f"{name}.{stage.rng.choice(sorted(good))}")

    cases = {
        "an offset beyond the body": with_file("header", b"1,9223372036854775807,30 2,-5,30 3,0,4294967295 "),
        "a message of 4 GiB": with_file("header", b"1,0,4294967296 "),
        "numbers that fall": with_file("header", b"5,0,30 4,0,30 4,0,30 1,0,30 "),
        "sequence numbers out of range": with_file("seqnums", b"18446744073709551615 : -1"),
        "a time that is none": with_file("session", b"99999999-99:99:99" + b"\x1b[2J" * 100),
    }
    for extension in good:
        cases[f"a FIFO as {extension}"] = special(extension, os.mkfifo)
        cases[f"/dev/zero as {extension}"] = special(extension, lambda path: path.symlink_to("/dev/zero"))
        cases[f"a folder as {extension}"] = special(extension, os.mkdir)
        cases[f"1 TiB of zeros as {extension}"] = special(extension, lambda path: (path.touch(), os.truncate(path, 1 << 40)))
    for number in range(stage.mutations // 4):
        cases[f"mutation {number}"] = damaged
    failures = []
    for what, prepare in cases.items():
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place) / "quickfix"
            folder.mkdir()
            for extension, content in good.items():
                (folder / f"{name}.{extension}").write_bytes(content)
            prepare(folder)
            wrong = what_nfx_does("store", "import", folder, "--into", pathlib.Path(place) / "store", "--ring-directory",
                                  pathlib.Path(place) / "rings", "--segment-size", 1 << 20)
            if wrong:
                failures.append(f"{what}: {wrong}")
    return failures[:8]


def odd_certificates(_):
    """Clients of a TLS session whose certificates are of any shape: each is refused, and no line has a control character."""
    if ssl is None:
        return []
    made = Certificates()
    made.sign("escape", "/CN=\x1b[2J\x1b]0;owned\x07\u202e")
    made.sign("purpose", "/CN=server only", "extendedKeyUsage=serverAuth", "subjectAltName=DNS:desk.example")
    made.sign("leaf", "/CN=not an authority", "basicConstraints=critical,CA:FALSE")
    made.sign("below", "/CN=desk.example", "subjectAltName=DNS:desk.example", ca="leaf")
    made.sign("names", "/CN=names", "subjectAltName=" + ",".join(f"DNS:n{n}.example" for n in range(3000)))
    made.issue_by_another("foreign", "DNS:desk.example")
    chain = pathlib.Path(made.file("client.crt")).read_text()
    pathlib.Path(made.file("long.crt")).write_text(chain + pathlib.Path(made.file("ca.pem")).read_text() * 400)
    pathlib.Path(made.file("long.key")).write_text(pathlib.Path(made.file("client.key")).read_text())
    failures = []
    case = Case(f'tls = true\ntls_certificate = "{made.file("server.crt")}"\ntls_key = "{made.file("server.key")}"\n'
                f'tls_ca = "{made.file("ca.pem")}"\ntls_client_certificate = "require"\ntls_peer_names = ["desk.example"]\n')
    try:
        if not case.start():
            return ["the server does not start: " + case.why]
        for name in ("escape", "purpose", "below", "names", "foreign", "expired", "long"):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(made.file("ca.pem"))
            certificate = made.file(f"{name}.crt")
            if name == "below":
                both = pathlib.Path(made.file("both.crt"))
                both.write_text(pathlib.Path(certificate).read_text() + pathlib.Path(made.file("leaf.crt")).read_text())
                certificate = str(both)
            context.load_cert_chain(certificate, made.file(f"{name}.key"))
            try:
                with socket.create_connection(("127.0.0.1", case.port), PATIENCE_S) as plain, \
                        context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                    client.sendall(b"8=FIX.4.4\x019=5\x0135=0\x0110=161\x01")
                    if b"35=A" in client.recv(4096):
                        failures.append(f"{name}: logged on")
            except OSError:
                pass
        if case.server.process.poll() is not None:
            failures.append("the server ended")
        elif case.stop() != 0:
            failures.append("the server did not end in order")
        lines = case.output() + "".join(file.read_text("utf-8", "surrogateescape")
                                        for file in (case.path / "log").iterdir() if "event" in file.name)
        if CONTROL.search(lines):
            failures.append("a line has a control character of a certificate")
    finally:
        case.end()
        made.folder.cleanup()
    return failures


def files_that_block(_):
    """A FIFO in place of the audit log, the tokens or the metrics file while the engine runs: it answers, and SIGTERM ends it."""
    failures = []
    for name in ("audit.log", "tokens", "nfx.prom.tmp"):
        case = Case()
        try:
            tokens = case.path / "tokens"
            tokens.touch(mode=0o600)
            tokens.write_text("operator alice " + "t" * 40 + "\n", encoding="ascii")
            case.text = (f'[control]\nsocket = "{case.path / "control.sock"}"\naudit = "{case.path / "audit.log"}"\n'
                         f'http = "127.0.0.1:0"\ntokens = "{tokens}"\n') + case.text.replace(
                             "[log]\n", f'[log]\nmetrics_file = "{case.path / "nfx.prom"}"\nmetrics_period_s = 1\n')
            if not case.start():
                return ["the server does not start: " + case.why]
            (case.path / name).unlink(missing_ok=True)
            os.mkfifo(case.path / name)
            to = {"NFX_CONTROL": str(case.path / "control.sock")}
            case.server.process.send_signal(1)  # reads tokens and certificates again
            for command in (("session", "disable", "FIX.4.4:NEXUSFIX->EVIL"), ("engine", "reload"), ("session", "list")):
                what = what_nfx_does(*command, environment=to, seconds=20)
                if what:
                    failures.append(f"a FIFO as {name}: {what}")
            begin = time.monotonic()
            if case.stop() != 0 or time.monotonic() - begin > 20:
                failures.append(f"a FIFO as {name}: SIGTERM does not end the engine in order")
        finally:
            case.end()
    return failures


def read_only_disk(stage):
    """The journals' file system is remounted read-only between two starts: the engine refuses to start, with the folder, and
    starts again when the disk is writable."""
    case = Case()
    store = case.path / "store"
    store.mkdir(mode=0o700)

    def mount(*arguments):
        return subprocess.run(["mount", *arguments, str(store)], capture_output=True, check=False).returncode == 0

    if os.geteuid() != 0 or not mount("-t", "tmpfs", "-o", "mode=700,size=64m", "none"):
        stage.note("skipped: only root may mount")
        case.end()
        return []
    failures = []
    try:
        used(case)
        if not mount("-o", "remount,ro"):
            return ["the disk could not be remounted"]
        if case.start():
            failures.append("starts on a read-only disk")
            case.stop()
        elif "store" not in case.why or case.why.count("nfx: ") != 1:
            failures.append("no line names the folder: " + case.why)
        mount("-o", "remount,rw")
        if not case.start() or case.stop() != 0:
            failures.append("does not start after the disk was writable again: " + case.why)
    finally:
        if case.server:
            case.server.kill()
            case.server = None
        subprocess.run(["umount", "-l", str(store)], check=False)
        case.end()
    return failures


STRANGER_ATTACKS = [
    Attack("hostile_control", "answers of a program that serves the control socket instead of the engine, to session, engine, top",
           "36 commands", hostile_control, "strangers", Limits(), alone=True, quick=False),
    Attack("hostile_recordings", "recordings with extreme values, hostile names and damage: stats, their page, books",
           "64 commands", hostile_recordings, "strangers", Limits(), alone=True, quick=False),
    Attack("hostile_quickfix_stores", "QuickFIX's stores with impossible numbers, links, FIFOs, devices, 1 TiB of zeros, and damage",
           "46 imports", hostile_quickfix_stores, "strangers", Limits(), alone=True, quick=False),
    Attack("odd_certificates", "clients with certificates of any purpose, chain, size and name", "7 handshakes", odd_certificates,
           "strangers", Limits(), alone=True, quick=False),
    Attack("files_that_block", "a FIFO in place of the audit log, the tokens and the metrics file", "3 starts", files_that_block,
           "strangers", Limits(), alone=True, quick=False),
    Attack("read_only_disk", "the journals' file system is remounted read-only between two starts", "3 starts", read_only_disk,
           "strangers", Limits(), alone=True, quick=False),
]
