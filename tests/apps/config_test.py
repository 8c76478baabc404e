"""nfx config: conversion of QuickFIX settings, and where every setting comes from."""
import pathlib
import stat
import unittest

from support import FolderTest, expect, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/engine/config/data"

BROKER = """[DEFAULT]
ConnectionType=initiator
NonStopSession=Y
HeartBtInt=30
JdbcURL=db
[SESSION]
BeginString=FIX.4.4
SenderCompID=US
TargetCompID=THEM
SocketConnectHost=127.0.0.1
SocketConnectPort=9
ResetOnLogin=Y
"""


class Config(FolderTest):
    def write(self, text, name="broker.cfg"):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return file

    @staticmethod
    def settings(text):
        """The settings that check prints, without where they come from."""
        lines = text.splitlines()[1:]
        return [line.split("  ")[1] if line.startswith("  ") else line for line in lines
                if not line.startswith(("warning:", "note:"))]

    def assert_refused(self, result, *parts):
        code, out, err = result
        self.assertEqual((code, out), (2, ""))
        self.assertTrue(err.startswith("nfx: "), err)
        for part in parts:
            self.assertIn(part, err)

    def test_keys_is_the_table_of_the_documentation(self):
        out, _ = expect(run("config", "keys", "--quickfix"), err="")
        self.assertGreater(out.count("\n"), 150)
        page = (ROOT / "docs/quickfix.md").read_text(encoding="utf-8")
        self.assertTrue(page.endswith("\n" + out), "docs/quickfix.md: its table is not what 'nfx config keys --quickfix' prints")
        ours = run("config", "keys", "--nexusfix")[1]
        self.assertIn("\n" + ours, (ROOT / "docs/configuration.md").read_text(encoding="utf-8"))
        self.assertEqual(run("config", "keys"), (0, ours + "\n" + out, ""))

    def test_check_names_the_line_of_every_given_setting(self):
        out, _ = expect(run("config", "check", str(self.write(BROKER))),
                        out=["broker.cfg: QuickFIX settings, ok, 1 session\n", "\nFIX.4.4:US->THEM\n"], err="")
        self.assertRegex(out, r'\n  role = "initiator" +broker\.cfg:2 \[DEFAULT\] ConnectionType\n')
        self.assertRegex(out, r'\n  connect = "127\.0\.0\.1:9" +broker\.cfg:10 \[SESSION\] SocketConnectHost, SocketConnectPort\n')
        self.assertRegex(out, r"\n  reconnect_delay_ms = 30000 +QuickFIX's default of ReconnectInterval\n")
        self.assertRegex(out, r"\n  logout_timeout_s = 2 +built-in default\n")
        self.assertRegex(out, r"\nwarning: .*broker\.cfg:5: \[DEFAULT\] JdbcURL: .*write FileStorePath")
        self.assertRegex(out, r"\nwarning: .*broker\.cfg:12: \[SESSION\] ResetOnLogin: .*did you mean ResetOnLogon\?")
        self.assertIn("\nnote: fields that the dictionary does not expect are delivered", out)

    def test_check_of_given_settings_leaves_defaults_out(self):
        out, _ = expect(run("config", "check", "--given", str(self.write(BROKER))), out="heartbeat_interval_s = 30")
        self.assertNotIn("built-in default", out)
        self.assertNotIn("[engine]", out)

    def test_check_reads_toml(self):
        file = self.write('[defaults]\nsender_comp_id = "US"\n[[session]]\ntarget_comp_id = "THEM"\nlisten = "127.0.0.1:0"\n',
                          "engine.toml")
        out, _ = expect(run("config", "check", str(file)), out="engine.toml: TOML, ok, 1 session\n", err="")
        self.assertRegex(out, r'\n  sender_comp_id = "US" +engine\.toml:2 \[defaults\]\n')
        self.assertRegex(out, r'\n  target_comp_id = "THEM" +engine\.toml:4\n')

    def test_check_refuses_what_is_wrong(self):
        self.assert_refused(run("config", "check", str(self.write(BROKER + "SocketKeyStore=a.jks\n"))),
                            "broker.cfg:13: [SESSION] SocketKeyStore: ", "keytool")
        self.assert_refused(run("config", "check", "/nowhere/broker.cfg"), "cannot read /nowhere/broker.cfg: ")

    def test_converted_samples_mean_the_same(self):
        files = sorted(DATA.glob("*.cfg"))
        self.assertGreaterEqual(len(files), 10)
        for file in files:
            with self.subTest(file=file.name):
                toml = self.folder / (file.stem + ".toml")
                expect(run("config", "convert", str(file), "--out", str(toml)), out="")
                before, _ = expect(run("config", "check", str(file)))
                after, _ = expect(run("config", "check", str(toml)))
                self.assertEqual(self.settings(before), self.settings(after))

    def test_conversion_goes_to_standard_output_and_warnings_do_not(self):
        out, err = expect(run("config", "convert", str(self.write(BROKER))))
        self.assertRegex(out, r'\ntarget_comp_id = "THEM" +# line 9: TargetCompID\n')
        self.assertIn("warning: ", err)
        self.assertIn("broker.cfg:5: [DEFAULT] JdbcURL: ", err)

    def test_conversion_overwrites_nothing(self):
        file, out = self.write(BROKER), self.write("kept", "broker.toml")
        expect(run("config", "convert", str(file), "--out", str(out)), code=1, err="give another name")
        self.assertEqual(out.read_text(encoding="utf-8"), "kept")

    def test_secrets_are_neither_printed_nor_readable_by_others(self):
        file, toml = self.write(BROKER + "LogonTag=553=me\nLogonTag1=554=hidden\n"), self.folder / "broker.toml"
        _, err = expect(run("config", "convert", str(file)), code=2, out="", err="broker.cfg:14: has a secret")
        _, more = expect(run("config", "convert", str(file), "--out", str(toml)), out="")
        self.assertEqual(stat.S_IMODE(toml.stat().st_mode), 0o600)
        self.assertIn('password = "hidden"', toml.read_text(encoding="utf-8"))
        shown = ""
        for each in (file, toml):
            out, _ = expect(run("config", "check", str(each)), out='password = "***"')
            shown += out
        self.assertNotIn("hidden", shown + err + more)

    def test_password_in_a_variable_stays_there(self):
        file = self.write(BROKER + "LogonTag=554=${BROKER_PASSWORD}\n")
        out, err = expect(run("config", "convert", str(file), environment={"BROKER_PASSWORD": "hidden"}),
                          out='password_env = "BROKER_PASSWORD"')
        self.assertNotIn("hidden", out + err)
        self.assert_refused(run("config", "convert", str(file)), "the environment variable BROKER_PASSWORD is not set")

    def test_toml_needs_no_conversion(self):
        file = self.write('[[session]]\nsender_comp_id = "A"\n', "engine.toml")
        self.assert_refused(run("config", "convert", str(file)), "engine.toml:1: no QuickFIX settings")

    def test_help_gives_examples(self):
        for command in ["convert", "check", "keys"]:
            expect(run("config", command, "--help"), out=f"nfx config {command}", err="")
        expect(run("config"), code=2, err="nfx config --help")


if __name__ == "__main__":
    unittest.main()
