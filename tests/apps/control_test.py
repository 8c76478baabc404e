"""nfx session and nfx engine against a running nfx serve."""
import json
import os
import unittest

from support import ENVIRONMENT, PATIENCE_S, FolderTest, Server, expect, run

NAME = "FIX.4.4:NEXUSFIX->CLIENT"
SETTINGS = """[control]
socket = "control.sock"
audit = "audit.log"
[[session]]
sender_comp_id = "NEXUSFIX"
target_comp_id = "CLIENT"
listen = "127.0.0.1:0"
store = "memory"
"""


class Control(FolderTest):
    def setUp(self):
        super().setUp()
        self.environment = {**ENVIRONMENT, "NFX_CONTROL": str(self.folder / "control.sock")}

    def serve(self, settings=SETTINGS):
        server = Server(folder=str(self.folder), settings=settings)
        self.addCleanup(server.end)
        return server

    def nfx(self, *arguments):
        return run(*arguments, environment=self.environment)

    def shown(self):
        out, _ = expect(self.nfx("session", "show", NAME, "--json"), err="")
        return json.loads(out)

    def test_lists_and_sets(self):
        server = self.serve()
        out, _ = expect(self.nfx("session", "list"), err="")
        self.assertRegex(out, r"SESSION +STATE +NEXT IN +NEXT OUT +PEER +SINCE\n" + NAME + " +disconnected +1 +1")
        out, _ = expect(self.nfx("session", "set", NAME, "--next-out", "120", "--expect-out", "1"), err="")
        self.assertEqual(out, NAME + ": done; disconnected, next in 1, next out 120\n")
        self.assertEqual(self.shown()["next_out"], 120)
        expect(self.nfx("session", "set", NAME, "--next-out", "130", "--expect-out", "1"), code=1, out="",
               err=["the sequence numbers are not the expected ones; nothing was changed", "next out 120"])
        self.assertEqual(self.shown()["next_out"], 120)
        audit = [json.loads(line) for line in (self.folder / "audit.log").read_text().splitlines()]
        self.assertEqual([line["event"] for line in audit], ["requested", "done", "requested", "refused"])
        self.assertEqual(server.stop()[0], 0)
        self.assertFalse(os.path.exists(self.environment["NFX_CONTROL"]))

    def test_shows_and_checks_a_journal_that_the_engine_has_open(self):
        self.serve(SETTINGS.replace('store = "memory"\n', ""))
        for command in ("show", "verify", "tail"):
            code, out, err = self.nfx("session", "store", command, NAME)
            self.assertEqual((code, err), (0, ""), command)
        code, out, _ = self.nfx("session", "store", "show", NAME)
        self.assertRegex(out, r"folder +/.*/store/[0-9a-f]{32}\n")
        self.assertRegex(out, r"segments +[12] files, \d+ bytes\n")
        code, out, _ = self.nfx("session", "store", "verify", NAME)
        self.assertRegex(out, "^" + NAME + r": ok, \d segments, \d+ records, 0 messages\n$")
        code, out, _ = self.nfx("session", "store", "verify", NAME, "--json")
        self.assertEqual(json.loads(out)["result"], "ok")

    def test_a_session_in_memory_has_no_journal_to_show(self):
        self.serve()
        for command in ("show", "verify", "tail"):
            expect(self.nfx("session", "store", command, NAME), code=1, out="",
                   err="the session has no journal: its store is memory")

    def test_says_whether_threads_run_as_planned(self):
        self.serve()
        self.assertEqual(self.nfx("engine", "verify-placement"), (0, "no [placement]: there is no plan\n", ""))

    def test_every_command_is_done_or_says_why_not(self):
        self.serve()
        cases = [(["disable"], "done; disconnected, disabled"), (["disable"], "nothing to do"), (["enable"], "done"),
                 (["hold"], "done; disconnected, held"), (["release"], "done"), (["drop"], "nothing to do"),
                 (["reset", "--force"], "nothing to do"), (["logon"], "nothing to do"),
                 (["logout", "--text", "bye"], "done; disconnected, disabled")]
        for arguments, expected in cases:
            code, out, err = self.nfx("session", arguments[0], NAME, *arguments[1:])
            self.assertEqual((code, err), (0, ""), arguments)
            self.assertIn(NAME + ": " + expected, out)
        for arguments in (["test-request"], ["resend", "--from", "1", "--force"]):
            expect(self.nfx("session", arguments[0], NAME, *arguments[1:]), code=1, out="",
                   err="the session is not logged on")
        expect(self.nfx("session", "remove", NAME))
        expect(self.nfx("session", "show", NAME), code=1, err="no such session")

    def test_adds_a_session_or_names_the_line(self):
        self.serve()
        file = self.folder / "new.toml"
        file.write_text('[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "NEW"\nlisten = "127.0.0.1:0"\n',
                        encoding="utf-8")
        out, _ = expect(self.nfx("session", "add", str(file)), err="")
        self.assertEqual(out, "FIX.4.4:NEXUSFIX->NEW: done; disconnected, next in 1, next out 1\n")
        self.assertTrue((self.folder / "store").is_dir())
        expect(self.nfx("session", "add", str(file)), code=1, out="",
               err="the session FIX.4.4:NEXUSFIX->NEW exists already")
        file.write_text(file.read_text(encoding="utf-8") + "heartbeet_s = 30\n", encoding="utf-8")
        expect(self.nfx("session", "add", str(file)), code=1, out="",
               err="config:5:15: [session] heartbeet_s: unknown key")
        self.assertIn("NEW", self.nfx("session", "list")[1])

    def test_reloads_the_configuration(self):
        self.serve()
        file = self.folder / "serve.conf"
        added = SETTINGS[SETTINGS.index("[[session]]"):].replace("CLIENT", "LATER")
        file.write_text("[engine]\nmax_fields = 600\n" + SETTINGS + "resend_timeout_s = 20\n" + added, encoding="utf-8")
        self.assertEqual(self.nfx("engine", "reload", "--plan"), (0, (
            f"change {NAME}: now\n"
            "  resend_timeout_s: 10 -> 20  (serve.conf:11)\n"
            "add FIX.4.4:NEXUSFIX->LATER: now\n"
            "[engine] max_fields: 65536 -> 600  (serve.conf:2, at the next start)\n"), ""))
        self.assertNotIn("LATER", self.nfx("session", "list")[1])
        out, _ = expect(self.nfx("engine", "reload"), code=1, out=f"change {NAME}: done\n", err="")
        self.assertTrue(out.endswith("incomplete\n"), out)
        self.assertIn("LATER", self.nfx("session", "list")[1])
        file.write_text(SETTINGS + "resend_timeout_s = 0\n", encoding="utf-8")
        expect(self.nfx("engine", "reload"), code=1, out="",
               err="serve.conf:9:20: [session] resend_timeout_s: expected an integer from 1")
        self.assertIn("LATER", self.nfx("session", "list")[1], "nothing was changed")
        file.write_text(SETTINGS, encoding="utf-8")
        out, _ = expect(self.nfx("engine", "reload"), out="remove FIX.4.4:NEXUSFIX->LATER: done\n", err="")
        self.assertTrue(out.endswith("done\n"), out)
        self.assertEqual(self.nfx("engine", "reload", "--plan"), (0, "nothing differs from the file\n", ""))

    def test_gives_a_session_other_settings(self):
        self.serve()
        file = self.folder / "client.toml"
        session = SETTINGS[SETTINGS.index("[[session]]"):]
        file.write_text(session + "max_latency_s = 60\n", encoding="utf-8")
        out, _ = expect(self.nfx("session", "change", NAME, str(file)), err="")
        self.assertEqual(out, f"change {NAME}: done\n  max_latency_s: 120 -> 60  (config:6)\ndone\n")
        self.assertEqual(self.nfx("session", "change", NAME, str(file))[1], "nothing to do\n")

    def test_prints_fewer_lines_at_another_level(self):
        self.serve()
        self.assertEqual(self.nfx("engine", "log-level", "warning"), (0, "done\n", ""))
        self.assertRegex(self.nfx("engine", "show")[1], "log_level +warning")
        self.assertEqual(self.nfx("engine", "log-level", "loud")[0], 2)

    def test_engine_drains_and_stops(self):
        server = self.serve()
        for command, expected in (("show", "state           serving"), ("threads", "no [placement]"), ("drain", "done"),
                                  ("show", "state           draining"), ("end-drain", "done"), ("stop", "done")):
            code, out, err = self.nfx("engine", command)
            self.assertEqual((code, err), (0, ""), command)
            self.assertIn(expected, out)
        self.assertEqual(server.process.wait(PATIENCE_S), 0)

    def test_says_what_is_missing(self):
        expect(self.nfx("session", "list"), code=3, out="",
               err="is an engine running whose configuration has [control] with this address?")
        expect(self.nfx("session", "set", NAME, "--next-out", "5"), code=2, err="--expect-out")
        expect(self.nfx("session", "set", NAME, "--force"), code=2, err="--next-in, --next-out or both")


if __name__ == "__main__":
    unittest.main()
