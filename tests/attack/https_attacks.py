"""Attacks on the control plane's HTTP with TLS, next to the innocent session and to an operator who has to be answered."""
import itertools
import select
import time

from control_attacks import STOP, Caller, Counts, ask, request, still_serves
from peers import Pace
from stage import Child
from table import Attack, Limits
from tls_support import OpenSsl, ssl

ANSWER_LIMIT_S = 1.0
# The 32 connections that there may be have 0.1 MB of buffers each, and the allocator keeps as much again.
LIMITS = Limits(memory_mb=12, back_mb=12)


def ask_again_and_again(target):
    """An operator who asks on both sockets, each time over another connection; `late` counts what was not answered in time."""
    control = target.control
    asked, late = {"UNIX socket": 0, "HTTP": 0}, {"UNIX socket": 0, "HTTP": 0}
    for unix in itertools.cycle((True, False)):
        if not target.going():
            return {"asked": asked, "late": late}
        where, begin = "UNIX socket" if unix else "HTTP", time.monotonic()
        answered = ask(control, request(control), unix) == [200]
        asked[where] += 1
        late[where] += not answered or time.monotonic() - begin > ANSWER_LIMIT_S
        time.sleep(0.1)


def beside_a_colleague(attack):
    """With an operator in a process of its own."""

    def run(target):
        colleague = Child(ask_again_and_again, target)
        result = attack(target)
        return {**result, **colleague.result(10)}

    return run


def colleague_was_answered(evidence):
    """Also while the attack went on."""
    asked, late = evidence.result.get("asked", {}), evidence.result.get("late", {})
    failures = [f"{late[each]} of {count} requests of another operator on the {each} had no answer within {ANSWER_LIMIT_S:g} s"
                for each, count in asked.items() if late[each] or not count]
    return failures + still_serves(evidence)


def no_answer(evidence):
    """What is not TLS, or has no right certificate, is read by nobody: it gets no status at all."""
    seen = {each: count for each, count in evidence.result.get("statuses", {}).items() if each != "None"}
    return [f"{count} answers {each}" for each, count in seen.items()] + colleague_was_answered(evidence)


def client_hello(control, extra=0):
    """The first bytes of a handshake; with `extra` bytes of names of protocols that nobody speaks."""
    context = ssl.create_default_context(cafile=control.certificates.file("ca.pem"))
    if extra:
        context.set_alpn_protocols([f"{n:0254d}" for n in range(extra // 255)])
    to_us, to_them = ssl.MemoryBIO(), ssl.MemoryBIO()
    handshake = context.wrap_bio(to_us, to_them, server_hostname="localhost")
    try:
        handshake.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return to_them.read()


def plain_caller(control):
    return Caller(control, timeout=0.5, encrypted=False)


def count_answers(held, counts, most=0):
    """Of the oldest connections, beyond so many: whatever came until now."""
    while len(held) > most:
        caller = held.pop(0)
        counts.add(caller.hear(0.001))
        caller.close()


def handshake_storm(target):
    """Complete handshakes with the right certificate, without a request."""
    pace, made = Pace(target, 100), 0
    while pace.wait():
        caller = Caller(target.control, timeout=0.5, certificate="viewer")
        made += caller.open
        caller.close()
    return {"units": made}


def half_handshakes(target):
    """Half a ClientHello, or a whole one whose answer is not read and never answered; never closed by us."""
    control, pace, held, opened = target.control, Pace(target, 300), [], 0
    hello = client_hello(control)
    while pace.wait():
        caller = plain_caller(control)
        caller.send(hello if opened % 2 else hello[:len(hello) // 2])
        opened += caller.open
        held.append(caller)
        if len(held) > 200:
            held.pop(0).close()
    return {"units": opened}


def dripped_handshakes(target):
    """ClientHellos byte by byte."""
    control, pace, callers, opened, due = target.control, Pace(target, 300), [], 0, 0.0
    hello = client_hello(control)
    while target.going():
        callers = [each for each in callers if each[0].open and each[1] < len(hello)]
        while len(callers) < 128 and pace.wait():
            callers.append([plain_caller(control), 0])
            opened += callers[-1][0].open
        if time.monotonic() < due:
            time.sleep(0.005)
            continue
        due = time.monotonic() + 0.1
        for each in callers:
            each[0].send(hello[each[1]:each[1] + 1])
            each[1] += 1
    return {"units": opened}


def wrong_certificates(target):
    """A stop without a certificate, with an expired one, with one of another authority, and with one that has no role."""
    control, counts, pace, answered = target.control, Counts(), Pace(target, 60), 0
    kinds = itertools.cycle([None, "expired", "foreign", "stranger"])
    while pace.wait():
        kind = next(kinds)
        caller = Caller(control, timeout=0.5, certificate=kind)
        caller.send(request(control, "POST", STOP, token=""))
        statuses = caller.hear(0.5)
        caller.close()
        counts.add(statuses)
        answered += bool(statuses) and kind != "stranger"
    return counts.result(answered=answered)


def only_known_ones(evidence):
    result = evidence.result
    seen = result.get("statuses", {})
    failures = [f"{count} answers {each}" for each, count in seen.items() if each not in ("403", "None")]
    failures += ["a certificate without a role got no 403"] * ("403" not in seen)
    failures += [f"{result.get('answered')} answers without a valid certificate"] * bool(result.get("answered"))
    return failures + colleague_was_answered(evidence)


def renegotiations(target):
    """Handshakes again within a connection (TLS 1.2), and requests for new keys (TLS 1.3), by a viewer."""
    control, counts, pace, renegotiated = target.control, Counts(), Pace(target, 5), 0
    kinds = itertools.cycle([("-tls1_2", b"R\n"), ("-tls1_3", b"K\n"), ("-tls1_2", b"")])
    identity = ("-cert", control.certificates.file("viewer.crt"), "-key", control.certificates.file("viewer.key"))
    while pace.wait():
        version, command = next(kinds)
        client = OpenSsl("s_client", "-connect", control.host, version, *identity)
        seen = client.receive_until(b"Verify return code", 1.0)  # the handshake is complete
        try:
            for _ in range(3 if command else 0):  # it takes one command at a time
                client.send(command)
                client.receive_until(b"CONNECTED", 0.03)
            client.send(request(control, token=""))
            seen = client.receive_until(b"HTTP/1.1 200", 0.5)
        except OSError:
            pass
        client.close()
        answered = b"HTTP/1.1 200" in seen
        if command == b"R\n":
            renegotiated += answered
        counts.add([200] if answered else [])
    return counts.result(renegotiated=renegotiated)


def no_renegotiation(evidence):
    """One ends the connection; without it there is an answer."""
    count, seen = evidence.result.get("renegotiated"), evidence.result.get("statuses", {})
    failures = [f"{count} connections were answered after a renegotiation"] * bool(count)
    failures += ["no answer where nothing was renegotiated"] * ("200" not in seen)
    return failures + colleague_was_answered(evidence)


def plaintext(target):
    """What is not TLS: requests, a Logon, records of a wrong kind, random bytes."""
    control, counts, pace, held = target.control, Counts(), Pace(target, 300), []
    inputs = itertools.cycle([
        request(control, "POST", STOP), request(control), b"8=FIX.4.4\x019=5\x0135=A\x01",
        b"\x17\x03\x03\x40\x00" + b"x" * 16384, b"\x16\x03\x01\xff\xff" + b"\x01" * 65535,
        b"\x80\x2e\x01\x00\x02" + b"\x00" * 41, target.rng.randbytes(5000)])
    while pace.wait():
        caller = plain_caller(control)
        caller.send(next(inputs))
        held.append(caller)
        count_answers(held, counts, 60)
    count_answers(held, counts)
    return counts.result()


def huge_hellos(target):
    """ClientHellos of 60 KB, and handshake messages that are said to have 16 MB, as many bytes of them as are taken."""
    control, counts, pace, held = target.control, Counts(), Pace(target, 50), []
    large = client_hello(control, 60_000)
    body = b"\x01\xff\xff\xff\x03\x03" + b"\x00" * (16384 - 6)
    said = b"".join(b"\x16\x03\x01\x40\x00" + each for each in (body, *([b"\x00" * 16384] * 16)))
    inputs = itertools.cycle([large, said])
    while pace.wait():
        caller = plain_caller(control)
        caller.send(next(inputs))
        held.append(caller)
        count_answers(held, counts, 20)
    count_answers(held, counts)
    return counts.result()


def unread_answers(target):
    """Viewers who request all sessions again and again, and never read an answer: more than there is room for."""
    control, pace, held, opened = target.control, Pace(target, 100), [], 0
    data = request(control, path="/metrics", token="")
    while pace.wait():
        if len(held) < 64:
            caller = Caller(control, timeout=0.5, certificate="viewer", receive_bytes=2048)
            opened += caller.open
            held.append(caller)
        for each in held:
            if each.open and select.select([], [each.socket], [], 0)[1]:
                each.send(data)
        held = [each for each in held if each.open]
    return {"units": opened}


def https(name, about, rate, attack, check=colleague_was_answered, quick=True):
    return Attack(name, about, rate, beside_a_colleague(attack), "https", LIMITS, check=check, control=True, https=True,
                  quick=quick)


HTTPS_ATTACKS = [
    https("https_storm", "handshakes with a viewer's certificate, each closed when it is complete", "100 handshakes/s",
          handshake_storm),
    https("https_half", "half a ClientHello, or a whole one, then silence", "200 held, 300 opened/s", half_handshakes),
    https("https_drip", "ClientHellos byte by byte", "128 held, 300 opened/s", dripped_handshakes, quick=False),
    https("https_strangers", "a stop without a certificate, with an expired, a foreign and an unknown one", "60 requests/s",
          wrong_certificates, only_known_ones),
    https("https_again", "renegotiations (TLS 1.2) and requests for new keys (TLS 1.3)", "5 connections/s, 3 of them in each",
          renegotiations, no_renegotiation, quick=False),
    https("https_plain", "requests without TLS, FIX, broken records, random bytes", "300 connections/s", plaintext, no_answer),
    https("https_huge", "ClientHellos of 60 KB, and handshake messages that are said to have 16 MB", "50 connections/s",
          huge_hellos, no_answer, quick=False),
    https("https_unread", "viewers who request metrics and never read them", "64 held, 100 requests/s and connection",
          unread_answers),
]
