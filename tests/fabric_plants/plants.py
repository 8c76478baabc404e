"""Copies the link's and the rails' sources, with protections that planted.hpp can take away at run time.

    plants.py SOURCE_FOLDER OUTPUT_FOLDER

Each row takes one protection away: the text is in its file exactly once, otherwise the row is out of date and the build
fails. PLANT in the replacement is true while the row is planted. The copies are linked in place of the library's own
files by the programs fabric_faults_planted and fabric_kill_planted alone.
"""

import pathlib
import sys
from dataclasses import dataclass


@dataclass
class Row:
    name: str
    program: str  # which one has to find it
    what: str
    file: str
    text: str
    replacement: str


ROWS = [
    Row("fence", "faults", "pages and records of a closed rail are sent again before the peer has closed it",
        "link_rails.cpp", "    rail.fence = rail.peer_incarnation;\n",
        "    rail.fence = rail.peer_incarnation;\n    if (PLANT) peer_has_closed(index);\n"),
    Row("early-records", "faults", "a record that came early over a rail that was closed is kept, and is sent again",
        "link_rails.cpp", "  forget_early_records(index);", "  if (!PLANT) forget_early_records(index);"),
    Row("stale-answer", "faults", "a query's answer that is older than the peer's closing is believed",
        "link_send.cpp", "|| transfer->query != note.query)", "|| (!PLANT && transfer->query != note.query))"),
    Row("record-round", "faults", "the number of an earlier record in the same slot is taken for the next one's",
        "link_records.cpp", "if (encode_record(seq, slots) != number ||",
        "if ((!PLANT && encode_record(seq, slots) != number) ||"),
    Row("record-slot", "faults", "a record is written where one is that has no completion yet",
        "link_records.cpp", "reserve || out.busy)", "reserve || (!PLANT && out.busy))"),
    Row("generation", "faults", "a page of an earlier transfer is taken for one of the next in its place",
        "link_receive.cpp", "&& transfer.generation == number.generation;",
        "&& (PLANT || transfer.generation == number.generation);"),
    Row("page-twice", "faults", "a page that arrives twice is counted twice",
        "link_receive.cpp", "(number.page < transfer.into.pages && (word & bit) != 0)",
        "(!PLANT && number.page < transfer.into.pages && (word & bit) != 0)"),
    Row("busy-pages", "faults", "a transfer is reported as sent while writes still read its memory",
        "link_send.cpp", "each.phase != SendPhase::ended || each.busy != 0)",
        "each.phase != SendPhase::ended || (!PLANT && each.busy != 0))"),
    Row("cancel", "faults", "a transfer is cancelled while pages of it are on their way",
        "link_send.cpp", "  if (std::ranges::any_of(states, is_on_its_way)) return;",
        "  if (!PLANT && std::ranges::any_of(states, is_on_its_way)) return;"),
    Row("credits", "faults", "more numbers are sent than the receiver has space for",
        "link_rails.cpp", "  if (rail.posted - rail.peer_consumed + reserve < rail.peer_window)",
        "  if (PLANT || rail.posted - rail.peer_consumed + reserve < rail.peer_window)"),
    Row("status-slot", "faults", "a status is written over one that the peer has not read",
        "link_status.cpp", "version - rail.statuses_seen > status_slots ||",
        "(!PLANT && version - rail.statuses_seen > status_slots) ||"),
    Row("lost-completion", "faults", "a write without a completion is waited for without end",
        "link_rails.cpp", "const bool is_forgetful = has_lost_completion(rail);",
        "const bool is_forgetful = !PLANT && has_lost_completion(rail);"),
    Row("lost-number", "faults", "a number that never arrives is waited for without end",
        "link_send.cpp", "> options_.write_deadline && !transfer.query_open) close_rails_of(transfer);",
        "> options_.write_deadline && !transfer.query_open && !PLANT) close_rails_of(transfer);"),
    Row("lost-record", "faults", "a record that never arrives is waited for without end",
        "link_rails.cpp", "if (oldest.state == RecordState::posted) close_rail(",
        "if (!PLANT && oldest.state == RecordState::posted) close_rail("),
    Row("peer-session", "faults", "a peer that has started again is taken for the one before",
        "link_status.cpp", "if (peer_session_ != 0 && status.session != peer_session_) return lose(",
        "if (!PLANT && peer_session_ != 0 && status.session != peer_session_) return lose("),
    Row("complete-when-posted", "kill", "a transfer is complete for the sender when its pages are posted",
        "link_send.cpp", "    transfer.scan = ++transfer.next;\n",
        "    transfer.scan = ++transfer.next;\n"
        "    if (PLANT && transfer.next == transfer.from.pages) end_send(transfer, TransferResult::complete);\n"),
    Row("acknowledged-when-posted", "kill", "a record is acknowledged when it is posted",
        "link_records.cpp", "  return RecordSeq{++application_sent_};",
        "  if (PLANT) events_.on_acknowledged(RecordSeq{application_sent_ + 1});\n"
        "  return RecordSeq{++application_sent_};"),
    Row("shm-half", "kill", "half of a page is copied out of shared memory",
        "shm_rail.cpp", "  if (length != 0) std::memcpy(regions_[region]->data() + to, bytes, length);",
        "  if (length != 0) std::memcpy(regions_[region]->data() + to, bytes, PLANT && length > 4096 ? length / 2 : length);"),
    Row("tcp-half", "kill", "the number of a page is reported when half of it has come over TCP",
        "tcp_rail.cpp", "  if (payload_have_ < frame_.length) return false;",
        "  if (payload_have_ < (PLANT ? frame_.length / 2 : frame_.length)) return false;"),
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
        texts[row.file] = text.replace(row.text, row.replacement.replace("PLANT", f"(nfx::fabric_plants::planted == {index})"))
    for name, text in texts.items():
        (output / name).write_text(f'#include "fabric_plants/planted.hpp"\n#line 1 "{source / name}"\n{text}')
    rows = "".join(f'    {{"{row.name}", "{row.program}", "{row.what}"}},\n' for row in ROWS)
    (output / "planted.cpp").write_text(
        '#include "fabric_plants/planted.hpp"\n\n#include <array>\n\nnamespace nfx::fabric_plants {\n\n'
        f"int planted = -1;\n\nstd::span<const PlantRow> rows() {{\n  static constexpr std::array<PlantRow, {len(ROWS)}> all{{{{\n"
        f"{rows}  }}}};\n  return all;\n}}\n\n}}  // namespace nfx::fabric_plants\n")


if __name__ == "__main__":
    main()
