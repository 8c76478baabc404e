"""nfx top against a running nfx serve with a counterparty's orders: printed, over HTTP, and in a terminal made by tmux."""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, Server, expect, free_port, run

NAME = "FIX.4.4:NEXUSFIX->CLIENT"
OTHER = "FIX.4.4:NEXUSFIX->SILENT"
SETTINGS = """[control]
socket = "control.sock"
audit = "audit.log"
http = "127.0.0.1:{http}"
tokens = "tokens"
[[session]]
sender_comp_id = "NEXUSFIX"
target_comp_id = "CLIENT"
listen = "127.0.0.1:{port}"
store = "memory"
[[session]]
sender_comp_id = "NEXUSFIX"
target_comp_id = "SILENT"
listen = "127.0.0.1:{port}"
store = "memory"
"""
CLIENT = """[[session]]
role = "initiator"
sender_comp_id = "CLIENT"
target_comp_id = "NEXUSFIX"
connect = "127.0.0.1:{port}"
"""
ORDER = "35=D|11=order{}|55=IBM|54=1|38=100|40=1|60=20240102-12:00:00\n"
TOKEN = "0123456789abcdef0123456789abcdef"
TMUX = shutil.which("tmux")


class Traffic:
    """nfx connect, which sends an order for each call; nfx serve --echo sends it back."""

    def __init__(self, folder, port):
        config = pathlib.Path(folder) / "connect.toml"
        config.write_text(CLIENT.format(port=port), encoding="utf-8")
        self.process = subprocess.Popen([PROGRAM, "connect", str(config)], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT, text=True)
        self.sent = 0

    def send(self):
        self.sent += 1
        self.process.stdin.write(ORDER.format(self.sent))
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.communicate()


class Terminal:
    """A command in a terminal of tmux, with a server of its own."""

    def __init__(self, folder, columns, rows, *command):
        folder = tempfile.mkdtemp(dir=folder)
        self.socket = str(pathlib.Path(folder) / "tmux.sock")
        # tmux does not always have the exit code of a pane's process.
        self.code = pathlib.Path(folder) / "exit-code"
        self.pid = pathlib.Path(folder) / "pid"
        self.modes = pathlib.Path(folder) / "modes"  # of the terminal afterwards
        begin = f"echo $$ > {shlex.quote(str(self.pid))}; exec {shlex.join(command)}"
        # Ctrl-C is for the shell too, which has to stay.
        words = (f"trap : INT; sh -c {shlex.quote(begin)}; code=$?; stty -a > {shlex.quote(str(self.modes))}; "
                 f"echo $code > {shlex.quote(str(self.code))}")
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "sleep 600")
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("set-option", "-g", "escape-time", "0")
        self.tmux("respawn-pane", "-k", words)

    def tmux(self, *arguments):
        environment = {**ENVIRONMENT, "TERM": "xterm"}
        environment.pop("TMUX", None)
        return subprocess.run([TMUX, "-S", self.socket, "-f", "/dev/null", *arguments], capture_output=True, text=True,
                              timeout=PATIENCE_S, env=environment, check=True).stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def exit_code(self):
        """The exit code as text, or the screen while it runs."""
        return self.code.read_text(encoding="utf-8").strip() if self.code.exists() else self.screen()

    def end(self):
        self.tmux("kill-server")


class WithEngine(FolderTest):
    def setUp(self):
        super().setUp()
        self.socket = str(self.folder / "control.sock")
        self.http = free_port()
        self.port = 0
        tokens = self.folder / "tokens"
        tokens.write_text(f"viewer bob {TOKEN}\n", encoding="utf-8")
        tokens.chmod(0o600)
        (self.folder / "token").write_text(TOKEN + "\n", encoding="utf-8")

    def serve(self):
        server = Server(str(self.folder), "--echo", settings=SETTINGS.format(http=self.http, port=self.port))
        self.addCleanup(server.end)
        self.port = server.port
        return server

    def traffic(self):
        traffic = Traffic(self.folder, self.port)
        self.addCleanup(traffic.end)
        return traffic

    def once(self, *arguments):
        return run("top", "--once", "--interval", "0.2", *arguments, environment={"NFX_CONTROL": self.socket})

    def until(self, look, wanted, between=lambda: None):
        """Repeats look() until what it returns has all of `wanted`, patterns or a function."""
        give_up = time.monotonic() + PATIENCE_S
        wanted = [wanted] if not isinstance(wanted, list) else wanted
        while True:
            seen = look()
            if all(each(seen) if callable(each) else re.search(each, seen) for each in wanted):
                return seen
            self.assertLess(time.monotonic(), give_up, f"waiting for {wanted}, saw:\n{seen}")
            between()
            time.sleep(0.05)


class Printed(WithEngine):
    def printed(self, *arguments):
        out, _ = expect(self.once(*arguments), err="")
        self.assertLessEqual(max(len(line) for line in out.splitlines()), 120)
        return out

    def test_prints_each_view(self):
        self.serve()
        traffic = self.traffic()
        out = self.until(self.printed, re.escape(NAME) + " +logged on +[0-9]+ +[0-9]+")
        self.assertRegex(out, r"^serving, 1 of 2 logged on, in [0-9]+/s out [0-9]+/s")
        self.assertRegex(out, re.escape(OTHER) + " +disconnected +1 +1")
        self.assertNotIn("q quit", out)
        out = self.until(lambda: self.printed("--window", "start"), re.escape(NAME) + r".* [0-9.]+ [un]s",
                         between=traffic.send)
        self.assertIn("window start", out)
        self.assertRegex(self.printed("--view", "threads"), r"nfx-poll-0 +[0-9]+ +[RS] +[0-9.]+%")
        self.until(lambda: self.printed("--view", "slowest", "--window", "start"), r"TOOKv CAUSE[\s\S]* [un]s ",
                   between=traffic.send)
        out = self.printed("--filter", "silent")
        self.assertIn(OTHER, out)
        self.assertNotIn(NAME, out)

    def test_one_message_has_p50_and_p99_in_each_window_that_it_is_in(self):
        self.serve()
        traffic = self.traffic()
        self.until(self.printed, re.escape(NAME) + " +logged on")
        traffic.send()
        both = re.escape(NAME) + r".* [0-9.]+ [num]s +[0-9.]+ [num]s"
        self.until(lambda: self.printed("--window", "10s"), both)
        for window in ("1min", "1day", "start"):
            self.assertRegex(self.printed("--window", window), both)

    def test_prints_messages_by_the_names_of_a_dictionary(self):
        self.serve()
        traffic = self.traffic()
        messages = ("--view", "messages", "--session", NAME)
        self.until(self.printed, re.escape(NAME) + " +logged on")
        self.until(lambda: self.printed(*messages), [r"in +NewOrderSingle \(D\)", r"out NewOrderSingle \(D\)",
                                                     r"ClOrdID=order[0-9]+ Symbol=IBM Side=1\(BUY\)"],
                   between=traffic.send)
        shipped = pathlib.Path(__file__).resolve().parents[2] / "dictionaries" / "FIX44.xml"
        own = self.folder / "own.xml"
        own.write_text(re.sub(r"(['\"])ClOrdID\1", r"\1OwnNameOfIt\1", shipped.read_text(encoding="utf-8")),
                       encoding="utf-8")
        self.until(lambda: self.printed(*messages, "--dictionary", str(own)), r"OwnNameOfIt=order[0-9]+",
                   between=traffic.send)
        audit = (self.folder / "audit.log").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len([line for line in audit if "reads messages" in line]), 1)

    def test_a_viewer_sees_sessions_and_no_messages(self):
        self.serve()
        by_http = ("--http", f"127.0.0.1:{self.http}", "--token-file", str(self.folder / "token"))
        self.assertIn(NAME, self.printed(*by_http))
        expect(self.once(*by_http, "--view", "messages", "--session", NAME), code=1,
               out="user bob has the role viewer, and this needs operator", err="")

    def test_says_what_is_missing(self):
        expect(self.once(), code=3, out="", err="is an engine running")
        expect(self.once("--view", "messages"), code=2, out="", err="--session NAME")
        for wrong in (("--interval", "0.1"), ("--view", "other"), ("--window", "2s")):
            self.assertEqual(self.once(*wrong)[0], 2, wrong)


@unittest.skipUnless(TMUX, "tmux is not installed (package tmux)")
class Live(WithEngine):
    SIZES = [(80, 24), (180, 40), (40, 10), (20, 5)]

    def terminal(self, columns=80, rows=24, *options):
        terminal = Terminal(self.folder, columns, rows, PROGRAM, "top", "--socket", self.socket, "--interval", "0.2",
                            *options)
        self.addCleanup(terminal.end)
        return terminal

    def shows(self, terminal, wanted, between=lambda: None):
        return self.until(terminal.screen, wanted, between)

    def test_shows_sessions_threads_messages_and_moments_at_each_size(self):
        self.serve()
        traffic = self.traffic()
        terminal = self.terminal()
        row = re.escape(NAME) + " +logged on"
        self.shows(terminal, [row, r"1 of 2 logged on", r"SESSION\^ .* p50 +p99"])
        self.shows(terminal, row + r" +[0-9]+ +[0-9]+ +[1-9]", between=traffic.send)  # a rate
        for key, wanted in (("2", r"nfx-poll-0 .*%"), ("4", "TOOKv +CAUSE"), ("?", "any key closes it"),
                            ("x", "TOOKv +CAUSE"), ("1", row), ("w", "window 1min"), ("l", "window 1min, send_to_commit"),
                            ("r", "SESSIONv"), ("Right", "STATEv"), ("Left", "SESSIONv"), ("r", r"SESSION\^")):
            terminal.keys(key)
            self.shows(terminal, wanted)
        terminal.keys("/", "z", "z", "Enter")
        self.shows(terminal, "nothing with this filter")
        terminal.keys("Escape")
        self.shows(terminal, row)
        for columns, rows in self.SIZES[1:] + self.SIZES[:1]:
            terminal.resize(columns, rows)
            seen = self.shows(terminal, [lambda seen, rows=rows: len(seen.rstrip("\n").splitlines()) == rows,
                                         lambda seen, columns=columns: ("LAG p99" in seen) == (columns == 180),
                                         lambda seen, columns=columns: ("p50" in seen) == (columns >= 80),
                                         "FIX.4.4:NEXUSFIX->", "^serving"])
            self.assertLessEqual(max(len(line) for line in seen.splitlines()), columns)
        terminal.keys("Home", "Enter")
        self.shows(terminal, [r"^.*\n.*\[3 messages\].*\n" + re.escape(NAME), r"in +NewOrderSingle \(D\), number",
                              r"Side=1\(BUY\)"], between=traffic.send)
        terminal.keys("Tab", "Tab")
        self.shows(terminal, row)
        terminal.keys("q")
        self.until(terminal.exit_code, "^0$")

    def test_says_that_the_engine_is_gone_and_finds_the_next_one(self):
        server = self.serve()
        terminal = self.terminal()
        self.shows(terminal, ["^serving", re.escape(NAME)])
        self.assertEqual(server.stop()[0], 0)
        seen = self.shows(terminal, "no engine answers: ")
        self.assertIn(NAME, seen)
        self.serve()
        self.shows(terminal, "^serving")
        terminal.keys("q")
        self.until(terminal.exit_code, "^0$")

    def test_ctrl_c_and_sigterm_end_it_as_q_does(self):
        self.serve()
        ways = {"Ctrl-C": lambda terminal: terminal.keys("C-c"),
                "Ctrl-C into a filter": lambda terminal: terminal.keys("/", "C-c"),
                "SIGTERM": lambda terminal: os.kill(int(terminal.pid.read_text(encoding="utf-8")), signal.SIGTERM)}
        for name, end in ways.items():
            with self.subTest(name):
                terminal = self.terminal()
                self.shows(terminal, "^serving")
                end(terminal)
                self.until(terminal.exit_code, "^0$")
                self.assertEqual(terminal.tmux("display-message", "-p", "#{alternate_on}"), "0\n")
                modes = terminal.modes.read_text(encoding="utf-8").split()
                self.assertIn("echo", modes)
                self.assertIn("icanon", modes)

    def test_input_that_has_ended_takes_no_processor_time(self):
        self.serve()
        terminal = Terminal(self.folder, 80, 24, "sh", "-c", f"exec {PROGRAM} top --interval 0.2 --socket {self.socket} < /dev/null")
        self.addCleanup(terminal.end)
        begin = re.search(r"\d\d:\d\d:\d\d", self.shows(terminal, r"^serving.*\d\d:\d\d:\d\d"))[0]
        stat = pathlib.Path("/proc") / terminal.pid.read_text(encoding="utf-8").strip() / "stat"
        used_s = lambda: sum(map(int, stat.read_text(encoding="utf-8").split()[13:15])) / os.sysconf("SC_CLK_TCK")
        before, began = used_s(), time.monotonic()
        self.until(terminal.screen, lambda screen: time.monotonic() - began > 1 and begin not in screen)
        self.assertLess((used_s() - before) / (time.monotonic() - began), 0.5)
        terminal.keys("C-c")
        self.until(terminal.exit_code, "^0$")

    def test_begins_before_the_engine(self):
        terminal = self.terminal(40, 10)
        self.shows(terminal, "no engine answers: ")
        self.serve()
        self.shows(terminal, "^serving")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    if not program.result.wasSuccessful():
        sys.exit(1)
    if TMUX is None:
        print("tmux is not installed (package tmux): the terminal was not tested")
        sys.exit(77)
