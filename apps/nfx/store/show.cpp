// nfx store cat and tail: the messages of sessions, those that are there and those that come.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <iostream>
#include <memory>

#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/record_printer.hpp"
#include "store/store.hpp"

namespace nfx::app::store {
namespace {

struct ShowOptions {
  Place place;
  PrinterOptions printer;
  std::string archive;
  std::uint64_t from = 0;
  std::uint64_t to = UINT64_MAX;
  bool all = false;
  bool one_line = false;
  bool raw = false;
  bool json = false;
  bool follow = false;
  std::size_t last = 10;
};

void add_common(CLI::App& command, ShowOptions& options) {
  add_place(command, options.place);
  CLI::Option* one_line = command.add_flag("--one-line", options.one_line, "One line per message");
  CLI::Option* raw = command.add_flag("--raw", options.raw, "One line per message, as it stands on the wire");
  CLI::Option* json = command.add_flag("--json", options.json, "One JSON object per message and line");
  one_line->excludes(raw)->excludes(json);
  raw->excludes(json);
  command.add_flag("--all", options.all, "Also the records between the messages: numbers, resets, opened, closed");
  command
      .add_option("--dictionary", options.printer.dictionaries,
                  "Dictionary or overlay, used for its version; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--color", options.printer.color,
                  "auto, always or never; auto: on a terminal, unless NO_COLOR is set")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command.add_flag("--show-secrets", options.printer.show_secrets,
                   "Show passwords and RawData(96), masked with *** otherwise");
}

void settle(ShowOptions& options, std::size_t sessions) {
  options.printer.name_sessions = sessions > 1;
  options.printer.form = options.one_line ? RecordForm::one_line
                         : options.raw    ? RecordForm::raw
                         : options.json   ? RecordForm::json
                                          : RecordForm::fields;
}

// Damage ends what can be shown.
bool report_damage(const JournalScan& scan, const StoredSession& session) {
  if (!scan.damage) return false;
  std::cerr << "nfx: " << describe(*scan.damage, session, scan.torn) << '\n';
  return !scan.torn;
}

bool wanted(const ShowOptions& options, const RecordHeader& header) noexcept {
  if (header.kind != RecordKind::message) return options.all;
  return header.seq >= options.from && header.seq <= options.to;
}

int show(ShowOptions& options) {
  if (options.from > options.to) {
    throw ConfigError("--from " + std::to_string(options.from) + " lies behind --to " + std::to_string(options.to));
  }
  const auto sessions = find_sessions(options.place);
  settle(options, sessions.size());
  RecordPrinter printer{options.printer};
  Output output;
  bool damaged = false;
  for (const StoredSession& session : sessions) {
    const auto print = [&](const JournalRecord& record) {
      if (!wanted(options, record.header)) return true;
      printer.print(output.text, session.identity, record.header, record.body);
      output.flush_when_large();
      return true;
    };
    for (const JournalScan& scan : scan_chosen(session, options.archive, print)) {
      output.flush();
      damaged = report_damage(scan, session) || damaged;
    }
  }
  return damaged ? exit_failed : exit_done;
}

// SIGINT and SIGTERM become something to wait for.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&mask_);
    for (const int number : {SIGINT, SIGTERM}) sigaddset(&mask_, number);
    sigprocmask(SIG_BLOCK, &mask_, nullptr);
  }
  // Whether one comes within this time.
  [[nodiscard]] bool come_within(std::chrono::milliseconds time) const {
    const timespec wait{time.count() / 1000, time.count() % 1000 * 1'000'000};
    return sigtimedwait(&mask_, nullptr, &wait) > 0;
  }

 private:
  sigset_t mask_;
};

// One session that is followed: where its last look ended.
struct Followed {
  StoredSession session;
  JournalPosition position = 0;
  unsigned failures = 0;
};

// A look reads the newest segment from its beginning, so that the time between looks grows with what one takes: a
// twentieth of a core at most.
constexpr std::chrono::milliseconds look_interval{100};
constexpr int rest_per_look = 20;
// A file may go while it is looked at, when segments are put away; one that stays unreadable ends the command.
constexpr unsigned max_failures = 50;

// Prints what has come since the last look.
void look_again(Followed& followed, const ShowOptions& options, RecordPrinter& printer, Output& output) {
  const auto print = [&](const JournalRecord& record) {
    if (record.position < followed.position) return true;
    followed.position = record.position + padded(record.header.size);
    if (wanted(options, record.header)) {
      printer.print(output.text, followed.session.identity, record.header, record.body);
      output.flush_when_large();
    }
    return true;
  };
  try {
    const JournalScan scan = scan_journal(posix_disk(), followed.session.folder, print, followed.position);
    if (scan.damage && !scan.torn) throw StoreError(describe(*scan.damage, followed.session, false));
    followed.failures = 0;
  } catch (const StoreError&) {
    if (++followed.failures == max_failures) throw;
  }
}

int tail(ShowOptions& options) {
  struct Kept {
    RecordHeader header;
    std::string body;
  };
  const auto sessions = find_sessions(options.place);
  settle(options, sessions.size());
  RecordPrinter printer{options.printer};
  Output output;
  std::vector<Followed> followed;
  bool damaged = false;
  for (const StoredSession& session : sessions) {
    std::deque<Kept> last;
    const JournalScan scan = scan_session(session, [&](const JournalRecord& record) {
      if (!wanted(options, record.header)) return true;
      last.push_back({record.header, std::string{record.body}});
      if (last.size() > options.last) last.pop_front();
      return true;
    });
    for (const Kept& kept : last) printer.print(output.text, session.identity, kept.header, kept.body);
    output.flush();
    damaged = report_damage(scan, session) || damaged;
    followed.push_back({session, scan.end, 0});
  }
  if (!options.follow || damaged) return damaged ? exit_failed : exit_done;
  const StopSignals signals;
  for (auto pause = look_interval; !signals.come_within(pause);) {
    const auto begin = std::chrono::steady_clock::now();
    for (Followed& each : followed) look_again(each, options, printer, output);
    output.flush();
    const auto taken = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    pause = std::max(look_interval, taken * rest_per_look);
  }
  return exit_done;
}

}  // namespace

void add_cat(CLI::App& store, int& exit_code) {
  CLI::App* command = store.add_subcommand("cat", "The messages that were sent, decoded");
  auto options = std::make_shared<ShowOptions>();
  add_common(*command, *options);
  CLI::Option* all = command->get_option("--all");
  command->add_option("--from", options->from, "Only messages from this number on")->type_name("N")->excludes(all);
  command->add_option("--to", options->to, "Only messages up to this number")->type_name("N")->excludes(all);
  add_archive(*command, options->archive);
  command->footer(
      "Messages come in the order in which they were sent, with the time at which they were kept, in UTC. A number "
      "may\n"
      "come twice when the numbers went back in between; --all shows why. Session messages (Logon, Heartbeat, ...) "
      "are\n"
      "not kept.\n\n"
      "Examples:\n"
      "  nfx store cat journals --one-line --from 100 --to 200\n"
      "  nfx store cat journals --one-line --archive all      what was sent before resets of the numbers\n"
      "  nfx store cat journals --session 'FIX.4.4:DESK->VENUE' --json | jq 'select(.name == \"NewOrderSingle\")'");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

void add_tail(CLI::App& store, int& exit_code) {
  CLI::App* command = store.add_subcommand("tail", "The last messages that were sent, and with -f those that follow");
  auto options = std::make_shared<ShowOptions>();
  add_common(*command, *options);
  command->add_option("-n,--last", options->last, "How many of each session")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->add_flag("-f,--follow", options->follow, "Go on with what comes, until Ctrl-C or SIGTERM");
  command->footer(
      "Following looks at the files ten times a second, or less often when that would take more than a twentieth of a\n"
      "core. Sessions whose first journal is made later are not seen.\n\n"
      "Example:\n"
      "  nfx store tail -f journals --one-line");
  command->callback([options, &exit_code] { exit_code = tail(*options); });
}

}  // namespace nfx::app::store
