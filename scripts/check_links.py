#!/usr/bin/env python3
"""Checks the links of the documents; part of ./dev lint and of the tests.

A relative link in a document must name an existing file, and its #anchor an existing heading. A mention of docs/NAME.md
in code must name an existing page.

    check_links.py [--root DIR]     exit status 0: all links are good; 1: not; 2: wrong usage
"""

import argparse
import pathlib
import re
import sys
from collections.abc import Iterator

DOCUMENTS = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "examples/README.md", "tests/README.md",
             "bench/README.md", "bench/RESULTS.md", "tests/conformance/README.md")
CODE = ("apps", "bench", "src", "include/nexusfix", "dev", "examples", "tests")
CODE_SUFFIXES = (".hpp", ".cpp")

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
PAGE_IN_CODE = re.compile(r"\bdocs/[\w-]+\.md\b")


class Tree:
    def __init__(self, root: pathlib.Path) -> None:
        self.root = root

    def files(self, tops: tuple[str, ...], suffixes: tuple[str, ...]) -> Iterator[pathlib.Path]:
        for top in tops:
            path = self.root / top
            if path.is_file():
                yield path
            for inside in sorted(path.rglob("*")) if path.is_dir() else ():
                if inside.suffix in suffixes and inside.is_file():
                    yield inside

    def name(self, path: pathlib.Path) -> str:
        return path.relative_to(self.root).as_posix()

    def bad_links(self) -> list[str]:
        problems = []
        for path in self.files(DOCUMENTS, (".md",)):
            text = prose_with_links(path.read_text(encoding="utf-8"))
            for match in LINK.finditer(text):
                problem = self.problem_of(path, match[1])
                if problem:
                    problems.append(f"{self.name(path)}:{text.count(chr(10), 0, match.start()) + 1}: {problem}")
        for path in self.files(CODE, CODE_SUFFIXES):
            text = path.read_text(encoding="utf-8")
            for match in PAGE_IN_CODE.finditer(text):
                if not (self.root / match[0]).is_file():
                    problems.append(f"{self.name(path)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]} does not exist")
        return problems

    def problem_of(self, document: pathlib.Path, target: str) -> str | None:
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            return None
        file, _, anchor = target.partition("#")
        path = (document.parent / file) if file else document
        if not path.exists():
            return f"link to {target}: {file} does not exist"
        if anchor and (path.suffix != ".md" or anchor not in anchors(path.read_text(encoding="utf-8"))):
            return f"link to {target}: no heading has the anchor #{anchor}"
        return None


def prose_with_links(text: str) -> str:
    """Without code, in which nothing is a link."""
    fenced = False
    lines = []
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        lines.append("" if fence or fenced else line)
        fenced ^= fence
    return "\n".join(lines)


def anchors(text: str) -> set[str]:
    """Of a page's headings, as GitHub names them."""
    seen: dict[str, int] = {}
    result = set()
    for line in prose_with_links(text).split("\n"):
        heading = re.match(r"#{1,6} (.*)", line)
        if not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        slug = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        result.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return result


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    root = parser.parse_args(arguments).root.resolve()
    if not (root / "README.md").is_file():
        print(f"check_links: no README.md in {root}", file=sys.stderr)
        return 2
    problems = Tree(root).bad_links()
    for line in problems:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
