"""Attacks that were seen to work. Each function runs in the attacker's process, at the intensity that its row names."""
import re
import select
import socket
import time

from peers import Connection, Pace, Session
from support import fix
from table import WITH_TLS, WITHOUT_TLS, Attack, Limits
from tls_support import ssl

MB = 1_000_000
GARBLED = b"".join(fix([(35, "D"), (34, 2), (49, "EVIL"), (56, "NEXUSFIX"), (52, "20240102-12:00:00"), (11, f"g{n}"),
                        (58, "x" * 100)], sum_off=1 + n % 200) for n in range(300))
CONTROLS = "\x1b[2J\x1b]0;owned\x07\r\nFORGED logged on\x9b31m\x85\x7f"


def closed_within(connection, seconds):
    """Whether the server closes this connection in that time."""
    end = time.monotonic() + seconds
    while connection.open and time.monotonic() < end:
        connection.receive(end - time.monotonic(), keep=False)
    return not connection.open


# --- Templates --------------------------------------------------------------------------------------------------------


def with_password(settings):
    return [settings.template('password = "right"')]


def guess_passwords(target):
    pace = Pace(target, 300)
    waiting, made, bytes_out = [], 0, 0
    while pace.wait():
        made += 1
        session = Session(target, f"W{made}", source=f"127.66.0.{1 + made % 4}")
        connection = Connection(target, session.source, timeout=0.5)
        bytes_out += connection.open and connection.send(session.message("A", (98, 0), (108, 30), (554, "wrong")))
        waiting.append(connection)
        if len(waiting) > 50:
            waiting.pop(0).close()
    return {"units": made}


def right_password_works(evidence):
    session = Session(evidence.target, "RIGHT", source="127.2.0.1")
    # The second time it knows its number.
    works = session.log_on((554, "right")) or session.log_on((554, "right"))
    session.log_out()
    return [] if works else ["the right password does not log on after the attack"]


def idle_soon(settings):
    """So that an attack of seconds shows whether idle sessions leave memory."""
    return settings.set_if_known("dynamic_session_idle_s", 1)


def two_names(settings):
    return [settings.template(sender="*")]


def squat_names(target):
    result = {"units": 0, "first": False, "second": False, "mixed": 0}
    first, second = Session(target, "B", "V->A"), Session(target, "A->B", "V")
    result["first"], result["second"] = first.log_on(), second.log_on()
    result["units"] = 2
    pace = Pace(target, 50)
    while pace.wait() and first.on and second.on:
        for session in (first, second):
            session.connection.send(session.order())
            echo = session.connection.hear(("D",), 1.0)
            result["mixed"] += echo is None or echo[b"56"] != session.sender.encode()
            result["units"] += 1
    return result


def names_are_apart(evidence):
    result = evidence.result
    failures = [f"the {each} of two sessions cannot log on" for each in ("first", "second") if not result.get(each)]
    return failures + (["echoes are missing or went to the other session"] if result.get("mixed") else [])


# --- Logon ------------------------------------------------------------------------------------------------------------


class Crowd:
    """Many connections that send nothing or little, each opened again when the server closes it."""

    def __init__(self, target, count, per_second, first=b"", sources=4):
        self.target = target
        self.count = count
        self.pace = Pace(target, per_second)
        self.first = first
        self.sources = sources
        self.poll = select.poll()
        self.all = {}
        self.opened = self.closed = 0

    def open_one(self):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            made.bind((f"127.66.0.{1 + self.opened % self.sources}", 0))
            made.settimeout(0.5)
            made.connect(("127.0.0.1", self.target.port))
            if self.first:
                made.send(self.first)
        except OSError:
            made.close()
            return
        made.setblocking(False)
        self.all[made.fileno()] = made
        self.poll.register(made, select.POLLIN)
        self.opened += 1

    def step(self):
        for fd, _ in self.poll.poll(0):
            one = self.all[fd]
            try:
                ended = not one.recv(4096)
            except OSError:
                ended = True
            if ended:
                self.poll.unregister(fd)
                one.close()
                del self.all[fd]
                self.closed += 1
        for _ in range(20):
            if len(self.all) < self.count and self.pace.wait():
                self.open_one()

    def run(self, each=None):
        while self.target.going():
            self.step()
            if each:
                each(self)
            if len(self.all) >= self.count:
                time.sleep(0.005)
        return {"units": self.opened, "closed": self.closed, "held": len(self.all)}


def be_silent(target):
    return Crowd(target, 200, 300).run()


def half_handshake(target):
    hello = ssl.MemoryBIO()
    half = target.context().wrap_bio(ssl.MemoryBIO(), hello)
    try:
        half.do_handshake()
    except ssl.SSLWantReadError:
        pass
    data = hello.read()
    return Crowd(target, 200, 300, data[:len(data) // 2]).run()


def silent_after_handshake(target):
    pace, held, made = Pace(target, 60), [], 0
    while pace.wait():
        held = [each for each in held if each.open and not each.receive(keep=False) and each.open]
        if len(held) < 200:
            one = Connection(target, f"127.66.0.{1 + made % 4}", timeout=0.5)
            made += one.open
            held.append(one)
    return {"units": made, "held": len(held)}


def not_allowed_is_closed(evidence):
    connection = Connection(evidence.target, "127.66.0.9", tls=False)
    return [] if closed_within(connection, 0.5) else ["an address that no session allows is not closed at accept"]


def zero_heartbeat(target):
    dead = Session(target)
    accepted = dead.log_on(heartbeat=0)
    again = Session(target)
    again.number = dead.number
    second = again.log_on()
    while target.going():
        time.sleep(0.05)
    return {"units": 1, "accepted": accepted, "second": second}


def zero_heartbeat_refused(evidence):
    result = evidence.result
    failures = ["HeartBtInt(108)=0 is accepted by default"] if result.get("accepted") else []
    return failures + ([] if result.get("second") else ["the peer's next Logon is refused"])


# --- Garbage ----------------------------------------------------------------------------------------------------------


def garble_after_logon(target, per_second=20 * MB):
    session = Session(target)
    sent, logons, again, pace = 0, 0, Pace(target, 5), Pace(target, per_second)
    while target.going():
        if not session.on:
            if again.wait():
                logons += session.log_on(timeout=0.3)
            continue
        if pace.wait(len(GARBLED)) and session.connection.send(GARBLED):
            sent += len(GARBLED)
        if session.on:
            session.connection.drain()
    return {"units": sent, "logons": logons}


def beat_fast(target):
    """Valid Heartbeats, 100 in each piece."""
    session = Session(target)
    sent, logons, again, pace = 0, 0, Pace(target, 5), Pace(target, 200)
    while target.going():
        if not session.on:
            if again.wait():
                logons += session.log_on(timeout=0.3)
            continue
        if pace.wait() and session.connection.send(b"".join(session.message("0") for _ in range(100))):
            sent += 100
        if session.on:
            session.connection.drain()
    return {"units": sent, "logons": logons}


def beats_are_counted(evidence):
    sizes = [each.stat().st_size for each in evidence.server.folder.rglob("messages-*.log")]
    return [] if sizes and sum(sizes) < 4 * MB else [f"the message log has {sum(sizes) / MB:.1f} MB"]


def garble_gently(target):
    return garble_after_logon(target, 5 * MB)


def garble_before_logon(target):
    pace, made, sent = Pace(target, 200), 0, 0
    while pace.wait():
        connection = Connection(target, f"127.66.0.{1 + made % 4}", timeout=0.3)
        made += 1
        sent += len(GARBLED) * connection.send(GARBLED)
        connection.close()
    return {"units": made, "bytes": sent}


def send_after_reject(target):
    pace, again, block = Pace(target, 200 * MB), Pace(target, 2), b"x" * 65536
    most = total = made = 0
    while again.wait():
        connection = Connection(target, timeout=0.2)
        connection.send(fix([(35, "D"), (34, 1), (49, "EVIL"), (56, "NEXUSFIX"), (52, "20240102-12:00:00"), (11, "x")]))
        made += 1
        begin = time.monotonic()
        while time.monotonic() - begin < 2.5 and pace.wait(len(block)) and connection.send(block):
            pass
        most, total = max(most, connection.bytes_out), total + connection.bytes_out
        connection.close()
    return {"units": made, "most": most, "bytes": total}


def little_is_read(evidence):
    most = evidence.result.get("most", 0)
    # What the kernels of both sides buffer is a few megabytes.
    return [] if most <= 16 * MB else [f"{most / MB:.0f} MB were taken from a rejected connection"]


def print_controls(target):
    """Texts for the terminal, from a peer that is logged on, and from an unknown one."""
    pace, session, units = Pace(target, 100), Session(target), 0
    again = Pace(target, 5)
    say = (("3", (45, "1" + CONTROLS), (58, "why" + CONTROLS)), ("j", (45, 1), (372, "D" + CONTROLS), (380, 0), (58, CONTROLS)),
           ("U\x1b[2J", (58, CONTROLS)), ("D", (11, "c" + CONTROLS), (9731, CONTROLS)), ("5", (58, CONTROLS)),
           ("4", (36, "x" + CONTROLS)), ("2", (7, CONTROLS), (16, 0)))
    while pace.wait():
        if not session.on:
            if again.wait():
                session.log_on(timeout=0.3)
            stranger = Session(target, "S" + CONTROLS, source="127.66.0.2")
            stranger.log_on((58, CONTROLS), timeout=0.02)
            stranger.leave()
            continue
        units += session.send(*say[units % len(say)])
        session.connection.drain()
    return {"units": units}


def without_dictionary(settings):
    return [settings.session("EVIL", 'dictionary = "none"', 'validation = "lenient"')]


def no_controls(evidence):
    """No control byte but the line's end in any line, whether the text is read as UTF-8 or as bytes."""
    failures = []
    server = evidence.server
    for file in (server.out, server.err, *server.event_files()):
        data = file.read_bytes()
        text = data.decode("utf-8", "surrogateescape")
        found = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\udc80-\udc9f]", text)
        if found:
            place = text[max(0, found.start() - 40):][:80]
            failures.append(f"{file.name} has the control character {found.group()!r}: {place!r}")
        if re.search(rb"(?m)^FORGED", data):
            failures.append(f"{file.name} has a forged line")
    return failures


# --- Resets, resends, throttles -----------------------------------------------------------------------------------------


def reset_often(target):
    pace, session, done = Pace(target, 10), Session(target), 0
    while pace.wait():
        session.number = 1
        if session.log_on((141, "Y"), timeout=0.5):
            session.connection.send(session.order())
            session.connection.hear(("D",), 0.5)
            done += 1
        session.leave()
    return {"units": done}


def archives_are_small(evidence):
    """One message and a few session messages are in each."""
    sizes = [each.stat().st_blocks * 512 for each in (evidence.server.folder / "store").rglob("archive/**/*.nfxj")]
    large = [size for size in sizes if size > MB]
    return [f"{len(large)} archived segments occupy {sum(large) / MB:.0f} MB"] if large else []


def prepared_for_resend(target):
    """A session to which 300 messages of 3 KB were sent; it has read them."""
    session = Session(target)
    session.log_on()
    for _ in range(300):
        if session.on:
            session.connection.send(session.order("r" * 3000))
    heard = 0
    while heard < 300 and session.on and session.connection.hear(("D",), 2.0):
        heard += 1
    return session, heard


def resends(target, ranges):
    """Requests ranges as fast as the rate allows and reads all that comes."""
    session, heard = prepared_for_resend(target)
    session.send("2", (7, 1), (16, 0))
    honest = 0
    while honest < heard and session.on and session.connection.hear(("D",), 2.0):
        honest += 1
    requests, before = 0, session.connection.bytes_in if session.on else 0
    pace, again, bytes_in = Pace(target, 150), Pace(target, 2), 0
    while target.going():
        if not session.on:
            if again.wait():
                session.log_on(timeout=0.3)
                before = 0
            continue
        if pace.wait():
            # Ten at a time: 1,500 a second.
            session.connection.send(b"".join(session.message("2", (7, first), (16, last)) for first, last in ranges(10)))
            requests += 10
        connection = session.connection
        connection.drain()
        if not connection.open:
            bytes_in += connection.bytes_in - before
    if session.on:
        bytes_in += session.connection.bytes_in - before
    return {"units": requests, "honest": honest, "bytes_in": bytes_in}


def resend_in_turns(target):
    return resends(target, lambda count: [(1 + each % 2, 0) for each in range(count)])


def honest_resend_is_whole(evidence):
    honest = evidence.result.get("honest", 0)
    return [] if honest == 300 else [f"an honest request for 300 messages brought {honest}"]


def slow_lane(settings):
    return [settings.session("EVIL", "throttle_rate = 10", 'throttle_action = "disconnect"')]


def unknown_types(target):
    session, again, most = Session(target), Pace(target, 2), 0
    sent = 0
    while again.wait():
        if not session.log_on(timeout=0.3):
            continue
        connection = session.connection
        for begin in range(0, 2000, 100):
            connection.send(b"".join(session.message("ZZ", (58, "x")) for _ in range(100)))
            connection.receive(0.002)
        sent += 2000
        answers = 0
        while connection.hear(("3", "j"), 0.2):
            answers += 1
        most = max(most, answers)
        session.leave()
    return {"units": sent, "most_answers": most}


def every_message_counts(evidence):
    most = evidence.result.get("most_answers", 0)
    return [] if most <= 50 else [f"{most} of 2000 messages of unknown type were answered, with throttle_rate = 10"]


# --- TLS ----------------------------------------------------------------------------------------------------------------


def named_clients(settings):
    return [settings.session(name, *settings.mutual(), f'tls_peer_names = "{name.lower()}.example"') for name in ("C1", "C2")]


def wrong_certificate(target):
    own = Session(target, "C1", certificate="c1")
    pace, tries, done = Pace(target, 20), 0, 0
    owns = own.log_on()
    while pace.wait():
        other = Session(target, "C2", source="127.66.0.2", certificate="c1", timeout=0.5)
        done += other.log_on(timeout=0.3)
        tries += 1
        other.leave()
    return {"units": tries, "own": owns, "foreign": done}


def certificates_bind(evidence):
    failures = [] if evidence.result.get("own") else ["a client's own certificate is refused"]
    if evidence.result.get("foreign"):
        failures.append(f"the certificate of C1 logged on as C2, {evidence.result['foreign']} times")
    session = Session(evidence.target, "C2", source="127.2.0.1", certificate="c2")
    return failures + ([] if session.log_on() else ["C2 cannot log on with its own certificate"])


def closed_output_is_said_once(evidence):
    text = evidence.server.text_of(evidence.server.err)
    count = sum("standard output" in line or "stdout" in line for line in text.splitlines())
    return [] if count == 1 else [f"a closed standard output is reported {count} times on standard error"]


PROBE = ("PROBE", ())
RIGHT = ("RIGHT", ((554, "right"),))
ATTACKS = [
    Attack("template_passwords", "a template with a password: Logons with the wrong one", "300 Logons/s", guess_passwords,
           "templates", Limits(shm_mb=1, disk_mb=4), with_password, right_password_works, probe=RIGHT,
           warm=True),
    Attack("garbled_logged_on", "a logged-on peer sends messages with a wrong CheckSum", "20 MB/s", garble_after_logon,
           "garbage", Limits(first_used=1)),
    Attack("heartbeats", "a logged-on peer sends valid Heartbeats", "20,000 messages/s", beat_fast, "garbage",
           Limits(disk_mb=32, first_used=1), check=beats_are_counted),
    Attack("garbled_stranger", "an unknown peer's first bytes are messages with a wrong CheckSum", "200 connections/s, 50 KB each",
           garble_before_logon, "garbage", quick=False),
    Attack("control_bytes", "texts with escape sequences, line ends and C1 bytes", "100 messages/s", print_controls, "output",
           Limits(first_used=1), sessions=without_dictionary, check=no_controls),
    Attack("silent_connections", "connections that send nothing, opened again when closed", "200 held, 300 opened/s", be_silent,
           probe=PROBE),
    Attack("half_handshakes", "half of a TLS ClientHello, then silence", "200 held, 300 opened/s", half_handshake, "tls",
           variants=WITH_TLS, probe=PROBE),
    Attack("silent_handshaken", "a whole TLS handshake, then silence", "200 held, 60 opened/s", silent_after_handshake, "tls",
           variants=WITH_TLS, probe=PROBE, quick=False),
    Attack("not_allowed", "silent connections from an address that no session allows", "200 held, 300 opened/s", be_silent,
           check=not_allowed_is_closed, probe=PROBE, allowed=True),
    Attack("reset_storm", "Logons with ResetSeqNumFlag=Y, one message before each", "10 Logons/s", reset_often, "resend",
           Limits(disk_mb=72, first_used=1), check=archives_are_small),
    Attack("resend_in_turns", "ResendRequests from 1 and from 2 in turns, over 300 messages of 3 KB", "1,500 requests/s",
           resend_in_turns, "resend", Limits(disk_mb=72, out_mb=16, out_mb_s=2, first_used=1), check=honest_resend_is_whole),
    Attack("wrong_certificate", "C1's certificate logs on as C2 on a shared address", "20 Logons/s", wrong_certificate, "tls",
           Limits(first_used=2), sessions=named_clients, check=certificates_bind, variants=WITH_TLS),
    Attack("sends_after_reject", "a rejected peer continues to send", "200 MB/s", send_after_reject, "garbage",
           check=little_is_read),
    Attack("stalled_terminal", "standard output is a pipe that is never read, while a peer sends garbage", "5 MB/s",
           garble_gently, "output", Limits(first_used=1), terminal="stalled", variants=WITHOUT_TLS),
    Attack("closed_pipe", "the reader of standard output has ended, while a peer sends garbage", "5 MB/s", garble_gently,
           "output", Limits(first_used=1), check=closed_output_is_said_once, terminal="closed", variants=WITHOUT_TLS),
    Attack("unknown_types", "2,000 messages of an unknown type against throttle_rate = 10", "2 Logons/s", unknown_types,
           "garbage", Limits(first_used=1), sessions=slow_lane, check=every_message_counts),
    Attack("dead_peer", "a Logon with HeartBtInt=0, then silence", "1 Logon", zero_heartbeat, limits=Limits(first_used=1),
           check=zero_heartbeat_refused),
    Attack("squatted_names", "a template * to *: CompIDs that contain the arrow of identities", "100 orders/s", squat_names,
           "templates", Limits(memory_mb=16, disk_mb=24, shm_mb=16), two_names, names_are_apart, engine=idle_soon),
]
