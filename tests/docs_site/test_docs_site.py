#!/usr/bin/env python3
"""The documentation site: what is built, and what a browser makes of it in light and dark colours."""

import functools
import http.server
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/docs_site.py"
sys.path.insert(0, str(SCRIPT.parent))
import docs_site  # noqa: E402

TOOLS = ("mkdocs", "doxygen", "chromium")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
# One page of each section, and the C++ interface.
LANDING = ("index.html", "docs/codegen.html", "docs/tls.html", "docs/configuration.html", "docs/architecture.html")


class Parts(unittest.TestCase):
    def test_sections_are_those_of_the_index(self):
        index = "# D\n\n## Start\n\n| page | x |\n|---|---|\n| [Ex](../examples/README.md) | [no](no.md) |\n" \
                "| [the wire](wire.md), [tls](tls.md) | x |\n\n## Empty\n"
        self.assertEqual(docs_site.sections(index), [{"Start": [
            {"Ex": "examples/README.md"}, {"The wire": "docs/wire.md"}, {"Tls": "docs/tls.md"}]}])

    def test_every_page_is_in_a_section(self):
        named = {name for section in docs_site.sections((ROOT / "docs/README.md").read_text(encoding="utf-8"))
                 for pages in section.values() for page in pages for name in page.values()}
        pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} - {"docs/README.md"}
        self.assertEqual(pages - named, set())

    def test_pictures_are_what_their_script_draws(self):
        checked = subprocess.run([sys.executable, "-B", ROOT / "scripts/docs_pictures.py", "--check"], capture_output=True,
                                 text=True, check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_comments_become_documentation(self):
        self.assertEqual(docs_site.as_doxygen("// Of <T>.\n// More.\n#pragma once\n\n  // Gives \\n.\n  int a();\n"
                                              '  int b;  // its size\n  auto c = "// no";\n}  // namespace nfx\n'),
                         "/// @file\n/// Of \\<T\\>.\n/// More.\n#pragma once\n\n  /// Gives \\\\n.\n  int a();\n"
                         '  int b;  ///< its size\n  auto c = "// no";\n}  // namespace nfx\n')

    def test_linked_program_is_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "examples").mkdir()
            (root / "examples/a.cpp").write_text("int a;\n", encoding="utf-8")
            (root / "examples/README.md").write_text("[a](a.cpp) and [b](b.cpp)\n", encoding="utf-8")
            docs_site.stage(root, root / "pages")
            self.assertEqual((root / "pages/examples/README.md").read_text(encoding="utf-8"),
                             "[a](a.cpp.md) and [b](b.cpp)\n")
            self.assertIn("```cpp\nint a;\n```", (root / "pages/examples/a.cpp.md").read_text(encoding="utf-8"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@unittest.skipIf(MISSING, f"missing: {', '.join(MISSING)} (./dev deps docs reports)")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.site = pathlib.Path(cls.folder.name) / "site"
        built = subprocess.run([sys.executable, "-B", SCRIPT, cls.site], capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stdout + built.stderr
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=cls.site))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.shutdown)

    def shown(self, page: str, dark: bool) -> str:
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", f"--user-data-dir={profile}", "--virtual-time-budget=5000",
                 "--enable-logging=stderr", f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom",
                 f"http://127.0.0.1:{self.server.server_port}/{page}"], capture_output=True, text=True, check=True)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [], page)
        return done.stdout

    def test_pages_are_light_or_dark_as_the_reader_has_it(self):
        for page in LANDING:
            for dark, scheme in ((False, "default"), (True, "slate")):
                body = re.search(r"<body[^>]*>", self.shown(page, dark))[0]
                self.assertIn(f'data-md-color-scheme="{scheme}"', body, page)

    def test_page_has_sections_search_and_its_text(self):
        page = self.shown("docs/architecture.html", dark=False)
        for name in ("Start", "Guides", "Reference", "How it works", "Operations", "Project"):
            self.assertRegex(page, rf"md-tabs__link[^>]*>\s*{name}\s*<")
        self.assertIn('data-md-component="search"', page)
        self.assertIn("PollLoop::turn", page)

    def test_nothing_comes_from_elsewhere(self):
        for page in LANDING:
            text = (self.site / page).read_text(encoding="utf-8")
            self.assertEqual(re.findall(r'(?:src|<link[^>]* href)="https?://[^"]*"', text), [], page)

    def test_programs_have_colours(self):
        page = (self.site / "docs/codegen.html").read_text(encoding="utf-8")
        self.assertIn('<span class="cp">#include</span>', page)

    def test_interface_has_the_contracts_of_the_headers(self):
        page = (self.site / "api/classnfx_1_1SessionHandle.html").read_text(encoding="utf-8")
        self.assertIn("Cuts the connection without Logout", page)


if __name__ == "__main__":
    unittest.main()
