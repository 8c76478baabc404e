#!/usr/bin/env python3
"""The checker finds each kind of break, with its file and line, and leaves a good tree alone."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_layers

LAYERS = "# lowest first\nfix/base:\nfix/wire: base\nfix/dictionary: base wire\nengine/store: base\nengine/engine: base wire store\nengine/log: base\n"

GOOD = {
    "layers.txt": LAYERS,
    "include/nexusfix/base/language.hpp": "#pragma once\n",
    "include/nexusfix/base/time.hpp": '#pragma once\n#include <chrono>\n\n#include "nexusfix/base/language.hpp"\n',
    "include/nexusfix/wire/framer.hpp": '#pragma once\n#include "nexusfix/base/time.hpp"\n',
    "src/fix/wire/framer.cpp": '#include "nexusfix/wire/framer.hpp"\n#include "wire/scan.hpp"\n#include "table.inc"\n'
                           "// never calls steady_clock::now()\n",
    "src/fix/wire/scan.hpp": "#pragma once\n",
    "src/fix/dictionary/load.cpp": "#include <fstream>\n",
    "src/engine/store/journal.cpp": "#include <sys/mman.h>\n#include <thread>\n",
    "src/engine/engine/engine.cpp": '#include <nexusfix/store/store.hpp>\n#include "wire/scan.hpp"\n',
}


OPENING = "// What it does.\n"


def lacks_opening(name: str, text: str) -> bool:
    return name.endswith((".hpp", ".cpp")) and not text.startswith("//")


class CheckLayers(unittest.TestCase):
    def output_of(self, status: int, openings: bool = True, **changes: str) -> str:
        """Runs the checker on the good tree with these files changed (path with __ for / and _DOT_ for .). Files without
        an opening get one before their first line, unless `openings` is false."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **{self.path_of(key): text for key, text in changes.items()}}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(OPENING + text if openings and lacks_opening(name, text) else text)
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                result = check_layers.main(["--root", folder])
        self.assertEqual(result, status, output.getvalue())
        return output.getvalue()

    @staticmethod
    def path_of(key: str) -> str:
        return key.replace("__", "/").replace("_DOT_", ".")

    def assert_reports(self, where: str, what: str, **changes: str) -> None:
        """The line number in `where` does not count an opening that output_of() adds."""
        name, number = where.rsplit(":", 1)
        text = {self.path_of(key): text for key, text in changes.items()}.get(name, OPENING)
        where = f"{name}:{int(number) + lacks_opening(name, text)}"
        lines = [line for line in self.output_of(1, **changes).splitlines() if line.startswith(where + ": ")]
        self.assertEqual(len(lines), 1, changes)
        self.assertIn(what, lines[0])

    def test_good_tree_has_no_broken_rule(self):
        self.assertIn("0 broken rules", self.output_of(0))

    def test_a_public_header_that_does_not_reach_the_one_of_the_language_is_reported(self):
        self.assert_reports("include/nexusfix/base/tag.hpp:0", "nexusfix/base/language.hpp",
                            include__nexusfix__base__tag_DOT_hpp="#pragma once\n")

    def test_printing_past_the_one_place_is_reported(self):
        for statement in ('std::cout << name;', 'std::cerr << name;', 'std::printf("%s", name);', 'std::puts(name);',
                          'std::fputs(name, stderr);', 'std::fwrite(name, 1, 2, stdout);',
                          '::write(STDERR_FILENO, name, 2);', '::write(1, name, 2);', 'std::perror(name);'):
            with self.subTest(statement):
                self.assert_reports("apps/nfx/serve.cpp:2", "log/print.hpp",
                                    apps__nfx__serve_DOT_cpp=f"\n{statement}\n")
                self.assert_reports("src/engine/store/journal.cpp:1", "log/print.hpp",
                                    src__engine__store__journal_DOT_cpp=f"{statement}\n")

    def test_the_one_place_itself_and_tests_may_print(self):
        self.output_of(0, src__engine__log__print_DOT_cpp="::write(STDOUT_FILENO, a, b);\n",
                       tests__wire__scan_test_DOT_cpp="std::cout << name;\n",
                       apps__nfx__words_DOT_cpp='auto x = "stdout";  // of stderr\nstd::snprintf(a, b, c);\n')

    def test_include_of_a_module_above_is_reported(self):
        self.assert_reports("include/nexusfix/base/time.hpp:2", "base may include nothing",
                            include__nexusfix__base__time_DOT_hpp='\n#include "nexusfix/wire/framer.hpp"\n')

    def test_include_of_a_sibling_is_reported(self):
        self.assert_reports("src/engine/store/journal.cpp:1", "store may include base",
                            src__engine__store__journal_DOT_cpp="#include <nexusfix/wire/framer.hpp>\n")

    def test_private_include_of_a_sibling_is_reported(self):
        self.assert_reports("src/engine/store/journal.cpp:1", "store may include base",
                            src__engine__store__journal_DOT_cpp='#include "wire/scan.hpp"\n')

    def test_private_include_in_an_installed_header_is_reported(self):
        self.assert_reports("include/nexusfix/wire/framer.hpp:1", "not installed",
                            include__nexusfix__wire__framer_DOT_hpp='#include "wire/scan.hpp"\n')

    def test_include_through_the_parent_folder_is_reported(self):
        self.assert_reports("src/engine/store/journal.cpp:1", "climbs out",
                            src__engine__store__journal_DOT_cpp='#include "../wire/scan.hpp"\n')

    def test_include_of_an_unknown_module_is_reported(self):
        self.assert_reports("src/engine/store/journal.cpp:1", "no module",
                            src__engine__store__journal_DOT_cpp='#include "nexusfix/cloud/cloud.hpp"\n')

    def test_folder_without_a_line_is_reported(self):
        self.assert_reports("src/engine/cloud:1", "no line in layers.txt", src__engine__cloud__cloud_DOT_cpp="int x;\n")

    def test_line_that_names_a_later_module_is_reported(self):
        self.assert_reports("layers.txt:1", "move that line up", layers_DOT_txt="fix/base: wire\n" + LAYERS[15:])

    def test_os_header_in_a_pure_module_is_reported(self):
        for header in ("sys/socket.h", "unistd.h", "fstream", "thread", "mutex", "filesystem", "time.h"):
            with self.subTest(header):
                self.assert_reports("src/fix/wire/framer.cpp:1", header,
                                    src__fix__wire__framer_DOT_cpp=f"#include <{header}>\n")

    def test_clock_in_a_pure_module_is_reported(self):
        for call in ("std::chrono::system_clock::now()", "steady_clock::now()", "clock_gettime(a, b)", "time(nullptr)",
                     "read_clocks()", "read_utc()"):
            with self.subTest(call):
                self.assert_reports("src/fix/wire/framer.cpp:2", "as an argument",
                                    src__fix__wire__framer_DOT_cpp=f"\nauto now = {call};\n")

    def test_only_the_loader_of_dictionaries_may_read_files(self):
        self.assert_reports("src/fix/dictionary/validate.cpp:1", "fstream",
                            src__fix__dictionary__validate_DOT_cpp="#include <fstream>\n")

    def test_file_of_701_lines_is_reported_and_of_601_noted(self):
        self.assert_reports("src/fix/wire/scan.hpp:701", "701 lines", src__fix__wire__scan_DOT_hpp=OPENING + "\n" * 700)
        self.assertIn("note: src/fix/wire/scan.hpp: 601 lines",
                      self.output_of(0, src__fix__wire__scan_DOT_hpp=OPENING + "\n" * 600))

    def test_file_without_an_opening_is_reported(self):
        good = {name.replace("/", "__").replace(".", "_DOT_"): OPENING + text for name, text in GOOD.items()
                if lacks_opening(name, "")}
        for text in ("#include <string>\n", "\n// What it does.\n", ""):
            with self.subTest(text):
                output = self.output_of(1, openings=False, **{**good, "src__fix__wire__scan_DOT_hpp": text})
                self.assertIn("src/fix/wire/scan.hpp:1: no opening", output)
                self.assertIn("1 broken rules", output)

    def test_unfinished_work_is_reported(self):
        for word in ("TO" "DO", "FIX" "ME"):
            with self.subTest(word):
                self.assert_reports("apps/nfx/main.cpp:1", word, apps__nfx__main_DOT_cpp=f"// {word} later\n")

    def test_tree_without_layers_is_misuse(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_layers.main(["--root", folder]), 2)


if __name__ == "__main__":
    unittest.main()
