"""Copies a library's sources, with protections that planted.hpp can take away at run time. The tables call it.

Each row takes one protection away: the text is in its file exactly once, otherwise the row is out of date and the build
fails. PLANT in the replacement is true while the row is planted.
"""

import pathlib
import sys
from dataclasses import dataclass


@dataclass
class Row:
    name: str
    program: str  # which one has to find it: planted.hpp
    what: str
    file: str
    text: str
    replacement: str


def main(table):
    """`table.py SOURCE_FOLDER OUTPUT_FOLDER`"""
    source, output = map(pathlib.Path, sys.argv[1:3])
    texts = {}
    for index, row in enumerate(table):
        file = source / row.file
        text = texts.get(row.file) or file.read_text()
        if text.count(row.text) != 1:
            sys.exit(f"{file}: the text of plant '{row.name}' is there {text.count(row.text)} times, and not once; "
                     f"change its row in {sys.argv[0]}")
        texts[row.file] = text.replace(row.text, row.replacement.replace("PLANT", f"(nfx::plants::planted == {index})"))
    for name, text in texts.items():
        (output / name).write_text(f'#include "plants/planted.hpp"\n#line 1 "{source / name}"\n{text}')
    rows = "".join(f'    {{"{row.name}", "{row.program}", "{row.what}"}},\n' for row in table)
    (output / "planted.cpp").write_text(
        '#include "plants/planted.hpp"\n\n#include <array>\n\nnamespace nfx::plants {\n\n'
        f"int planted = -1;\n\nstd::span<const PlantRow> rows() {{\n  static constexpr std::array<PlantRow, {len(table)}> all{{{{\n"
        f"{rows}  }}}};\n  return all;\n}}\n\n}}  // namespace nfx::plants\n")
