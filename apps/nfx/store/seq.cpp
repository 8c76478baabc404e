// nfx store seq: a session's numbers, why they are what they are, and setting them.
#include <iostream>
#include <memory>

#include "command.hpp"
#include "decode/print.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/history.hpp"
#include "store/store.hpp"
#include "text.hpp"

namespace nfx::app::store {
namespace {

struct SeqOptions {
  Place place;
  std::string format = "text";
  std::size_t last = 50;
  std::uint64_t next_in = 0;
  std::uint64_t next_out = 0;
  std::string reason;
};

constexpr std::size_t max_reason = 4096;

void add_format(CLI::App& command, SeqOptions& options) {
  command.add_option("--format", options.format, "text, or json: one object per session and line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

std::string numbers_text(const JournalScan& scan) {
  return "next in " + std::to_string(value(scan.next_inbound)) + ", next out " +
         std::to_string(value(scan.next_outbound)) + ", since " + nanosecond_stamp(scan.creation_time);
}

void append_numbers_json(std::string& out, const StoredSession& session, const JournalScan& scan) {
  out += "{\"identity\":";
  append_json_text(out, session.identity);
  append_member(out, "next_in", value(scan.next_inbound));
  append_member(out, "next_out", value(scan.next_outbound));
  append_member(out, "since", nanosecond_stamp(scan.creation_time));
}

int report_damage(const JournalScan& scan, const StoredSession& session) {
  if (!scan.damage || scan.torn) return exit_done;
  std::cerr << "nfx: " << describe(*scan.damage, session, false) << '\n';
  return exit_failed;
}

int show_numbers(const SeqOptions& options) {
  int result = exit_done;
  std::string out;
  for (const StoredSession& session : find_sessions(options.place)) {
    const JournalScan scan = scan_session(session);
    if (options.format == "json") {
      append_numbers_json(out, session, scan);
      out += "}\n";
    } else {
      append_printable(out, session.identity);
      out += "  " + numbers_text(scan) + '\n';
    }
    result = std::max(result, report_damage(scan, session));
  }
  std::cout << out << std::flush;
  return std::cout ? result : exit_failed;
}

void append_history(std::string& out, const StoredSession& session, const JournalScan& scan, const History& history) {
  append_printable(out, session.identity);
  out += "  " + numbers_text(scan) + '\n';
  if (history.left_out() != 0) {
    out += "  older entries left out: " + std::to_string(history.left_out()) + "; --last shows more\n";
  }
  for (const HistoryEntry& entry : history.entries()) {
    out += "  " + nanosecond_stamp(entry.time) + "  ";
    out += entry.text + '\n';
  }
  out += "  now: " + std::to_string(history.kept()) + " of " + counted(history.kept() + history.not_kept(), "number") +
         " sent since the numbering began were messages kept";
  if (history.not_kept() != 0) out += ", the others session messages, or skipped";
  const History::LastMessage& last = history.last_message();
  if (last.seq != 0) {
    out += "\n  last message kept: " + std::to_string(last.seq) + ", MsgType ";
    append_printable(out, last.type);
    out += ", " + nanosecond_stamp(last.time);
  }
  if (const auto held = holder(posix_disk(), session.folder)) {
    out += "\n  held by process " + std::to_string(*held);
  } else if (history.open_by()) {
    out += "\n  not closed by process " + std::to_string(*history.open_by()) +
           ", which holds it no more: killed; its ring may hold more";
  }
  out += '\n';
}

void append_history_json(std::string& out, const StoredSession& session, const JournalScan& scan,
                         const History& history) {
  append_numbers_json(out, session, scan);
  append_member(out, "kept", history.kept());
  append_member(out, "not_kept", history.not_kept());
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
  std::string out;
  for (const StoredSession& session : find_sessions(options.place)) {
    // The header of the oldest segment says where things stood in front of the first record.
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
  std::cout << out << std::flush;
  return std::cout ? result : exit_failed;
}

int set_numbers(const SeqOptions& options) {
  if (options.next_in == 0 && options.next_out == 0) {
    throw ConfigError("nothing to set: give --next-in N, --next-out N, or both");
  }
  if (options.reason.empty() || options.reason.size() > max_reason) {
    throw ConfigError("--reason needs 1 to " + std::to_string(max_reason) +
                      " bytes: 'nfx store seq explain' shows it to whoever asks why the numbers are what they are");
  }
  const StoredSession session = find_session(options.place);
  const UtcTime now = utc_now();
  JournalStore journal = open_journal(options.place, session, now);
  const std::uint64_t in = value(journal.next_inbound()), out = value(journal.next_outbound());
  const std::uint64_t last = value(journal.last_kept());
  const bool in_set = options.next_in == 0 ||
                      journal.set_number({true, SeqNum{options.next_in}, RecordFlag::by_operator, options.reason}, now);
  const bool out_set =
      options.next_out == 0 ||
      journal.set_number({false, SeqNum{options.next_out}, RecordFlag::by_operator, options.reason}, now);
  if (!in_set || !out_set || !journal.sync(now)) {
    throw StoreError(session.folder.string() + ": cannot write the numbers: " + journal.condition_text());
  }
  std::cout << session.identity << ":\n";
  if (options.next_in != 0) std::cout << "  next in  " << in << " -> " << options.next_in << '\n';
  if (options.next_out != 0) std::cout << "  next out " << out << " -> " << options.next_out << '\n';
  if (options.next_out != 0 && options.next_out <= last) {
    std::cout << "  messages are kept up to " << last << ": the next one sent replaces those from " << options.next_out
              << " on\n";
  }
  std::cout.flush();
  return exit_done;
}

}  // namespace

void add_seq(CLI::App& store, int& exit_code) {
  CLI::App* group = store.add_subcommand("seq", "A session's numbers: show, explain, set");
  group->require_subcommand(1);
  auto options = std::make_shared<SeqOptions>();

  CLI::App* show = group->add_subcommand("show", "The number expected next and the one sent next");
  add_place(*show, options->place);
  add_format(*show, *options);
  show->footer("Example:\n  nfx store seq show journals --format json");
  show->callback([options, &exit_code] { exit_code = show_numbers(*options); });

  CLI::App* why = group->add_subcommand("explain", "Why the numbers are what they are: the history of the session");
  add_place(*why, options->place);
  add_format(*why, *options);
  why->add_option("--last", options->last, "At most so many entries")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  why->footer(
      "Ordinary steps from message to message are drawn together. Told one by one: opened, closed and killed, resets,\n"
      "numbers set by hand with their reason, numbers that went back, and gaps that were filled.\n\n"
      "Example:\n"
      "  nfx store seq explain journals --session 'FIX.4.4:DESK->VENUE'");
  why->callback([options, &exit_code] { exit_code = explain(*options); });

  CLI::App* set = group->add_subcommand("set", "Set the numbers of a session whose engine is stopped");
  add_place(*set, options->place);
  add_ring_directory(*set, options->place);
  set->add_option("--next-in", options->next_in, "The number expected next from the peer")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX / 2));
  set->add_option("--next-out", options->next_out, "The number of the next message sent")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX / 2));
  set->add_option("--reason", options->reason, "Why; it is kept in the journal")->type_name("TEXT")->required();
  set->footer(
      "Refused while a process holds the session. What is set is a record like all others: nothing is overwritten, "
      "and\n"
      "'nfx store seq explain' tells who did what and why.\n\n"
      "Example:\n"
      "  nfx store seq set journals --session 'FIX.4.4:DESK->VENUE' --next-in 118 --reason 'agreed with VENUE by "
      "phone'");
  set->callback([options, &exit_code] { exit_code = set_numbers(*options); });
  group->footer("'nfx store seq COMMAND --help' explains a command, with an example.");
}

}  // namespace nfx::app::store
