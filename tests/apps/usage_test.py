"""Help, versions and the errors of wrong usage."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import expect, run


def commands(node, path=()):
    """Every command that nfx itself lists, as (words, command), groups included."""
    for each in node["commands"]:
        words = (*path, each["name"])
        yield words, each
        yield from commands(each, words)


def table():
    return json.loads(run("help", "--json")[1])


def summary_of(name, everything):
    return next(command["summary"] for command in everything["commands"] if command["name"] == name)


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
        for words, command in commands(table()):
            with self.subTest(command=" ".join(words)):
                out, _ = expect(run(*words, "--help"),
                                out=["Usage: nfx " + " ".join(words), command["summary"], "\nExamples:\n  "], err="")
                for option in command["options"]:
                    self.assertIn("\n  " + ", ".join(option["names"]), out)
                    self.assertNotEqual(option["help"], "")
                for below in command["commands"]:
                    self.assertIn(f"\n  {below['name']} ", out)

    def test_help_of_the_program_names_every_command_with_an_example(self):
        for arguments in [["--help"], [], ["-h"], ["help"]]:
            out, _ = expect(run(*arguments))
            names = [command["name"] for command in table()["commands"]]
            self.assertIn("demo", names)
            examples = out[out.index("\nExamples:\n"):]
            for name in names:
                self.assertIn(f"\n  {name} ", out)
                self.assertRegex(examples, rf"nfx {name}\b")

    def test_help_command_shows_what_the_option_shows(self):
        for words, _ in commands(table()):
            with self.subTest(command=" ".join(words)):
                self.assertEqual(run("help", *words), run(*words, "--help"))

    def test_every_example_has_a_known_command_and_known_options(self):
        # What the program's own options are called; those of jq and other programs after a pipe are not checked.
        known = {words: {name for option in command["options"] for name in option["names"]}
                 for words, command in commands(table())}
        for owner, command in commands(table()):
            for example in command["examples"]:
                for words in re.findall(r"(?:^|[|&(] )(?:sudo )?nfx ([^|&<>]*)", example):
                    words = re.sub(r"'[^']*'", "TEXT", words).split()
                    path = max((path for path in known if list(path) == words[:len(path)]), key=len, default=None)
                    with self.subTest(command=" ".join(owner), example=example):
                        self.assertIsNotNone(path, "no such command")
                        for word in words:
                            if re.fullmatch(r"--?[a-z].*", word):
                                self.assertIn(word, known[path])

    def test_the_manual_page_has_every_command_and_option(self):
        out, _ = expect(run("man"), err="")
        self.assertTrue(out.startswith(".TH NFX 1 "), out[:40])
        text = out.replace("\\-", "-")
        for words, command in commands(table()):
            section = text[text.index("\n.SS nfx " + " ".join(words) + " "):]
            section = section[:section.find("\n.SS ", 1)]
            for option in command["options"]:
                self.assertIn("\n.B " + ", ".join(option["names"]), section)

    def test_the_manual_page_is_good_roff(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is missing (package groff)")
        result = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=run("man")[1], capture_output=True, text=True,
                                check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = run("completion", "bash")[1]
        line = " ".join(f"'{word}'" for word in words)
        script += f"\nCOMP_WORDS=(nfx {line})\nCOMP_CWORD={len(words)}\n_nfx\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        result = subprocess.run(["bash", "--norc"], input=script, capture_output=True, text=True, check=False)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_completes_every_command_and_option(self):
        self.assertEqual(self.complete("dem"), ["demo"])
        everything = table()
        self.assertEqual(sorted(word for word in self.complete("") if not word.startswith("-")),
                         sorted(command["name"] for command in everything["commands"]))
        # One shell per command would take long: a group, a leaf and a nested leaf stand for the rest, which are made alike.
        for words, command in commands(everything):
            if words not in [("store",), ("serve",), ("store", "seq", "set")]:
                continue
            names = [name for option in command["options"] for name in option["names"] if name.startswith("-")]
            self.assertLessEqual(set(names), set(self.complete(*words, "-")))
            self.assertLessEqual({below["name"] for below in command["commands"]}, set(self.complete(*words, "")))

    def test_bash_completes_values(self):
        self.assertEqual(self.complete("demo", "--idle", "s"), ["spin"])
        self.assertEqual(self.complete("demo", "--orders", ""), [])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "engine.toml").touch()
            self.assertEqual(self.complete("serve", folder + "/eng"), [folder + "/engine.toml"])

    def require(self, shell):
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is missing (package {shell})")

    def complete_in_fish(self, *words):
        """What fish itself offers for the last of these words, with the explanations."""
        line = " ".join(words)
        with tempfile.TemporaryDirectory() as home:
            result = subprocess.run(
                ["fish", "--no-config", "-c", run("completion", "fish")[1] + "\ncomplete -C " + f"'nfx {line}'"],
                capture_output=True, text=True, check=False, cwd=home, env={**os.environ, "HOME": home})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return dict((line.split("\t") + [""])[:2] for line in result.stdout.splitlines())

    def complete_in_zsh(self, *words):
        """What the function adds, in zsh, with its helpers replaced by ones that print."""
        script = ("compdef() { :; }\n_describe() { print -rl -- ${(P)2} }\ncompadd() { shift; print -rl -- $@ }\n"
                  "_files() { print -r -- FILES $@ }\n")
        line = " ".join(f"'{word}'" for word in words)
        script += run("completion", "zsh")[1] + f"\nwords=(nfx {line})\nCURRENT=$#words\n_nfx\n"
        result = subprocess.run(["zsh", "--no-rcs"], input=script, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()

    def test_fish_completes_commands_options_and_values(self):
        self.require("fish")
        everything = table()
        self.assertEqual(sorted(self.complete_in_fish("")), sorted(command["name"] for command in everything["commands"]))
        self.assertEqual(self.complete_in_fish("dem"), {"demo": summary_of("demo", everything)})
        self.assertEqual(list(self.complete_in_fish("demo", "--idle", "s")), ["spin"])
        self.assertEqual(list(self.complete_in_fish("demo", "--orders", "")), [])
        options = self.complete_in_fish("store", "seq", "set", "--")
        for words, command in commands(everything):
            if words == ("store", "seq", "set"):
                self.assertLessEqual({name for option in command["options"] for name in option["names"]
                                      if name.startswith("--")}, set(options))

    def test_zsh_completes_commands_options_and_values(self):
        self.require("zsh")
        everything = table()
        shown = self.complete_in_zsh("")
        self.assertEqual(sorted(line.split(":")[0] for line in shown),
                         sorted(command["name"] for command in everything["commands"]))
        self.assertIn("demo:" + summary_of("demo", everything), shown)
        self.assertEqual(self.complete_in_zsh("demo", "--orders", ""), [])
        self.assertIn("spin", self.complete_in_zsh("demo", "--idle", ""))
        self.assertIn("FILES", self.complete_in_zsh("serve", "")[0])
        for words, command in commands(everything):
            if words in [("store",), ("serve",), ("store", "seq", "set")]:
                names = {name for option in command["options"] for name in option["names"] if name.startswith("-")}
                self.assertLessEqual(names, {line.split(":")[0] for line in self.complete_in_zsh(*words, "-")})

    def test_the_completions_are_good_scripts_of_their_shells(self):
        for shell in ["bash", "zsh", "fish"]:
            if shutil.which(shell) is not None:
                result = subprocess.run([shell, "-n"], input=run("completion", shell)[1], capture_output=True, text=True,
                                        check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""), shell)
        self.assert_one_line(run("completion", "tcsh"), "bash", "zsh", "fish")

    def test_help_of_serve_fits_a_screen_and_names_the_command_that_lists_the_keys(self):
        _, out, _ = run("serve", "--help")
        self.assertLessEqual(out.count("\n"), 60)
        self.assertIn("nfx config keys --text", " ".join(out.split()))
        out, _ = expect(run("config", "keys", "--text"))
        for key in ["poll_threads", "max_message_size", "sender_comp_id", "heartbeat_interval_s", "retain_messages"]:
            self.assertIn(f"\n  {key} = ", out)

    def test_version_names_version_compiler_and_kernel(self):
        out, _ = expect(run("version"))
        self.assertRegex(out, r"^nfx \d+\.\d+\.\d+\ncompiler  \S+ \d+\..*\nkernel    \w+  \(of scalar.*; NFX_ISA chooses\)\n$")

    def test_version_options_print_the_version_alone(self):
        for option in ["--version", "-V"]:
            out, _ = expect(run(option), err="")
            self.assertRegex(out, r"^nfx \d+\.\d+\.\d+\n$")

    def test_the_instruction_set_can_be_chosen(self):
        _, out, _ = run("version")
        for name in re.search(r"\(of (.*);", out)[1].split(", "):
            expect(run("version", environment={"NFX_ISA": name}), out=f"\nkernel    {name}  ")

    def test_an_unknown_instruction_set_names_those_there_are(self):
        self.assert_one_line(run("version", environment={"NFX_ISA": "mmx"}), "NFX_ISA=mmx", "scalar")

    def test_an_unknown_command_names_the_nearest_one(self):
        self.assert_one_line(run("decod"), 'unknown command "decod"', "did you mean decode?")

        self.assert_one_line(run("store", "sek"), 'unknown command "sek" of \'nfx store\'', "did you mean seq?")
        self.assert_one_line(run("help", "store", "sek"), 'unknown command "sek" of \'nfx store\'', "did you mean seq?")

    def test_a_group_without_a_command_is_wrong_usage(self):
        for words, command in commands(table()):
            if command["commands"]:
                self.assert_one_line(run(*words), "needs a command", "nfx " + " ".join(words) + " --help")

    def test_an_unknown_option_is_wrong_usage(self):
        self.assert_one_line(run("decode", "--frob"), "--frob", "nfx decode --help")
        self.assert_one_line(run("decode", "--one-lin"), "unknown option --one-lin", "did you mean --one-line?")
        self.assert_one_line(run("store", "ls", "journals", "more"), 'unexpected argument "more"', "nfx store ls --help")

    def test_an_argument_may_have_the_name_of_a_command(self):
        self.assert_one_line(run("decode", "version"), "version: ", "give the path")

    def test_a_flag_takes_no_value(self):
        self.assert_one_line(run("decode", "--json=1"), "--json takes no value")

    def test_an_option_takes_one_value(self):
        self.assert_one_line(run("demo", "--orders"), "--orders needs a value")
        self.assert_one_line(run("demo", "--orders", "500", "--orders", "600"), "--orders is given more than once")

    def test_a_wrong_value_names_what_is_right(self):
        self.assert_one_line(run("demo", "--orders", "5"), "--orders", "100 to 5000000")
        self.assert_one_line(run("demo", "--orders", "many"), "--orders", '"many" is not a whole number')
        self.assert_one_line(run("demo", "--seed", "-1"), "--seed", '"-1" is not a whole number')
        self.assert_one_line(run("demo", "--seed", "18446744073709551616"), "--seed", "is too large")
        self.assert_one_line(run("connect", "engine.toml", "--wait", "1s"), "--wait", '"1s" is not a number')
        self.assert_one_line(run("demo", "--idle", "spinn"), "--idle", "auto, spin, yield, block", "did you mean spin?")
        self.assert_one_line(run("host", "plan", "/nowhere/engine.toml"), "/nowhere/engine.toml", "No such file")

    def test_output_forms_exclude_each_other(self):
        self.assert_one_line(run("decode", "--json", "--one-line"), "--json", "--one-line")

    def test_a_missing_file_is_named(self):
        self.assert_one_line(run("decode", "/nowhere/messages.log"), "/nowhere/messages.log", "give the path")
        self.assert_one_line(run("serve", "/nowhere/engine.toml"), "/nowhere/engine.toml", "give the path")

    def test_a_good_configuration_is_reported_as_good(self):
        expect(self.check_config(SESSION), out=["ok, 1 session", "acceptor FIX.4.4:A->B"], err="")

    def test_a_configuration_error_names_file_line_and_fix(self):
        self.assert_one_line(self.check_config(SESSION + "heartbeat_intervall_s = 5\n"), "engine.toml:5:",
                             "did you mean heartbeat_interval_s?")
        self.assert_one_line(self.check_config(SESSION + 'role = "client"\n', ["serve"]), "engine.toml:5:",
                             'expected "acceptor" or "initiator"')

    def test_connect_wants_an_initiator(self):
        self.assert_one_line(self.check_config(SESSION, ["connect"]), 'set role = "initiator"')

    def test_connect_requires_a_choice_among_several_initiators(self):
        def initiator(name):
            return (f'[[session]]\nrole = "initiator"\nsender_comp_id = "{name}"\ntarget_comp_id = "B"\n'
                    'connect = "127.0.0.1:1"\n')
        two = SESSION + initiator("C") + initiator("D")
        self.assert_one_line(self.check_config(two, ["connect"]), "choose one, such as --session 2")
        self.assert_one_line(self.check_config(two, ["connect", "--session", "1"]), "session 1 of 3 is not an initiator")


if __name__ == "__main__":
    unittest.main()
