#!/usr/bin/env python3
"""The check of links finds each kind of broken link, with file and line."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_links  # noqa: E402

GOOD = {
    "README.md": "# Project\n\nSee [wire](docs/wire.md#look-up) and [below](#below).\n\n## Below\n",
    "docs/wire.md": "# The wire\n\n### Look-up\n\n[back](../README.md), [site](https://example.com/none)\n",
    "src/wire/scan.cpp": "// Reads a message; see docs/wire.md.\n",
}


class CheckLinks(unittest.TestCase):
    def run_on(self, *arguments: str, **changes: str) -> tuple[int, str]:
        """On the good tree with these files changed (path with __ for / and _DOT_ for .)."""
        with tempfile.TemporaryDirectory() as folder:
            for key, text in {**GOOD, **changes}.items():
                path = pathlib.Path(folder, key.replace("__", "/").replace("_DOT_", "."))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = check_links.main(["--root", folder, *arguments])
        return status, output.getvalue()

    def assert_reports(self, where: str, what: str, **changes: str) -> None:
        status, output = self.run_on(**changes)
        self.assertEqual(status, 1, output)
        lines = [line for line in output.splitlines() if line.startswith(where + ": ")]
        self.assertEqual(len(lines), 1, output)
        self.assertIn(what, lines[0])

    def test_good_tree_has_no_problem(self):
        self.assertEqual(self.run_on(), (0, ""))

    def test_link_to_a_missing_file_is_reported(self):
        self.assert_reports("README.md:3", "docs/gone.md does not exist", README_DOT_md="# Project\n\n[x](docs/gone.md)\n")

    def test_image_that_is_missing_is_reported(self):
        self.assert_reports("README.md:3", "docs/gone.svg", README_DOT_md="# Project\n\n![x](docs/gone.svg)\n")

    def test_link_to_a_missing_anchor_is_reported(self):
        self.assert_reports("README.md:3", "#gone", README_DOT_md="# Project\n\n[x](docs/wire.md#gone)\n")
        self.assert_reports("README.md:3", "#gone", README_DOT_md="# Project\n\n[x](#gone)\n")

    def test_anchors_are_those_of_headings_outside_code(self):
        text = "# A `b`, c: d_e\n## Two\n## Two\n```\n# Code\n```\n"
        self.assertEqual(check_links.anchors(text), {"a-b-c-d_e", "two", "two-1"})

    def test_page_that_code_names_must_exist(self):
        self.assert_reports("src/wire/scan.cpp:2", "docs/gone.md", src__wire__scan_DOT_cpp="\n// see docs/gone.md\n")

    def test_folder_without_a_readme_is_misuse(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_links.main(["--root", folder]), 2)


if __name__ == "__main__":
    unittest.main()
