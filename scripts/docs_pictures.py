#!/usr/bin/env python3
"""Draws the diagrams of docs/: the path of a message, the layers (from layers.txt), and threads on CPUs.

docs_pictures.py           writes docs/message-path.svg, docs/layers.svg and docs/thread-placement.svg
docs_pictures.py --check   exit code 1: a file is not what this script draws

Colours follow the reader's light or dark scheme.
"""
import argparse
import pathlib
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--line:#afb8c1;--hot:#ddf4ff;--cool:#f6f8fa;--rest:#fff8c5}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#484f58;--hot:#0c2d6b;--cool:#161b22;
--rest:#3b2e00}}
text{font:13px system-ui,sans-serif;fill:var(--text)}.small{font-size:11px;fill:var(--soft)}.title{font-weight:600}
rect{stroke:var(--line)}.back{fill:var(--back);stroke:none}.hot{fill:var(--hot)}.cool{fill:var(--cool)}.rest{fill:var(--rest)}
.arrow{stroke:var(--soft);fill:none;marker-end:url(#tip)}.dashed{stroke-dasharray:4 3}#tip path{fill:var(--soft)}
"""


class Picture:
    def __init__(self, title, width, height):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0L8 4L0 8z"/></marker></defs>', f'<rect class="back" width="{width}" height="{height}"/>']

    def text(self, x, y, text, kind="", anchor="middle"):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>')

    def box(self, x, y, width, height, kind, *lines):
        """The first line is in the usual size, the others are small."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="{kind}"/>')
        top = y + height / 2 + 4.5 - 8 * (len(lines) - 1)
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 16 * number, line, "small" if number else "")

    def frame(self, x, y, width, height, title):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" class="back" style="stroke:var(--line)"/>')
        self.text(x + 12, y + 20, title, "title", "start")

    def arrow(self, *points, kind=""):
        path = "M" + "L".join(f"{x} {y}" for x, y in points)
        self.parts.append(f'<path class="arrow {kind}" d="{path}"/>')

    def svg(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"


def message_path():
    picture = Picture("The path of a message: one poll thread, without a hop or a lock", 860, 330)
    picture.frame(10, 10, 840, 190, "One poll thread, from the first step to the last")
    steps = (("receive", "recv, or io_uring"), ("frame, index", "one pass"), ("session", "numbers, validation"),
             ("your program", "on(session, order)"))
    back = (("send", "one call for many"), ("store", "memory, or journal"), ("encode", "header, CheckSum"))
    for number, lines in enumerate(steps):
        picture.box(30 + 205 * number, 50, 175, 50, "hot", *lines)
        if number:
            picture.arrow((30 + 205 * number - 30, 75), (30 + 205 * number, 75))
    for number, lines in enumerate(back):
        picture.box(30 + 205 * number, 130, 175, 50, "hot", *lines)
        picture.arrow((30 + 205 * (number + 1), 155), (30 + 205 * number + 175, 155))
    picture.parts.append('<path class="arrow" style="marker-end:none" d="M732 100L732 155L645 155"/>')
    picture.frame(10, 225, 840, 95, "Housekeeping CPUs")
    for number, lines in enumerate((("flusher", "writes and syncs journals"), ("log", "messages, events, metrics"),
                                    ("handshakes", "TLS"), ("control, monitor", "operators, checks"))):
        picture.box(30 + 205 * number, 255, 175, 50, "cool", *lines)
    picture.arrow((322, 180), (322, 212), (190, 212), (190, 255), kind="dashed")
    picture.text(340, 217, "queues and rings that the poll thread never waits for by default", "small", "start")
    return picture.svg()


def products(lines):
    """The modules of each product, in the order of layers.txt, and which other products it includes."""
    modules, includes, owner = {}, {}, {}
    for line in lines:
        if line.startswith("#") or ":" not in line:
            continue
        name, used = line.split(":")
        product, module = name.split("/")
        owner[module] = product
        modules.setdefault(product, []).append(module)
        includes.setdefault(product, set()).update(owner[each] for each in used.split() if owner[each] != product)
    return modules, includes


def layers():
    modules, includes = products((ROOT / "layers.txt").read_text(encoding="utf-8").splitlines())
    level = {}
    for product in modules:  # lowest first
        level[product] = 1 + max((level[each] for each in includes[product]), default=-1)
    rows = [[each for each in modules if level[each] == number] for number in range(max(level.values()), -1, -1)]
    widths = [(840 - 12 * (len(row) - 1)) / len(row) for row in rows]
    columns = [max(1, int((width - 20) // 100)) for width in widths]
    heights = [48 + 27 * max(-(-len(modules[each]) // count) for each in row) for row, count in zip(rows, columns)]
    picture = Picture("The products and their modules: a product includes only those below it", 860, sum(heights) + 12 * len(rows) + 40)
    y = 10
    for row, width, count, height in zip(rows, widths, columns, heights):
        for place, product in enumerate(row):
            x, cell = 10 + place * (width + 12), (width - 24) / count
            picture.frame(x, y, width, height, f"nexusfix::{product}" if len(row) == 1 else product)
            for at, module in enumerate(modules[product]):
                picture.box(x + 12 + at % count * cell, y + 34 + at // count * 27, cell - 6 * (count > 1), 23,
                            "hot" if includes[product] == set() else "cool", module)
        y += height + 12
    picture.text(430, y + 14, "Each box is a product, a library of its own. It may include products in the rows below it, but none in its own row.",
                 "small")
    return picture.svg()


def thread_placement():
    """As `nfx host plan` places two busy-polling poll threads on tests/engine/placement/topologies/core_complexes.xml."""
    picture = Picture("Threads on the CPUs of a machine with twelve cores and two poll threads", 860, 300)
    taken = {1: "nfx-poll-0", 2: "nfx-poll-1"}
    picture.frame(10, 10, 840, 200, "Two busy-polling poll threads on twelve cores with two hardware threads each")
    for core in range(12):
        x = 26 + core * 68
        picture.text(x + 31, 62, f"core {core}", "small")
        for row, cpu in enumerate((core, core + 12)):
            y = 72 + row * 62
            if core not in taken:
                picture.box(x, y, 62, 54, "cool", str(cpu))
            elif row == 0:
                picture.box(x, y, 62, 54, "hot", str(cpu), taken[core])
            else:
                picture.box(x, y, 62, 54, "rest", str(cpu), "idle")
    for x, kind, text in ((26, "hot", "a poll thread, alone on its core"), (290, "rest", "left free: it would slow its sibling"),
                          (560, "cool", "housekeeping: all other threads")):
        picture.box(x, 226, 22, 22, kind)
        picture.text(x + 30, 242, text, "", "start")
    picture.text(26, 276, "Cores 1 and 2 are isolated: the kernel runs no ordinary task there. Core 0 and the others run nfx-flush-0, nfx-log-0, "
                 "nfx-monitor, and the system.", "small", "start")
    return picture.svg()


PICTURES = {"message-path.svg": message_path, "layers.svg": layers, "thread-placement.svg": thread_placement}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wrong = []
    for name, draw in PICTURES.items():
        path = ROOT / "docs" / name
        if not options.check:
            path.write_text(draw(), encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != draw():
            wrong.append(name)
    for name in wrong:
        print(f"docs/{name} is not what scripts/docs_pictures.py draws: run it", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
