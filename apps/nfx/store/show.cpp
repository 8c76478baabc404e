// nfx store cat and tail: print the stored messages of sessions, and new ones as they arrive.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>

#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "output.hpp"
#include "store/record_printer.hpp"
#include "store/store_commands.hpp"

namespace nfx::app::store {
namespace {

struct ShowOptions {
  Place place;
  PrinterOptions printer;
  std::string archive;
  std::uint64_t from = 0;
  std::uint64_t to = UINT64_MAX;
  bool all = false;
  bool received = false;
  bool one_line = false;
  bool raw = false;
  bool json = false;
  bool follow = false;
  std::size_t last = 10;
};

std::vector<cli::Option> common_options(ShowOptions& options) {
  return with(place_options(options.place),
              {{.names = "--one-line",
                .target = &options.one_line,
                .help = "One line per message",
                .excludes = {"--raw", "--json"}},
               {.names = "--raw",
                .target = &options.raw,
                .help = "One line per message, with the bytes that were on the wire",
                .excludes = {"--json"}},
               {.names = "--json", .target = &options.json, .help = "One JSON object per message and line"},
               {.names = "--all",
                .target = &options.all,
                .help = "Also the records between the messages: sequence numbers, resets, opened, closed"},
               {.names = "--received",
                .target = &options.received,
                .help = "Also the peer's messages, which are stored with store_received"},
               {.names = "--dictionary",
                .target = &options.printer.dictionaries,
                .help = "Dictionary or overlay, used for its version; repeatable",
                .kind = cli::Kind::file},
               color_option(options.printer.color),
               {.names = "--show-secrets",
                .target = &options.printer.show_secrets,
                .help = "Show passwords and RawData(96), masked with *** otherwise"}});
}

void settle(ShowOptions& options, std::size_t sessions) {
  options.printer.name_sessions = sessions > 1;
  options.printer.form = options.one_line ? RecordForm::one_line
                         : options.raw    ? RecordForm::raw
                         : options.json   ? RecordForm::json
                                          : RecordForm::fields;
}

// Nothing after damage can be shown.
bool report_damage(const JournalScan& scan, const StoredSession& session) {
  if (!scan.damage) return false;
  print_error("nfx: {}\n", describe(*scan.damage, session, scan.torn));
  return !scan.torn;
}

bool wanted(const ShowOptions& options, const RecordHeader& header) noexcept {
  if (is_received(header)) {
    return (options.all || options.received) && header.seq > options.from && header.seq - 1 <= options.to;
  }
  if (header.kind != RecordKind::message) return options.all;
  return header.seq >= options.from && header.seq <= options.to;
}

int show(ShowOptions& options) {
  if (options.from > options.to) {
    throw ConfigError("--from " + std::to_string(options.from) + " is after --to " + std::to_string(options.to));
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

// Turns SIGINT and SIGTERM into something to wait for.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&mask_);
    for (const int number : {SIGINT, SIGTERM}) sigaddset(&mask_, number);
    sigprocmask(SIG_BLOCK, &mask_, nullptr);
  }
  // Whether one arrives within this time.
  [[nodiscard]] bool come_within(std::chrono::milliseconds time) const {
    const timespec wait{time.count() / 1000, time.count() % 1000 * 1'000'000};
    return sigtimedwait(&mask_, nullptr, &wait) > 0;
  }

 private:
  sigset_t mask_;
};

// A followed session, with the end of its last scan.
struct Followed {
  StoredSession session;
  JournalPosition position = 0;
  unsigned failures = 0;
};

// A scan reads the newest segment from its beginning, so the pause between scans grows with their duration: they use at
// most a twentieth of a core.
constexpr std::chrono::milliseconds scan_interval{100};
constexpr int rest_per_scan = 20;
// A file may be removed while it is read, when segments are archived; one that stays unreadable ends the command.
constexpr unsigned max_failures = 50;

// Prints everything since the last scan.
void scan_again(Followed& followed, const ShowOptions& options, RecordPrinter& printer, Output& output) {
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
  for (auto pause = scan_interval; !signals.come_within(pause);) {
    const auto begin = std::chrono::steady_clock::now();
    for (Followed& each : followed) scan_again(each, options, printer, output);
    output.flush();
    const auto taken = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    pause = std::max(scan_interval, taken * rest_per_scan);
  }
  return exit_done;
}

}  // namespace

cli::Command cat_command() {
  static ShowOptions options;
  return {
      .name = "cat",
      .summary = "Show the messages that were sent, decoded",
      .run = [] { return show(options); },
      .options = with(common_options(options), {{.names = "--from",
                                                 .target = &options.from,
                                                 .help = "Only messages from this sequence number on",
                                                 .excludes = {"--all"}},
                                                {.names = "--to",
                                                 .target = &options.to,
                                                 .help = "Only messages up to this sequence number",
                                                 .default_text = "the last",
                                                 .excludes = {"--all"}},
                                                archive_option(options.archive)}),
      .details =
          "Messages come in the order in which they were sent, with the time at which they were stored, in UTC. A "
          "sequence number appears twice if the sequence numbers went back in between; --all shows why. Session "
          "messages (Logon, Heartbeat, ...) are not stored.",
      .examples = {{.line = "nfx store cat journals --one-line", .about = "what was sent"},
                   {.line = "nfx store cat journals --one-line --from 100 --to 200"},
                   {.line = "nfx store cat journals --one-line --archive all",
                    .about = "what was sent before resets of the sequence numbers"},
                   {.line = "nfx store cat journals --session 'FIX.4.4:DESK->VENUE' --json | jq 'select(.name == "
                            "\"NewOrderSingle\")'"}},
  };
}

cli::Command tail_command() {
  static ShowOptions options;
  return {
      .name = "tail",
      .summary = "Show the last messages that were sent, and with -f all new ones",
      .run = [] { return tail(options); },
      .options = with(common_options(options), {{.names = "-n,--last",
                                                 .target = &options.last,
                                                 .help = "Number of messages of each session",
                                                 .range = {{0, 1'000'000}}},
                                                {.names = "-f,--follow",
                                                 .target = &options.follow,
                                                 .help = "Continue with new messages until Ctrl-C or SIGTERM"}}),
      .details =
          "Following reads the files ten times a second, or less often when that would use more than a twentieth of a "
          "core. Sessions whose first journal is created later are not seen.",
      .examples = {{.line = "nfx store tail -f journals --one-line", .about = "what is being sent"}},
  };
}

}  // namespace nfx::app::store
