#!/usr/bin/env python3
"""Checks the words and the links of the documents and of the texts in code; part of ./dev lint and of the tests.

Words: WORDS lists expressions that readers of this project do not know, each with the standard term to use instead. A
word fails the check when it occurs more often than its budget, a number in its row: one for documents, one for code.

Links: a relative link in a document must name an existing file, and its #anchor an existing heading. A mention of
docs/NAME.md in code must name an existing page.

What is counted
  documents  README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md docs/ bench/README.md tests/README.md
             tests/conformance/README.md: the text outside code blocks and `code`. docs/quickfix.md ends at its table,
             which is a copy of texts in src/config.
  code       apps bench src include/nexusfix examples tests: comments and string literals of C++, but not identifiers,
             #include lines and strings of one word. The script ./dev: all of it.
  Each match of a row's pattern counts once, unless the row's exception matches around it. A space in a pattern also
  matches one line break.

    check_words.py [--root DIR]     exit status 0: within budget, all links good; 1: not; 2: wrong usage
    check_words.py --counts         per word: occurrences and budget, in documents and in code
    check_words.py --list WORD      every occurrence of that word, with file and line
"""

import argparse
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

DOCUMENTS = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "tests/README.md", "bench/README.md",
             "tests/conformance/README.md")
CODE = ("apps", "bench", "src", "include/nexusfix", "dev", "examples", "tests")
CODE_SUFFIXES = (".hpp", ".cpp")
GENERATED_FROM = {"docs/quickfix.md": "## All keys"}


class Word(NamedTuple):
    name: str
    documents: int  # Budgets: the most occurrences allowed.
    code: int
    pattern: str
    standard: str
    exception: str = ""  # A match within a match of this is legitimate.


WORDS = (
    Word("say", 0, 0, r"\b(says?|said|saying)\b", "reports, states, specifies, returns", r"that is to say"),
    Word("kept", 0, 0, r"\bkept\b|\bkeep(s|ing)? (the |its |their |no |every |all )?(messages?|numbers?|records?)\b",
         "stored, persisted, retained"),
    Word("quiet", 0, 2, r"\bquiet\b", "isolated CPU; idle host", r"root=UUID=1 quiet|quiet isolcpus="),
    Word("behind", 0, 0, r"\bbehind\b", "after, following",
         r"behind (\w+ )?(PCIe )?(switch|proxy|firewall|bridge|NAT)|(fall|falls|fell|falling) behind|\"migration behind"),
    Word("ask", 0, 0, r"\b(asks?|asked|asking)\b", "requests, queries, requires, reads",
         r"(best|lowest) asks?\b|\bbids?\b[^.]{0,20}\basks?\b|\basks? (side|price)"),
    Word("numbers", 0, 0, r"\b(both|the|its|their|new|our) numbers\b|\bnumbering\b", "sequence numbers; sequence-number epoch"),
    Word("spin", 0, 0, r"\b(spins?|spinning|spinners?)\b", "busy-polls, busy-polling thread",
         r"[\"'\\]spin[\"'\\]|\w-spinners?|spin \(busy-polling|--(idle|mode) spin|idle: spin:|poll  spin  \d|spin; block when"
         r"|raw (ring )?spin"),
    Word("stand", 0, 0, r"\b(stands?|stood|standing)\b", "is, appears, is established", r"stands? for\b"),
    Word("tell", 0, 0, r"\b(tells?|told|telling)\b", "indicates, notifies, distinguishes", r"cannot tell"),
    Word("is no", 0, 0, r"\b(is|are|was|were) (no|none)\b", "is not a; is invalid",
         r"there (is|are|was|were) (no|none)|(is|are|was|were) no (longer|more|less|better|slower|faster)\b"),
    Word("nobody", 0, 0, r"\b(nobody|somebody|everybody|anybody|whoever)\b", "no thread, any process, the caller"),
    Word("room", 0, 0, r"\broom\b", "space; buffer full"),
    Word("turn", 0, 0, r"\b(a|the|one|each|every|per|next|this|longest|two) turns?\b", "poll-loop iteration"),
    Word("in front", 0, 0, r"\bin front\b", "before, preceding"),
    Word("ours", 0, 0, r"\b(ours|theirs)\b", "NexusFIX's, QuickFIX's, the peer's", r"OURS->THEIRS"),
    Word("mend", 0, 0, r"\bmend(s|ed|ing)?\b", "fix, remedy"),
    Word("look at", 0, 0, r"\blook(s|ed|ing)? (at|on|whether)\b|\b(a|one|two|last|next|between) looks?\b(?!-| up)",
         "checks, reads, samples"),
    Word("whose it is", 0, 0, r"\bwhose (\w+ )?(it|they) (is|was|are)\b|\b(says?|knows?|tells?) whose\b|\bnobody's\b",
         "which session, connection or process owns it"),
    Word("beside", 0, 0, r"\bbeside\b", "next to, in the folder of, compared with"),
    Word("lane", 0, 1, r"\blanes?\b", "per-thread log queue",
         r"(vector|SIMD|byte|bit|each) lanes?|lanes? of (the|a) (vector|register)"),
    Word("at once", 0, 0, r"\bat once\b", "immediately; simultaneously, in a burst"),
    Word("floor", 0, 0, r"\bfloors?\b", "baseline (raw TCP)", r"floor of|\\\"floor\\\"|floor: sum of bytes"),
    Word("lie", 0, 0, r"\b(lies|lie|lay|lying)\b", "is located, is stored; is wrong"),
    Word("books", 0, 0, r"\b(Tcp|Epoll|Ring)Books\b", "connection table (a book is an order book)"),
    Word("leave", 0, 0, r"\b(messages?|bytes|answers?|numbers?|nothing|heartbeats?|Logon) (still )?(leaves?|left)\b"
         r"|\bleft for the peer\b|\b(has|have|had)( not| never)? left\b", "is sent"),
    Word("judge", 0, 0, r"\b(judg(e|es|ed|ing|ement)|verdicts?)\b", "validate, classify, result"),
    Word("so long", 0, 0, r"\b(for|after|within|in|every|of|not|by) so (long|many|much|often)\b", "this duration, this count",
         r"so long as"),
    Word("figure", 0, 0, r"\bfigures?\b", "metrics, measurements, statistics", r"<figure|figure\{"),
    Word("set apart", 0, 0, r"\b(sets?|setting|keeps?|kept) apart\b", "isolated"),
    Word("go on", 0, 0, r"\b(goes|go|going|went|gone) on\b", "resumes, continues"),
    Word("object to", 0, 0, r"\b(objects?|objected|objecting) to\b|\bobjections?\b", "reports an error; problem"),
    Word("stranger", 0, 0, r"\bstrangers?\b", "unexpected task, undefined field", r"stranger-on-quiet-cpu"),
    Word("promise", 0, 0, r"\bpromis(e|es|ed|ing)\b", "guarantee, contract, interface"),
    Word("anew", 0, 0, r"\banew\b", "again"),
    Word("float", 0, 0, r"\bfloats\b|\bfloat (over|on|between|across)\b|\bfloating\b(?!.point)", "unpinned",
         r"auto-pin-floating|floats? (value|type|field)"),
    Word("put away", 0, 0, r"\b(put|puts|putting) (\w+ )?away\b", "archived"),
    Word("wish", 0, 0, r"\bwish(es|ed)?\b", "preference, unset, unlimited"),
    Word("take over", 0, 0, r"\b(taken|took|takes?|taking) (\w+ )?over\b", "imported, migrated",
         r"takes? over (from|for) the primary|take precedence over"),
    Word("silent file", 0, 0, r"\bsilent files?\b|\b(files?|file is|files are|is) silent\b|\bin silence\b", "key not set",
         r"peer is silent"),
    Word("house", 0, 0, r"\bhouse\b", "housekeeping", r"clearing house"),
    Word("dying machine", 0, 0, r"\b(machines?|hosts?|process|processes|disks?) (that )?(dies|died|die)\b|\bdying (machine|host|process)\b",
         "power loss or OS crash; the process is killed"),
    Word("aside", 0, 0, r"\baside\b", "preempted; separate", r"aside from"),
    Word("hold against", 0, 0, r"\b(held|holds?|holding) (\w+ ){0,4}against\b", "compared with"),
    Word("come about", 0, 0, r"\b(comes?|came|coming) about\b|\b(speaks?|spoke|spoken) against\b", "is established; problems"),
    Word("at rest", 0, 0, r"\bat rest\b", "idle"),
    Word("for nothing", 0, 0, r"\bcounts? for nothing\b|\bfor want of\b", "is ignored; because there is no"),
    Word("knob", 0, 0, r"\bknobs?\b", "settings"),
    Word("draw together", 0, 0, r"\b(draws?|drawn|drew) together\b|\bone by one\b", "summarised; individually"),
)

CPP_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<raw>R\"(?P<fence>\w*)\(.*?\)(?P=fence)\")"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\")"
    r"|'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
DIGIT_SEPARATOR = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
PAGE_IN_CODE = re.compile(r"\bdocs/[\w-]+\.md\b")


def blanked(text: str) -> str:
    """As long as the text and with its line breaks, but without its words."""
    return re.sub(r"[^\n]", " ", text)


def prose_of_markdown(text: str, until: str | None = None) -> str:
    lines = []
    fenced = ended = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        ended = ended or line == until
        if fence or fenced or ended or line.startswith("    "):
            lines.append("")
        else:
            lines.append(INLINE_CODE.sub(lambda m: blanked(m[0]), line))
        fenced ^= fence
    return LINK.sub(lambda m: m[0].replace(m[1], blanked(m[1])), "\n".join(lines))


def prose_of_cpp(text: str) -> str:
    text = DIGIT_SEPARATOR.sub(" ", text)
    out = []
    position = 0
    for token in CPP_TOKEN.finditer(text):
        out.append(blanked(text[position:token.start()]))
        position = token.end()
        line = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
        words = token["comment"] or token["raw"] or token["string"]
        if token["comment"]:
            out.append(INLINE_CODE.sub(lambda m: blanked(m[0]), re.sub(r"^(//+|/\*+)", lambda m: " " * len(m[0]), words)))
        elif words and re.search(r"\s", words) and not line.lstrip().startswith("#include"):
            out.append(" " + words[1:-1] + " ")
        else:
            out.append(blanked(token[0]))
    out.append(blanked(text[position:]))
    return "".join(out)


def joined(prose: str) -> str:
    """Neighbouring comment lines and string literals as running text: what separates two words is one line break."""
    return re.sub(r"[ \t]*\n[ \t]*", "\n", prose)


def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(" ", r"[ \n]"), re.IGNORECASE)


class Tree:
    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.prose = {"documents": dict(self.read_documents()), "code": dict(self.read_code())}

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

    def read_documents(self) -> Iterator[tuple[str, str]]:
        for path in self.files(DOCUMENTS, (".md",)):
            name = self.name(path)
            yield name, joined(prose_of_markdown(path.read_text(encoding="utf-8"), GENERATED_FROM.get(name)))

    def read_code(self) -> Iterator[tuple[str, str]]:
        for path in self.files(CODE, CODE_SUFFIXES):
            text = path.read_text(encoding="utf-8")
            yield self.name(path), joined(prose_of_cpp(text) if path.suffix in CODE_SUFFIXES else text)

    def occurrences(self, word: Word, area: str) -> list[str]:
        """Each as file:line: the words around it."""
        pattern = compiled(word.pattern)
        exception = compiled(word.exception) if word.exception else None
        found = []
        for name, prose in self.prose[area].items():
            excused = [m.span() for m in exception.finditer(prose)] if exception else []
            for match in pattern.finditer(prose):
                if any(begin < match.end() and match.start() < end for begin, end in excused):
                    continue
                around = " ".join(prose[max(0, match.start() - 40):match.end() + 40].split())
                found.append(f"{name}:{prose.count(chr(10), 0, match.start()) + 1}: {around}")
        return found

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


def print_counts(tree: Tree) -> None:
    totals = [0, 0, 0, 0]
    print(f"{'word':16} {'documents':>9} {'budget':>6} {'code':>6} {'budget':>6}  standard term")
    for word in WORDS:
        row = [len(tree.occurrences(word, "documents")), word.documents, len(tree.occurrences(word, "code")), word.code]
        totals = [total + value for total, value in zip(totals, row)]
        print(f"{word.name:16} {row[0]:9} {row[1]:6} {row[2]:6} {row[3]:6}  {word.standard}")
    print(f"{'total':16} {totals[0]:9} {totals[1]:6} {totals[2]:6} {totals[3]:6}")


def over_budget(tree: Tree) -> list[str]:
    problems = []
    for word in WORDS:
        for area, budget in (("documents", word.documents), ("code", word.code)):
            found = tree.occurrences(word, area)
            if len(found) > budget:
                problems += found if len(found) <= 10 else found[:10] + [f"... and {len(found) - 10} more"]
                problems.append(f'"{word.name}": {len(found)} in {area}, at most {budget}; write instead: {word.standard}')
    return problems


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--counts", action="store_true", help="print occurrences and budgets")
    parser.add_argument("--list", metavar="WORD", choices=[word.name for word in WORDS], help="print every occurrence")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    if not (root / "README.md").is_file():
        print(f"check_words: no README.md in {root}", file=sys.stderr)
        return 2
    tree = Tree(root)
    if options.list:
        word = next(word for word in WORDS if word.name == options.list)
        print("\n".join(tree.occurrences(word, "documents") + tree.occurrences(word, "code")))
        return 0
    if options.counts:
        print_counts(tree)
        return 0
    problems = over_budget(tree) + tree.bad_links()
    for line in problems:
        print(line)
    print(f"check_words: {len(WORDS)} words, {'no problem' if not problems else 'see above'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
