"""Attacks on files: what others left in the folders of nfx serve, and damaged journals. No innocent session; each returns
what was wrong, as texts."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

from peers import Session, Target
from stage import Folder, Server, ServerFailure
from support import PATIENCE_S, PROGRAM, run
from table import Attack, Limits, Settings

SEGMENT = 'segment_size = 1048576\nring_size = 262144\n'


class Case:
    """One server in a folder of its own, which was prepared in some hostile way before."""

    def __init__(self, lines=""):
        self.folder = Folder()
        self.path = self.folder.path
        settings = Settings(self.folder, "plain", None)
        self.text = f'[log]\ndirectory = "{self.path / "log"}"\n' + settings.session("EVIL", SEGMENT + lines)
        self.server = None
        self.why = ""

    def start(self):
        """Whether it listens."""
        self.server = Server(self.folder, self.text)
        try:
            self.port = self.server.port_of("127.0.0.1")
            return True
        except ServerFailure as failure:
            self.why = str(failure)
            return False

    def trade(self, orders=10, *messages):
        """Whether a session logged on, and its orders came back."""
        session = Session(Target(self.port, 30, None))
        if not session.log_on(timeout=5):
            return False
        heard = 0
        for number in range(orders):
            session.connection.send(session.order("r" * (number % 500)))
        while heard < orders and session.connection.hear(("D",), 5.0):
            heard += 1
        for each in messages:
            session.send(*each)
        return session.log_out() and heard == orders

    def stop(self):
        code = self.server.stop() if self.server else 0
        self.server = None
        return code

    def output(self):
        texts = [(self.path / name).read_bytes() for name in ("stdout.txt", "stderr.txt") if (self.path / name).exists()]
        return b"".join(texts).decode("utf-8", "replace")

    def end(self):
        if self.server:
            self.server.kill()
        self.folder.remove()


def used(case):
    """After one orderly run: the session's folder and the event log."""
    if not case.start() or not case.trade() or case.stop() != 0:
        raise AssertionError("an ordinary run failed: " + case.why)
    (case.path / "stdout.txt").write_bytes(b"")
    (case.path / "stderr.txt").write_bytes(b"")
    folder = next(each for each in (case.path / "store").iterdir() if each.is_dir())
    event = next(each for each in (case.path / "log").iterdir() if "event" in each.name)
    return folder, event


def refused_or_corrected(case, path, wrong):
    """Empty where the server refuses to start and names the path, or where nothing is wrong any more and a line reports it."""
    started = case.start()
    case.server.stop() if started else None
    said = path.name in case.output() or str(path) in case.output()
    still = wrong(path)
    case.server = None
    if not started:
        return "" if said else f"refused without naming {path.name}: {case.why}"
    if still:
        return "accepted" if not said else "reported and accepted"
    return "" if said else "no line reports it"


def open_to_others(path):
    return path.stat().st_mode & 0o022 != 0


def hostile_folders(_):
    outside = Folder()

    def everybody_writes(name):
        def prepare(case, _folder, _event):
            (case.path / name).chmod(0o777)
            return case.path / name, open_to_others
        return prepare

    def session_is_a_link(case, folder, _):
        shutil.move(folder, outside.path / folder.name)
        folder.symlink_to(outside.path / folder.name)
        return folder, pathlib.Path.is_symlink

    def anothers_store(case, _folder, _event):
        os.chown(case.path / "store", 65534, 65534)
        return case.path / "store", lambda path: path.stat().st_uid != os.geteuid()

    def event_log_of_everybody(case, _, event):
        event.chmod(0o666)
        return event, lambda path: path.stat().st_mode & 0o066 != 0

    def event_log_is_a_folder(case, _, event):
        event.unlink()
        event.mkdir()
        return event, lambda path: False

    failures = []
    cases = {"a store folder that every user may write to": everybody_writes("store"),
             "a log folder that every user may write to": everybody_writes("log"),
             "a session's folder that is a symlink": session_is_a_link, "a log file with mode 0666": event_log_of_everybody,
             "a log file that cannot be opened": event_log_is_a_folder}
    if os.geteuid() == 0:
        cases["a store folder owned by another user"] = anothers_store
    for name, prepare in cases.items():
        case = Case()
        try:
            path, wrong = prepare(case, *used(case))
            what = refused_or_corrected(case, path, wrong)
            if what:
                failures.append(f"{name}: {what}")
        finally:
            case.end()
    outside.remove()
    return failures


def planted_files(_):
    """What blocks or redirects an open: a FIFO as the next segment or as the lock, a ring that another program made."""
    failures = []

    def fifo_segment(case, folder):
        for each in folder.glob("*.nfxj"):
            each.unlink()
        os.mkfifo(folder / "00000001.nfxj")

    def fifo_lock(case, folder):
        (folder / "lock").unlink()
        os.mkfifo(folder / "lock")

    def device_segment(case, folder):
        for each in folder.glob("*.nfxj"):
            each.unlink()
        (folder / "00000001.nfxj").symlink_to("/dev/zero")

    for prepare in (fifo_segment, fifo_lock, device_segment):
        case = Case()
        try:
            folder, _ = used(case)
            prepare(case, folder)
            begin = time.monotonic()
            server = Server(case.folder, case.text)
            case.server = server
            while time.monotonic() - begin < 5 and server.process.poll() is None and "listens" not in case.output():
                time.sleep(0.02)
            if server.process.poll() is None and "listens" not in case.output():
                failures.append(f"{prepare.__name__}: nfx serve hangs at start")
        finally:
            case.end()
    return failures


def names_in_folders(_):
    """File names with control bytes in the store's folder: every command that lists it, and the server's start."""
    failures = []
    case = Case()
    try:
        used(case)
        for name in ("evil\x1b[2J", "evil\nFORGED", "evil\udc9b31m"):
            (case.path / "store" / name).mkdir()
            (case.path / "store" / name / "00000001.nfxj").write_bytes(b"no journal")
        for arguments in (("store", "ls"), ("store", "verify"), ("store", "cat"), ("store", "seq", "show"), ("store", "rings")):
            where = ["--ring-directory", str(case.folder.shm)] if arguments[-1] == "rings" else [str(case.path / "store")]
            done = subprocess.run([PROGRAM, *arguments, *where], capture_output=True, timeout=PATIENCE_S, check=False)
            for data in (done.stdout, done.stderr):
                text = data.decode("utf-8", "surrogateescape")
                if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]", text) or re.search("(?m)^FORGED", text):
                    failures.append(f"nfx {' '.join(arguments)} prints a control character of a file's name")
                    break
        if not case.start():
            return [*failures, "nfx serve does not start next to folders with such names: " + case.why]
        case.stop()
    finally:
        case.end()
    return failures


def mutate(rng, file):
    """Damages a file in one of the ways that disks, copies and people do."""
    data = bytearray(file.read_bytes())
    used_size = len(data.rstrip(b"\0")) or 1
    way = rng.randrange(6)
    at = rng.randrange(used_size)
    if way == 0:
        for _ in range(rng.randrange(1, 50)):
            data[rng.randrange(used_size)] ^= 1 << rng.randrange(8)
    elif way == 1:
        del data[at:]
    elif way == 2:
        data[at:at + 512] = bytes(min(512, len(data) - at))
    elif way == 3:
        piece = data[at:at + 4096]
        to = rng.randrange(used_size)
        data[to:to + len(piece)] = piece[:len(data) - to]
    elif way == 4:
        for place in range(rng.randrange(8), used_size, rng.randrange(64, 512)):
            data[place] ^= 0xFF
    else:
        data[at:at + 4] = rng.randbytes(4)
    file.write_bytes(data)


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def damaged_stores(stage):
    """CPU time of nfx store repair in proportion to the size of the store: a second for each 64 MiB, and a second anyway."""
    failures, slowest = [], 0.0
    case = Case()
    try:
        if not case.start() or not case.trade(400) or case.stop() != 0:
            return ["an ordinary run failed: " + case.why]
        for number in range(stage.mutations):
            copy = case.path / f"copy{number}"
            shutil.copytree(case.path / "store", copy)
            files = sorted(copy.rglob("*.nfxj"))
            mutate(stage.rng, files[0] if stage.rng.randrange(4) else stage.rng.choice(files))
            size = sum(each.stat().st_size for each in files)
            allowed = max(1.0, size / (64 << 20))
            begin = cpu_of_children()
            try:
                subprocess.run([PROGRAM, "store", "repair", str(copy), "--gap-fill"], capture_output=True, check=False,
                               timeout=4 * allowed + 5)
            except subprocess.TimeoutExpired:
                pass
            took = cpu_of_children() - begin
            slowest = max(slowest, took)
            if took > allowed:
                failures.append(f"mutation {number} of this seed took {took:.1f} s for {size >> 10} KiB")
            shutil.rmtree(copy)
    finally:
        case.end()
    stage.note(f"slowest of {stage.mutations}: {slowest:.2f} s")
    return failures[:5] + ([f"and {len(failures) - 5} more"] if len(failures) > 5 else [])


def stored_passwords(_):
    """Passwords of UserRequest(35=BE): nowhere in clear but in the journal, and not there where the operator chose so."""
    _, keys, _ = run("config", "keys", "--nexusfix")
    # The setting that names messages that are not stored: the one of the store's keys whose meaning speaks of gap fills.
    row = re.search(r"(?m)^\| `(\w+)` \|[^|]*list[^|]*\|[^|]*\|[^\n]*(?:not stored|gap.fill)", keys)
    lines = f'{row.group(1)} = ["BE"]\n' if row else ""
    failures = [] if row else ["no setting keeps named messages out of the journal"]
    case = Case(lines)
    try:
        if not case.start():
            return [*failures, case.why]
        secret = "correcthorse"
        case.trade(1, ("BE", (923, "u1"), (924, 3), (553, "evil"), (554, secret), (925, secret)))
        case.stop()
        for file in (each for each in case.path.rglob("*") if each.is_file()):
            inside = secret.encode() in file.read_bytes()
            journal = file.suffix == ".nfxj"
            if inside and (not journal or row):
                failures.append(f"{file.name} has the password in clear")
            if journal and file.stat().st_mode & 0o077:
                failures.append(f"{file.name} has mode {file.stat().st_mode & 0o777:o}")
    finally:
        case.end()
    return failures


FILE_ATTACKS = [
    Attack("hostile_folders", "folders and files that others may write to, own, or replaced by symlinks", "6 starts",
           hostile_folders, "files", Limits(), alone=True),
    Attack("damaged_stores", "nfx store repair on damaged small stores", "100 mutations", damaged_stores, "files", Limits(),
           alone=True),
    Attack("stored_passwords", "passwords of UserRequest in journal and logs", "1 message", stored_passwords, "files", Limits(),
           alone=True),
    Attack("planted_files", "a FIFO or a device instead of a journal's segment or lock", "3 starts", planted_files, "files",
           Limits(), alone=True),
    Attack("names_in_folders", "folders with control bytes in their names next to the journals", "5 commands", names_in_folders,
           "files", Limits(), alone=True),
]
