"""Copies the sources of owners and compaction, with protections that planted.hpp can take away at run time.

    plants.py SOURCE_FOLDER OUTPUT_FOLDER

Each row takes one protection away: the text is in its file exactly once, otherwise the row is out of date and the build
fails. PLANT in the replacement is true while the row is planted. The copies are linked in place of the library's own
files by the programs cluster_simulate_planted and cluster_explore_planted alone.
"""

import pathlib
import sys
from dataclasses import dataclass


@dataclass
class Row:
    name: str
    program: str  # which one has to find it: simulate, or explore
    what: str
    text: str
    replacement: str
    file: str = "owner.cpp"


ROWS = [
    Row("early-release", "simulate", "a record is released before its frame is stored",
        "  if (s.options.durability != Durability::async) return false;",
        "  if (PLANT) return true;\n  if (s.options.durability != Durability::async) return false;"),
    Row("epoch-not-compared", "simulate", "the frame of another epoch is taken for the one in flight",
        "  if (event.bytes == view(s.flight.bytes)) return on_flight_stored(",
        "  if (PLANT || event.bytes == view(s.flight.bytes)) return on_flight_stored("),
    Row("barrier-skipped", "simulate", "an owner starts before it has read its own epoch",
        "  if (s.phase == Phase::reading) return claim(s, {}, nullptr, now, out);\n",
        "  if (s.phase == Phase::reading) return claim(s, {}, nullptr, now, out);\n"
        "  if (PLANT && s.phase == Phase::replaying) return become_owner(s, now, out);\n"),
    Row("gap-not-noticed", "simulate", "a replay continues after frames that the server did not return",
        "  if (header.number > after(s.number)) return",
        "  if (!(PLANT && s.has_frame) && header.number > after(s.number)) return"),
    Row("first-frame-not-checked", "simulate", "a replay begins after the first frame",
        " begins_with_reset(frame) ? Fit::follows : Fit::gap;",
        " (PLANT && !s.has_frame) || begins_with_reset(frame) ? Fit::follows : Fit::gap;"),
    Row("followed-gap-not-noticed", "simulate", "a candidate follows past frames that the server did not return",
        "    case Fit::gap: return end_following(s);",
        "    case Fit::gap:\n      if (!PLANT) return end_following(s);\n      break;"),
    Row("refusal-believed", "simulate", "a refused frame is taken for stored without a comparison",
        "        request(s, ActionKind::read_next, s.flight.expected, {}, now, out);\n      break;",
        "        PLANT ? on_flight_stored(s, StreamSeq{std::to_underlying(s.flight.expected) + 1}, now, out)\n"
        "              : request(s, ActionKind::read_next, s.flight.expected, {}, now, out);\n      break;"),
    Row("number-not-reserved", "simulate", "async sends a sequence number before it is reserved",
        "  if (record.kind == RecordKind::outbound && record.seq >= s.granted) return false;",
        "  if (!PLANT && record.kind == RecordKind::outbound && record.seq >= s.granted) return false;"),
    Row("reset-without-wait", "simulate", "sequence numbers after a reset count as reserved before it",
        "    s.outbound_limit = s.granted = first_seq_num;",
        "    s.outbound_limit = first_seq_num;\n    if (!PLANT) s.granted = first_seq_num;"),
    Row("numbers-ahead", "simulate", "an owner that stops keeps numbers that are not stored",
        "    s.counters = s.stored_counters;", "    if (!PLANT) s.counters = s.stored_counters;"),
    Row("attempt-not-counted", "explore", "a gateway's earlier epoch is taken for the one that it claims now",
        "  header.attempt = s.attempts;", "  header.attempt = PLANT ? 1 : s.attempts;"),
    Row("lag-not-bounded", "simulate", "async releases more records than it may",
        "  return now_open.records <= s.options.async_records_max &&",
        "  return (PLANT || now_open.records <= s.options.async_records_max) &&"),
    Row("reset-removed", "simulate", "a compaction removes the frame with the reset too",
        "  return keep_from_;", "  return StreamSeq{std::to_underlying(keep_from_) + (PLANT ? 1 : 0)};", "compaction.cpp"),
]


def main():
    source, output = map(pathlib.Path, sys.argv[1:3])
    texts = {}
    for index, row in enumerate(ROWS):
        file = source / row.file
        text = texts.get(row.file) or file.read_text()
        if text.count(row.text) != 1:
            sys.exit(f"{file}: the text of plant '{row.name}' is there {text.count(row.text)} times, and not once; "
                     f"change its row in {__file__}")
        texts[row.file] = text.replace(row.text, row.replacement.replace("PLANT", f"(nfx::cluster_plants::planted == {index})"))
    for name, text in texts.items():
        (output / name).write_text(f'#include "cluster_plants/planted.hpp"\n#line 1 "{source / name}"\n{text}')
    rows = "".join(f'    {{"{row.name}", "{row.program}", "{row.what}"}},\n' for row in ROWS)
    (output / "planted.cpp").write_text(
        '#include "cluster_plants/planted.hpp"\n\n#include <array>\n\nnamespace nfx::cluster_plants {\n\n'
        f"int planted = -1;\n\nstd::span<const PlantRow> rows() {{\n  static constexpr std::array<PlantRow, {len(ROWS)}> all{{{{\n"
        f"{rows}  }}}};\n  return all;\n}}\n\n}}  // namespace nfx::cluster_plants\n")


if __name__ == "__main__":
    main()
