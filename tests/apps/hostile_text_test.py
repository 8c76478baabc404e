"""No command lets a control character of its arguments, files or streams reach the terminal, nor forges a line.

Every command of `nfx help --json` is given hostile words and files: escape sequences, line breaks, C1 controls as bytes
and as UTF-8, overrides of the direction of text. NFX_HOSTILE_ROUNDS sets how many random files each command reads."""
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from support import ENVIRONMENT, ORDER, PATIENCE_S, PROGRAM, FolderTest, Server, fix
from usage_test import commands, table

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("NFX_HOSTILE_ROUNDS", "3"))
MAKER = os.environ.get("NFX_JOURNAL_MAKER")

PIECES = [
    b"a\x1b]0;title\x07b",
    b"a\x1b[2J\x1b[31mb",
    b"a\nFORGED 20260101-00:00:00 line",
    b"a\rFORGED",
    b"a\xc2\x9b31mb\xc2\x85FORGED",
    b"a\x9b31m\x85\x80b",
    b"a\xe2\x80\xaeb\xe2\x81\xa6c\xe2\x80\xa8FORGED",
    b"a\x7f\x08\x0b\x0c\x0eb",
    b"a\xff\xfe\xed\xa0\x80\xf4\x90\x80\x80b",
    bytes(range(1, 32)),
]
# Names, values and lines from outside: good UTF-8, other bytes, and a forged line alone.
GOOD_UTF8 = b"".join(piece for piece in PIECES if not any(c in piece for c in b"\x80\xff") or b"\xe2" in piece)
HOSTILE = [GOOD_UTF8, b"".join(piece for piece in PIECES if b"\n" not in piece), b"a\nFORGED 20260101-00:00:00 line"]
TEXT = "Zürich 東京"  # stays as it is

# A character that a terminal executes, or that makes a line look like another one.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def faults(output):
    """What is wrong with the bytes that a command printed."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error}: {output[max(0, error.start - 60):error.start + 20]!r}"
    found = CONTROL.search(text)
    if found:
        return f"{found[0]!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}"
    if any(line.startswith("FORGED") for line in text.splitlines()):
        return f"a forged line: {text!r}"
    return None


def toml(value):
    """A TOML string of these bytes; bytes that are not UTF-8 stay raw, which makes the file wrong."""
    text = value.decode("utf-8", "surrogateescape")
    return '"' + "".join(f"\\u{ord(c):04x}" if CONTROL.match(c) or c == "\n" else c for c in text) + '"'


def xml(value):
    text = value.decode("utf-8", "surrogateescape")
    return "".join(f"&#x{ord(c):x};" if CONTROL.match(c) or c == "\n" else c for c in text)


def raw(text):
    return text.encode("utf-8", "surrogateescape")


# Without arguments these run for seconds, or until a signal.
LONG_RUNNING = ("demo",), ("host", "noise"), ("host", "watch")
SESSION = '[[session]]\nsender_comp_id = "A"\ntarget_comp_id = "B"\nlisten = "127.0.0.1:0"\n'
CFG = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\n[SESSION]\nSenderCompID=A\n"


def configurations(value):
    """TOML texts with this value in each kind of place."""
    quoted = toml(value)
    yield raw(SESSION + f"{quoted} = 1\n")
    yield raw(f"{quoted} = 1\n" + SESSION)
    yield raw(f"[{quoted}]\n" + SESSION)
    for key in ["dictionary", "time_zone", "sender_sub_id", "store", "store_directory", "start_time", "weekdays",
                "store_ring_directory", "begin_string", "allowed_addresses", "tls_certificate", "on_full"]:
        yield raw(SESSION + f"{key} = {quoted}\n")
        yield raw(f"{key} = {quoted}\n" + SESSION)
    yield raw(SESSION.replace('"A"', quoted))
    yield raw(SESSION.replace('"127.0.0.1:0"', quoted))
    yield raw(f'[log]\ndirectory = {quoted}\n[engine]\nidle = {quoted}\n' + SESSION)
    yield SESSION.encode() + b"x = " + value + b"\n" + value + b" = 1\n"


def quickfix_settings(value):
    line = value.replace(b"\n", b"\x0b")
    start = CFG.encode()
    yield start + b"TargetCompID=B\n" + line + b"=1\n"
    yield start + b"TargetCompID=" + line + b"\n"
    for key in [b"DataDictionary", b"TimeZone", b"StartTime", b"FileStorePath", b"HeartBtInt", b"SocketKeyStore"]:
        yield start + b"TargetCompID=B\n" + key + b"=" + line + b"\n"
    yield start + b"[" + line + b"]\n"
    yield start + line + b"\n"


def dictionaries(value):
    text = xml(value)
    name = f'<field number="9001" name="{text}" type="STRING"/>'
    head = '<fix type="FIX" major="4" minor="4"><header/><trailer/><messages>'
    yield raw(f'{head}<message name="{text}" msgtype="U1" msgcat="app"><field name="X" required="N"/></message>'
              f'</messages><components/><fields>{name}</fields></fix>')
    yield raw(f'{head}<message name="M" msgtype="{text}" msgcat="{text}"><field name="{text}" required="{text}"/>'
              f'<group name="G" required="N"/></message></messages><components/><fields>{name}{name}</fields></fix>')
    yield raw(f'{head}</messages><components/><fields><field number="9001" name="X" type="{text}">'
              f'<value enum="{text}" description="{text}"/></field></fields></fix>')
    yield raw(f'<fix type="{text}" major="{text}"><{"x"}>') + value
    yield b"<fix " + value + b"='1'><" + value + b"/></fix>"
    yield raw(f'<overlay base="{text}"/>')


def messages(value):
    """A log of FIX messages with this value, before them too."""
    text = value.decode("latin-1").replace("\x01", "\x02")
    kinds = ORDER + [(58, text)], [(35, text)] + ORDER[1:], ORDER + [(9001, text)], ORDER[:1] + [(34, text)] + ORDER[2:]
    log = b"".join(value + b" " + fix(fields) + b"\n" for fields in kinds)
    log += fix(ORDER, begin="FIX." + text) + fix([(35, "A"), (554, text), (1137, text)]) + b"8=FIX.4.4|9=" + value
    return log + b"\n8=FIX.4.4\x019=5\x0135=" + value + b"\x0110=000\x01"


class HostileText(FolderTest):
    @classmethod
    def setUpClass(cls):
        cls.commands = [words for words, command in commands(table()) if not command["commands"]]
        cls.covered = set()
        cls.tests_run = 0

    def setUp(self):
        super().setUp()
        type(self).tests_run += 1

    def file(self, content, name=b"file"):
        path = os.path.join(os.fsencode(self.folder), name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    def check(self, command, *arguments, data=b""):
        """Runs the command and returns its exit code; whatever it is, the output is clean."""
        words = tuple(command.split())
        self.covered.add(words)
        result = subprocess.run([PROGRAM, *words, *arguments], input=data, capture_output=True, timeout=PATIENCE_S,
                                env=ENVIRONMENT, cwd=self.folder, check=False)
        for name, output in (("stdout", result.stdout), ("stderr", result.stderr)):
            self.assertIsNone(faults(output), f"{name} of nfx {command} {arguments}")
        self.assertGreaterEqual(result.returncode, 0, f"nfx {command} {arguments}: {result.stderr!r}")
        return result

    def test_the_check_itself_finds_each_kind_of_fault(self):
        for value in PIECES:
            self.assertIsNotNone(faults(b"x " + value + b"\n"), value)
        GOOD_UTF8.decode("utf-8")
        self.assertIsNone(faults(f"{TEXT}\\x1b\n".encode()))

    def test_arguments(self):
        for words in self.commands:
            for value in HOSTILE:
                if words in LONG_RUNNING:
                    self.check(" ".join(words), b"--" + value)
                    self.check(" ".join(words), b"--json" if words == ("demo",) else b"--cpus", value, b"--x")
                    continue
                if words in (("host", "apply"), ("host", "revert")):  # nothing of this host
                    self.check(" ".join(words), value, b"--root", value)
                    continue
                self.check(" ".join(words), value)
                self.check(" ".join(words), b"--" + value, value)

    def test_values_of_every_option(self):
        for words, command in commands(table()):
            for option in command["options"]:
                name = option["names"][-1]
                if not name.startswith("--") or not option.get("value") or words in LONG_RUNNING:
                    continue
                for value in HOSTILE[:2]:
                    self.check(" ".join(words), name.encode() + b"=" + value, *([b"file"] if words[0] != "host" else []))

    def test_unknown_commands_and_checks(self):
        for value in HOSTILE:
            for words in [[value], [b"store", value], [b"help", value], [b"help", b"store", value],
                          [b"host", b"explain", value], [b"completion", value]]:
                result = subprocess.run([PROGRAM, *words], capture_output=True, timeout=PATIENCE_S, env=ENVIRONMENT,
                                        check=False)
                self.assertIsNone(faults(result.stdout + result.stderr), words)

    def test_configurations(self):
        for value in HOSTILE:
            for text in configurations(value):
                file = self.file(text, b"engine.toml")
                self.check("serve", file, b"--check")
                self.check("config check", file)
            for text in configurations(value):
                self.check("schedule", self.file(text, b"engine.toml"), b"--days", b"1")
                break
            for text in quickfix_settings(value):
                file = self.file(text, b"engine.cfg")
                self.check("serve", file, b"--check")
                self.check("config check", file)
                self.check("config convert", file)
            self.check("connect", self.file(text, b"engine.cfg"))

    def test_names_of_files(self):
        for value in HOSTILE:
            value = value.replace(b"/", b"_")
            file = self.file(SESSION.encode(), value)
            for command in ["serve --check", "config check", "config convert", "schedule --days 1", "connect"]:
                words = command.split()
                plain = [w for w in words if not w.startswith("-") and not w.isdigit()]
                self.check(" ".join(plain), file, *(w.encode() for w in words[len(plain):]))
            self.check("dict check", file)
            self.check("dict diff", file, file)
            self.check("codegen", file, b"--out", file)
            self.check("host plan", file)
            self.check("host collect", os.path.join(os.fsencode(self.folder), value + b".d"), b"--root",
                       os.fsencode(self.folder))

    def test_dictionaries(self):
        for value in HOSTILE:
            for text in dictionaries(value):
                file = self.file(text, b"venue.xml")
                self.check("dict check", file)
                self.check("dict check", b"FIX44", b"--overlay", file)
                self.check("dict diff", file, b"FIX44.xml")
                self.check("codegen", file, b"--out", os.fsencode(self.folder / "generated"))
                self.check("decode", b"--dictionary", file, data=fix(ORDER))

    def test_messages(self):
        for value in [*HOSTILE, *PIECES[::3]]:
            log = messages(value)
            for form in [[], [b"--one-line"], [b"--json"], [b"--summary"], [b"--validate", b"--one-line"],
                         [b"--show-secrets", b"--validate"]]:
                result = self.check("decode", *form, data=log)
                if b"--json" in form:
                    for line in result.stdout.splitlines():
                        json.loads(line)
            file = self.file(log, b"venue.log")
            self.check("dict learn", file, b"--base", b"FIX44.xml")
            self.check("dict learn", file, b"--base", b"FIX44.xml", b"--out", os.fsencode(self.folder / "overlay.xml"))

    def test_text_in_other_scripts_is_shown_as_it_is(self):
        order = ORDER + [(58, TEXT.encode("utf-8").decode("latin-1"))]
        self.assertIn(f"Text={TEXT}", self.check("decode", "--one-line", data=fix(order)).stdout.decode())
        file = self.file(raw(SESSION + f'"{TEXT}" = 1\n'))
        self.assertIn(TEXT, self.check("serve", file, "--check").stderr.decode())

    @unittest.skipUnless(MAKER, "without journal_maker")
    def test_stores(self):
        store, rings = self.folder / "store", self.folder / "rings"
        rings.mkdir()
        for i, value in enumerate(PIECES):
            value = value.replace(b"\n", b"\r").replace(b"|", b"!")
            identity = b"FIX.4.4:A" + value.replace(b"/", b"_") + b"->B"
            lines = b"bytes 1 8=FIX.4.4|9=5|35=" + value + b"|10=000|\nmessage 2 D " + value + b"\nsync\n"
            subprocess.run([MAKER, os.fsencode(store), identity, os.fsencode(rings), b"65536"], input=lines,
                           capture_output=True, timeout=PATIENCE_S, check=False)
        self.check("store ls", store)
        self.check("store ls", store, b"--format", b"json")
        sessions = [s for s in os.listdir(os.fsencode(store))]
        self.assertGreater(len(sessions), 3)
        forms = [[], [b"--one-line"], [b"--raw"], [b"--json"], [b"--all"]]
        for form in forms:
            self.check("store cat", store, *form)
            self.check("store tail", store, *form)
        self.check("store verify", store)
        self.check("store rings", b"--ring-directory", rings)
        for format_ in (b"text", b"json"):
            self.check("store seq explain", store, b"--format", format_)
            self.check("store seq show", store, b"--format", format_)
        for name in sessions:
            session = os.path.join(os.fsencode(store), name)
            self.check("store seq set", store, b"--session", name, b"--next-in", b"7", b"--reason", HOSTILE[0],
                       b"--ring-directory", rings)
            self.check("store seq explain", session)
            self.check("store cat", session, b"--all", b"--one-line")
            self.check("store repair", session, b"--gap-fill")
            for format_ in (b"text", b"jsonl", b"json"):
                self.check("store export", session, b"--to", b"-", b"--format", format_)
            self.check("store export", session, b"--to", b"new" + HOSTILE[0].replace(b"/", b"_"))
        self.damage(store, lambda: [self.check(f"store {each}", store) for each in ("ls", "cat", "verify", "tail")])

    def damage(self, folder, check):
        """Random changes to the files below it, each followed by the check."""
        rng = random.Random(15)
        files = sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size > 0)
        for _ in range(ROUNDS):
            file = rng.choice(files)
            content = bytearray(file.read_bytes())
            for _ in range(rng.randrange(1, 20)):
                value = rng.choice(PIECES)
                at = rng.randrange(len(content))
                content[at:at + len(value)] = value
            file.write_bytes(content)
            check()

    def test_quickfix_stores(self):
        for value in HOSTILE:
            name = b"FIX.4.4-A" + value.replace(b"/", b"_") + b"-B"
            body = fix(ORDER[:1] + [(34, 1)] + ORDER[2:] + [(58, value.decode("latin-1"))])
            for kind, content in [(b"body", body), (b"header", b"1,0,%d " % len(body)), (b"seqnums", b"2 : 1"),
                                  (b"session", value)]:
                self.file(content, name + b"." + kind + b"s" * 0)
            self.check("store import", os.fsencode(self.folder), b"--into", b"in", b"--dry-run")
            self.check("store import", os.fsencode(self.folder), b"--into", b"in", b"--session", value)

    def test_hosts(self):
        folder = ROOT / "tests/host/host/hosts"
        template = folder / "bare_metal_good"
        engine = self.file(SESSION.encode() + b"[placement]\nenabled = true\n", b"engine.toml")
        rng = random.Random(7)
        for turn in range(max(ROUNDS, 3)):
            root = self.folder / f"root{turn}"
            shutil.copytree(template, root, symlinks=True)
            files = sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink())
            for file in rng.sample(files, len(files) // 3):
                content = file.read_bytes()
                at = rng.randrange(len(content) + 1)
                file.chmod(0o644)
                file.write_bytes(content[:at] + rng.choice(PIECES) + content[at:])
            place = b"--root", os.fsencode(root)
            for form in (b"text", b"json"):
                self.check("host doctor", *place, b"--format", form)
                self.check("host plan", engine, *place, b"--format", form)
                self.check("host verify", engine, *place, b"--format", form)
                self.check("host topology", b"--from", root, b"--format", form)
                self.check("host apply", engine, *place, b"--runtime", b"--dry-run", b"--format", form)
                self.check("host revert", *place, b"--format", form)
                self.check("host watch", b"--root-before", root, b"--root-after", root, b"--format", form, b"--once")
            self.check("host watch", b"--root-before", root, b"--root-after", root, b"--format", b"prometheus")
            self.check("host watch", b"--root-before", root, b"--root-after", root, b"--alerts-only")
            self.check("host apply", engine, *place, b"--boot", b"--dry-run")
            self.check("host collect", os.fsencode(self.folder / f"copy{turn}"), *place)
            self.check("host topology", b"--from", self.file(b"<topology>" + rng.choice(PIECES), b"t.xml"))
            self.check("host noise", b"--compare", self.file(rng.choice(PIECES)), b"--seconds", b"0.01")

    @unittest.skipUnless(shutil.which("openssl"), "without openssl")
    def test_certificates(self):
        for i, value in enumerate(PIECES):
            config = self.file(b"[req]\ndistinguished_name=d\nx509_extensions=e\nprompt=no\nutf8=no\n[d]\nCN=name\n[e]\n"
                               b"subjectAltName=DNS:a\n", b"openssl.cnf")
            key, certificate = str(self.folder / f"{i}.key"), str(self.folder / f"{i}.pem")
            subject = b"/CN=" + value.replace(b"/", b"_").replace(b"\\", b"_")
            made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                                   "-nodes", "-config", config, "-subj", subject, "-keyout", key, "-out", certificate],
                                  capture_output=True, timeout=PATIENCE_S, check=False)
            if made.returncode == 0:
                for form in ("text", "json"):
                    self.check("tls check", "--cert", certificate, "--key", key, "--ca", certificate, "--format", form,
                               b"--name", value)
            self.check("tls check", b"--cert", self.file(value, b"bad.pem"), b"--ca", value)
        self.check("tls doctor", b"127.0.0.1:1", b"--ca", HOSTILE[0])

    def hostile_session(self, value, sender=b"CLIENT"):
        """What a peer can have printed: a logon, rejects, unknown types, garbage, a logout."""
        text = value.decode("latin-1").replace("\x01", "\x02")
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S")

        def message(seq, kind, *fields, **how):
            return fix([(35, kind), (34, seq), (49, sender.decode("latin-1")), (56, "NEXUSFIX"), (52, now), *fields], **how)

        return (message(1, "A", (98, 0), (108, 30), (141, "Y"), (58, text), (553, text)),
                message(2, "3", (45, text), (58, text), (372, text)) + message(3, "j", (45, text), (58, text), (380, text))
                + message(4, text, (58, text)) + message(5, "D", (11, text), (58, text), (9001, text))
                + message(6, "D", (11, text), sum_off=1) + value + message(6, "5", (58, text)))

    def test_peers_of_a_server(self):
        for lenient in ("", 'dictionary = "none"\n', 'validation = "lenient"\n'):
            settings = (f'[log]\ndirectory = "log"\n[[session]]\ntemplate = true\n'
                        f'sender_comp_id = "NEXUSFIX"\ntarget_comp_id = "*"\n'
                        f'listen = "127.0.0.1:0"\nstore_ring_directory = "rings"\n{lenient}')
            server = Server(self.folder, "--messages", *(["--echo"] if lenient else []), settings=settings)
            self.addCleanup(server.end)
            self.covered.add(("serve",))
            for number, value in enumerate(HOSTILE):
                for sender in (b"CLIENT%d" % number, value.replace(b"\x01", b"").replace(b"\n", b"")):
                    logon, rest = self.hostile_session(value, sender)
                    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as peer:
                        peer.sendall(logon)
                        if peer.recv(4096):
                            peer.sendall(rest)
                            while peer.recv(65536):
                                pass
            server.process.send_signal(signal.SIGTERM)
            out, err = server.process.stdout.buffer.read(), server.process.stderr.buffer.read()
            self.assertEqual(server.process.wait(PATIENCE_S), 0, err)
            server.end()
            self.assertIsNone(faults(out))
            self.assertIsNone(faults(err))
            self.assertIn(b"logged on", out)
            logs = [file for file in self.folder.glob("log/**/*event*") if file.is_file()]
            self.assertNotEqual(logs, [])
            for file in logs:
                self.assertIsNone(faults(file.read_bytes()), file)

    def test_a_peer_of_connect(self):
        for value in HOSTILE:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                config = self.file(b'[[session]]\nrole = "initiator"\nsender_comp_id = "NEXUSFIX"\n'
                                   b'target_comp_id = "CLIENT"\ndictionary = "none"\nconnect = "127.0.0.1:%d"\n'
                                   % listener.getsockname()[1], b"connect.toml")

                def answer():
                    with listener.accept()[0] as peer:
                        peer.recv(4096)
                        peer.sendall(b"".join(self.hostile_session(value)))
                        while peer.recv(65536):
                            pass

                answering = threading.Thread(target=answer)
                answering.start()
                self.check("connect", config, b"--logon-wait", b"0.5", b"--wait", b"1", data=b"35=" + value + b"\n")
                answering.join()

    def test_with_no_input(self):
        for command in ["version", "help", "man", "config keys", "host explain", "host collect --list"]:
            words = command.split()
            plain = [w for w in words if not w.startswith("-")]
            self.check(" ".join(plain), *words[len(plain):])
        self.check("completion", "bash")

    def test_z_every_command_is_in_one_of_these(self):
        if self.tests_run < sum(name.startswith("test_") for name in dir(self)):
            self.skipTest("not all tests were run")
        self.assertEqual(set(self.commands) - self.covered, set())


if __name__ == "__main__":
    unittest.main()
