"""Attacks on the control plane of a running server, over its UNIX socket and HTTP, next to the innocent session.

An attack that has a right, such as hiding a command in a body, has the operator's: what must not happen would happen.
"""
import itertools
import select
import socket
import time

from peers import Pace
from table import Attack, Limits

SESSION = "/v1/sessions/FIX.4.4%3ANEXUSFIX-%3EINNOCENT"
STOP = "/v1/engine/stop"


def request(control, method="GET", path="/v1/engine", *fields, token="operator", host=None, body=b""):
    """The bytes of a request that is complete."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or control.host}"]
    if token:
        lines.append(f"Authorization: Bearer {control.tokens.get(token, token)}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *fields, "", ""]).encode("latin-1") + body


class Caller:
    """One connection to the control plane, with TLS where it has that. It throws nothing when the server closes or refuses it."""

    def __init__(self, control, unix=False, timeout=2.0, certificate="operator", encrypted=True, receive_bytes=None):
        self.socket = socket.socket(socket.AF_UNIX if unix else socket.AF_INET, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.open = True
        try:
            self.socket.connect(str(control.socket) if unix else ("127.0.0.1", control.port))
            if not unix:
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if control.certificates and encrypted and not unix:
                self.socket = control.context(certificate).wrap_socket(self.socket)
        except OSError:
            self.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            self.close()
        return self.open

    def end_sending(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()

    def hear(self, timeout=2.0, once=True):
        """The statuses of the answers until the connection ends; with `once` until the first."""
        data, end = b"", time.monotonic() + timeout
        while self.open and time.monotonic() < end and not (once and b"\r\n" in data):
            try:
                if not select.select([self.socket], [], [], max(0.0, end - time.monotonic()))[0]:
                    break
                more = self.socket.recv(1 << 16)
            except OSError:
                more = b""
            if not more:
                self.close()
            data += more
        return [int(part[:3]) for part in data.split(b"HTTP/1.1 ")[1:] if part[:3].isdigit()]

    def close(self):
        self.open = False
        self.socket.close()


def ask(control, data, unix=False, once=True):
    """The statuses that these bytes bring."""
    caller = Caller(control, unix)
    caller.send(data)
    statuses = caller.hear(once=once)
    caller.close()
    return statuses


class Counts:
    """How often each status came; None stands for no answer."""

    def __init__(self):
        self.statuses = {}
        self.units = 0

    def add(self, statuses):
        self.units += 1
        for each in statuses or [None]:
            self.statuses[str(each)] = self.statuses.get(str(each), 0) + 1

    def result(self, **more):
        return {"units": self.units, "statuses": self.statuses, **more}


def only(*expected):
    """A check: no other answer came, and each of these did. Some requests may have no answer while others take its place."""

    def check(evidence):
        seen = evidence.result.get("statuses", {})
        failures = [f"{count} answers {each}" for each, count in seen.items() if each not in {*map(str, expected), "None"}]
        failures += [f"no answer {each}" for each in expected if str(each) not in seen]
        return failures + still_serves(evidence)

    return check


def still_serves(evidence):
    """The operator is answered, on both sockets, and nothing was stopped or changed."""
    control, failures = evidence.target.control, []
    for unix in (True, False):
        begin = time.monotonic()
        if ask(control, request(control), unix) != [200]:
            failures.append(f"the operator has no answer on {'the UNIX socket' if unix else 'HTTP'} after the attack")
        elif time.monotonic() - begin > 1.0:
            failures.append("the operator's answer took more than a second after the attack")
    if ask(control, request(control, path="/readyz", token="")) != [200]:
        failures.append("the engine takes no Logons after the attack")
    if ask(control, request(control, path=SESSION)) != [200]:
        failures.append("the innocent session is gone after the attack")
    return failures


# --- Time and room ----------------------------------------------------------------------------------------------------


def drip(target):
    """Heads and bodies, a byte at a time, on both sockets; none is complete in time."""
    control, opened, callers, due = target.control, 0, [], 0.0
    whole = [request(control, "GET", "/v1/engine", "X: " + "x" * 4000),
             request(control, "POST", SESSION + "/logout", body=b'{"text": "' + b"x" * 4000 + b'"}')]
    texts = [whole[0], whole[1][whole[1].index(b"\r\n\r\n"):]]
    pace = Pace(target, 300)
    while target.going():
        callers = [each for each in callers if each[0].open]
        while len(callers) < 128 and pace.wait():
            caller, kind = Caller(control, opened % 4 < 2, 0.5), opened % 2
            opened += 1
            if kind == 1:
                caller.send(whole[1][:whole[1].index(b"\r\n\r\n")])
            callers.append([caller, texts[kind], 0])
        if time.monotonic() < due:
            time.sleep(0.005)
            continue
        due = time.monotonic() + 0.2
        for each in callers:
            each[0].send(each[1][each[2]:each[2] + 1])
            each[2] += 1
            if each[0].open and select.select([each[0].socket], [], [], 0)[0]:
                each[0].hear(0)
    return {"units": opened}


def oversized(target):
    control, counts, pace = target.control, Counts(), Pace(target, 100)
    inputs = itertools.cycle([
        (b"GET /" + b"x" * 100_000, 431), (request(control, "GET", "/v1/engine", "X: " + "x" * 100_000), 431),
        (request(control, "GET", "/v1/engine", *(f"X{n}: y" for n in range(500))), 431),
        (request(control, "POST", STOP, "Content-Length: 1000000000") + b"x" * 100_000, 413),
        (request(control, "POST", STOP, body=b" " * 100_000), 413)])
    while pace.wait():
        counts.add(ask(control, next(inputs)[0], counts.units % 2 == 0))
    return counts.result()


def crowd(target):
    """Connections that are opened, asked nothing and never closed by us, far more than there is room for."""
    control, pace, held, opened = target.control, Pace(target, 1000), [], 0
    while pace.wait():
        caller = Caller(control, opened % 2 == 0, 0.5)
        opened += caller.open
        held.append(caller)
        if len(held) > 400:
            held.pop(0).close()
    return {"units": opened}


def half_closed(target):
    """Requests that end half way, and whole ones whose client ends its direction or leaves at once."""
    control, pace, counts = target.control, Pace(target, 300), Counts()
    whole = request(control)
    half = [request(control, "POST", STOP)[:-2], request(control, "POST", STOP, "Content-Length: 5") + b"{}", whole[:9]]
    while pace.wait():
        caller = Caller(control, counts.units % 2 == 0)
        if counts.units % 5 == 0:
            caller.send(whole)
            caller.end_sending()
            counts.add(caller.hear())
        elif counts.units % 5 == 1:
            caller.send(whole)
            counts.units += 1
        else:
            caller.send(half[counts.units % 3])
            caller.end_sending()
            counts.add(caller.hear())
        caller.close()
    return counts.result()


# --- Rights -----------------------------------------------------------------------------------------------------------


def strangers(target):
    """Every command without a token, with a wrong one, as a viewer, from pages of other sites."""
    control, counts, pace = target.control, Counts(), Pace(target, 300)
    wrong = control.tokens["operator"][:-1] + "?"
    paths = [STOP, "/v1/engine/drain", SESSION + "/remove", SESSION + "/reset", SESSION + "/drop"]
    while pace.wait():
        path = paths[counts.units // 6 % len(paths)]
        kind = counts.units % 6
        if kind == 0:
            data = request(control, "POST", path, "If-Match: *", token="")
        elif kind == 1:
            data = request(control, "POST", path, "If-Match: *", token=wrong)
        elif kind == 2:
            data = request(control, "POST", path, "If-Match: *", token="viewer")
        elif kind == 3:
            data = request(control, "POST", path, "If-Match: *", host="evil.example:" + str(control.port))
        elif kind == 4:
            data = request(control, "POST", path, "If-Match: *", "Origin: http://evil.example")
        else:
            data = request(control, "POST", path, "If-Match: *", "Origin: null")
        counts.add(ask(control, data))
    return counts.result()


def flood(target):
    """A viewer who asks for everything as fast as the connections allow."""
    control, counts, pace = target.control, Counts(), Pace(target, 1000)
    paths, caller = itertools.cycle(["/metrics", "/v1/sessions", SESSION, "/v1/threads"]), None
    while pace.wait():
        if caller is None or not caller.open:
            caller = Caller(control)
        caller.send(request(control, path=next(paths), token="viewer"))
        counts.add(caller.hear(1.0))
        while caller.open and select.select([caller.socket], [], [], 0)[0] and caller.socket.recv(1 << 16):
            pass
    return counts.result()


def answers_again(evidence):
    seen = evidence.result.get("statuses", {})
    failures = [f"{count} answers {each}" for each, count in seen.items() if each not in ("200", "429", "None")]
    return failures + still_serves(evidence)


# --- The end of a request ---------------------------------------------------------------------------------------------


def hidden_stops(control):
    """Bytes that are one request to one reader and two to another; the second stops the engine."""
    stop = request(control, "POST", STOP)
    begin = request(control, "GET", "/healthz")[:-2]
    post = request(control, "POST", "/v1/engine/end-drain")[:-2]
    length = b"Content-Length: "
    return [begin + length + str(len(stop)).encode() + b"\r\n\r\n" + stop, post + length + b"0\r\n\r\n" + stop,
            post + length + b"5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + stop,
            post + b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n" + stop,
            post + length + b"0\r\n" + length + str(len(stop)).encode() + b"\r\n\r\n" + stop,
            post + length + b"+0\r\n\r\n" + stop, post + length + b"0, 0\r\n\r\n" + stop, post + b"\n" + stop,
            post + b"X: y\r\n " + length + str(len(stop)).encode() + b"\r\n\r\n" + stop,
            begin.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + stop]


def ambiguous(target):
    control, counts, pace = target.control, Counts(), Pace(target, 300)
    inputs = itertools.cycle(hidden_stops(control))
    while pace.wait():
        counts.add(ask(control, next(inputs), counts.units // 10 % 2 == 0, once=False))
    return counts.result()


def pipelined(target):
    """A thousand requests at once on each connection, the last of which stops the engine."""
    control, counts, pace = target.control, Counts(), Pace(target, 50)
    data = request(control, path="/v1/sessions") * 1000 + request(control, "POST", STOP)
    while pace.wait():
        counts.add(ask(control, data, counts.units % 2 == 0, once=False))
    return counts.result()


CONTROL_ATTACKS = [
    Attack("control_drip", "heads and bodies of requests, byte by byte", "128 held, 300 opened/s", drip, "control",
           check=still_serves, control=True, quick=False),
    Attack("control_huge", "heads of 100 KB, 500 fields, and bodies of 100 KB that are said to be 1 GB", "100 requests/s",
           oversized, "control", check=only(431, 413), control=True, quick=False),
    Attack("control_crowd", "silent connections, never closed by their client", "400 held, 1,000 opened/s", crowd, "control",
           check=still_serves, control=True),
    Attack("control_half", "requests that end half way, clients that leave", "300 requests/s", half_closed, "control",
           check=only(200), control=True, quick=False),
    Attack("control_strangers", "commands without a token, with a wrong one, of a viewer, and of pages of other sites",
           "300 requests/s", strangers, "control", Limits(disk_mb=9), check=only(401, 403, 421), control=True),
    Attack("control_flood", "a viewer who reads metrics and sessions", "1,000 requests/s", flood, "control",
           check=answers_again, control=True, quick=False),
    Attack("control_hidden", "requests with an ambiguous end that hide a stop, with the operator's token", "300 requests/s",
           ambiguous, "control", check=only(400), control=True),
    Attack("control_pipeline", "a thousand requests at once, the last one a stop", "50 connections/s", pipelined, "control",
           check=only(400), control=True, quick=False),
]
