"""Every way to be refused by nfx serve: the line on its standard error (from Application::on_logon_refused), the event
log, the counter in the metrics file, and what nfx connect reports. `-v` prints a line for each. All reasons, also those that
need a program, are in tests/engine/engine/refused_logon_test.cpp and logon_gate_test.cpp."""
import datetime
import re
import shutil
import socket
import subprocess
import sys
import unittest

from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, Server, expect, fix, run
from tls_support import Certificates

LOG = '[log]\ndirectory = "log"\nmetrics_file = "metrics.prom"\n'
SESSION = '[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "{target}"\nlisten = "127.0.0.1:0"\n'
CAUSES = ("unknown session", "wrong credentials", "address not allowed", "outside the session's time",
          "connected already", "sequence number", "clock", "TLS", "too many connections")

NEEDS_OPENSSL = unittest.skipUnless(shutil.which("openssl"), "the command openssl is missing")


def at(seconds):
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)


def message(msg_type, *fields, seq=1, seconds=0):
    return fix([(35, msg_type), (34, seq), (49, "CLIENT"), (56, "NEXUSFIX"),
                (52, at(seconds).strftime("%Y%m%d-%H:%M:%S")), *fields])


def logon(seq=1, seconds=0):
    return message("A", (98, 0), (108, 30), seq=seq, seconds=seconds)


class RefusedLogon(FolderTest):
    def setUp(self):
        super().setUp()
        self.said = "(a program's connection)"

    def serve(self, session='store = "memory"\n', engine="", template=False):
        names = SESSION.format(target="*") + "template = true\n" if template else SESSION.format(target="CLIENT")
        self.server = Server(self.folder, settings=engine + LOG + names + session)
        self.addCleanup(self.server.end)

    def connect(self, more="", *options, sender="CLIENT"):
        """Exit code and standard error of nfx connect."""
        file = self.folder / "connect.toml"
        file.write_text(f'[[session]]\nrole = "initiator"\nsender_comp_id = "{sender}"\ntarget_comp_id = "NEXUSFIX"\n'
                        f'connect = "127.0.0.1:{self.server.port}"\n{more}', encoding="utf-8")
        code, _, err = run("connect", str(file), "--wait", "0", *options)
        return code, err

    def is_silent(self, more="", *options, **names):
        """nfx connect got no answer, and lists the probable causes."""
        code, err = self.connect(more, *options, **names)
        self.assertEqual(code, 1, err)
        self.assertIn("received our Logon and sent no answer", err)
        for cause in CAUSES:
            self.assertIn(f"  - {cause}: ", err)
        self.said = "received our Logon and sent no answer; probable causes"
        return err

    def answers(self, text, more="", *options, **names):
        """nfx connect prints what the server answered."""
        code, err = self.connect(more, *options, **names)
        self.assertEqual(code, 1, err)
        self.assertIn(text, err)
        self.assertNotIn("Probable causes", err)
        self.said = next(line for line in err.splitlines() if text in line)

    def raw(self, *messages):
        """Sends these and reads until the server closes; what it sent."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_S) as peer:
            received = b""
            for message in messages:
                peer.sendall(message)
                if message is not messages[-1]:
                    received += peer.recv(65536)
            try:
                while more := peer.recv(65536):
                    received += more
            except ConnectionResetError:
                pass
            return received

    def refused(self, reason, names="FIX.4.4:CLIENT->NEXUSFIX", count=1, detail="."):
        """Ends the server; its line, its event and its counter have the reason."""
        out, err = expect(self.server.stop())
        lines = [line for line in err.splitlines() if f"Logon refused: {reason}: " in line]
        self.assertEqual(len(lines), count, err)
        self.assertRegex(lines[-1], rf"^\d{{8}}-[\d:.]+ Logon refused: {reason}: .* from 127\.0\.0\.1:\d+$")
        self.assertIn(names, lines[-1])
        self.assertRegex(lines[-1], detail)
        events = "".join(file.read_text(encoding="utf-8") for file in (self.folder / "log").glob("events*"))
        self.assertIn(lines[-1].split(" ", 1)[1], events)
        metrics = (self.folder / "metrics.prom").read_text(encoding="utf-8")
        counted = re.findall(rf'^nfx_logon_refused_total{{.*reason="{reason}".*}} (\d+)$', metrics, re.MULTILINE)
        self.assertEqual(sum(map(int, counted)), count, metrics)
        if "-v" in sys.argv:
            print(f"{reason:20} line, event, counter {count}; nfx connect: {self.said}", file=sys.stderr)
        return out

    def test_unknown_names(self):
        self.serve()
        self.assertIn("SenderCompID(49) STRANGER", self.is_silent(sender="STRANGER"))
        self.refused("unknown_session", "FIX.4.4:STRANGER->NEXUSFIX")

    def test_a_wrong_password(self):
        self.serve('store = "memory"\npassword = "right"\n')
        self.is_silent('password = "wrong"\n')
        self.assertNotIn("wrong\n", self.refused("credentials"))

    def test_an_address_that_no_session_allows(self):
        self.serve('store = "memory"\nallowed_addresses = "192.0.2.1"\n')
        self.is_silent()
        self.refused("address_not_allowed", "from 127.0.0.1")

    def test_an_address_that_sent_garbage(self):
        self.serve(engine="[engine]\nmax_invalid_logons = 1\nhold_off_s = 3600\n")
        for _ in range(11):
            self.raw(b"GET / HTTP/1.1\r\n\r\n")
        self.is_silent()
        self.refused("held_off", "from 127.0.0.1")

    def test_a_silent_connection_that_a_newer_one_needs(self):
        self.serve(engine="[engine]\nmax_pending_logons = 1\n")
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_S) as silent:
            self.assertEqual(self.connect()[0], 0)
            self.assertEqual(silent.recv(1), b"")
        self.refused("evicted", "from 127.0.0.1")

    def test_a_connection_that_is_silent_for_too_long(self):
        self.serve(engine="[engine]\npending_logon_timeout_ms = 10\n")
        self.assertEqual(self.raw(b"8=FIX"), b"")
        self.refused("logon_timeout", "from 127.0.0.1")

    def test_a_connection_at_the_end(self):
        self.serve()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_S) as silent:
            self.assertEqual(self.connect()[0], 0)  # so the silent one was accepted before the end
            silent.sendall(b"8=FIX")
            self.refused("stopping", "from 127.0.0.1")

    @NEEDS_OPENSSL
    def test_a_client_without_tls_where_it_is_needed(self):
        names = Certificates()
        self.serve(f'store = "memory"\ntls = true\ntls_certificate = "{names.file("server.crt")}"\n'
                   f'tls_key = "{names.file("server.key")}"\n')
        self.is_silent()
        self.refused("tls_handshake", "from 127.0.0.1")

    @NEEDS_OPENSSL
    def test_a_certificate_of_another_client(self):
        names = Certificates()
        tls = f'tls = true\ntls_ca = "{names.file("ca.pem")}"\n'
        shared = (f'store = "memory"\n{tls}tls_certificate = "{names.file("server.crt")}"\n'
                  f'tls_key = "{names.file("server.key")}"\ntls_client_certificate = "require"\n')
        self.serve(shared + 'tls_peer_names = "other.example"\n' +
                   SESSION.format(target="DESK") + shared + 'tls_peer_names = "desk.example"\n')
        self.is_silent(f'{tls}tls_certificate = "{names.file("client.crt")}"\n'
                       f'tls_key = "{names.file("client.key")}"\n')
        self.refused("certificate")

    def test_a_client_with_tls_where_there_is_none(self):
        self.serve()
        code, err = self.connect("tls = true\ntls_verify = false\n")
        self.assertEqual(code, 1)
        self.assertIn("does it speak TLS on this port?", err)
        self.said = err.splitlines()[0]
        self.refused("not_fix", "from 127.0.0.1", count=err.count("cannot connect"))

    def test_a_logon_that_is_too_long(self):
        self.serve(engine="[engine]\npending_logon_bytes = 256\n")
        self.is_silent(f'username = "{"x" * 64}"\npassword = "{"x" * 256}"\n')
        self.refused("too_long", "from 127.0.0.1", detail=r"BodyLength\(9\)=\d+, \[engine\] pending_logon_bytes = 256: raise it")

    def test_a_logon_with_a_wrong_body_length(self):
        self.serve()
        self.assertEqual(self.raw(fix([(35, "A"), (34, 1), (49, "CLIENT"), (56, "NEXUSFIX")], length_off=-1)), b"")
        self.refused("not_fix", "from 127.0.0.1", detail=r"BodyLength does not lead to CheckSum: BodyLength\(9\)=\d+: tell the peer")

    def test_another_message_before_the_logon(self):
        self.serve()
        self.assertEqual(self.raw(message("0")), b"")
        self.refused("not_a_logon", detail=r"\(MsgType\(35\)=0: send Logon\(35=A\) first\)")

    def test_a_logon_without_a_required_field_is_answered_with_its_name(self):
        for template in (False, True):
            for fields, name in (([(98, 0)], "HeartBtInt(108)"), ([(108, 30)], "EncryptMethod(98)")):
                with self.subTest(name, template=template):
                    self.serve(template=template)
                    text = f"{name}: Required tag missing: correct the Logon, or the session's dictionary"
                    self.assertIn(f"\x0135=5\x0134=1\x01".encode(), answer := self.raw(message("A", *fields)))
                    self.assertIn(f"\x0158={text}\x01".encode(), answer)
                    self.refused("malformed", detail=re.escape(text))

    def test_a_logon_without_a_number_is_answered_with_its_name(self):
        self.serve()
        number = fix([(35, "A"), (49, "CLIENT"), (56, "NEXUSFIX"), (52, at(0).strftime("%Y%m%d-%H:%M:%S")), (98, 0), (108, 30)])
        self.assertIn(b"\x0158=MsgSeqNum(34): Required tag missing: send it\x01", self.raw(number))
        self.refused("malformed", detail=r"MsgSeqNum\(34\): Required tag missing: send it")

    def test_a_logon_without_a_required_field_gets_no_answer_from_a_session_that_keeps_silent(self):
        self.serve('store = "memory"\nanswer_incomplete_logon = false\n')
        self.assertEqual(self.raw(message("A", (98, 0))), b"")
        self.refused("malformed", detail=r"HeartBtInt\(108\): Required tag missing")

    def test_a_stranger_learns_nothing_of_its_logon(self):
        self.serve('store = "memory"\npassword = "right"\n')
        self.assertEqual(self.raw(message("A", (98, 0), (554, "wrong"))), b"")
        self.assertNotIn("wrong\n", self.refused("malformed", detail=r"HeartBtInt\(108\): Required tag missing"))

    def test_a_logon_whose_data_has_another_length_is_no_garbage(self):
        self.serve()
        for length in ("99", "x"):
            self.assertEqual(self.raw(message("A", (98, 0), (108, 30), (95, length), (96, "abc"))), b"")
        self.refused("malformed", count=2, detail=r"\(95=x: the data field after it does not have that length\)")

    def test_another_clock(self):
        self.serve()
        self.assertNotIn(b"35=A", self.raw(logon(seconds=-600)))
        self.refused("sending_time", detail=r"SendingTime\(52\) is 60[01] s earlier than our clock, and max_latency_s allows 120: "
                                            r"synchronise both clocks with NTP or PTP")

    def test_connect_states_by_how_much_the_clocks_differ(self):
        for answer, text in ((message("5", (58, "SendingTime accuracy problem"), seconds=3600),
                              r"SendingTime accuracy problem; the peer's clock is 3(600|599) s later than this host's: synchronise both"),
                             (logon(seconds=-3600), r"SendingTime\(52\) is 360\d s earlier than our clock, and max_latency_s allows 120")):
            with self.subTest(text), socket.create_server(("127.0.0.1", 0)) as acceptor:
                acceptor.settimeout(PATIENCE_S)
                file = self.folder / "connect.toml"
                file.write_text('[[session]]\nrole = "initiator"\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "CLIENT"\n'
                                f'connect = "127.0.0.1:{acceptor.getsockname()[1]}"\n', encoding="utf-8")
                with subprocess.Popen([PROGRAM, "connect", str(file), "--wait", "0"], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True) as client:
                    with acceptor.accept()[0] as peer:
                        self.assertIn(b"35=A", peer.recv(4096))
                        peer.sendall(answer)
                        _, err = client.communicate(timeout=PATIENCE_S)
                self.assertEqual(client.returncode, 1, err)
                self.assertRegex(err, text)

    def test_a_session_outside_its_time(self):
        begin, end = (at(3600 * hours).strftime("%H:%M:%S") for hours in (2, 3))
        self.serve(f'store = "memory"\nstart_time = "{begin}"\nend_time = "{end}"\n')
        self.is_silent()
        self.refused("outside_schedule")

    def test_terms_that_are_not_accepted(self):
        self.serve()
        self.answers("HeartBtInt", "heartbeat_interval_s = 0\nallow_no_heartbeats = true\n")
        self.refused("terms")

    def test_a_wrong_sequence_number(self):
        self.serve('store = "memory"\nnext_inbound = 5\n')
        self.answers("MsgSeqNum too low, expecting 5 but received 1", "", "--no-reset")
        self.refused("sequence_number")

    def test_too_many_resets(self):
        self.serve('store = "memory"\nmax_resets_per_hour = 1\n')
        self.assertEqual([self.connect()[0] for _ in range(2)], [0, 0])  # the first one resets nothing
        self.answers("reset")
        self.refused("too_many_resets")

    def test_a_session_that_has_a_connection(self):
        self.serve('store = "memory"\ntakeover_timeout_s = 0\n')
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_S) as first:
            first.sendall(logon())
            self.assertIn(b"35=A", first.recv(4096))
            self.is_silent()
        self.refused("already_connected")

    def test_a_second_logon(self):
        self.serve()
        self.assertIn(b"35=A", self.raw(logon(), logon(2)))
        self.refused("second_logon")

    def test_more_sessions_than_a_template_may_make(self):
        self.serve(engine="[engine]\nmax_dynamic_sessions = 1\n", template=True)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_S) as first:
            first.sendall(logon())
            self.assertIn(b"35=A", first.recv(4096))
            self.is_silent(sender="SECOND")
            self.refused("too_many_sessions", "FIX.4.4:SECOND->NEXUSFIX")

    def test_a_store_that_cannot_be_opened(self):
        self.serve('store = "journal"\nstore_directory = "store"\n', template=True)
        (self.folder / "store").write_text("")  # where the folder has to be
        self.is_silent()
        self.refused("store", "FIX.4.4:NEXUSFIX->CLIENT: cannot make folder ")

    def test_a_flood_is_a_few_lines_a_second(self):
        self.serve()
        for _ in range(200):
            self.assertEqual(self.raw(b"GET / HTTP/1.1\r\n\r\n" + b"x" * 5000), b"")
        _, _, err = self.server.stop()
        lines = [line for line in err.splitlines() if "Logon refused: " in line]
        seconds = {line.split(".")[0] for line in lines}
        self.assertLessEqual(len(lines), 6 * (len(seconds) + 1), err)
        self.assertEqual(sum(int(more.group(1)) if (more := re.search(r", (\d+) more", line)) else 1 for line in lines), 200)

    def test_a_dictionary_of_orders_alone_accepts_a_logon_and_is_reported(self):
        (self.folder / "order.xml").write_text(
            '<fix type="FIX" major="4" minor="4"><header/><trailer/><messages>'
            '<message name="NewOrderSingle" msgtype="D" msgcat="app"><field name="ClOrdID" required="Y"/></message></messages>'
            '<fields><field number="11" name="ClOrdID" type="STRING"/></fields></fix>', encoding="utf-8")
        self.serve('store = "memory"\ndictionary = "order.xml"\n')
        self.assertEqual(self.connect()[0], 0)
        code, _, _ = self.server.stop()
        line = "order.xml:1: the dictionary has no Logon, Heartbeat, TestRequest, ResendRequest, Reject, SequenceReset, Logout: taken from FIX44.xml"
        self.assertEqual(code, 0)
        expect(run("serve", "--check", str(self.folder / "serve.conf")), err=["warning: ", line])
        with open(self.folder / "serve.conf", "a", encoding="utf-8") as config:
            config.write('dictionary_problems = "refuse"\n')
        code, _, err = run("config", "check", str(self.folder / "serve.conf"))
        self.assertNotEqual(code, 0)
        self.assertIn("the dictionary has no Logon", err)


if __name__ == "__main__":
    unittest.main()
