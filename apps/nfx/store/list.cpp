// nfx store ls: the sessions of a store and how they stand.

#include "command.hpp"
#include "decode/print.hpp"
#include "store/store.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

struct ListOptions {
  Place place;
  std::string format = "text";
};

// With a comma behind.
void append_archived_json(std::string& out, const ArchivedSegment& segment) {
  out += "{\"name\":";
  append_json_text(out, segment.path.filename().string());
  append_member(out, "put_away", nanosecond_stamp(segment.put_away));
  append_member(out, "bytes", segment.size);
  if (segment.header) {
    append_member(out, "begun", nanosecond_stamp(UtcTime{Duration{segment.header->begun_ns}}));
    append_member(out, "next_out", segment.header->next_outbound);
  }
  if (segment.next) append_member(out, "next_out_behind", segment.next->next_outbound);
  out += "},";
}

void append_json(std::string& out, const StoredSession& session, const Standing& standing) {
  const JournalScan& scan = standing.scan;
  out += "{\"identity\":";
  append_json_text(out, session.identity);
  append_member(out, "folder", session.folder.string());
  append_member(out, "state", standing.state());
  if (standing.held_by) append_member(out, "pid", static_cast<std::uint64_t>(*standing.held_by));
  append_member(out, "bytes", standing.bytes);
  append_member(out, "archived", standing.archived.size());
  if (!standing.archived.empty()) {
    out += ",\"archive\":[";
    for (const ArchivedSegment& segment : standing.archived) append_archived_json(out, segment);
    out.back() = ']';
  }
  if (!standing.unreadable.empty()) {
    append_member(out, "problem", standing.unreadable);
  } else {
    append_member(out, "next_in", value(scan.next_inbound));
    append_member(out, "next_out", value(scan.next_outbound));
    append_member(out, "since", nanosecond_stamp(scan.creation_time));
    append_member(out, "messages", standing.kept.count());
    append_member(out, "first", standing.kept.first());
    append_member(out, "last", standing.kept.last());
    append_member(out, "segments", scan.segments.size());
    append_member(out, "spare", scan.spare.size());
    append_member(out, "records", scan.records);
    append_member(out, "end", scan.end);
    append_member(out, "committed", scan.committed);
    if (scan.damage) append_member(out, scan.torn ? "torn" : "problem", describe(*scan.damage, session, scan.torn));
  }
  out += "}\n";
}

// "next out 1 -> 97": where the numbers stood at both ends, as far as headers tell.
std::string numbers_of(const ArchivedSegment& segment) {
  if (!segment.header) return "its header cannot be read";
  std::string text = "begun " + nanosecond_stamp(UtcTime{Duration{segment.header->begun_ns}}) + ", next out " +
                     std::to_string(segment.header->next_outbound);
  if (segment.next) text += " -> " + std::to_string(segment.next->next_outbound);
  return text;
}

void append_archive(std::string& out, const std::vector<ArchivedSegment>& archived) {
  constexpr std::size_t most = 10;  // the last ones
  const std::size_t first = archived.size() > most ? archived.size() - most : 0;
  if (first != 0) out += "  archive    " + counted(first, "older segment") + ": --format json names them\n";
  for (std::size_t i = first; i < archived.size(); ++i) {
    out += "  archive    " + archived[i].path.filename().string() + "  " + numbers_of(archived[i]) + '\n';
  }
}

void append_text(std::string& out, const StoredSession& session, const Standing& standing) {
  const JournalScan& scan = standing.scan;
  append_printable(out, session.identity);
  out += "  " + standing.state() + '\n';
  out += "  folder     " + session.folder.string() + '\n';
  if (!standing.unreadable.empty()) {
    out += "  problem    " + standing.unreadable + '\n';
    return;
  }
  out += "  numbers    next in " + std::to_string(value(scan.next_inbound)) + ", next out " +
         std::to_string(value(scan.next_outbound)) + ", since " + nanosecond_stamp(scan.creation_time) +
         (standing.damaged() ? ": where the damage begins\n" : "\n");
  out += "  messages   " + std::to_string(standing.kept.count());
  if (standing.kept.count() != 0) {
    out += ", from " + std::to_string(standing.kept.first()) + " to " + std::to_string(standing.kept.last());
  }
  out += "\n  files      " + counted(scan.segments.size(), "segment") + ", " + std::to_string(scan.spare.size()) +
         " spare, " + std::to_string(standing.archived.size()) + " archived: " + readable_size(standing.bytes) + '\n';
  append_archive(out, standing.archived);
  out += "  committed  ";
  if (scan.segments.empty()) {
    out += "nothing yet";
  } else {
    const SegmentInfo& last = scan.segments.back();
    out += std::to_string(scan.committed) + " of " + std::to_string(scan.end) + " bytes";
    if (last.committed_at != UtcTime{}) out += ", " + nanosecond_stamp(last.committed_at);
  }
  out += '\n';
  if (standing.state() == "killed") {
    out +=
        "  note       the last process did not close it; what its ring still holds comes to the files when it is\n"
        "             opened, unless the machine went down\n";
  }
  if (scan.damage) {
    out += scan.torn ? "  note       " : "  problem    ";
    out += describe(*scan.damage, session, scan.torn) + '\n';
  }
}

int list(const ListOptions& options) {
  Output output;
  bool damaged = false;
  const auto sessions = find_sessions(options.place, true);
  for (const StoredSession& session : sessions) {
    const Standing standing = look_at(session);
    damaged = damaged || standing.damaged();
    if (options.format == "json") {
      append_json(output.text, session, standing);
    } else {
      append_text(output.text, session, standing);
    }
    output.flush_when_large();
  }
  if (sessions.empty() && options.format == "text") output.text += options.place.store + ": no session is kept here\n";
  output.flush();
  return damaged ? exit_failed : exit_done;
}

}  // namespace

cli::Command ls_command() {
  static ListOptions options;
  return {
      .name = "ls",
      .summary = "List the sessions stored here, and their state",
      .run = [] { return list(options); },
      .options = with(place_options(options.place),
                      {format_option(options.format, "Form of the output; json: one object per session and line")}),
      .details =
          R"(States: held by PID (a process has it open), clean (closed in order), killed (not closed), new (nothing written yet), damaged (something before the last commit cannot be read; exit code 1).
Counts messages that can be resent: those before a reset of the sequence numbers are not included. The segments from before resets are listed as archive; 'nfx store cat', 'export' and 'verify' read them with --archive NAME.)",
      .examples = {{.line = "nfx store ls /var/lib/nexusfix",
                    .about = "which sessions are stored here, and their state"},
                   {.line = "nfx store ls /var/lib/nexusfix --format json | jq 'select(.state | startswith(\"held\") | "
                            "not)'"}},
  };
}

}  // namespace nfx::app::store
