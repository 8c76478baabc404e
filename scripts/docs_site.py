#!/usr/bin/env python3
"""Builds the documentation site; `./dev docs` runs it.

The pages are those of the repository: README.md, docs/, the examples, bench/RESULTS.md. The sections are those of
docs/README.md. Needs mkdocs, mkdocs-material and doxygen; nothing is fetched, and the site works from files.

    docs_site.py [--root DIR] OUTPUT     exit status 0: built; 1: a warning of mkdocs or doxygen; 2: wrong usage
    docs_site.py --as-doxygen HEADER     prints a header with its comments as Doxygen reads them
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s]+)\)")
PROGRAMS = {".cpp": "cpp", ".hpp": "cpp", ".toml": "toml", ".py": "python", ".xml": "xml"}
# Tables and programs of 120 columns need width, prose does not, and long lines of output are wrapped. Names in tables stay
# whole. The theme's headings are too pale on both backgrounds, and its links too dark on the dark one.
STYLE = """.md-grid { max-width: 76rem; }
.md-typeset :is(p, ul, ol) { max-width: 44rem; }
.md-typeset pre > code { font-size: 0.8em; }
.md-typeset .language-text code { white-space: pre-wrap; }
.md-typeset h1, .md-typeset h2 { color: inherit; font-weight: 400; }
.md-typeset table:not([class]) th { min-width: 0; }
.md-typeset td code { word-break: normal; overflow-wrap: break-word; }
[data-md-color-scheme="slate"] { --md-typeset-a-color: #82aaff; }
[data-md-color-scheme="slate"] .md-nav__link--active { color: #82aaff; }
"""
PROJECT = {"Contributing": "CONTRIBUTING.md", "Tests": "tests/README.md", "Conduct": "CODE_OF_CONDUCT.md", "Changes": "CHANGELOG.md",
           "Security": "SECURITY.md", "Benchmarks": "bench/README.md", "Results": "bench/RESULTS.md"}
API = "api/index.html"


def sections(index: str) -> list:
    """The navigation: a section for each heading of docs/README.md, with the pages that its table links to."""
    nav: list = []
    for line in index.splitlines():
        if line.startswith("## "):
            nav.append({line[3:].strip(): []})
        elif line.startswith("| ") and nav:
            pages = next(iter(nav[-1].values()))
            cell = line.split("|")[1]
            for title, target in LINK.findall(cell):
                path = pathlib.PurePosixPath("docs") / target
                name = "/".join(p for p in path.parts if p != "..")
                name = name.removeprefix("docs/") if target.startswith("../") else name
                pages.append({title[:1].upper() + title[1:]: name})
    return [section for section in nav if next(iter(section.values()))]


def linked_programs(text: str, folder: pathlib.Path) -> list[pathlib.Path]:
    paths = [folder / target.split("#")[0] for _, target in LINK.findall(text) if "://" not in target]
    return [path for path in paths if path.suffix in PROGRAMS and path.is_file()]


def stage(root: pathlib.Path, pages: pathlib.Path) -> None:
    """Copies the pages, in the folders of the repository. A program that a page links to becomes a page."""
    sources = [*root.glob("docs/*.md"), *(root / name for name in PROJECT.values()), *root.glob("*/README.md"),
               *root.glob("tests/*/README.md"), *root.glob("bench/*/*/README.md"), root / "README.md"]
    for source in sorted({path for path in sources if path.is_file()}):
        text = source.read_text(encoding="utf-8")
        for program in linked_programs(text, source.parent):
            name = program.resolve().relative_to(root)
            page = pages / (str(name) + ".md")
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f"# {name}\n\n```{PROGRAMS[name.suffix]}\n{program.read_text(encoding='utf-8')}```\n",
                            encoding="utf-8")
        text = LINK.sub(lambda m: f"[{m[1]}]({m[2]}.md)" if linked_programs(m[0], source.parent) else m[0], text)
        target = pages / source.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for picture in root.glob("docs/**/*.*"):
        if picture.suffix == ".md":
            continue
        target = pages / picture.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, target)


def mkdocs_config(root: pathlib.Path, pages: pathlib.Path, site: pathlib.Path) -> dict:
    nav: list = [{"NexusFIX": [{"Overview": "README.md"}, {"All pages": "docs/README.md"}]},
                 *sections((root / "docs/README.md").read_text(encoding="utf-8"))]
    for section in nav:
        if "Reference" in section:
            section["Reference"].append({"C++ interface": API})
    nav.append({"Project": [{title: name} for title, name in PROJECT.items() if (root / name).is_file()]})
    toggle = {"toggle": {"icon": "material/brightness-6", "name": "Light or dark"}}
    return {
        "site_name": "NexusFIX", "docs_dir": str(pages), "site_dir": str(site), "use_directory_urls": False,
        "strict": True, "nav": nav, "plugins": ["search"],
        "theme": {"name": "material", "font": False, "features": ["navigation.tabs", "toc.integrate"],
                  "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default", **toggle},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate", **toggle}]},
        "extra_css": ["site.css"],
        "markdown_extensions": ["tables", "pymdownx.superfences", "admonition", {"toc": {"permalink": True}},
                                {"pymdownx.highlight": {"use_pygments": True, "pygments_lang_class": True}}],
    }


# --- The C++ interface ------------------------------------------------------------------------------------------------

DOXYFILE = """
PROJECT_NAME = NexusFIX
INPUT = "{root}/include/nexusfix" "{work}/main.dox"
RECURSIVE = YES
FILE_PATTERNS = *.hpp *.dox
FILTER_PATTERNS = *.hpp="{python} -B {script} --as-doxygen"
STRIP_FROM_PATH = "{root}/include"
STRIP_FROM_INC_PATH = "{root}/include"
EXCLUDE_SYMBOLS = nfx::detail nfx::detail::*
OUTPUT_DIRECTORY = "{output}"
HTML_OUTPUT = api
HTML_EXTRA_STYLESHEET = "{style}"
GENERATE_LATEX = NO
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = NO
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
SORT_MEMBER_DOCS = NO
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
QUIET = YES
HAVE_DOT = NO
PREDEFINED = NDEBUG
"""
# Doxygen 1.9.4 has one set of colours.
API_STYLE = """@media (prefers-color-scheme: dark) {
  html { background: white; filter: invert(0.92) hue-rotate(180deg); }
}
"""
API_PAGE = """/** @mainpage C++ interface

The headers that are installed, by the product that they belong to. A program includes one of these:

- @ref nexusfix/fix.hpp "nexusfix/fix.hpp": parse, build and validate messages; the session as a function
- @ref nexusfix/engine.hpp "nexusfix/engine.hpp": running sessions
- @ref nexusfix/market.hpp "nexusfix/market.hpp": feeds, books, recordings, strategies
- @ref nexusfix/testing.hpp "nexusfix/testing.hpp": a session pair in one process, for tests
- nexusfix/fix44.hpp, for example: typed messages of a FIX version

The comment at the head of each <a href="files.html">file</a> states threads, cost, lifetime and errors. The
<a href="../docs/index.html">documentation</a> has tutorials, guides and the other references.
*/
"""


def as_doxygen(header: str) -> str:
    """Comments before a declaration, and behind one, as Doxygen wants them. The first comment describes the file."""
    lines, at_file_head = [], True
    for line in header.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        text = line.strip()
        if at_file_head and text.startswith("//"):
            if not lines:
                lines.append("/// @file")
            lines.append("///" + escape(text[2:]))
            continue
        at_file_head = False
        if text.startswith("// "):
            lines.append(indent + "///" + escape(text[2:]))
        elif (at := comment_behind(line)) is not None:
            lines.append(line[:at] + "///<" + escape(line[at + 2:]))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def comment_behind(line: str) -> int | None:
    """Where the comment after code begins; not within a string."""
    quoted = False
    for at, character in enumerate(line):
        if character == '"' and line[at - 1 : at] != "\\":
            quoted = not quoted
        if not quoted and line.startswith("// ", at) and line[:at].strip(" }"):
            return at
    return None


def escape(text: str) -> str:
    return re.sub(r"([\\@<>&#%$])", r"\\\1", text)


def build_api(root: pathlib.Path, work: pathlib.Path, site: pathlib.Path) -> int:
    (work / "dark.css").write_text(API_STYLE, encoding="utf-8")
    (work / "main.dox").write_text(API_PAGE, encoding="utf-8")
    (work / "Doxyfile").write_text(
        DOXYFILE.format(root=root, work=work, output=site, style=work / "dark.css", python=sys.executable,
                        script=pathlib.Path(__file__).resolve()), encoding="utf-8")
    return subprocess.run(["doxygen", work / "Doxyfile"], check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the documentation site.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--as-doxygen", type=pathlib.Path, metavar="HEADER")
    parser.add_argument("output", type=pathlib.Path, nargs="?")
    arguments = parser.parse_args()
    if arguments.as_doxygen:
        sys.stdout.write(as_doxygen(arguments.as_doxygen.read_text(encoding="utf-8")))
        return 0
    if arguments.output is None:
        parser.error("where to? docs_site.py OUTPUT")
    for program in ("mkdocs", "doxygen"):
        if shutil.which(program) is None:
            print(f"docs_site: no {program}; ./dev deps docs installs it", file=sys.stderr)
            return 2
    root, site = arguments.root.resolve(), arguments.output.resolve()
    work = site.with_name(site.name + ".work")
    shutil.rmtree(work, ignore_errors=True)
    (work / "pages/api").mkdir(parents=True)
    stage(root, work / "pages")
    (work / "pages/site.css").write_text(STYLE, encoding="utf-8")
    # mkdocs links only to what is there; Doxygen replaces it.
    (work / "pages" / API).write_text("", encoding="utf-8")
    (work / "mkdocs.yml").write_text(json.dumps(mkdocs_config(root, work / "pages", site)), encoding="utf-8")
    built = subprocess.run(["mkdocs", "build", "--clean", "--config-file", work / "mkdocs.yml"], check=False,
                           capture_output=True, text=True)
    if built.returncode != 0:
        print(re.sub(r"^ *INFO.*\n", "", built.stdout + built.stderr, flags=re.MULTILINE), file=sys.stderr)
        return 1
    if build_api(root, work, site) != 0:
        return 1
    shutil.rmtree(work)
    print(f"docs_site: {site / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
