// nfx store ls: the sessions of a store and their state.

#include "command.hpp"
#include "decode/print.hpp"
#include "store/store_commands.hpp"
#include "store/template_stores.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

struct ListOptions {
  Place place;
  std::string format = "text";
};

// Whether max_dynamic_stores counts it.
bool of_template(const StoredSession& session) { return posix_disk().exists(session.folder / template_mark); }

void append_archived_json(SafeText& out, const ArchivedSegment& segment) {
  out += "{\"name\":";
  append_json_text(out, segment.path.filename().string());
  append_member(out, "archived_at", nanosecond_stamp(segment.put_away));
  append_member(out, "bytes", segment.size);
  if (segment.header) {
    append_member(out, "begun", nanosecond_stamp(UtcTime{Duration{segment.header->begun_ns}}));
    append_member(out, "next_out", segment.header->next_outbound);
  }
  if (segment.next) append_member(out, "next_out_after", segment.next->next_outbound);
  out += '}';
}

void append_json(SafeText& out, const StoredSession& session, const SessionState& state) {
  const JournalScan& scan = state.scan;
  out += "{\"identity\":";
  append_json_text(out, session.identity);
  append_member(out, "folder", session.folder.string());
  append_member(out, "state", state.state());
  if (of_template(session)) out += ",\"template\":true";
  if (state.open_in) append_member(out, "pid", static_cast<std::uint64_t>(*state.open_in));
  append_member(out, "bytes", state.bytes);
  append_member(out, "archived", state.archived.size());
  if (!state.archived.empty()) {
    out += ",\"archive\":[";
    for (const ArchivedSegment& segment : state.archived) {
      if (&segment != state.archived.data()) out += ',';
      append_archived_json(out, segment);
    }
    out += ']';
  }
  if (!state.unreadable.empty()) {
    append_member(out, "problem", state.unreadable);
  } else {
    append_member(out, "next_in", value(scan.next_inbound));
    append_member(out, "next_out", value(scan.next_outbound));
    append_member(out, "since", nanosecond_stamp(scan.creation_time));
    append_member(out, "messages", state.stored.count());
    append_member(out, "first", state.stored.first());
    append_member(out, "last", state.stored.last());
    append_member(out, "segments", scan.segments.size());
    append_member(out, "spare", scan.spare.size());
    append_member(out, "records", scan.records);
    append_member(out, "ring_records", state.ring_records);
    append_member(out, "ring_bytes", state.ring_bytes);
    if (!state.ring_problem.empty()) append_member(out, "ring_problem", state.ring_problem);
    append_member(out, "end", scan.end);
    append_member(out, "committed", scan.committed);
    if (scan.damage) append_member(out, scan.torn ? "torn" : "problem", describe(*scan.damage, session, scan.torn));
  }
  out += "}\n";
}

// "next out 1 -> 97": the sequence number at both ends, as far as the headers show it.
std::string numbers_of(const ArchivedSegment& segment) {
  if (!segment.header) return "its header cannot be read";
  std::string text = "begun " + nanosecond_stamp(UtcTime{Duration{segment.header->begun_ns}}) + ", next out " +
                     std::to_string(segment.header->next_outbound);
  if (segment.next) text += " -> " + std::to_string(segment.next->next_outbound);
  return text;
}

void append_archive(SafeText& out, const std::vector<ArchivedSegment>& archived) {
  constexpr std::size_t most = 10;  // the last ones
  const std::size_t first = archived.size() > most ? archived.size() - most : 0;
  if (first != 0) out.add("  archive    {}: --format json names them\n", counted(first, "older segment"));
  for (std::size_t i = first; i < archived.size(); ++i) {
    out.add("  archive    {}  {}\n", archived[i].path.filename().string(), numbers_of(archived[i]));
  }
}

void append_text(SafeText& out, const StoredSession& session, const SessionState& state) {
  const JournalScan& scan = state.scan;
  out.add("{}  {}{}\n  folder     {}\n", session.identity, state.state(),
          of_template(session) ? ", made by a template" : "", session.folder.string());
  if (!state.unreadable.empty()) {
    out.add("  problem    {}\n", state.unreadable);
    return;
  }
  out.add("  sequence   next in {}, next out {}, since {}{}\n", value(scan.next_inbound), value(scan.next_outbound),
          nanosecond_stamp(scan.creation_time), state.damaged() ? ": where the damage begins" : "");
  out.add("  messages   {}", state.stored.count());
  if (state.stored.count() != 0) out.add(", from {} to {}", state.stored.first(), state.stored.last());
  out.add("\n  files      {}, {} spare, {} archived: {}\n", counted(scan.segments.size(), "segment"), scan.spare.size(),
          state.archived.size(), readable_size(state.bytes));
  append_archive(out, state.archived);
  out += "  committed  ";
  if (scan.segments.empty()) {
    out += "nothing yet";
  } else {
    const SegmentInfo& last = scan.segments.back();
    out.add("{} of {} bytes", scan.committed, scan.end);
    if (last.committed_at != UtcTime{}) out.add(", {}", nanosecond_stamp(last.committed_at));
  }
  out += '\n';
  if (state.ring_records != 0) {
    out.add(
        "  ring       {} of these, {}, are only in the memory that a killed process left; the next opening writes "
        "them to the files\n",
        counted(state.ring_records, "record"), readable_size(state.ring_bytes));
  } else if (!state.ring_problem.empty()) {
    out.add("  ring       {}\n", state.ring_problem);
  } else if (state.state() == "killed") {
    out += "  note       the last process did not close it, and left nothing in memory that the files lack\n";
  }
  if (scan.damage) {
    out.add("{}{}\n", scan.torn ? "  note       " : "  problem    ", describe(*scan.damage, session, scan.torn));
  }
}

int list(const ListOptions& options) {
  Output output;
  bool damaged = false;
  const auto sessions = find_sessions(options.place, true);
  for (const StoredSession& session : sessions) {
    const SessionState state = read_state(session, options.place.ring_directory);
    damaged = damaged || state.damaged();
    if (options.format == "json") {
      append_json(output.text, session, state);
    } else {
      append_text(output.text, session, state);
    }
    output.flush_when_large();
  }
  if (sessions.empty() && options.format == "text")
    output.text.add("{}: no session is stored here\n", options.place.store);
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
                      {ring_directory_option(options.place),
                       format_option(options.format, "Output format; json: one object per session and line")}),
      .details =
          R"(States: open in process PID, clean (closed in order), killed (not closed), new (nothing written yet), damaged (something before the last commit cannot be read; exit code 1), other version (written by a release of NexusFIX with another format; exit code 1).
Of a killed session it also counts what only the ring in shared memory has, and changes nothing: the next opening writes that to the files. Where store_ring_directory is configured, name it with --ring-directory.
Counts messages that can be resent: those before a reset of the sequence numbers are not included. The segments from before resets are listed as archive; 'nfx store cat', 'export' and 'verify' read them with --archive NAME.)",
      .examples = {{.line = "nfx store ls /var/lib/nexusfix",
                    .about = "which sessions are stored here, and their state"},
                   {.line = "nfx store ls /var/lib/nexusfix --format json | jq 'select(.state | startswith(\"open\") | "
                            "not)'"}},
  };
}

}  // namespace nfx::app::store
