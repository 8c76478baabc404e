"""nfx config init: what it asks, what it writes, and that nfx serve takes it."""
import os
import pathlib
import re
import tempfile
import unittest

from support import PROGRAM, FolderTest, Running, expect, free_port, run, run_in

GIVEN = ["--sender", "VENUE", "--target", "CLIENT"]


class ConfigInit(FolderTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "engine.toml"

    def written(self, *options, answers=""):
        _, err = expect(run("config", "init", "--output", str(self.file), *options, data=answers.encode()), out="")
        return self.file.read_text(encoding="utf-8"), err

    def assert_refused(self, result, *parts):
        code, out, err = result
        self.assertEqual((code, out), (2, ""), err)
        for part in parts:
            self.assertIn(part, err)

    def check(self):
        """What nfx serve makes of the file."""
        out, _ = expect(run("serve", str(self.file), "--check"), err="")
        return out

    def test_every_combination_of_answers_passes_the_check(self):
        for side in ["acceptor", "initiator"]:
            for versions in ["FIX.4.0", "FIX.4.2,FIX.4.4", "FIX.4.4,FIX.5.0SP2", "FIX.5.0"]:
                for store, durability in [("memory", "none"), ("store", "group"), ("a \\ \"b\"", "message")]:
                    for placement in ["yes", "no"]:
                        with self.subTest(side=side, versions=versions, store=store, placement=placement):
                            self.written("--side", side, "--versions", versions, *GIVEN, "--address",
                                         f"127.0.0.1:{free_port()}", "--store", store, "--durability", durability,
                                         "--placement", placement, "--force")
                            out = self.check()
                            for version in versions.split(","):
                                begin = "FIXT.1.1" if version.startswith("FIX.5") else version
                                self.assertIn(f"  {side} {begin}:VENUE->CLIENT ", out)
                            if store == "memory":
                                self.assertIn("in memory", out)
                            else:
                                self.assertIn(f"{self.folder}/{store}", out)

    def test_durabilities_that_need_a_cluster_are_not_offered(self):
        for durability in ["replicated", "async"]:
            self.assert_refused(run("config", "init", "--defaults", *GIVEN, "--durability", durability), durability)
            self.assertNotIn(durability, run("config", "init", "--help")[1])

    def test_comments_are_those_of_the_table_of_keys(self):
        text, _ = self.written("--defaults", *GIVEN, "--placement", "yes")
        table = run("config", "keys", "--nexusfix")[1]
        comment, keys = [], 0
        for line in text.splitlines()[1:]:
            if line.startswith("# "):
                comment.append(line[2:])
                continue
            if " = " in line:
                keys += 1
                meaning, kind = " ".join(comment[:-1]), comment[-1]
                kind, default = re.fullmatch(r"(.*); default (.*)", kind).groups()
                self.assertIn(f"| `{line.split(' = ')[0]}` | {kind} | `{default}` | {meaning} |", table)
            comment = []
        self.assertGreaterEqual(keys, 10)

    def test_asks_for_what_is_not_given(self):
        port = free_port()
        answers = f"\nFIX.9.9\nFIX.4.2\n\nDESK\nnowhere\n127.0.0.1:{port}\nmemory\nno\n"
        text, err = self.written("--target", "VENUE", answers=answers)
        self.assertIn("Side: ", err)
        self.assertIn(" (acceptor, initiator) [acceptor]: ", err)
        self.assertIn("\"FIX.9.9\"", err)  # and why it is none
        self.assertIn("  an answer is needed\n", err)
        self.assertEqual(err.count("Address "), 2)
        self.assertNotIn("The peer's CompID", err)
        self.assertNotIn("synced", err)  # of what is in memory
        self.assertIn('sender_comp_id = "DESK"\n', text)
        self.assertIn(f'listen = "127.0.0.1:{port}"\n', text)
        self.assertIn(f"acceptor FIX.4.2:DESK->VENUE listens on 127.0.0.1:{port}", self.check())

    def test_wrong_answers_end(self):
        self.assert_refused(run("config", "init", *GIVEN, data=b"sideways\n" * 9), "expected", "give --side")
        self.assert_refused(run("config", "init", *GIVEN, data=b""), "ended without an answer: give --side")
        self.assert_refused(run("config", "init", *GIVEN, data=b"x" * 10000 + b"\n"), "--side")

    def test_answers_that_cannot_work_are_asked_again(self):
        port = free_port()
        for option, wrong, part in [("--address", b"h:0", "1 to 65535"), ("--store", b"~/store", "whole path"),
                                    ("--sender", b"x" * 4096, "at most 4095 bytes"), ("--sender", b"A\0B", "a zero byte"),
                                    ("--sender", b"x" * 100_000, "at most 4095 bytes"), ("--target", b"\0", "a zero byte")]:
            with self.subTest(option=option, wrong=wrong[:10]):
                good = {"--side": "initiator", "--versions": "FIX.4.4", "--sender": "US", "--target": "THEM",
                        "--address": f"h:{port}", "--store": "journals", "--durability": "group", "--placement": "no"}
                asked = good.pop(option)
                options = [word for pair in good.items() for word in pair]
                _, err = expect(run("config", "init", *options, data=wrong + b"\n" + asked.encode() + b"\n"),
                                out=f'"{asked}"', err=part)
                self.assertNotIn("ended", err)

    def test_an_answer_of_the_longest_is_read_whole(self):
        store = "s/" * 2047 + "s"
        self.assertEqual(len(store), 4095)
        for end in ["\n", ""]:
            expect(run("config", "init", *GIVEN, "--side", "acceptor", "--versions", "FIX.4.4", "--address", "h:1",
                       "--durability", "group", "--placement", "no", data=(store + end).encode()),
                   out=f'store_directory = "{store}"\n')

    def test_below_etc_the_journals_are_where_the_service_may_write(self):
        with tempfile.TemporaryDirectory(dir="/etc") if os.access("/etc", os.W_OK) else self.skipTest("/etc") as folder:
            file = pathlib.Path(folder) / "engine.toml"
            run("config", "init", "--defaults", *GIVEN, "--output", str(file))
            self.assertIn('store_directory = "/var/lib/nexusfix/store"\n', file.read_text(encoding="utf-8"))
            self.assertIn('socket = "/run/nexusfix/control.sock"\n', file.read_text(encoding="utf-8"))
            self.assertIn(file.stat().st_mode & 0o777, [0o600, 0o640])
            link = self.folder / "link"
            link.symlink_to(folder)
            run("config", "init", "--defaults", *GIVEN, "--output", str(link / "b.toml"))
            self.assertIn('"/var/lib/nexusfix/store"', (pathlib.Path(folder) / "b.toml").read_text(encoding="utf-8"))
            _, _, err = run("config", "init", *GIVEN, "--output", str(pathlib.Path(folder) / "c.toml"), data=b"\n\n\n")
            self.assertIn("memory for none [/var/lib/nexusfix/store]: ", err)
        self.written("--defaults", *GIVEN)
        self.assertIn('store_directory = "store"\n', self.file.read_text(encoding="utf-8"))

    def test_the_check_reports_a_folder_of_journals_that_cannot_be(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        (self.folder / "closed").mkdir(mode=0o555)
        cases = [("file", "file is not a folder"), ("file/store", "file is not a folder")]
        if os.geteuid() != 0:  # who may write everywhere
            cases += [("closed", "may not write"), ("closed/a/b", "may not write")]
        for store, part in cases:
            with self.subTest(store=store):
                self.written("--defaults", *GIVEN, "--address", f"127.0.0.1:{free_port()}", "--store", store, "--force")
                self.assert_refused(run("serve", str(self.file), "--check"), part, store, "store_directory")
        self.assertEqual(sorted(os.listdir(self.folder)), ["closed", "engine.toml", "file"])

    def test_the_check_reports_other_files_that_the_start_cannot_make(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        written, _ = self.written("--defaults", *GIVEN, "--address", f"127.0.0.1:{free_port()}")
        for content, part in [(written + '[log]\ndirectory = "file/log"\n', "file is not a folder"),
                              (written.replace('"control.sock"', '"file"'), "file is not a socket"),
                              (written.replace('"audit.log"', '"."'), "is a folder")]:
            with self.subTest(part=part):
                self.file.write_text(content, encoding="utf-8")
                self.assert_refused(run("serve", str(self.file), "--check"), part)

    def test_wrong_options_ask_nothing(self):
        for options, part in [(["--side", "both"], "--side"), (["--versions", "FIX.9"], "FIX.9"),
                              (["--address", "venue"], "expected an address such as"), (["--durability", "much"], "--durability"),
                              (["--side", "initiator", "--address", "h:0"], "1 to 65535"), (["--store", "~/store"], "whole path"),
                              (["--store", "x" * 4096], "at most 4095 bytes"),
                              (["--versions", "FIX.5.0,FIX.5.0SP1"], "FIXT.1.1"), (["--versions", "FIX.4.4,"], "")]:
            with self.subTest(options=options):
                self.assert_refused(run("config", "init", "--defaults", *GIVEN, *options), part)

    def test_defaults_ask_for_nothing(self):
        for side, ours, theirs in [("acceptor", "VENUE", "CLIENT"), ("initiator", "CLIENT", "VENUE")]:
            text, err = self.written("--defaults", "--side", side, "--address", f"127.0.0.1:{free_port()}", "--force")
            self.assertIn(f'sender_comp_id = "{ours}"\n', text)
            self.assertIn(f"our CompID in it is {ours}, the peer's {theirs}: write yours\n", err)
            self.assertIn(f"{ours}->{theirs}", self.check())

    def test_only_the_owner_may_read_the_file(self):
        self.written("--defaults", *GIVEN)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        self.file.chmod(0o644)
        self.written("--defaults", *GIVEN, "--force")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)

    def test_nfx_top_shows_the_engine_at_once(self):
        self.written("--defaults", *GIVEN, "--address", f"127.0.0.1:{free_port()}")
        server = Running(PROGRAM, "serve", self.file, folder=self.folder)
        self.addCleanup(server.stop)
        expect(run_in(self.folder, "top", "--once", "--interval", "0.2"), out="FIX.4.4:VENUE->CLIENT", err="")

    def test_overwrites_with_force_alone(self):
        self.file.write_text("kept", encoding="utf-8")
        arguments = ["config", "init", "--defaults", *GIVEN, "--output", str(self.file)]
        self.assert_refused(run(*arguments), str(self.file), "--force")
        self.assertEqual(self.file.read_text(encoding="utf-8"), "kept")
        self.assertEqual(run(*arguments, "--force")[0], 0)
        self.assertIn("[defaults]", self.file.read_text(encoding="utf-8"))

    def test_prints_without_output(self):
        expect(run_in(str(self.folder), "config", "init", "--defaults", *GIVEN), out='\ntarget_comp_id = "CLIENT"\n',
               err="")
        self.assertEqual(os.listdir(self.folder), [])

    def test_answers_cannot_add_keys(self):
        text, _ = self.written("--defaults", "--sender", 'A"#\\', "--target", "B", "--store",
                               's"\nreset_on_logon = true\n#')
        self.assertNotIn("\nreset_on_logon", text)
        self.assertEqual(text.count("\nstore_directory = "), 1)
        self.assertIn('FIX.4.4:A"#\\->B', run("config", "check", str(self.file))[1])


if __name__ == "__main__":
    unittest.main()
