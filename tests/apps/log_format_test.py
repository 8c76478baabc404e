"""The lines of nfx serve as JSON and for systemd's journal, with a peer that writes what could break them."""
import json
import re
import signal
import tempfile
import unittest

from peer import Peer
from support import Server, expect

SESSION = ('[log]\nlines = "{lines}"\n[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "CLIENT"\n'
           'listen = "127.0.0.1:0"\nstore = "memory"\n')
NAME = "FIX.4.4:NEXUSFIX->CLIENT"
# Ends a JSON string, a line, a priority and a terminal's line, and is not UTF-8.
HOSTILE = '"}\n<0>\\ \x1b[2J\r\u00ff{"'


class LogFormat(unittest.TestCase):
    def run_session(self, lines, *options):
        """Standard output and standard error of a server with one session, and with a stranger that is refused."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server(folder.name, *options, settings=SESSION.format(lines=lines))
        self.addCleanup(server.end)
        stranger = Peer(server.port, sender=HOSTILE)
        stranger.send("A", (98, 0), (108, 30))
        self.assertIsNone(stranger.receive())
        peer = Peer(server.port)
        self.assertIsNotNone(peer.log_on())
        peer.send("5", (58, HOSTILE))
        self.assertEqual(peer.receive()["35"], "5")
        peer.close()
        stranger.close()
        after = server.line_with("logged out")
        out, err = expect(server.stop(signal.SIGTERM))
        return server.first_line + after + out, err

    def test_json_is_one_object_per_line(self):
        out, err = self.run_session("json", "--messages")
        entries = [json.loads(line) for line in out.splitlines()]
        for entry in entries + [json.loads(line) for line in err.splitlines()]:
            self.assertEqual(list(entry), ["time", "level", "what", "session", "text", "fields"])
            self.assertRegex(entry["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(entry["level"], ["error", "warning", "notice", "info"])
            self.assertIsInstance(entry["fields"], dict)
        logged_out = next(entry for entry in entries if entry["what"] == "logged out")
        self.assertEqual(logged_out["session"], NAME)
        self.assertIn('"}', logged_out["fields"]["reason"])
        self.assertTrue(logged_out["fields"]["reason"].endswith('{"'))
        refused = next(entry for entry in map(json.loads, err.splitlines()) if entry["what"] == "Logon refused")
        self.assertEqual(refused["level"], "warning")
        self.assertEqual(refused["fields"]["reason"], "unknown_session")
        self.assertEqual(refused["fields"]["sender_comp_id"], HOSTILE)
        self.assertEqual(refused["fields"]["count"], 1)

    def test_json_has_numbers_as_numbers(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server(folder.name, settings=SESSION.format(lines="json"))
        self.addCleanup(server.end)
        peer = Peer(server.port)
        peer.log_on()
        entry = json.loads(server.line_with("logged on"))
        peer.close()
        self.assertEqual((entry["what"], entry["session"], entry["level"]), ("logged on", NAME, "info"))
        self.assertEqual(entry["fields"], {"next_in": 2, "next_out": 2})

    def test_journald_has_a_priority_and_no_time(self):
        out, err = self.run_session("journald")
        lines = out.splitlines()
        for line in lines + err.splitlines():
            self.assertRegex(line, r"^<[3-6]>\S")
            self.assertIsNone(re.search(r"\d{8}-\d\d:\d\d", line), line)
        self.assertIn(f"<6>{NAME} logged out", "\n".join(lines))
        self.assertIn("<4>Logon refused: unknown_session", err)

    def test_text_stays_as_it_was(self):
        out, err = self.run_session("text")
        for line in out.splitlines() + err.splitlines():
            self.assertRegex(line, r"^\d{8}-\d\d:\d\d:\d\d\.\d{3} \S")
        self.assertRegex(out, r"\n?\d{8}-\S+ " + re.escape(NAME) + " logged out: ")

    def test_another_format_is_refused_by_name(self):
        with self.assertRaises(AssertionError) as refused:
            self.run_session("xml")
        self.assertIn("expected \"text\", \"json\" or \"journald\"", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
