"""nfx serve and nfx connect with each other, over loopback."""
import datetime
import json
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import quickfix_examples
from peer import Peer
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, Server, expect, fix, run

ORDER = "35=D|11=abc|55=IBM|54=1|38=100|40=1|60=20240102-12:00:00"


class ServeAndConnect(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.server = None

    def serve(self, *options, **how):
        self.server = Server(self.folder, *options, **how)
        self.addCleanup(self.server.end)
        return self.server

    def config(self, port, sender="CLIENT"):
        file = pathlib.Path(self.folder) / "connect.toml"
        file.write_text(f'[[session]]\nrole = "initiator"\nsender_comp_id = "{sender}"\ntarget_comp_id = "NEXUSFIX"\n'
                        f'connect = "127.0.0.1:{port}"\n', encoding="utf-8")
        return str(file)

    def connect(self, lines, *options, port=None, sender="CLIENT"):
        config = self.config(port or self.server.port, sender)
        return run("connect", config, "--wait", "1", *options, data=lines.encode("latin-1"))

    def test_an_order_comes_back_as_an_echo(self):
        server = self.serve("--echo")
        expect(self.connect(ORDER + "\n"), out="NewOrderSingle #2 ClOrdID=abc Symbol=IBM Side=1(BUY)",
               err=["CLIENT->NEXUSFIX logged on", "CLIENT->NEXUSFIX logged out"])
        code, log, err = server.stop()
        self.assertEqual((code, err), (0, ""))
        self.assertIn("FIX.4.4:NEXUSFIX->CLIENT logged on, next in 2, next out 2\n", log)
        self.assertIn("FIX.4.4:NEXUSFIX->CLIENT logged out", log)

    def test_every_second_message_is_written_as_a_trace_for_opentelemetry(self):
        server = self.serve("--echo", settings='[log]\ndirectory = "log"\ntrace_every = 2\n' + Server.TOML)
        out, _ = expect(self.connect("\n".join([ORDER] * 6) + "\n"))
        self.assertEqual(out.count("NewOrderSingle"), 6)
        self.assertEqual(server.stop()[0], 0)
        [file] = pathlib.Path(self.folder, "log").glob("traces-*.log")
        spans = [span for line in file.read_text(encoding="utf-8").splitlines()
                 for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]]
        ways = [span for span in spans if "parentSpanId" not in span]
        numbers = [attribute["value"] for span in ways for attribute in span["attributes"]
                   if attribute["key"] == "nexusfix.msg_seq_num"]
        self.assertEqual(numbers, [{"intValue": "3"}, {"intValue": "5"}, {"intValue": "7"}])
        self.assertEqual(len({span["traceId"] for span in ways}), 3)
        for way in ways:
            self.assertRegex(way["traceId"], "^[0-9a-f]{32}$")
            inside = [span for span in spans if span.get("parentSpanId") == way["spanId"]]
            self.assertEqual([span["name"] for span in inside],
                             ["read_to_application", "in_application", "commit_to_socket"])
            times = [int(way["startTimeUnixNano"])]
            for span in inside:
                self.assertEqual(span["traceId"], way["traceId"])
                self.assertEqual(int(span["startTimeUnixNano"]), times[-1])
                times.append(int(span["endTimeUnixNano"]))
            self.assertEqual(times, sorted(times))
            self.assertEqual(times[-1], int(way["endTimeUnixNano"]))
            self.assertLess(abs(times[0] / 1e9 - time.time()), 3600)

    def test_traces_need_a_folder_and_the_latencies(self):
        for settings, expected in (("[log]\ntrace_every = 2\n", "needs directory"),
                                   ('[log]\ndirectory = "log"\ntrace_every = 2\n[engine]\nlatency = false\n',
                                    "trace_every: traces are made of the latencies")):
            config = pathlib.Path(self.folder) / "wrong.toml"
            config.write_text(settings + Server.TOML, encoding="utf-8")
            expect(run("serve", "--check", str(config)), code=2, err=expected)

    def test_quickfix_settings_of_both_sides_do_the_same(self):
        common = "[DEFAULT]\nStartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2\n"
        server = self.serve("--echo", settings=common + "ConnectionType=acceptor\nSocketAcceptAddress=127.0.0.1\n"
                            "SocketAcceptPort=0\n[SESSION]\nSenderCompID=NEXUSFIX\nTargetCompID=CLIENT\n")
        client = pathlib.Path(self.folder) / "client.cfg"
        client.write_text(common + "ConnectionType=initiator\nHeartBtInt=30\nSocketConnectHost=127.0.0.1\n"
                          f"SocketConnectPort={server.port}\n[SESSION]\nSenderCompID=CLIENT\nTargetCompID=NEXUSFIX\n",
                          encoding="utf-8")
        expect(run("connect", str(client), "--wait", "1", data=(ORDER + "|9730=new\n").encode()),
               out="NewOrderSingle #2 ClOrdID=abc")
        expect(server.stop(),
               out=["FIXT.1.1:NEXUSFIX->CLIENT logged on",
                    "delivered although: Invalid tag number, tag 9730, message type D"])

    def test_settings_like_quickfixs_examples_work_without_the_files_that_they_name(self):
        server = self.serve("--echo", settings=quickfix_examples.executor())
        client = pathlib.Path(self.folder) / "tradeclient.cfg"
        client.write_text(quickfix_examples.tradeclient(server.port), encoding="utf-8")
        order = ORDER.replace("40=1", "40=1|21=1")
        expect(run("connect", str(client), "--wait", "1", data=(order + "\n").encode()),
               out="NewOrderSingle #2 ClOrdID=abc",
               err=["SSLProtocol: has no effect: it has only versions older than TLS 1.2",
                    "../spec/FIX42.xml: no such file, so the shipped dictionary of that name is read"])
        expect(server.stop(), out="FIX.4.2:EXECUTOR->CLIENT1 logged on",
               err=["../spec/FIX40.xml, ../spec/FIX42.xml: no such file", "the session is NOT ENCRYPTED"])

    def test_optional_header_fields_travel_in_the_header_and_back(self):
        self.serve("--echo")
        code, out, _ = self.connect("11=abc|8=FIX.4.2|9=1|34=77|49=X|52=y|35=B|148=hello|33=1|58=line|50=desk|10=000\n", "--raw")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^8=FIX\.4\.4\|9=\d+\|35=B\|34=2\|49=NEXUSFIX\|52=[-\d:.]+\|56=CLIENT\|50=desk\|11=abc\|148=hello"
                              r"\|33=1\|58=line\|10=\d{3}\|\n$")

    def test_without_echo_messages_are_refused(self):
        self.serve()
        expect(self.connect(ORDER + "\n"), out=["BusinessMessageReject #2 RefSeqNum=2", "BusinessRejectReason=4"])

    def test_all_lines_arrive_in_order(self):
        count = 2000
        self.serve("--echo")
        lines = "".join(f"35=B|148=n{i}|33=1|58={'x' * 500}\n" for i in range(count))
        out, _ = expect(self.connect(lines, "--raw"))
        self.assertEqual(re.findall(r"\|148=(n\d+)\|", out), [f"n{i}" for i in range(count)])

    def test_a_second_run_logs_on_again(self):
        self.serve("--echo")
        for _ in range(2):
            expect(self.connect(ORDER + "\n"), out="ClOrdID=abc")

    def test_a_second_run_that_may_not_reset_is_refused_for_its_sequence_number(self):
        self.serve("--echo")
        self.assertEqual(self.connect(ORDER + "\n", "--no-reset")[0], 0)
        expect(self.connect(ORDER + "\n", "--no-reset"), code=1, err="nfx: no logon: MsgSeqNum too low")

    def test_a_killed_server_continues_with_its_sequence_numbers_and_messages(self):
        first = self.serve("--echo")
        self.assertEqual(self.connect(ORDER + "\n", "--no-reset")[0], 0)
        first.stop(signal.SIGKILL)
        second = self.serve("--echo")
        self.assertIn("FIX.4.4:NEXUSFIX->CLIENT resumes with next in 4, next out 4; the last process did not close it",
                      second.process.stdout.readline())
        self.assertEqual(second.stop()[0], 0)
        expect(run("store", "cat", str(pathlib.Path(self.folder) / "store"), "--one-line"),
               out=["NewOrderSingle (D) #2 NEXUSFIX -> CLIENT", "ClOrdID=abc"])

    def test_the_session_chosen_is_the_one_that_connects(self):
        server = self.serve("--echo")
        config = self.config(server.port, "STRANGER")
        with open(config, "a", encoding="utf-8") as file:
            file.write('[[session]]\nrole = "initiator"\nsender_comp_id = "CLIENT"\ntarget_comp_id = "NEXUSFIX"\n'
                       f'connect = "127.0.0.1:{server.port}"\n')
        _, err = expect(run("connect", config, "--session", "2", "--wait", "0"), err="CLIENT->NEXUSFIX logged on")
        self.assertNotIn("STRANGER", err)

    def test_no_input_is_a_test_of_the_connection(self):
        self.serve()
        expect(self.connect(""), out="")

    def test_lines_that_are_not_messages_are_named_and_the_rest_is_sent(self):
        self.serve("--echo")
        expect(self.connect(f"# a comment\n\nfoo\n55=IBM\n35=0\n35=D|55=\n35=B|58={'x' * 70000}\n" f"{ORDER}\n"),
               code=1, out="ClOrdID=abc",
               err=['nfx: line 3: a tag is not a number at "foo": write fields as 35=D',
                    "nfx: line 4: no MsgType(35)", "nfx: line 5: 35=0 is a message of the session",
                    "nfx: line 6: 55= has no value", "nfx: line 7: longer than 64 KiB"])

    def test_passwords_are_masked_in_what_is_printed(self):
        server = self.serve("--echo", "--messages")
        for options in [[], ["--raw"]]:
            out, _ = expect(self.connect(ORDER + "|554=hunter2\n", *options), out="***")
            self.assertNotIn("hunter2", out)
        _, log, _ = server.stop()
        self.assertIn(" in   8=FIX.4.4|", log)
        self.assertIn(" out  8=FIX.4.4|", log)
        self.assertIn("554=***|", log)
        self.assertNotIn("hunter2", log)

    def test_a_refused_logon_fails(self):
        self.serve()
        expect(self.connect(ORDER + "\n", sender="STRANGER"), code=1, out="", err="nfx: no logon")

    def test_a_refused_logon_after_a_lost_connection_is_tried_again(self):
        """The venue ends the connection, and closes the next one before it answers the Logon."""
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(PATIENCE_S)
        self.addCleanup(listener.close)
        logged_on = threading.Event()
        order = []

        def venue():
            for does in ("answer and close", "close", "go on"):
                peer = Peer.accepted(listener, sender="NEXUSFIX", target="CLIENT")
                peer.receive_kind("A")
                if does != "close":
                    peer.send("A", (98, 0), (108, 30), (141, "Y"))
                if does == "go on":
                    logged_on.set()
                    order.append(peer.receive_kind("D"))
                peer.close()

        threading.Thread(target=venue, daemon=True).start()
        client = subprocess.Popen([PROGRAM, "connect", self.config(listener.getsockname()[1]), "--logon-wait", "30",
                                   "--wait", "0"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=ENVIRONMENT)
        self.addCleanup(client.kill)
        self.assertTrue(logged_on.wait(PATIENCE_S), "no Logon on the third connection")
        _, err = client.communicate(ORDER.encode() + b"\n", timeout=PATIENCE_S)
        err = err.decode()
        self.assertEqual([each["11"] for each in order], ["abc"], err)
        self.assertEqual(err.count("logged on"), 2, err)
        self.assertIn("no logon: the connection ended before the peer answered Logon", err)

    def test_a_control_section_is_said_to_have_no_effect(self):
        self.serve()
        config = pathlib.Path(self.config(self.server.port))
        text = config.read_text(encoding="utf-8")
        config.write_text('[control]\nsocket = "control.sock"\naudit = "audit.log"\n' + text, encoding="utf-8")
        expect(run("connect", str(config), "--wait", "0"),
               err=f"nfx: {config}: [control] is for 'nfx serve' and has no effect here\n")

    def test_no_listener_fails_after_the_time_allowed(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            code, _, err = self.connect(ORDER + "\n", "--logon-wait", "0.3", port=unused.getsockname()[1])
        self.assertEqual(code, 1)
        self.assertIn("cannot connect", err)
        self.assertIn("nfx: no Logon within --logon-wait", err)

    def test_an_address_in_use_is_a_configuration_error(self):
        server = self.serve()
        config = pathlib.Path(self.folder) / "same.toml"
        config.write_text('[[session]]\nsender_comp_id = "A"\ntarget_comp_id = "B"\n'
                          f'listen = "127.0.0.1:{server.port}"\n', encoding="utf-8")
        expect(run("serve", str(config)), code=2,
               err=f"127.0.0.1:{server.port}: Address already in use; choose a free address")

    def test_interrupting_either_side_logs_out_cleanly(self):
        server = self.serve("--echo")
        client = subprocess.Popen([PROGRAM, "connect", self.config(server.port)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
        self.assertIn("logged on", client.stderr.readline())
        client.send_signal(signal.SIGINT)
        self.assertIn("logged out", client.stderr.readline())
        client.communicate(timeout=PATIENCE_S)
        self.assertEqual(client.returncode, 0)
        log, _ = expect(server.stop(signal.SIGINT))
        self.assertEqual(len(re.findall("logged out", log)), 1)

    def test_a_second_signal_ends_the_program_immediately(self):
        server = self.serve()
        # A peer that logs on and then never answers the Logout keeps the server waiting.
        with socket.create_connection(("127.0.0.1", server.port)) as peer:
            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S")
            peer.sendall(fix([(35, "A"), (34, 1), (49, "CLIENT"), (52, now), (56, "NEXUSFIX"), (98, 0), (108, 30)]))
            self.assertIn(b"35=A", peer.recv(4096))
            server.process.send_signal(signal.SIGTERM)
            self.assertIn(b"35=5", peer.recv(4096))
            server.process.send_signal(signal.SIGTERM)
            server.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(server.process.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
