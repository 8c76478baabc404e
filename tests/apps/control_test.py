"""nfx session and nfx engine against a running nfx serve."""
import json
import os
import pathlib
import tempfile
import unittest

from support import ENVIRONMENT, PATIENCE_S, Server, run

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


class Control(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**ENVIRONMENT, "NFX_CONTROL": str(self.folder / "control.sock")}

    def serve(self, settings=SETTINGS):
        server = Server(folder=str(self.folder), settings=settings)
        self.addCleanup(server.end)
        return server

    def nfx(self, *arguments):
        return run(*arguments, environment=self.environment)

    def shown(self):
        code, out, err = self.nfx("session", "show", NAME, "--json")
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def test_lists_and_sets(self):
        server = self.serve()
        code, out, err = self.nfx("session", "list")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"SESSION +STATE +NEXT IN +NEXT OUT +PEER +SINCE\n" + NAME + " +disconnected +1 +1")
        code, out, err = self.nfx("session", "set", NAME, "--next-out", "120", "--expect-out", "1")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, NAME + ": done; disconnected, next in 1, next out 120\n")
        self.assertEqual(self.shown()["next_out"], 120)
        code, out, err = self.nfx("session", "set", NAME, "--next-out", "130", "--expect-out", "1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("the sequence numbers are not the expected ones; nothing was changed", err)
        self.assertIn("next out 120", err)
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
            code, out, err = self.nfx("session", "store", command, NAME)
            self.assertEqual((code, out), (1, ""))
            self.assertIn("the session has no journal: its store is memory", err)

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
            code, out, err = self.nfx("session", arguments[0], NAME, *arguments[1:])
            self.assertEqual((code, out), (1, ""))
            self.assertIn("the session is not logged on", err)
        code, out, _ = self.nfx("session", "remove", NAME)
        self.assertEqual(code, 0, out)
        code, _, err = self.nfx("session", "show", NAME)
        self.assertEqual(code, 1)
        self.assertIn("no such session", err)

    def test_adds_a_session_or_names_the_line(self):
        self.serve()
        file = self.folder / "new.toml"
        file.write_text('[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "NEW"\nlisten = "127.0.0.1:0"\n',
                        encoding="utf-8")
        code, out, err = self.nfx("session", "add", str(file))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "FIX.4.4:NEXUSFIX->NEW: done; disconnected, next in 1, next out 1\n")
        self.assertTrue((self.folder / "store").is_dir())
        code, out, err = self.nfx("session", "add", str(file))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("the session FIX.4.4:NEXUSFIX->NEW exists already", err)
        file.write_text(file.read_text(encoding="utf-8") + "heartbeet_s = 30\n", encoding="utf-8")
        code, out, err = self.nfx("session", "add", str(file))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("config:5:15: [session] heartbeet_s: unknown key", err)
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
        code, out, err = self.nfx("engine", "reload")
        self.assertEqual((code, err), (1, ""))
        self.assertIn(f"change {NAME}: done\n", out)
        self.assertTrue(out.endswith("incomplete\n"), out)
        self.assertIn("LATER", self.nfx("session", "list")[1])
        file.write_text(SETTINGS + "resend_timeout_s = 0\n", encoding="utf-8")
        code, out, err = self.nfx("engine", "reload")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("serve.conf:9:20: [session] resend_timeout_s: expected an integer from 1", err)
        self.assertIn("LATER", self.nfx("session", "list")[1], "nothing was changed")
        file.write_text(SETTINGS, encoding="utf-8")
        code, out, err = self.nfx("engine", "reload")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("remove FIX.4.4:NEXUSFIX->LATER: done\n", out)
        self.assertTrue(out.endswith("done\n"), out)
        self.assertEqual(self.nfx("engine", "reload", "--plan"), (0, "nothing differs from the file\n", ""))

    def test_gives_a_session_other_settings(self):
        self.serve()
        file = self.folder / "client.toml"
        session = SETTINGS[SETTINGS.index("[[session]]"):]
        file.write_text(session + "max_latency_s = 60\n", encoding="utf-8")
        code, out, err = self.nfx("session", "change", NAME, str(file))
        self.assertEqual((code, err), (0, ""))
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
        code, out, err = self.nfx("session", "list")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("is an engine running whose configuration has [control] with this address?", err)
        code, _, err = self.nfx("session", "set", NAME, "--next-out", "5")
        self.assertEqual(code, 2)
        self.assertIn("--expect-out", err)
        code, _, err = self.nfx("session", "set", NAME, "--force")
        self.assertEqual(code, 2)
        self.assertIn("--next-in, --next-out or both", err)


if __name__ == "__main__":
    unittest.main()
