// nfx decode: shows the FIX messages of a log field by field.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cli/progress.hpp"
#include "command.hpp"
#include "decode/decoder.hpp"
#include "decode/dictionaries.hpp"
#include "decode/filter.hpp"
#include "decode/follow.hpp"
#include "decode/log_reader.hpp"
#include "decode/order.hpp"
#include "decode/print.hpp"
#include "decode/redact.hpp"
#include "decode/summary.hpp"
#include "output.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

struct DecodeOptions {
  std::vector<std::string> paths;
  std::vector<std::string> dictionaries;
  FilterOptions filter;
  std::string order;
  bool ladder = false;
  bool csv = false;
  std::vector<std::string> fields;
  bool gaps = false;
  bool follow = false;
  std::string redact;
  std::vector<std::string> redact_also;
  std::string color = "auto";
  bool show_secrets = false;
  bool validate = false;
  bool one_line = false;
  bool json = false;
  bool summary = false;
};

class Decode {
 public:
  explicit Decode(const DecodeOptions& options)
      : options_(options),
        decoder_(dictionaries_, options.validate, summarises() ? DecodedParts::without_groups : DecodedParts::all),
        filter_(options.filter, with_given(dictionaries_, options)),
        print_{options.show_secrets, Palette{use_colour(options.color, Stream::out)}, {}, {}},
        csv_tags_(tags_of(options.fields, "--fields")) {}

  int run() {
    std::vector<std::string> paths = options_.paths;
    if (paths.empty()) paths.emplace_back("-");
    std::vector<LogFile> files = expand_paths(paths);
    several_ = files.size() > 1;
    std::uint64_t size = 0;
    for (const LogFile& each : files) size += cli::file_size_or_zero(each.path);
    const std::string what = paths.size() == 1 ? paths[0] : std::to_string(files.size()) + " logs";
    // Decoded messages on the terminal already show the progress.
    cli::Progress progress{"decoding " + what, size,
                           !summarises() && options_.redact.empty() && is_terminal(Stream::out)};
    if (!options_.order.empty()) return follow_order(files, progress);
    if (!options_.redact.empty()) return redact(files, progress);
    if (options_.csv) print_csv_header(output_.text, options_.fields);
    LogReaderOptions reader{.times = summarises() ? Times::yes : filter_.needs_times(), .hooks = hooks(progress)};
    if (options_.follow) follow(std::move(files), std::move(reader));
    read(LogReader{std::move(files), std::move(reader)});
    progress.end();
    if (options_.summary) summary_.print(output_.text, options_.validate);
    if (options_.gaps) summary_.print_gaps(output_.text);
    output_.flush();
    if (found_ == 0) throw std::runtime_error(what + ": no FIX message found: a message starts with 8=FIX");
    return (options_.validate && wrong_) || (options_.gaps && summary_.has_gaps()) ? exit_failed : exit_done;
  }

 private:
  [[nodiscard]] LogReaderHooks hooks(cli::Progress& progress) {
    return {.before_waiting = [this] { output_.flush(); },
            .on_read = [&progress](std::size_t bytes) { progress.add(bytes); },
            .on_note =
                [&progress](const std::string& text) {
                  progress.end();
                  print_error("nfx: {}\n", text);
                }};
  }

  [[nodiscard]] bool summarises() const noexcept { return options_.summary || options_.gaps; }

  void read(LogReader&& reader) {
    for (LogMessage message; reader.next(message);) {
      ++found_;
      if (filter_.may_want(message)) show(message);
    }
  }

  // Until a signal ends it.
  [[noreturn]] void follow(std::vector<LogFile> files, LogReaderOptions options) {
    for (const LogFile& each : files) {
      if (each.path == "-" || each.archived) throw cli::UsageError("--follow follows files; " + each.name + " is none");
    }
    FollowSource source{std::move(files), std::move(options)};
    for (LogMessage message; source.next(message);) {
      if (filter_.may_want(message)) show(message);
    }
    std::unreachable();
  }

  int redact(const std::vector<LogFile>& files, cli::Progress& progress) {
    if (files.size() != 1) throw cli::UsageError("--redact copies one log; give one file");
    Redactor redactor{tags_of(options_.redact_also, "--redact-also")};
    OutputFile out{{.path = options_.redact}};
    const std::uint64_t messages = redactor.copy(files[0], out, hooks(progress));
    progress.end();
    if (messages == 0) throw std::runtime_error(files[0].name + ": no FIX message found: a message starts with 8=FIX");
    out.finish();
    print_error("{} messages copied to {}, {} values replaced\n", messages, options_.redact, redactor.replaced());
    return exit_done;
  }

  [[nodiscard]] std::vector<std::uint32_t> tags_of(const std::vector<std::string>& fields, std::string_view option) {
    std::vector<std::uint32_t> tags;
    for (const std::string& each : fields) tags.push_back(tag_of(dictionaries_, each, option));
    return tags;
  }

  // Each pass may find identifiers that occur before them.
  int follow_order(const std::vector<LogFile>& files, cli::Progress& progress) {
    constexpr int most_passes = 64;
    if (std::ranges::any_of(files, [](const LogFile& each) { return each.path == "-"; }))
      throw cli::UsageError("--order reads a log more than once: give the path of a file, not standard input");
    OrderTrace order{options_.order};
    for (int pass = 0; pass < most_passes; ++pass) {
      order.begin_pass();
      LogReader reader{files, {.times = Times::yes, .needles = order.needles(), .hooks = hooks(progress)}};
      for (LogMessage message; reader.next(message);) {
        if (!filter_.may_want(message) || !filter_.wants(decoder_.decode(message.found))) continue;
        order.take(message);
      }
      if (!order.grew()) break;
    }
    progress.end();
    if (order.messages().empty())
      throw std::runtime_error("no message of an order with the identifier " + options_.order + " was found");
    if (options_.ladder) {
      print_order_ladder(output_.text, order, decoder_, print_.palette);
    } else if (options_.json || options_.one_line) {
      for (const KeptMessage& each : order.messages()) show(each.view());
    } else {
      print_order_table(output_.text, order, decoder_, print_.palette, terminal_size().columns);
    }
    output_.flush();
    return exit_done;
  }

  void show(const LogMessage& logged) {
    const DecodedMessage& message = decoder_.decode(logged.found);
    if (!filter_.wants(message)) return;
    wrong_ = wrong_ || message.bad() || !message.violation.empty();
    if (summarises()) return summary_.count(message, logged);
    if (several_ || logged.captured) {
      const std::string number = std::to_string(logged.found.line);
      const std::string_view unit = logged.captured ? "packet" : "line";
      print_.place = std::string{logged.source}.append(" ").append(unit).append(" ").append(number);
      print_.json_place = "\"file\":" + json_text(logged.source) + ",\"" + std::string{unit} + "\":" + number;
    }
    if (options_.csv) {
      print_csv(output_.text, message, print_, csv_tags_);
    } else if (options_.json) {
      print_json(output_.text, message, print_);
    } else if (options_.one_line) {
      print_one_line(output_.text, message, print_);
    } else {
      print_fields(output_.text, message, print_);
    }
    output_.flush_when_large();
  }

  static Dictionaries& with_given(Dictionaries& dictionaries, const DecodeOptions& options) {
    for (const std::string& file : options.dictionaries) dictionaries.add(file);
    return dictionaries;
  }

  const DecodeOptions& options_;
  Dictionaries dictionaries_;
  Decoder decoder_;
  MessageFilter filter_;
  PrintOptions print_;
  Output output_;
  Summary summary_{true};
  std::vector<std::uint32_t> csv_tags_;
  std::uint64_t found_ = 0;
  bool several_ = false;  // logs
  bool wrong_ = false;
};

}  // namespace

cli::Command decode_command() {
  static DecodeOptions options;
  cli::Command command{
      .name = "decode",
      .summary = "Decode the FIX messages in a log of any engine",
      .run = [] { return Decode{options}.run(); },
      .options = {{.names = "FILE",
                   .target = &options.paths,
                   .help = "Log, capture of packets, folder or zip archive; - or none: standard input",
                   .kind = cli::Kind::file},
                  {.names = "--dictionary",
                   .target = &options.dictionaries,
                   .help = "Dictionary or overlay, used for its version; repeatable",
                   .kind = cli::Kind::file},
                  {.names = "--order",
                   .target = &options.order,
                   .help = "The messages of the order with this ClOrdID, OrderID or ExecID, as a table; its other "
                           "identifiers are followed across sessions and logs",
                   .value = "ID",
                   .excludes = {"--summary"}},
                  {.names = "--ladder",
                   .target = &options.ladder,
                   .help = "With --order: arrows between the parties",
                   .excludes = {"--json", "--one-line"},
                   .needs = {"--order"}},
                  {.names = "--validate",
                   .target = &options.validate,
                   .help = "Also report the first violation of its dictionary in each message; exit code 1 if any "
                           "message is malformed or invalid"},
                  {.names = "--one-line",
                   .target = &options.one_line,
                   .help = "One line per message",
                   .excludes = {"--json", "--summary"}},
                  {.names = "--json",
                   .target = &options.json,
                   .help = "One JSON object per message and line",
                   .excludes = {"--summary"}},
                  {.names = "--csv",
                   .target = &options.csv,
                   .help = "One line of comma-separated values per message",
                   .excludes = {"--one-line", "--json", "--summary", "--order"}},
                  {.names = "--fields",
                   .target = &options.fields,
                   .help = "With --csv: columns for these fields, by number or name",
                   .value = "TAG[,TAG]",
                   .separator = ',',
                   .needs = {"--csv"}},
                  {.names = "--summary",
                   .target = &options.summary,
                   .help =
                       "Print only the number of messages of each type, the sessions, missing sequence numbers, and "
                       "how long answers took"},
                  {.names = "--gaps",
                   .target = &options.gaps,
                   .help = "Print only missing sequence numbers; exit code 1 if there are any",
                   .excludes = {"--summary", "--one-line", "--json", "--csv", "--order"}},
                  {.names = "--follow",
                   .target = &options.follow,
                   .help = "Go on with what is written to the logs, also after they were rotated, until interrupted",
                   .excludes = {"--summary", "--gaps", "--order"}},
                  {.names = "--redact",
                   .target = &options.redact,
                   .help =
                       "Write a copy of the log to this new file, or to standard output (-), with *** for passwords "
                       "and RawData(96), and with right BodyLength and CheckSum",
                   .value = "OUT",
                   .kind = cli::Kind::file,
                   .excludes = {"--summary", "--gaps", "--order", "--follow", "--csv", "--json", "--one-line"}},
                  {.names = "--redact-also",
                   .target = &options.redact_also,
                   .help = "With --redact: also replace these fields, the same value always by the same text",
                   .value = "TAG[,TAG]",
                   .separator = ',',
                   .needs = {"--redact"}},
                  color_option(options.color),
                  {.names = "--show-secrets",
                   .target = &options.show_secrets,
                   .help = "Show passwords and RawData(96), masked with *** otherwise"}},
      .details =
          R"(Messages may be anywhere in a line, after timestamps or other text, several to a line or without any lines. Fields may be separated by SOH, ^A, \x01, <SOH>, [SOH], '|', ';' and other short texts, or each be a line; the separator is detected per message. A log in UTF-16 is read, and so are the text of Wireshark and fix8 (a field per line as "MsgType (35): D") and journalctl -o json.
Files compressed with gzip or Zstandard are decompressed, and TCP in captures of packets (pcap, pcapng) is put into order. Messages of several logs, of a folder or of a zip archive are merged by time: the time that the log wrote before a message, otherwise its SendingTime. A log in local time is converted to UTC by its first message.
BodyLength and CheckSum are verified with SOH in place of the separator; byte numbers count from 0 in that form. Malformed messages are explained and shown as far as they can be parsed. Control characters are shown as \xNN.
A message of FIXT.1.1 is decoded as the version that it names, or that its sender's Logon named, or FIX 5.0 SP2.
A message may have 8 MiB; a longer one is reported and skipped. Works on a growing pipe.)",
      .exit_codes =
          "0 done, 1 failed, or --validate found a malformed or invalid message or --gaps a gap, 2 wrong usage",
      .examples = {{.line = "nfx decode messages.log", .about = "show a FIX log of any engine field by field"},
                   {.line = "tail -f session.log | nfx decode --one-line --only NewOrderSingle,8"},
                   {.line = "nfx decode --json messages.log | jq 'select(.ok | not)'"},
                   {.line = "nfx decode --session CLIENT --from 09:30 --to 09:45 --tag Symbol=IBM logs/"},
                   {.line = "nfx decode --order A1B2C3 --ladder client.log venue.log"},
                   {.line = "nfx decode --csv --fields ClOrdID,Symbol,Side,OrderQty,Price --type D logs/ > orders.csv"},
                   {.line = "nfx decode --redact copy.log --redact-also Username,Account session.log"},
                   {.line = "nfx decode --summary --validate messages.log"}},
  };
  const std::vector<cli::Option> filter = options.filter.options();
  command.options.insert(command.options.begin() + 2, filter.begin(), filter.end());
  return command;
}

}  // namespace nfx::app
