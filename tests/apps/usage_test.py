"""Help, versions and what is said about wrong usage."""
import pathlib
import re
import tempfile
import unittest

from support import run

OPTIONS = {
    "serve": ["CONFIG", "--check", "--echo", "--messages"],
    "connect": ["CONFIG", "--session", "--wait", "--logon-wait", "--no-reset", "--raw", "--color"],
    "decode": ["FILE", "--dictionary", "--only", "--validate", "--one-line", "--json", "--summary", "--color",
               "--show-secrets"],
    "version": [],
    "demo": ["--noise", "--isolate"],
    "store": ["ls", "cat", "tail", "verify", "repair", "seq", "export", "import", "rings"],
    "host": ["topology", "plan", "doctor", "explain", "collect", "apply", "verify", "revert", "watch", "noise"],
}

SESSION = '[[session]]\nsender_comp_id = "A"\ntarget_comp_id = "B"\nlisten = "127.0.0.1:0"\n'


class Usage(unittest.TestCase):
    def check_config(self, text, command=("serve", "--check")):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "engine.toml"
            file.write_text(text, encoding="utf-8")
            return run(*command, str(file))

    def assert_one_line(self, result, *parts):
        code, out, err = result
        self.assertEqual((code, out), (2, ""))
        self.assertTrue(err.startswith("nfx: "), err)
        self.assertEqual(err.count("\n"), 1, err)
        for part in parts:
            self.assertIn(part, err)

    def test_help_of_every_command_names_its_options_and_gives_an_example(self):
        for command, options in OPTIONS.items():
            with self.subTest(command=command):
                code, out, err = run(command, "--help")
                self.assertEqual((code, err), (0, ""))
                self.assertIn("nfx " + command, out)
                self.assertIn("xample", out)
                for option in options:
                    self.assertIn(option, out)

    def test_help_of_the_program_names_every_command(self):
        for arguments in [["--help"], []]:
            code, out, _ = run(*arguments)
            self.assertEqual(code, 0)
            for command in OPTIONS:
                self.assertIn(f"\n  {command} ", out)

    def test_help_of_serve_lists_the_configuration_keys(self):
        _, out, _ = run("serve", "--help")
        for key in ["poll_threads", "max_message_size", "sender_comp_id", "heartbeat_interval_s", "retain_messages"]:
            self.assertIn(f"\n  {key} = ", out)

    def test_version_names_version_compiler_and_kernel(self):
        code, out, _ = run("version")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^nfx \d+\.\d+\.\d+\ncompiler  \S+ \d+\..*\nkernel    \w+  \(of scalar.*; NFX_ISA chooses\)\n$")

    def test_the_instruction_set_can_be_chosen(self):
        _, out, _ = run("version")
        for name in re.search(r"\(of (.*);", out)[1].split(", "):
            code, chosen, _ = run("version", environment={"NFX_ISA": name})
            self.assertEqual(code, 0)
            self.assertIn(f"\nkernel    {name}  ", chosen)

    def test_an_instruction_set_that_is_none_names_those_there_are(self):
        self.assert_one_line(run("version", environment={"NFX_ISA": "mmx"}), "NFX_ISA=mmx", "scalar")

    def test_an_unknown_command_names_the_nearest_one(self):
        self.assert_one_line(run("decod"), 'unknown command "decod"', "did you mean decode?")

    def test_an_unknown_option_is_wrong_usage(self):
        self.assert_one_line(run("decode", "--frob"), "--frob", "nfx decode --help")

    def test_output_forms_exclude_each_other(self):
        self.assert_one_line(run("decode", "--json", "--one-line"), "--json", "--one-line")

    def test_a_missing_file_is_named(self):
        self.assert_one_line(run("decode", "/nowhere/messages.log"), "/nowhere/messages.log", "give the path")
        self.assert_one_line(run("serve", "/nowhere/engine.toml"), "/nowhere/engine.toml", "give the path")

    def test_a_good_configuration_is_said_to_be_good(self):
        code, out, err = self.check_config(SESSION)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("ok, 1 session", out)
        self.assertIn("acceptor FIX.4.4:A->B", out)

    def test_a_configuration_error_names_file_line_and_mend(self):
        self.assert_one_line(self.check_config(SESSION + "heartbeat_intervall_s = 5\n"), "engine.toml:5:",
                             "did you mean heartbeat_interval_s?")
        self.assert_one_line(self.check_config(SESSION + 'role = "client"\n', ["serve"]), "engine.toml:5:",
                             'expected "acceptor" or "initiator"')

    def test_connect_wants_an_initiator(self):
        self.assert_one_line(self.check_config(SESSION, ["connect"]), 'set role = "initiator"')

    def test_connect_asks_which_of_several_initiators(self):
        def initiator(name):
            return (f'[[session]]\nrole = "initiator"\nsender_comp_id = "{name}"\ntarget_comp_id = "B"\n'
                    'connect = "127.0.0.1:1"\n')
        two = SESSION + initiator("C") + initiator("D")
        self.assert_one_line(self.check_config(two, ["connect"]), "choose one, such as --session 2")
        self.assert_one_line(self.check_config(two, ["connect", "--session", "1"]), "session 1 of 3 is no initiator")


if __name__ == "__main__":
    unittest.main()
