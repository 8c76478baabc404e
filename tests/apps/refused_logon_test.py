"""Every way to be refused by nfx serve: the line on its standard error, the event log, and what nfx connect says."""
import datetime
import pathlib
import re
import socket
import tempfile
import unittest

from support import Server, fix, run

SESSION = ('[log]\ndirectory = "log"\n[[session]]\nsender_comp_id = "NEXUSFIX"\n'
           'target_comp_id = "CLIENT"\nlisten = "127.0.0.1:0"\nstore = "memory"\n')


class RefusedLogon(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, more="", engine=""):
        self.server = Server(self.folder, settings=engine + SESSION + more)
        self.addCleanup(self.server.end)

    def connect(self, more="", *options, sender="CLIENT"):
        file = self.folder / "connect.toml"
        file.write_text(f'[[session]]\nrole = "initiator"\nsender_comp_id = "{sender}"\ntarget_comp_id = "NEXUSFIX"\n'
                        f'connect = "127.0.0.1:{self.server.port}"\n{more}', encoding="utf-8")
        return run("connect", str(file), "--wait", "0", *options)

    def refused(self, reason, names="FIX.4.4:CLIENT->NEXUSFIX"):
        """Ends the server; its line and its event have the reason."""
        code, out, err = self.server.stop()
        self.assertEqual(code, 0)
        lines = [line for line in err.splitlines() if "Logon refused: " in line]
        self.assertEqual(len(lines), 1, err)
        self.assertRegex(lines[0], rf"^\d{{8}}-[\d:.]+ Logon refused: {reason}: .* from 127\.0\.0\.1:\d+$")
        self.assertIn(names, lines[0])
        events = "".join(file.read_text(encoding="utf-8") for file in (self.folder / "log").glob("events*"))
        self.assertIn(lines[0].split(" ", 1)[1], events)
        return out

    def says_what_silence_means(self, err):
        self.assertIn("received our Logon and sent no answer", err)
        for cause in ("unknown session", "wrong credentials", "address not allowed", "outside the session's time",
                      "connected already", "sequence number", "clock", "TLS", "too many connections"):
            self.assertIn(f"  - {cause}: ", err)

    def test_unknown_names(self):
        self.serve()
        code, _, err = self.connect(sender="STRANGER")
        self.assertEqual(code, 1)
        self.says_what_silence_means(err)
        self.assertIn("SenderCompID(49) STRANGER", err)
        self.refused("unknown_session", "FIX.4.4:STRANGER->NEXUSFIX")

    def test_a_wrong_password(self):
        self.serve('password = "right"\n')
        code, _, err = self.connect('password = "wrong"\n')
        self.assertEqual(code, 1)
        self.says_what_silence_means(err)
        self.assertNotIn("wrong\n", self.refused("credentials"))

    def test_an_address_that_no_session_allows(self):
        self.serve('allowed_addresses = "192.0.2.1"\n')
        code, _, err = self.connect()
        self.assertEqual(code, 1)
        self.says_what_silence_means(err)
        self.refused("address_not_allowed", "from 127.0.0.1")

    def test_a_wrong_sequence_number_is_answered_with_a_text_that_is_shown(self):
        self.serve("next_inbound = 5\n")
        code, _, err = self.connect("", "--no-reset")
        self.assertEqual(code, 1)
        self.assertIn("nfx: no logon: MsgSeqNum too low, expecting 5 but received 1\n", err)
        self.assertNotIn("Probable causes", err)
        self.refused("sequence_number")

    def test_a_session_that_has_a_connection(self):
        self.serve("takeover_timeout_s = 0\n")
        with socket.create_connection(("127.0.0.1", self.server.port)) as first:
            first.sendall(fix([(35, "A"), (34, 1), (49, "CLIENT"), (56, "NEXUSFIX"), (52, now()), (98, 0), (108, 30)]))
            self.assertIn(b"35=A", first.recv(4096))
            code, _, err = self.connect()
            self.assertEqual(code, 1)
            self.says_what_silence_means(err)
        self.refused("already_connected")

    def test_a_flood_is_a_few_lines_a_second(self):
        self.serve()
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", self.server.port)) as peer:
                peer.sendall(b"GET / HTTP/1.1\r\n\r\n" + b"x" * 5000)
                self.assertEqual(peer.recv(1), b"")
        _, _, err = self.server.stop()
        lines = [line for line in err.splitlines() if "Logon refused: " in line]
        seconds = {line.split(".")[0] for line in lines}
        self.assertLessEqual(len(lines), 6 * (len(seconds) + 1), err)
        self.assertEqual(sum(int(more.group(1)) if (more := re.search(r", (\d+) more", line)) else 1 for line in lines), 200)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S.%f")[:-3]


if __name__ == "__main__":
    unittest.main()
