#!/usr/bin/env python3
"""The check of words and links finds each kind of fault, with file and line, and accepts legitimate uses."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_words  # noqa: E402

GOOD = {
    "README.md": "# Project\n\nSee [wire](docs/wire.md#look-up) and [below](#below).\n\n## Below\n",
    "docs/wire.md": "# The wire\n\n### Look-up\n\n[back](../README.md), [site](https://example.com/none)\n",
    "src/wire/scan.cpp": "// Reads a message; see docs/wire.md.\nint quiet = 0;\n",
}


class CheckWords(unittest.TestCase):
    def run_on(self, *arguments: str, **changes: str) -> tuple[int, str]:
        """On the good tree with these files changed (path with __ for / and _DOT_ for .)."""
        with tempfile.TemporaryDirectory() as folder:
            for key, text in {**GOOD, **changes}.items():
                path = pathlib.Path(folder, key.replace("__", "/").replace("_DOT_", "."))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = check_words.main(["--root", folder, *arguments])
        return status, output.getvalue()

    def counts(self, name: str, **changes: str) -> tuple[int, int]:
        """Of a word, in documents and in code."""
        _, output = self.run_on("--counts", **changes)
        row = re.search(rf"^{re.escape(name)} +(\d+) +\d+ +(\d+) ", output, re.MULTILINE)
        assert row, output
        return int(row[1]), int(row[2])

    def assert_reports(self, where: str, what: str, **changes: str) -> None:
        status, output = self.run_on(**changes)
        self.assertEqual(status, 1, output)
        lines = [line for line in output.splitlines() if line.startswith(where + ": ")]
        self.assertEqual(len(lines), 1, output)
        self.assertIn(what, lines[0])

    def test_good_tree_has_no_problem(self):
        self.assertEqual(self.run_on(), (0, f"check_words: {len(check_words.WORDS)} words, no problem\n"))

    def test_word_over_its_budget_in_a_document_is_reported_with_its_replacement(self):
        word = next(word for word in check_words.WORDS if word.name == "nobody")
        page = "# The wire\n\n### Look-up\n\n" + "for\nnobody.\n" * (word.documents + 1)
        self.assert_reports("docs/wire.md:6", "for nobody", docs__wire_DOT_md=page)
        self.assertIn(f'"nobody": {word.documents + 1} in documents, at most {word.documents}; write instead: no thread',
                      self.run_on(docs__wire_DOT_md=page)[1])

    def test_word_over_its_budget_in_code_fails(self):
        word = next(word for word in check_words.WORDS if word.name == "anew")
        text = "// Opens it anew.\n" * (word.code + 1)
        self.assertEqual(self.run_on(src__wire__scan_DOT_cpp=text)[0], 1)
        if word.code > 0:
            self.assertEqual(self.run_on(src__wire__scan_DOT_cpp="// Opens it anew.\n" * word.code)[0], 0)

    def test_every_word_of_the_table_is_found_by_its_own_name_or_example(self):
        examples = {
            "numbers": "both numbers", "is no": "it is no address", "turn": "each turn", "whose it is": "knows whose it is",
            "books": "TcpBooks", "leave": "before a message leaves", "so long": "after so long", "float": "it floats",
            "dying machine": "when the machine dies", "hold against": "held against the plan",
            "for nothing": "for want of memory", "look at": "it looks at files", "lie": "where it lies", "ours": "not ours",
            "draw together": "drawn together", "take over": "taken over", "silent file": "a silent file",
            "put away": "what was put away", "set apart": "a CPU set apart", "come about": "did not come about",
            "object to": "objects to it", "go on": "it goes on", "beside": "beside it", "mend": "mends it",
        }
        for word in check_words.WORDS:
            with self.subTest(word.name):
                text = f"// {examples.get(word.name, word.name)}.\n"
                self.assertGreaterEqual(self.counts(word.name, src__wire__scan_DOT_cpp=text)[1], 1)

    def test_code_counts_comments_and_texts_but_not_identifiers_keys_and_includes(self):
        text = ('#include "told/told.hpp"\nint told = 1\'000; auto key = find("told"); char c = \'"\';\n'
                '// told\n/* told */ print("we told you"); print(R"(was\ntold)");\n')
        self.assertEqual(self.counts("tell", src__wire__scan_DOT_cpp=text), (0, 4))

    def test_tests_are_checked_as_the_code_they_test(self):
        self.assert_reports("tests/wire/scan_test.cpp:2", "opens it anew", tests__wire__scan_test_DOT_cpp="\n// opens it anew\n")

    def test_documents_do_not_count_code(self):
        page = "# A\n\n### Look-up\n\n`told` and ``told``\n\n```\ntold\n```\n\n    told\n\n[x](docs/told)\n\ntold\n"
        self.assertEqual(self.counts("tell", docs__wire_DOT_md=page), (1, 0))

    def test_copied_table_of_quickfix_keys_is_not_counted(self):
        page = "# Q\n\ntold\n\n## All keys\n\n| told | told |\n"
        self.assertEqual(self.counts("tell", docs__quickfix_DOT_md=page), (1, 0))

    def test_phrase_is_found_across_a_line_break_but_not_across_a_blank_line(self):
        self.assertEqual(self.counts("at once", src__wire__scan_DOT_cpp="// all at\n// once\n"), (0, 1))
        self.assertEqual(self.counts("at once", src__wire__scan_DOT_cpp='print("all at "\n      "once again");\n'), (0, 1))
        self.assertEqual(self.counts("at once", src__wire__scan_DOT_cpp="// all at\n\n// once\n"), (0, 0))

    def test_exception_of_a_word_is_not_counted(self):
        self.assertEqual(self.counts("is no", src__wire__scan_DOT_cpp="// There is no file. It is no longer. It is no file.\n"), (0, 1))

    def test_link_to_a_missing_file_is_reported(self):
        self.assert_reports("README.md:3", "docs/gone.md does not exist", README_DOT_md="# Project\n\n[x](docs/gone.md)\n")

    def test_image_that_is_missing_is_reported(self):
        self.assert_reports("README.md:3", "docs/gone.svg", README_DOT_md="# Project\n\n![x](docs/gone.svg)\n")

    def test_link_to_a_missing_anchor_is_reported(self):
        self.assert_reports("README.md:3", "#gone", README_DOT_md="# Project\n\n[x](docs/wire.md#gone)\n")
        self.assert_reports("README.md:3", "#gone", README_DOT_md="# Project\n\n[x](#gone)\n")

    def test_anchors_are_those_of_headings_outside_code(self):
        text = "# A `b`, c: d_e\n## Two\n## Two\n```\n# Code\n```\n"
        self.assertEqual(check_words.anchors(text), {"a-b-c-d_e", "two", "two-1"})

    def test_page_that_code_names_must_exist(self):
        self.assert_reports("src/wire/scan.cpp:2", "docs/gone.md", src__wire__scan_DOT_cpp="\n// see docs/gone.md\n")

    def test_list_prints_every_occurrence(self):
        status, output = self.run_on("--list", "anew", src__wire__scan_DOT_cpp="\n// read anew\n")
        self.assertEqual((status, output), (0, "src/wire/scan.cpp:2: read anew\n"))

    def test_folder_without_a_readme_is_misuse(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_words.main(["--root", folder]), 2)


if __name__ == "__main__":
    unittest.main()
