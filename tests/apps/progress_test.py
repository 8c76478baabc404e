"""The progress line of long work: on a terminal alone, at most five times per second, and erased at the end."""
import os
import pty
import shutil
import subprocess
import tempfile
import time
import unittest

from market_support import metadata, record
from store_import_test import ImportTest, message
from support import PATIENCE_S, PROGRAM, expect, fix, run

ORDER = fix([(35, "D"), (34, 2), (49, "CLIENT"), (56, "VENUE"), (52, "20240102-12:00:00.000"), (11, "abc"), (55, "IBM"),
             (54, 1), (60, "20240102-12:00:00"), (38, 100), (40, 2), (44, "12.5")]) + b"\n"
REWRITE = b"\r\x1b[K"
WRAP_OFF, WRAP_ON = b"\x1b[?7l", b"\x1b[?7h"


def on_a_terminal(*command):
    """Exit code, standard output, what standard error, a terminal, received, and seconds."""
    terminal, its_end = pty.openpty()
    begin = time.monotonic()
    with subprocess.Popen([PROGRAM, *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=its_end) as process:
        os.close(its_end)
        seen = b""
        try:
            while more := os.read(terminal, 65536):
                seen += more
        except OSError:
            pass  # the end
        os.close(terminal)
        out = process.stdout.read().decode()
        code = process.wait(PATIENCE_S)
    return code, out, seen, time.monotonic() - begin


class Progress(unittest.TestCase):
    def watch(self, arguments, chunk, enough, begin_with=b""):
        """Feeds a command until `enough` of its standard error, a terminal, are there; all of that, and seconds."""
        terminal, its_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        begin = time.monotonic()
        process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=its_end)
        os.close(its_end)
        os.set_blocking(terminal, False)
        seen = b""

        def read():
            nonlocal seen
            try:
                seen += os.read(terminal, 65536)
            except (BlockingIOError, OSError):
                pass  # nothing now, or the end

        process.stdin.write(begin_with)
        while not enough(seen):
            self.assertLess(time.monotonic() - begin, PATIENCE_S, seen)
            process.stdin.write(chunk)
            process.stdin.flush()
            read()
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE_S), 0)
        seconds = time.monotonic() - begin
        read()
        return seen, seconds

    def test_a_terminal_gets_one_line_that_is_rewritten_at_most_five_times_a_second_and_erased(self):
        seen, seconds = self.watch(["decode", "--summary", "-"], ORDER * 200, lambda text: text.count(REWRITE) >= 3)
        self.assertRegex(seen, rb"^\r\x1b\[K\x1b\[\?7ldecoding -: \d+(\.\d)? [KM]?i?B\x1b\[\?7h\r\x1b\[K\x1b\[\?7ldecoding -: ")
        self.assertEqual(seen.count(WRAP_OFF), seen.count(WRAP_ON), "a narrow terminal shows one line, and wraps afterwards")
        self.assertTrue(seen.endswith(REWRITE), seen)
        self.assertNotIn(b"\n", seen)
        self.assertLessEqual(seen.count(REWRITE) - 1, seconds * 5)

    def test_market_data_shows_it_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            out = ["--out", os.path.join(folder, "columns")]
            for command in (["stats", "-"], ["book", "-"], ["convert", "-", "--to", "columns", *out]):
                seen, _ = self.watch(["market", *command], record("A", "B", 1, 10**9, 5) * 2000,
                                     lambda text: text.count(REWRITE) >= 2, metadata(2))
                self.assertRegex(seen, rb"^\r\x1b\[K\x1b\[\?7lreading -: \d+(\.\d)? [KM]?i?B\x1b\[\?7h\r")
                self.assertIn(REWRITE, seen[-200:])

    def test_a_file_gets_no_progress_line(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "venue.log")
            with open(log, "wb") as file:
                file.write(ORDER * 20000)
            expect(run("decode", "--summary", log), err="")
            day = os.path.join(folder, "day.itch")
            for command in (("generate", day, "--names", "10", "--messages", "100000"), ("book", day), ("stats", day),
                            ("convert", day, "--to", "columns", "--out", folder + "/columns")):
                expect(run("market", *command), err="")
            overlay = os.path.join(folder, "overlay.xml")
            expect(run("dict", "learn", log, "--base", "FIX44.xml", "--out", overlay), err="")


class ProgressOfStores(ImportTest):
    """Nothing is shown in the first fifth of a second, so the work is doubled until it takes longer."""

    def make_quickfix_store(self, messages):
        self.write_text_store(messages=[(number, message(number)) for number in range(1, messages + 1)],
                              next_out=messages + 1)

    def take_over_anew(self, *arguments):
        shutil.rmtree(self.store, ignore_errors=True)
        return run("store", "import", *map(str, self.importing(*arguments)))

    def shown_by(self, attempt):
        messages = 20000
        while True:
            (code, out, seen, seconds), again = attempt(messages)
            self.assertEqual(code, 0, (out, seen))
            if seen:
                break
            self.assertLess(seconds, 5, "it took long, and nothing was shown")
            messages *= 2
        self.assertTrue(seen.endswith(REWRITE), seen)
        self.assertEqual(seen.count(WRAP_OFF), seen.count(WRAP_ON))
        self.assertNotIn(b"\n", seen)
        self.assertLessEqual(seen.count(REWRITE) - 1, seconds * 5)
        # The same work where standard error is no terminal.
        expect(again(), err="")
        return seen

    def test_an_import_shows_percent_and_bytes(self):
        def attempt(messages):
            self.make_quickfix_store(messages)
            shutil.rmtree(self.store, ignore_errors=True)
            return on_a_terminal("store", "import", *self.importing()), self.take_over_anew

        self.assertRegex(self.shown_by(attempt),
                         rb"^\r\x1b\[K\x1b\[\?7limporting FIX.4.4-DESK-VENUE: \d+%, \d+\.\d [KM]iB of \d+\.\d MiB\x1b\[\?7h")


if __name__ == "__main__":
    unittest.main()
