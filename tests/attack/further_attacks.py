"""Further attacks, two for each of logon, resend, TLS and templates; those on files are in file_attacks.py."""
import os
import re
import time

from attacks import PROBE, RIGHT, Crowd, honest_resend_is_whole, idle_soon, resends, right_password_works, with_password
from peers import Connection, Pace, Session
from table import WITH_TLS, Attack, Limits


# --- Logon ------------------------------------------------------------------------------------------------------------


def drip_logons(target):
    """Complete Logons, one byte at a time: no connection is ever silent, and none is complete in time."""
    logon = Session(target).message("A", (98, 0), (108, 30), (58, "x" * 3000))
    crowd, places, due = Crowd(target, 100, 300), {}, [0.0]

    def drip(crowd):
        if time.monotonic() < due[0]:
            return
        due[0] = time.monotonic() + 0.2
        for fd, one in list(crowd.all.items()):
            at = places[fd] = places.get(fd, 0) % len(logon)
            try:
                one.send(logon[at:at + 1])
            except OSError:
                continue  # the crowd finds out that it is closed
            places[fd] += 1

    return crowd.run(drip)


def take_identity(target):
    """Logons as the session that is connected already."""
    pace, made, accepted = Pace(target, 100), 0, 0
    waiting = []
    while pace.wait():
        session = Session(target, "INNOCENT", source=f"127.66.0.{1 + made % 4}")
        connection = Connection(target, session.source, timeout=0.3)
        if connection.send(session.message("A", (98, 0), (108, 30), (141, "Y"))):
            made += 1
        waiting.append(connection)
        if len(waiting) > 20:
            oldest = waiting.pop(0)
            accepted += oldest.hear(("A",), 0) is not None
            oldest.close()
    return {"units": made, "accepted": accepted}


def identity_is_safe(evidence):
    accepted = evidence.result.get("accepted")
    return [f"{accepted} Logons as the connected session were accepted"] if accepted else []


# --- Resend -----------------------------------------------------------------------------------------------------------


def resend_random_ranges(target):
    """Ranges that never begin or end alike, each of most of what is stored."""
    def ranges(count):
        return [(target.rng.randrange(1, 60), target.rng.randrange(240, 301)) for _ in range(count)]
    return resends(target, ranges)


def open_gaps(target):
    """Each message has a higher number than expected; the requested ones never come."""
    session, again, pace, sent = Session(target), Pace(target, 5), Pace(target, 5_000), 0
    while target.going():
        if not session.on:
            if again.wait():
                session.log_on(timeout=0.3)
            continue
        if not pace.wait(50):
            break
        messages = []
        for _ in range(50):
            session.number += target.rng.randrange(1, 1000)
            messages.append(session.order("g" * 900))
        sent += 50 * session.connection.send(b"".join(messages))
        if session.on:
            session.connection.drain()
    return {"units": sent}


# --- TLS --------------------------------------------------------------------------------------------------------------


def handshake_storm(target):
    pace, made = Pace(target, 100), 0
    while pace.wait():
        connection = Connection(target, f"127.66.0.{1 + made % 4}", timeout=0.5)
        made += connection.open
        connection.close()
    return {"units": made}


def tiny_records(target):
    """A record of its own for each byte of the messages of a logged-on peer."""
    session, again, pace, sent = Session(target), Pace(target, 5), Pace(target, 5_000), 0
    data = b""
    while target.going():
        if not session.on:
            if again.wait():
                session.log_on(timeout=0.3)
            continue
        if not data:
            session.connection.drain()
            data = session.order()
        if not pace.wait(10):
            break
        for byte in data[:10]:
            sent += session.on and session.connection.send(bytes((byte,)))
        data = data[10:]
    return {"units": sent}


# --- Templates ----------------------------------------------------------------------------------------------------------


def log_on_and_go(target):
    """A new name each time, with the right password: what was made for it has to leave memory when it is gone."""
    pace, made, done = Pace(target, 20), 0, 0
    while pace.wait():
        made += 1
        session = Session(target, f"T{made}")
        if session.log_on((554, "right"), timeout=0.5):
            done += 1
            session.log_out()
        session.leave()
    return {"units": made, "logons": done}


HOSTILE_NAMES = ("..", "../../evil", "/etc/evil", ".", "a/b", "*", "INNOCENT ", " INNOCENT", "CON", "%2e%2e%2f", "~root",
                 "evil\x1b[31m", "evil\nFORGED", "evil\x9b", "N" * 200, "N" * 2000, "$(touch evil)", "NEXUSFIX", "->",
                 "a->b->c")


def hostile_names(target):
    pace, units = Pace(target, 50), 0
    while pace.wait():
        session = Session(target, HOSTILE_NAMES[units % len(HOSTILE_NAMES)])
        session.log_on((554, "right"), timeout=0.2)
        session.leave()
        units += 1
    return {"units": units}


def names_stay_inside(evidence):
    failures = []
    folder = evidence.server.folder
    inside = {"store", "log", "serve.toml", "stdout.txt", "stderr.txt"}
    outside = sorted(set(os.listdir(folder)) - inside)
    if outside:
        failures.append(f"files outside store and log: {outside}")
    for each in (folder / "store").iterdir():
        if not re.fullmatch(r"[\w.=%+-]+", each.name):
            failures.append(f"a session's folder is named {each.name!r}")
    for file in (evidence.server.out, evidence.server.err, *evidence.server.event_files()):
        if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|(?m:^FORGED)", file.read_bytes()):
            failures.append(f"{file.name} has control characters")
    return failures + right_password_works(evidence)


FURTHER_ATTACKS = [
    Attack("drip_logons", "Logons sent byte by byte, none complete in time", "100 held, 5 bytes/s each", drip_logons,
           probe=PROBE),
    Attack("take_identity", "Logons as the innocent session while it is connected", "100 Logons/s", take_identity,
           check=identity_is_safe),
    Attack("resend_ranges", "ResendRequests for random ranges that never begin alike", "1,500 requests/s", resend_random_ranges,
           "resend", Limits(disk_mb=72, out_mb=16, out_mb_s=2, first_used=1), check=honest_resend_is_whole,
           quick=False),
    Attack("open_gaps", "each message opens a gap that is never filled", "5,000 messages/s of 1 KB", open_gaps, "resend",
           Limits(disk_mb=72, first_used=1)),
    Attack("handshake_storm", "TLS handshakes, each closed when it is complete", "100 handshakes/s", handshake_storm, "tls",
           variants=WITH_TLS, probe=PROBE),
    Attack("tiny_records", "a TLS record for each byte of a message", "5,000 records/s", tiny_records, "tls",
           Limits(first_used=1), variants=WITH_TLS, quick=False),
    Attack("template_churn", "the right password with a new CompID each time, then Logout", "20 Logons/s", log_on_and_go,
           "templates", Limits(memory_mb=32, disk_mb=24, shm_mb=None, lines_s=150), with_password, right_password_works,
           engine=idle_soon, probe=RIGHT, warm=True),
    Attack("template_names", "CompIDs that are paths, wildcards, escapes and very long, with the right password", "50 Logons/s",
           hostile_names, "templates", Limits(memory_mb=16, disk_mb=32, shm_mb=None, fds=0), with_password,
           names_stay_inside, engine=idle_soon, probe=RIGHT, warm=True, quick=False),
]
