"""What `nfx codegen` writes, leaves alone, removes and refuses."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

options = None


def codegen(*arguments):
    return subprocess.run([options.nfx, "codegen", *map(str, arguments)], capture_output=True, text=True, timeout=600)


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


class Command(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.fix44 = options.dictionaries / "FIX44.xml"

    def generate(self, *arguments, folder="out"):
        done = codegen(*arguments, "--out", self.scratch / folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_same_dictionary_gives_the_same_bytes_in_every_folder(self):
        self.generate(self.fix44, folder="a")
        self.generate(self.fix44, folder="b/below")
        self.assertEqual(contents(self.scratch / "a"), contents(self.scratch / "b/below"))

    def test_names_the_dictionary_it_was_made_from_without_its_folder(self):
        self.generate(self.fix44, "--messages", "D")
        first = (self.scratch / "out/new_order_single.hpp").read_text().splitlines()[0]
        self.assertIn("nfx codegen", first)
        self.assertIn(" FIX44.xml", first)
        self.assertNotIn(str(options.dictionaries), first)

    def test_writes_only_what_was_requested(self):
        self.generate(self.fix44, "--messages", "D,OrderCancelReject")
        names = {file.name for file in (self.scratch / "out").glob("*.hpp")}
        self.assertEqual(names, {"dispatch.hpp", "fields.hpp", "forward.hpp", "header.hpp", "messages.hpp", "names.hpp", "shared.hpp",
                                 "new_order_single.hpp", "order_cancel_reject.hpp"})

    def test_second_run_leaves_every_file_untouched(self):
        self.generate(self.fix44, "--messages", "D,8")
        before = {name: (self.scratch / "out" / name).stat().st_mtime_ns for name in contents(self.scratch / "out")}
        said = self.generate(self.fix44, "--messages", "D,8")
        after = {name: (self.scratch / "out" / name).stat().st_mtime_ns for name in contents(self.scratch / "out")}
        self.assertEqual(before, after)
        self.assertIn(" 0 changed, 0 removed", said)

    def test_fields_change_whenever_anything_does(self):
        self.generate(self.fix44, "--messages", "2,4")
        before = contents(self.scratch / "out")["fields.hpp"]
        self.generate(self.fix44, "--messages", "2,5")
        self.assertNotEqual(before, contents(self.scratch / "out")["fields.hpp"])

    def test_removes_its_own_files_that_are_not_wanted_any_more_and_nothing_else(self):
        self.generate(self.fix44, "--messages", "D,8")
        mine = self.scratch / "out" / "mine.hpp"
        mine.write_text("// by hand\n")
        self.generate(self.fix44, "--messages", "D")
        self.assertFalse((self.scratch / "out/execution_report.hpp").exists())
        self.assertFalse((self.scratch / "out/groups/no_contra_brokers.hpp").exists())
        self.assertTrue((self.scratch / "out/new_order_single.hpp").exists())
        self.assertTrue(mine.exists())

    def test_selection_gives_a_message_the_text_it_has_among_all(self):
        self.generate(self.fix44, folder="all")
        self.generate(self.fix44, "--messages", "D,AE", folder="some")
        every, some = contents(self.scratch / "all"), contents(self.scratch / "some")
        for name in some.keys() - {"dispatch.hpp", "fields.hpp", "forward.hpp", "messages.hpp", "names.hpp", "shared.hpp"}:
            self.assertEqual(some[name], every[name], name)

    def test_shipped_dictionary_is_found_by_its_name(self):
        self.generate("FIX42.xml", "--messages", "D")
        self.assertIn("namespace nfx::fix42 {", (self.scratch / "out/new_order_single.hpp").read_text())

    def test_transport_gives_header_and_session_messages(self):
        self.generate(options.dictionaries / "FIX50.xml", "--transport", options.dictionaries / "FIXT11.xml")
        self.assertIn("appl_ver_id()", (self.scratch / "out/header.hpp").read_text())
        self.assertTrue((self.scratch / "out/logon.hpp").exists())
        self.assertTrue((self.scratch / "out/new_order_single.hpp").exists())

    def refuse(self, code, expected, *arguments):
        done = codegen(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(expected, done.stderr)

    def test_unknown_message_is_refused_with_the_nearest_name(self):
        self.refuse(2, "did you mean NewOrderSingle?", self.fix44, "--messages", "NewOrderSingel", "--out", self.scratch / "out")
        self.assertFalse((self.scratch / "out").exists())

    def test_invalid_namespace_is_refused(self):
        for name in ("new", "a::", "1st", "a-b", "a::class"):
            self.refuse(2, f'"{name}" is not a C++ namespace', self.fix44, "--namespace", name, "--out", self.scratch / "out")

    def test_missing_dictionary_is_refused(self):
        self.refuse(2, "none.xml", self.scratch / "none.xml", "--out", self.scratch / "out")

    def test_folder_that_cannot_be_made_is_refused(self):
        (self.scratch / "file").write_text("")
        self.refuse(1, "cannot write ", self.fix44, "--out", self.scratch / "file" / "out")

    def test_file_that_cannot_be_written_is_refused(self):
        (self.scratch / "out" / "fields.hpp").mkdir(parents=True)
        self.refuse(1, "fields.hpp: Is a directory", self.fix44, "--messages", "D", "--out", self.scratch / "out")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nfx", required=True)
    parser.add_argument("--dictionaries", required=True, type=pathlib.Path)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
