// nfx store seq: shows, explains and sets a session's sequence numbers.

#include "base/clocks.hpp"
#include "command.hpp"
#include "decode/print.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/history.hpp"
#include "store/store_commands.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

struct SeqOptions {
  Place place;
  std::string format = "text";
  std::size_t last = 50;
  std::uint64_t next_in = 0;
  std::uint64_t next_out = 0;
  bool new_session = false;
  std::string reason;
};

constexpr std::size_t max_reason = 4096;

std::string numbers_text(const JournalScan& scan) {
  return "next in " + std::to_string(value(scan.next_inbound)) + ", next out " +
         std::to_string(value(scan.next_outbound)) + ", since " + nanosecond_stamp(scan.creation_time);
}

void append_numbers_json(SafeText& out, const StoredSession& session, const JournalScan& scan) {
  out += "{\"identity\":";
  append_json_text(out, session.identity);
  append_member(out, "next_in", value(scan.next_inbound));
  append_member(out, "next_out", value(scan.next_outbound));
  append_member(out, "since", nanosecond_stamp(scan.creation_time));
}

int report_damage(const JournalScan& scan, const StoredSession& session) {
  if (!scan.damage || scan.torn) return exit_done;
  print_error("nfx: {}\n", describe(*scan.damage, session, false));
  return exit_failed;
}

int show_numbers(const SeqOptions& options) {
  int result = exit_done;
  SafeText out;
  for (const StoredSession& session : find_sessions(options.place)) {
    const JournalScan scan = scan_session(session);
    if (options.format == "json") {
      append_numbers_json(out, session, scan);
      out += "}\n";
    } else {
      out.add("{}  {}\n", session.identity, numbers_text(scan));
    }
    result = std::max(result, report_damage(scan, session));
  }
  print(out);
  return result;
}

void append_history(SafeText& out, const StoredSession& session, const JournalScan& scan, const History& history) {
  out.add("{}  {}\n", session.identity, numbers_text(scan));
  if (history.left_out() != 0) {
    out.add("  older entries left out: {}; --last shows more\n", history.left_out());
  }
  for (const HistoryEntry& entry : history.entries()) {
    out.add("  {}  {}\n", nanosecond_stamp(entry.time), entry.text);
  }
  out.add("  now: {} of {} sent since the last reset are stored messages", history.kept(),
          counted(history.kept() + history.not_kept(), "sequence number"));
  if (history.not_kept() != 0) out += "; the others are session messages, or were skipped";
  const History::LastMessage& last = history.last_message();
  if (last.seq != 0) {
    out.add("\n  last message stored: {}, MsgType {}, {}", last.seq, last.type, nanosecond_stamp(last.time));
  }
  if (const auto held = holder(posix_disk(), session.folder)) {
    out.add("\n  open in process {}", *held);
  } else if (history.open_by()) {
    out.add("\n  not closed by process {}, which was killed; its ring may have more", *history.open_by());
  }
  out += '\n';
}

void append_history_json(SafeText& out, const StoredSession& session, const JournalScan& scan, const History& history) {
  append_numbers_json(out, session, scan);
  append_member(out, "stored", history.kept());
  append_member(out, "not_stored", history.not_kept());
  append_member(out, "left_out", history.left_out());
  if (const auto held = holder(posix_disk(), session.folder)) {
    append_member(out, "pid", static_cast<std::uint64_t>(*held));
  }
  if (history.last_message().seq != 0) {
    append_member(out, "last_message", history.last_message().seq);
    append_member(out, "last_message_type", history.last_message().type);
    append_member(out, "last_message_stored", nanosecond_stamp(history.last_message().time));
  }
  out += ",\"history\":[";
  bool first = true;
  for (const HistoryEntry& entry : history.entries()) {
    out += first ? "{\"kind\":" : ",{\"kind\":";
    append_json_text(out, entry.kind);
    append_member(out, "time", nanosecond_stamp(entry.time));
    append_member(out, "text", entry.text);
    out += '}';
    first = false;
  }
  out += "]}\n";
}

int explain(const SeqOptions& options) {
  int result = exit_done;
  SafeText out;
  for (const StoredSession& session : find_sessions(options.place)) {
    // The header of the oldest segment has the sequence numbers before the first record.
    SegmentHeader oldest{};
    const JournalScan all = scan_journal(posix_disk(), session.folder, [](const JournalRecord&) { return false; });
    if (!all.segments.empty()) oldest = all.segments.front().header;
    History history{oldest, options.last};
    const JournalScan scan = scan_session(session, [&](const JournalRecord& record) {
      history.add(record);
      return true;
    });
    history.finish();
    if (options.format == "json") {
      append_history_json(out, session, scan, history);
    } else {
      append_history(out, session, scan, history);
    }
    result = std::max(result, report_damage(scan, session));
  }
  print(out);
  return result;
}

int set_numbers(const SeqOptions& options) {
  if (options.next_in == 0 && options.next_out == 0 && !options.new_session) {
    throw ConfigError("nothing to set: give --next-in N, --next-out N, or both, or --new-session");
  }
  if (options.reason.empty() || options.reason.size() > max_reason) {
    throw ConfigError("--reason needs 1 to " + std::to_string(max_reason) +
                      " bytes: 'nfx store seq explain' shows it later as the reason of the change");
  }
  const StoredSession session = find_session(options.place);
  const UtcTime now = read_utc();
  JournalStore journal = open_journal(options.place, session, now);
  const std::uint64_t in = value(journal.next_inbound()), out = value(journal.next_outbound());
  const std::uint64_t last = value(journal.last_kept());
  if (options.new_session) journal.reset(now);
  const bool in_set = options.next_in == 0 ||
                      journal.set_number({true, SeqNum{options.next_in}, RecordFlag::by_operator, options.reason}, now);
  const bool out_set =
      options.next_out == 0 ||
      journal.set_number({false, SeqNum{options.next_out}, RecordFlag::by_operator, options.reason}, now);
  if (!in_set || !out_set || !journal.sync(now)) {
    throw StoreError(session.folder.string() + ": cannot write the sequence numbers: " + journal.condition_text());
  }
  SafeText done = made("{}:\n", session.identity);
  if (options.new_session) done.add("  a new session, which has no message\n");
  if (in != value(journal.next_inbound()) || options.next_in != 0) {
    done.add("  next in  {} -> {}\n", in, value(journal.next_inbound()));
  }
  if (out != value(journal.next_outbound()) || options.next_out != 0) {
    done.add("  next out {} -> {}\n", out, value(journal.next_outbound()));
  }
  if (!options.new_session && options.next_out != 0 && options.next_out <= last) {
    done.add("  messages are stored up to {}: the next one sent replaces the messages from {} on\n", last,
             options.next_out);
  }
  print(done);
  return exit_done;
}

constexpr std::string_view format_help = "Output format; json: one object per session and line";

cli::Command show_command() {
  static SeqOptions options;
  return {.name = "show",
          .summary = "Show the sequence numbers expected next and sent next",
          .run = [] { return show_numbers(options); },
          .options = with(place_options(options.place), {format_option(options.format, format_help)}),
          .examples = {{.line = "nfx store seq show journals --format json"}}};
}

cli::Command explain_command() {
  static SeqOptions options;
  return {
      .name = "explain",
      .summary = "Explain the sequence numbers: the history of the session",
      .run = [] { return explain(options); },
      .options = with(place_options(options.place), {format_option(options.format, format_help),
                                                     {.names = "--last",
                                                      .target = &options.last,
                                                      .help = "Maximum number of entries",
                                                      .range = {{1, 1'000'000}}}}),
      .details =
          "Normal activity is summarised. Listed individually: opened, closed and killed, resets, sequence numbers set "
          "by hand with their reason, sequence numbers that went back, and gaps that were filled.",
      .examples = {{.line = "nfx store seq explain journals", .about = "why the sequence numbers are what they are"},
                   {.line = "nfx store seq explain journals --session 'FIX.4.4:DESK->VENUE'"}},
  };
}

cli::Command set_command() {
  static SeqOptions options;
  return {
      .name = "set",
      .summary = "Set the sequence numbers of a session whose engine is stopped",
      .run = [] { return set_numbers(options); },
      .options = with(
          place_options(options.place),
          {ring_directory_option(options.place),
           {.names = "--next-in",
            .target = &options.next_in,
            .help = "The sequence number expected next from the peer",
            .range = {{1, 9e18}}},
           {.names = "--next-out",
            .target = &options.next_out,
            .help = "The sequence number of the next message sent",
            .range = {{1, 9e18}}},
           {.names = "--new-session",
            .target = &options.new_session,
            .help = "Begin a new session: earlier messages are not resent, and a number that is not given becomes 1"},
           {.names = "--reason",
            .target = &options.reason,
            .help = "Reason, which is stored in the journal",
            .required = true}}),
      .details =
          "Refused while a process has the session open. The change is appended as a record: nothing is overwritten, "
          "and 'nfx store seq explain' shows the change and its reason.\n\nAfter a power loss the journal may lack the "
          "record that a new session began, by its schedule or by a reset from the peer. Use --new-session then: "
          "otherwise the engine takes the journal's numbers for the previous session's, and starts at 1 instead of the "
          "numbers set here.",
      .examples = {{.line = "nfx store seq set journals --session 'FIX.4.4:DESK->VENUE' --next-in 118 --reason 'agreed "
                            "with VENUE by phone'"},
                   {.line = "nfx store seq set journals --session 'FIX.4.4:DESK->VENUE' --new-session --next-in 349 "
                            "--next-out 880 --reason 'power loss at 10:22'"}},
  };
}

}  // namespace

cli::Command seq_command() {
  return {.name = "seq",
          .summary = "Show, explain or set a session's sequence numbers",
          .commands = {explain_command(), show_command(), set_command()}};
}

}  // namespace nfx::app::store
