"""Attacks on things that an engine trusts: the rings in shared memory that a killed one left, the disk while it runs, and
the servers that it logs on to. There is no innocent session; each attack returns its failures as texts."""
import errno
import fcntl
import html.parser
import json
import os
import pathlib
import pty
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

from file_attacks import Case, mutate
from peers import Session, Target
from stranger_attacks import CONTROL, ControlServer, Server, answer_of, what_nfx_does
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, fix
from table import Attack, Limits
from tls_support import Certificates, ssl

EXTREMES = (0, 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 2**20, 2**64 - 1)


class Trader:
    """A peer whose orders come back, and the last number of what the engine sent."""

    def __init__(self, case):
        self.session = Session(Target(case.port, 30, None))
        self.last = 0

    def log_on(self):
        # Where the first number is too low, the refusal has the right one.
        return self.session.log_on(timeout=5) or self.session.log_on(timeout=5)

    def trade(self, orders, size=100, patience=5.0):
        """How many came back; each has a text of this size."""
        came = 0
        for begin in range(0, orders, 50):
            count = min(50, orders - begin)
            for _ in range(count):
                self.session.connection.send(self.session.order("t" * size))
            for _ in range(count):
                answer = self.session.connection.hear(("D",), patience)
                if answer is None:
                    return came
                self.last = int(answer[b"34"])
                came += 1
        return came


def after_a_kill(case):
    """The ring and copies of the files of a session whose process was killed, and the last number that it sent."""
    if not case.start():
        raise AssertionError("the server does not start: " + case.why)
    trader = Trader(case)
    if not trader.log_on() or trader.trade(60) != 60:
        raise AssertionError("an ordinary session failed")
    case.server.kill()
    case.server = None
    rings = [each for each in case.folder.shm.iterdir() if each.is_file()]
    if len(rings) != 1:
        raise AssertionError(f"a killed process left {len(rings)} rings")
    kept = case.path / "kept"
    shutil.copytree(case.path / "store", kept / "store")
    shutil.copy2(rings[0], kept / "ring")
    return rings[0], kept, trader.last


def as_it_was(case, ring, kept):
    if ring.is_dir() and not ring.is_symlink():
        shutil.rmtree(ring)
    else:
        ring.unlink(missing_ok=True)
    shutil.rmtree(case.path / "store")
    shutil.copytree(kept / "store", case.path / "store")
    shutil.copy2(kept / "ring", ring)
    for name in ("stdout.txt", "stderr.txt"):
        (case.path / name).write_bytes(b"")


def tampered_rings(stage):
    """A killed process left a ring, and something else is in its place: every command that reads it ends, the engine starts or
    refuses with the path, and the target of a link is not touched."""
    failures = []
    case = Case()
    bait = case.path / "bait"

    def written(content, mode=0o600):
        def put(ring):
            ring.write_bytes(content(ring.read_bytes()))
            ring.chmod(mode)
        return put

    def replaced(make):
        def put(ring):
            ring.unlink()
            make(ring)
        return put

    def link(ring):
        bait.write_bytes(ring.read_bytes())
        ring.unlink()
        ring.symlink_to(bait)

    def enlarged(ring):
        data = bytearray(ring.read_bytes())
        size = 1 << 40
        struct.pack_into("<Q", data, 8, size)
        ring.write_bytes(data)
        os.truncate(ring, size + 4096)

    def extreme_numbers(ring):
        data = bytearray(ring.read_bytes())
        for _ in range(stage.rng.randrange(1, 4)):
            struct.pack_into("<Q", data, 8 * stage.rng.randrange(11, 80), stage.rng.choice(EXTREMES))
        ring.write_bytes(data)

    cases = {
        "as it was left": lambda ring: None,
        "an empty file": written(lambda _: b""),
        "a page of it": written(lambda data: data[:4096]),
        "one byte less": written(lambda data: data[:-1]),
        "zeros": written(lambda data: bytes(len(data))),
        "random bytes": written(lambda data: stage.rng.randbytes(len(data))),
        "one that all users may write to": written(lambda data: data, 0o666),
        "a link": link,
        "a FIFO": replaced(os.mkfifo),
        "a folder": replaced(os.mkdir),
        "/dev/zero": replaced(lambda ring: ring.symlink_to("/dev/zero")),
        "1 TiB": enlarged,
    }
    if os.geteuid() == 0:
        cases["another user's"] = lambda ring: os.chown(ring, 65534, 65534)
    for number in range(stage.mutations // 8):
        cases[f"mutation {number}"] = lambda ring: mutate(stage.rng, ring)
        cases[f"extreme numbers {number}"] = extreme_numbers
    starts = 0
    try:
        ring, kept, last = after_a_kill(case)
        store = case.path / "store"
        for name, put in cases.items():
            as_it_was(case, ring, kept)
            put(ring)
            before = bait.read_bytes() if bait.exists() else b""
            for command in (("store", "rings", "--ring-directory", case.folder.shm),
                            ("store", "ls", store, "--ring-directory", case.folder.shm),
                            ("store", "verify", store)):
                what = what_nfx_does(*command)
                if what:
                    failures.append(f"{name}: {what}")
            if case.start():
                starts += 1
                trader = Trader(case)
                if not trader.log_on() or trader.trade(3) != 3:
                    failures.append(f"{name}: nobody can trade")
                elif name == "as it was left" and trader.last <= last:
                    failures.append(f"{name}: the numbers go back to {trader.last}")
                if case.stop() != 0:
                    failures.append(f"{name}: the server did not end in order")
            elif str(ring) not in case.why and str(store) not in case.why:
                failures.append(f"{name}: refused without its path: {case.why}")
            elif name == "as it was left":
                failures.append(f"{name}: refused: {case.why}")
            case.server = None
            if before and bait.read_bytes() != before:
                failures.append(f"{name}: the file that the link points to was changed")
            if CONTROL.search(case.output()):
                failures.append(f"{name}: a control character in a line")
    finally:
        case.end()
    stage.note(f"starts with {starts} of {len(cases)}")
    return failures[:8]


def read_only_while_running(stage):
    """The journals' folder becomes read-only for new files while a session sends: the engine goes on or ends the session, says
    why, ends in order, and has every message that it answered when the disk is writable again."""
    case = Case('durability = "group"\n' if stage.rng.randrange(2) else "")
    store = case.path / "store"
    store.mkdir(mode=0o700)

    def mount(*arguments):
        return subprocess.run(["mount", *arguments, str(store)], capture_output=True, check=False).returncode == 0

    def unmount():
        subprocess.run(["umount", "-l", str(store)], capture_output=True, check=False)

    if os.geteuid() != 0 or not mount("-t", "tmpfs", "-o", "mode=700,size=64m", "none"):
        stage.note("skipped: only root may mount")
        case.end()
        return []
    failures, over = [], False
    try:
        if not case.start():
            return ["the server does not start: " + case.why]
        trader = Trader(case)
        if not trader.log_on() or trader.trade(20) != 20:
            return ["an ordinary session failed"]
        over = mount("--bind", str(store)) and mount("-o", "remount,bind,ro")
        if not over:
            return ["the disk could not be remounted"]
        came = trader.trade(4000, 480)  # more than the segment in use and the spare one
        if case.server.process.poll() is not None:
            failures.append("the server ended")
        elif case.stop() != 0:
            failures.append("the server did not end in order")
        case.server = None
        unmount()
        over = False
        said = case.output() + "".join(each.read_text("utf-8", "replace")
                                       for each in (case.path / "log").iterdir() if "event" in each.name)
        stage.note(f"{came} of 4000 came back")
        if came == 4000:
            failures.append("all messages fit into what was reserved before: nothing was tried")
        if os.strerror(errno.EROFS) not in said or said.count(os.strerror(errno.EROFS)) > 10:
            failures.append(f"{said.count(os.strerror(errno.EROFS))} lines name the reason")
        what = what_nfx_does("store", "verify", store)
        if what:
            failures.append(what)
        (case.path / "stdout.txt").write_bytes(b"")  # with the port of before
        if not case.start():
            failures.append("does not start after the disk was writable again: " + case.why)
        again = Trader(case) if case.server else None
        if not failures and (not again.log_on() or again.trade(5) != 5):
            failures.append("nobody can trade after the disk was writable again")
        elif not failures and again.last <= trader.last:
            failures.append(f"message {trader.last} had left, and the next one is {again.last}")
        elif not failures and case.stop() != 0:
            failures.append("the server did not end in order after the disk was writable again")
    finally:
        if case.server:
            case.server.kill()
            case.server = None
        if over:
            unmount()
        unmount()
        case.end()
    return failures


NAMES = ("\x1b[77;77H", "\x1b]0;owned\x07", "\x9b31m", "a\nFORGED", "\u202egnp.exe", "</title><script>alert(1)</script>",
         "n" * 3000, "")
FORBIDDEN = re.compile(rb"\x1b\[77;77H|\x1b\]|\x07|\xc2\x9b|\xe2\x80\xae")


def shown_on(screen, seconds, is_enough):
    """The bytes that a program writes to this terminal, for this time or until they are enough or it ends."""
    text = b""
    end = time.monotonic() + seconds
    while not is_enough(text) and select.select([screen], [], [], max(0.0, end - time.monotonic()))[0]:
        try:
            text += os.read(screen, 1 << 16)
        except OSError:
            break
    return text


def hostile_screens(_):
    """nfx top on a terminal of each size, while a program that is no engine answers with hostile names: each view is drawn, and
    q ends it."""
    document = {"complete": True, "version": NAMES[0], "state": NAMES[1], "pid": -1, "utc": NAMES[2], "measured": True,
                "sessions": [{"name": name, "identity": name, "state": name or "logged_on", "peer": name, "last_in": name,
                              "next_in": 2**63, "last_end": {"time": name, "reason_text": name, "text": name},
                              "counters": {"messages_in_total": 2**64}} for name in NAMES],
                "running": [{"name": name, "state": name, "tid": 2**70} for name in NAMES],
                "messages": [{"time": name, "direction": name, "fields": [{"tag": 58, "value": name}]} for name in NAMES],
                "moments": [{"session": name, "stage": name, "cause": name, "utc": name} for name in NAMES]}
    failures = []
    for rows, columns in ((24, 80), (3, 20), (200, 400)):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "control.sock"
            server = ControlServer(path, lambda: answer_of(document))
            screen, terminal = pty.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            top = subprocess.Popen([PROGRAM, "top", "--socket", str(path), "--interval", "0.2"], stdin=terminal, stdout=terminal,
                                   stderr=subprocess.PIPE, env={**ENVIRONMENT, "TERM": "xterm"})
            os.close(terminal)
            try:
                # The narrowest screen has no space for the name.
                wanted = b"gnp.exe" if columns > 20 else b""
                drawn = shown_on(screen, PATIENCE_S, lambda text: len(text) >= 100 and wanted in text)
                size = f"{columns} columns and {rows} rows"
                if len(drawn) < 100 or wanted not in drawn:
                    failures.append(f"{size}: no name is drawn")
                for key in (b"2", b"3", b"4", b"1", b"\x1b[B", b"\x1b[B", b"\r", b"?", b" ", b"q"):
                    os.write(screen, key)
                    drawn += shown_on(screen, 0.7, lambda _: False)
                found = FORBIDDEN.search(drawn)
                if found:
                    failures.append(f"{size}: {drawn[max(0, found.start() - 40):found.end() + 20]!r}")
                if top.wait(PATIENCE_S) != 0:
                    failures.append(f"{size}: ended with {top.returncode}: {top.stderr.read()[-200:]!r}")
            finally:
                top.kill()
                top.communicate()
                os.close(screen)
                server.stop()
    return failures


class Tags(html.parser.HTMLParser):
    """The elements of a page, and those that no page of ours has."""

    ALLOWED = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th",
               "td", "code", "figure", "figcaption", "svg", "g", "path", "line", "rect", "text", "polyline", "circle", "ul",
               "li", "b", "strong", "div", "span", "br", "small", "tspan", "defs", "clippath", "polygon", "section", "details", "summary",
               "main", "canvas", "script"}
    SCRIPTS = 3  # the data, Chart.js, and our own

    def __init__(self):
        super().__init__()
        self.count = 0
        self.scripts = 0
        self.wrong = []

    def handle_starttag(self, tag, attrs):
        self.count += 1
        self.scripts += tag == "script"
        if tag not in self.ALLOWED or any(name.startswith("on") for name, _ in attrs):
            self.wrong.append(f"<{tag}> {attrs}"[:100])


THREADS = ["</title><b>", "<script>x=1;", "' onload=\"x", "\x1b[77;77H", "\u202egnp.exe", "&lt;<!--", "]]>\x07\n"]
VICTIM = """
import ctypes, json, sys, threading, time
libc = ctypes.CDLL(None)
def named(name):
    libc.prctl(15, name.encode()[:15], 0, 0, 0)
    while True:
        time.sleep(0.001)
for name in json.loads(sys.argv[1]):
    threading.Thread(target=named, args=(name,), daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""


def hostile_pages(_):
    """nfx host watch of a process whose threads have names of HTML and escape sequences: its page has only elements of its own,
    and the text no control character."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        cpu = min(os.sched_getaffinity(0))  # taken for isolated: the threads on it are alerts, with their names
        victim = subprocess.Popen([sys.executable, "-c", VICTIM, json.dumps(THREADS)], stdout=subprocess.PIPE,
                                  preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        try:
            victim.stdout.readline()
            page = pathlib.Path(folder) / "watch.html"
            what = what_nfx_does("host", "watch", "--pid", victim.pid, "--count", 3, "--interval-ms", 200, "--isolated-cpus",
                                 cpu, "--html", page)
            if what:
                failures.append(what)
            for form in ("text", "json", "prometheus"):
                what = what_nfx_does("host", "watch", "--pid", victim.pid, "--once", "--interval-ms", 100, "--format", form)
                if what:
                    failures.append(f"{form}: {what}")
            data = page.read_bytes() if page.exists() else b""
            if b"\\u003c" not in data:
                failures.append("the page has no name of a thread: nothing was tried")
            pages = {"file": (data.decode("utf-8", "replace"), 10)}
            if browser := shutil.which("chromium"):
                shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                                        "--dump-dom", page.as_uri()], capture_output=True, timeout=PATIENCE_S, check=False)
                pages["browser"] = (shown.stdout.decode("utf-8", "replace"), 20)
            for where, (content, least) in pages.items():
                tags = Tags()
                tags.feed(content)
                if tags.count < least or tags.scripts != Tags.SCRIPTS:
                    failures.append(f"{where}: the page has {tags.count} elements, {tags.scripts} scripts")
                failures += [f"{where}: {each}" for each in tags.wrong[:3]]
            if FORBIDDEN.search(data):
                failures.append("the page has a control character")
        finally:
            victim.kill()
            victim.communicate()
    return failures


class TlsPeer(Server):
    """A server with this certificate that answers each connection's first message with a Logon."""

    def __init__(self, chain, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(chain, key)
        self.logons = 0  # that came after a handshake: only a client that trusts the certificate sends one
        super().__init__(socket.create_server(("127.0.0.1", 0)))
        self.port = self.listener.getsockname()[1]

    def serve(self, client):
        with client:
            client.settimeout(5)
            try:
                with self.context.wrap_socket(client, server_side=True) as peer:
                    if b"35=A" in peer.recv(4096):
                        self.logons += 1
                        now = time.strftime("%Y%m%d-%H:%M:%S", time.gmtime())
                        head = [(49, "VENUE"), (56, "DESK"), (52, now)]
                        peer.sendall(fix([(35, "A"), (34, 1), *head, (98, 0), (108, 30)]))
                        peer.recv(4096)
            except OSError:
                pass


def odd_servers(_):
    """nfx connect and nfx tls doctor meet servers with odd certificates and chains: a wrong one gets no Logon, a right one is
    accepted however long its chain is, and no output has a control character."""
    if ssl is None:
        return []
    made = Certificates()
    local = "subjectAltName=IP:127.0.0.1"

    made.sign("good", "/CN=good", local)
    made.sign("middle", "/CN=middle", "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign")
    made.sign("below_middle", "/CN=below middle", local, ca="middle")
    made.sign("no_authority", "/CN=no authority", "basicConstraints=critical,CA:FALSE")
    made.sign("below_no_authority", "/CN=below", local, ca="no_authority")
    made.sign("no_path", "/CN=no path", "basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign")
    made.sign("second", "/CN=second", "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign", ca="no_path")
    made.sign("below_second", "/CN=below second", local, ca="second")
    made.sign("narrow", "/CN=narrow", "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign",
          "nameConstraints=critical,permitted;DNS:.allowed.example,excluded;IP:127.0.0.0/255.0.0.0")
    made.sign("below_narrow", "/CN=below narrow", local, ca="narrow")
    made.sign("client_only", "/CN=client only", local, "extendedKeyUsage=clientAuth")
    made.sign("other_name", "/CN=127.0.0.1", "subjectAltName=IP:127.0.0.2,DNS:venue.example")
    made.sign("escape", "/CN=\x1b[2J\x1b]0;owned\x07\u202e", "subjectAltName=DNS:venue.example")
    made.sign("weak_key", "/CN=weak", local, key=("rsa:1024",))
    made.sign("old_digest", "/CN=old", local, digest="sha1")
    made.sign("many_names", "/CN=many", "subjectAltName=" + ",".join(f"DNS:n{n}.example" for n in range(2000)))
    made.issue_by_another("stranger", "IP:127.0.0.1")

    def chain(name, *above):
        file = made.file(f"{name}.chain")
        pathlib.Path(file).write_text("".join(pathlib.Path(made.file(each + ".crt")).read_text() for each in (name, *above)))
        return file

    with open(made.file("ca.pem"), encoding="ascii") as authority:
        pathlib.Path(made.file("ca.crt")).write_text(authority.read())
    right = {"good": (), "below_middle": ("middle",), "good with 60 more": ("middle",) * 60}
    wrong = {"below_middle without its authority": (), "below_no_authority": ("no_authority",),
             "below_second": ("second", "no_path"), "below_narrow": ("narrow",), "client_only": (), "other_name": (),
             "escape": (), "weak_key": (), "old_digest": (), "many_names": (), "stranger": (), "expired": (), "middle": (),
             "stranger with the authority": ("ca",)}
    failures = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, above in {**right, **wrong}.items():
            first = name.split(" ")[0]
            try:
                peer = TlsPeer(chain(first, *above), made.file(f"{first}.key"))
            except ssl.SSLError as error:  # Python's own OpenSSL does not serve it
                failures += [] if "TOO_SMALL" in str(error) or "TOO_WEAK" in str(error) else [f"{name}: {error}"]
                continue
            try:
                config = folder / "connect.toml"
                config.write_text(f'[[session]]\nrole = "initiator"\nsender_comp_id = "DESK"\ntarget_comp_id = "VENUE"\n'
                                  f'connect = "127.0.0.1:{peer.port}"\ntls = true\ntls_ca = "{made.file("ca.pem")}"\n'
                                  f'store = "memory"\n', encoding="utf-8")
                for command in (("connect", config, "--logon-wait", "3", "--wait", "0"),
                                ("tls", "doctor", f"127.0.0.1:{peer.port}", "--ca", made.file("ca.pem"))):
                    what = what_nfx_does(*command, seconds=PATIENCE_S)
                    if what:
                        failures.append(f"{name}: {what}")
                if (peer.logons > 0) != (name in right):
                    failures.append(f"{name}: {'a Logon was sent to it' if peer.logons else 'refused'}")
            finally:
                peer.stop()
    made.folder.cleanup()
    return failures[:8]


TAMPERING_ATTACKS = [
    Attack("tampered_rings", "damage, links, FIFOs and extreme numbers in place of the ring that a killed process left",
           "37 starts", tampered_rings, "strangers", Limits(), alone=True, quick=False),
    Attack("read_only_while_running", "the journals' folder becomes read-only while a session sends", "1 remount",
           read_only_while_running, "strangers", Limits(), alone=True, quick=False),
    Attack("hostile_screens", "nfx top on a terminal, at a program that answers with hostile names instead of the engine",
           "3 sizes", hostile_screens, "strangers", Limits(), alone=True, quick=False),
    Attack("hostile_pages", "nfx host watch of threads whose names are HTML and escape sequences", "4 commands", hostile_pages,
           "strangers", Limits(), alone=True, quick=False),
    Attack("odd_servers", "servers with certificates and chains of any shape, to nfx connect and nfx tls doctor", "17 servers",
           odd_servers, "strangers", Limits(), alone=True, quick=False),
]
