"""Journals and file stores for the tests of nfx store. NFX_JOURNAL_MAKER names the program that makes journals."""
import json
import os
import pathlib
import signal
import subprocess

from support import PATIENCE_S, FolderTest, run

MAKER = os.environ["NFX_JOURNAL_MAKER"]
SEGMENT_SIZE = 256 * 1024
DESK = "FIX.4.4:DESK->VENUE"


class Journal:
    """One session that journal_maker keeps: each command is answered before the next is given."""

    def __init__(self, store, identity, rings, segment_size=SEGMENT_SIZE):
        self.process = subprocess.Popen([MAKER, str(store), identity, str(rings), str(segment_size)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answer = self.process.stdout.readline()
        if answer != "open\n":
            raise AssertionError(f"journal_maker did not open: {answer!r}")

    @property
    def pid(self):
        return self.process.pid

    def say(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
            if answer != "done\n":
                raise AssertionError(f"{line}: {answer!r}")

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        return self.process.returncode

    def kill(self):
        self.process.stdin.write("kill\n")
        self.process.stdin.flush()
        self.process.wait(PATIENCE_S)
        self.process.stdin.close()
        if self.end() != -signal.SIGKILL:
            raise AssertionError("journal_maker survived")


class StoreTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "store"
        self.rings = self.folder / "rings"
        self.rings.mkdir()

    def journal(self, identity=DESK, **options):
        journal = Journal(self.store, identity, self.rings, **options)
        self.addCleanup(journal.end)
        return journal

    def make(self, *lines, identity=DESK, **options):
        """A journal with this content, closed in order."""
        journal = self.journal(identity, **options)
        journal.say(*lines)
        self.assertEqual(journal.end(), 0)

    def nfx(self, command, *arguments, code=0):
        """Standard output; the exit code is `code`, and no error is printed when that is 0."""
        result, out, err = run("store", *command.split(), *map(str, arguments))
        self.assertEqual(result, code, out + err)
        if code == 0:
            self.assertEqual(err, "")
        return out

    def fails(self, command, *arguments, code=2):
        """The one line of standard error; nothing is printed on standard output."""
        result, out, err = run("store", *command.split(), *map(str, arguments))
        self.assertEqual((result, out), (code, ""), out + err)
        self.assertTrue(err.startswith("nfx: ") and err.count("\n") == 1, err)
        return err

    def objects(self, command, *arguments, code=0):
        return [json.loads(line) for line in self.nfx(command, *arguments, code=code).splitlines()]

    def the_one(self, command, *arguments, code=0):
        found = self.objects(command, *arguments, code=code)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def session_folder(self, identity=DESK):
        _, out, _ = run("store", "ls", str(self.store), "--session", identity, "--format", "json")
        return pathlib.Path(json.loads(out)["folder"])

    def segments(self, identity=DESK):
        """Files of the session that have records, in order."""
        return [f for f in sorted(self.session_folder(identity).glob("*.nfxj")) if b"8=FIX" in f.read_bytes()]
