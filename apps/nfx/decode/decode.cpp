// nfx decode: shows the FIX messages of a log field by field.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "cli/progress.hpp"
#include "command.hpp"
#include "decode/decoder.hpp"
#include "decode/dictionaries.hpp"
#include "decode/filter.hpp"
#include "decode/log_reader.hpp"
#include "decode/print.hpp"
#include "output.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

struct DecodeOptions {
  std::vector<std::string> paths;
  std::vector<std::string> dictionaries;
  FilterOptions filter;
  std::string color = "auto";
  bool show_secrets = false;
  bool validate = false;
  bool one_line = false;
  bool json = false;
  bool summary = false;
};

// Counts messages by type.
class Summary {
 public:
  void count(const DecodedMessage& message) {
    ++total_;
    if (message.bad()) ++bad_;
    if (!message.violation.empty()) ++invalid_;
    std::string type{message.msg_type.empty() ? "?" : message.msg_type};
    // Garbage can look like any number of types.
    if (counts_.size() >= max_types && !counts_.contains(type)) type = "(others)";
    Row& row = counts_[type];
    ++row.count;
    if (row.name.empty()) row.name = message.type_name;
  }

  void print(SafeText& out, bool validated) const {
    for (const auto& [type, row] : counts_) {
      const std::string count = std::to_string(row.count);
      out.append_spaces(10 - std::min<std::size_t>(count.size(), 10));
      out.add("{}  {}", count, type);
      if (!row.name.empty()) out.add("  {}", row.name);
      out += '\n';
    }
    out += std::to_string(total_) + (total_ == 1 ? " message, " : " messages, ") + std::to_string(bad_) + " bad";
    if (validated) out += ", " + std::to_string(invalid_) + " invalid";
    out += '\n';
  }

 private:
  static constexpr std::size_t max_types = 4096;
  struct Row {
    std::uint64_t count = 0;
    std::string name;
  };
  std::map<std::string, Row> counts_;
  std::uint64_t total_ = 0, bad_ = 0, invalid_ = 0;
};

class Decode {
 public:
  explicit Decode(const DecodeOptions& options)
      : options_(options),
        decoder_(dictionaries_, options.validate),
        filter_(options.filter, with_given(dictionaries_, options)),
        print_{options.show_secrets, Palette{use_colour(options.color, Stream::out)}, {}, {}} {}

  int run() {
    std::vector<std::string> paths = options_.paths;
    if (paths.empty()) paths.emplace_back("-");
    std::vector<LogFile> files = expand_paths(paths);
    several_ = files.size() > 1;
    std::uint64_t size = 0;
    for (const LogFile& each : files) size += cli::file_size_or_zero(each.path);
    const std::string what = paths.size() == 1 ? paths[0] : std::to_string(files.size()) + " logs";
    // Decoded messages on the terminal already show the progress.
    cli::Progress progress{"decoding " + what, size, !options_.summary && is_terminal(Stream::out)};
    LogReader reader{std::move(files),
                     filter_.needs_times(),
                     {.before_waiting = [this] { output_.flush(); },
                      .on_read = [&progress](std::size_t bytes) { progress.add(bytes); }}};
    for (LogMessage message; reader.next(message);) {
      ++found_;
      if (filter_.may_want(message)) show(message);
    }
    progress.end();
    if (options_.summary) summary_.print(output_.text, options_.validate);
    output_.flush();
    if (found_ == 0) throw std::runtime_error(what + ": no FIX message found: a message starts with 8=FIX");
    return options_.validate && wrong_ ? exit_failed : exit_done;
  }

 private:
  void show(const LogMessage& logged) {
    const DecodedMessage& message = decoder_.decode(logged.found);
    if (!filter_.wants(message)) return;
    wrong_ = wrong_ || message.bad() || !message.violation.empty();
    if (options_.summary) return summary_.count(message);
    if (several_) {
      print_.place = std::string{logged.source} + " line " + std::to_string(logged.found.line);
      print_.json_place = "\"file\":" + json_text(logged.source) + ",\"line\":" + std::to_string(logged.found.line);
    }
    if (options_.json) {
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
  Summary summary_;
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
                   .help = "Log file, folder or zip archive; - or none: standard input",
                   .kind = cli::Kind::file},
                  {.names = "--dictionary",
                   .target = &options.dictionaries,
                   .help = "Dictionary or overlay, used for its version; repeatable",
                   .kind = cli::Kind::file},
                  {.names = "--validate",
                   .target = &options.validate,
                   .help = "Also report the first thing in each message that its dictionary does not allow; exit code "
                           "1 if any message is malformed or invalid"},
                  {.names = "--one-line",
                   .target = &options.one_line,
                   .help = "One line per message",
                   .excludes = {"--json", "--summary"}},
                  {.names = "--json",
                   .target = &options.json,
                   .help = "One JSON object per message and line",
                   .excludes = {"--summary"}},
                  {.names = "--summary",
                   .target = &options.summary,
                   .help = "Only how many messages there are of each type"},
                  color_option(options.color),
                  {.names = "--show-secrets",
                   .target = &options.show_secrets,
                   .help = "Show passwords and RawData(96), masked with *** otherwise"}},
      .details =
          R"(Messages may be anywhere in a line, after timestamps or other text, several to a line or without any lines. Fields may be separated by SOH, ^A, \x01, <SOH>, [SOH], '|', ';' and other short texts, or each be a line; the separator is detected per message. A log in UTF-16 is read, and so are the text of Wireshark and fix8 (a field per line as "MsgType (35): D") and journalctl -o json.
Files compressed with gzip or Zstandard are decompressed. Messages of several logs, of a folder or of a zip archive are merged by time: the time that the log wrote before a message, otherwise its SendingTime. A log in local time is converted to UTC by its first message.
BodyLength and CheckSum are verified with SOH in place of the separator; byte numbers count from 0 in that form. Malformed messages are explained and shown as far as they can be parsed. Control characters are shown as \xNN.
A message of FIXT.1.1 is decoded as the version that it names, or that its sender's Logon named, or FIX 5.0 SP2.
A message may have 8 MiB; a longer one is reported and skipped. Works on a growing pipe.)",
      .exit_codes = "0 done, 1 failed, or --validate found a malformed or invalid message, 2 wrong usage",
      .examples = {{.line = "nfx decode messages.log", .about = "show a FIX log of any engine field by field"},
                   {.line = "tail -f session.log | nfx decode --one-line --only NewOrderSingle,8"},
                   {.line = "nfx decode --json messages.log | jq 'select(.ok | not)'"},
                   {.line = "nfx decode --session CLIENT --from 09:30 --to 09:45 --tag Symbol=IBM logs/"},
                   {.line = "nfx decode --summary --validate messages.log"}},
  };
  const std::vector<cli::Option> filter = options.filter.options();
  command.options.insert(command.options.begin() + 2, filter.begin(), filter.end());
  return command;
}

}  // namespace nfx::app
