"""Connections that misbehave: what the attacks are made of. Nothing here throws when the server closes, refuses or resets."""
import datetime
import errno
import re
import select
import socket
import time

from support import fix
from tls_support import ssl

SOH = "\x01"
MESSAGE = re.compile(rb"8=FIX[^\x01]*\x019=\d+\x01.*?\x0110=\d{3}\x01", re.DOTALL)


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S.%f")[:-3]


class Target:
    """Where the attacked sessions listen, how long an attack lasts, and what its random choices come from."""

    def __init__(self, port, seconds, rng, tls=None, control=None):
        self.port = port
        self.control = control  # table.Control, or None
        self.seconds = seconds
        self.rng = rng
        self.tls = tls  # Certificates, or None
        self.end = time.monotonic() + seconds

    def going(self):
        return time.monotonic() < self.end

    def left(self):
        return max(0.0, self.end - time.monotonic())

    def context(self, certificate=None):
        made = ssl.create_default_context(cafile=self.tls.file("ca.pem"))
        made.check_hostname = False
        if certificate:
            made.load_cert_chain(self.tls.file(certificate + ".crt"), self.tls.file(certificate + ".key"))
        return made


class Pace:
    """A bounded intensity: so many units a second, and never more than a tenth of a second of them at a time."""

    def __init__(self, target, per_second):
        self.target = target
        self.per_second = per_second
        self.begin = time.monotonic()
        self.done = 0.0

    def wait(self, units=1):
        """Returns when so many more units are due; False when the attack is over."""
        earliest = self.begin + self.done / self.per_second
        now = time.monotonic()
        if now - earliest > 0.1:  # what could not be done is not made up for
            self.begin += now - earliest - 0.1
        self.done += units
        while now < earliest:
            if not self.target.going():
                return False
            time.sleep(min(earliest - now, 0.05))
            now = time.monotonic()
        return self.target.going()


class Connection:
    """One TCP or TLS connection, from an address of the attacker's choice in 127.0.0.0/8."""

    def __init__(self, target, source="127.66.0.1", tls=True, certificate=None, timeout=2.0):
        self.target = target
        self.socket = None
        self.received = b""
        self.taken = 0  # bytes of it that were heard
        self.bytes_in = 0
        self.bytes_out = 0
        self.why = ""
        plain = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            plain.settimeout(timeout)
            plain.bind((source, 0))
            plain.connect(("127.0.0.1", target.port))
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket = target.context(certificate).wrap_socket(plain) if target.tls and tls else plain
        except OSError as error:
            self.why = str(error)
            plain.close()

    @property
    def open(self):
        return self.socket is not None

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def send(self, data):
        """Whether all of it was accepted by the kernel within the timeout."""
        view = memoryview(data)
        while self.socket is not None and view:
            try:
                done = self.socket.send(view[:65536])
            except TimeoutError:
                return False
            except OSError as error:
                self.why = str(error)
                self.close()
                return False
            self.bytes_out += done
            view = view[done:]
        return self.socket is not None

    def receive(self, timeout=0.0, keep=True):
        """Reads what there is, or waits that long for some of it; how many bytes."""
        if self.socket is None:
            return 0
        try:
            pending = isinstance(self.socket, ssl.SSLSocket) and self.socket.pending()
            if not pending and not select.select([self.socket], [], [], timeout)[0]:
                return 0
            data = self.socket.recv(1 << 20)
        except TimeoutError:
            return 0
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EINTR):
                self.why = str(error)
                self.close()
            return 0
        if not data:
            self.why = "closed by the server"
            self.close()
            return 0
        self.bytes_in += len(data)
        if keep:
            self.received += data
        return len(data)

    def drain(self, most=64 << 20):
        """Reads and forgets what there is by now, but not for ever."""
        total = 0
        while total < most:
            size = self.receive(keep=False)
            if size == 0:
                break
            total += size
        return total

    def hear(self, types, timeout=1.0):
        """The next message of one of these types, as a dict of its last values; None when none comes in time."""
        end = time.monotonic() + timeout
        while True:
            found = MESSAGE.search(self.received, self.taken)
            while found:
                self.taken = found.end()
                fields = dict(each.split(b"=", 1) for each in found.group().split(b"\x01") if b"=" in each)
                if fields.get(b"35", b"").decode("latin-1") in types:
                    return fields
                found = MESSAGE.search(self.received, self.taken)
            self.received, self.taken = self.received[self.taken:], 0
            left = end - time.monotonic()
            if left <= 0 or not self.open:
                return None
            self.receive(left)


class Session:
    """A FIX session over one connection after another, with sequence numbers that continue."""

    def __init__(self, target, sender="EVIL", receiver="NEXUSFIX", source="127.66.0.1", **connection):
        self.target = target
        self.sender = sender
        self.receiver = receiver
        self.source = source
        self.how = connection
        self.number = 1
        self.connection = None
        self.logons = 0

    def message(self, msg_type, *fields, number=None, **how):
        """The next message as bytes; it takes a number unless it is given one."""
        if number is None:
            number = self.number
            self.number += 1
        return fix([(35, msg_type), (34, number), (49, self.sender), (52, utc_now()), (56, self.receiver), *fields], **how)

    def log_on(self, *fields, heartbeat=30, timeout=1.0):
        """Whether the server answered with a Logon; the connection stays open only then."""
        self.leave()
        self.connection = Connection(self.target, self.source, **self.how)
        if not self.connection.open:
            return False
        self.connection.send(self.message("A", (98, 0), (108, heartbeat), *fields))
        answer = self.connection.hear(("A", "5"), timeout)
        if answer and answer[b"35"] == b"A":
            self.logons += 1
            return True
        text = (answer or {}).get(b"58", b"").decode("latin-1")
        wanted = re.search(r"expect\w*\D+(\d+)", text)
        if wanted:
            self.number = int(wanted.group(1))
        self.leave()
        return False

    def send(self, msg_type, *fields, **how):
        return self.on and self.connection.send(self.message(msg_type, *fields, **how))

    def log_out(self):
        """Whether the server answered our Logout."""
        answered = self.send("5") and self.connection.hear(("5",), 1.0) is not None
        self.leave()
        return answered

    def order(self, text=""):
        more = ((58, text),) if text else ()
        return self.message("D", (11, f"e{self.number}"), (55, "IBM"), (54, 1), (60, utc_now()), (38, 100), (40, 1), *more)

    @property
    def on(self):
        return self.connection is not None and self.connection.open

    def leave(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
