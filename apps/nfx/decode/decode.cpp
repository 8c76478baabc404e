// nfx decode: shows the FIX messages of a log field by field.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/error_text.hpp"
#include "cli/progress.hpp"
#include "command.hpp"
#include "decode/decoder.hpp"
#include "decode/dictionaries.hpp"
#include "decode/print.hpp"
#include "decode/scanner.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "output.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

struct DecodeOptions {
  std::string file = "-";
  std::vector<std::string> dictionaries;
  std::vector<std::string> only;
  std::string color = "auto";
  bool show_secrets = false;
  bool validate = false;
  bool one_line = false;
  bool json = false;
  bool summary = false;
};

constexpr const char* or_stdin = "; give the path of a readable file, or - for standard input";

class Input {
 public:
  explicit Input(const std::string& file)
      : name_(file), fd_(file == "-" ? STDIN_FILENO : open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw ConfigError(cannot("read", file, errno) + or_stdin);
  }
  ~Input() {
    if (fd_ != STDIN_FILENO) close(fd_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Whether bytes, or the end, arrive within this time; -1: no limit.
  [[nodiscard]] bool ready(int timeout_ms) const {
    pollfd wait{fd_, POLLIN, 0};
    int result;
    do {
      result = poll(&wait, 1, timeout_ms);
    } while (result < 0 && errno == EINTR);
    return result != 0;
  }
  // Empty at the end.
  [[nodiscard]] std::string_view read_some() {
    ssize_t size;
    do {
      size = read(fd_, buffer_.get(), buffer_size);
    } while (size < 0 && errno == EINTR);
    if (size < 0) throw std::runtime_error(cannot("read", name_, errno) + or_stdin);
    return {buffer_.get(), static_cast<std::size_t>(size)};
  }

 private:
  static constexpr std::size_t buffer_size = 256 * 1024;

  std::string name_;
  int fd_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(buffer_size);
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
        print_{options.show_secrets, Palette{use_colour(options.color, Stream::out)}, {}, {}} {
    for (const std::string& file : options.dictionaries) dictionaries_.add(file);
  }

  int run() {
    Input input{options_.file};
    // Decoded messages on the terminal already show the progress.
    cli::Progress progress{"decoding " + options_.file, cli::file_size_or_zero(options_.file),
                           !options_.summary && is_terminal(Stream::out)};
    for (bool settled = false;;) {
      // Prints everything known before waiting. A message that seems complete does not wait for ever for more bytes.
      if (!input.ready(0)) output_.flush();
      if (scanner_.waiting() && !settled && !input.ready(200)) {
        settled = true;
        scanner_.settle();
        show_messages();
        continue;
      }
      if (!input.ready(-1)) continue;
      const std::string_view bytes = input.read_some();
      if (bytes.empty()) break;
      settled = false;
      scanner_.feed(bytes);
      show_messages();
      progress.add(bytes.size());
    }
    progress.end();
    scanner_.finish();
    show_messages();
    if (options_.summary) summary_.print(output_.text, options_.validate);
    output_.flush();
    if (found_ == 0) throw std::runtime_error(options_.file + ": no FIX message found: a message starts with 8=FIX");
    return options_.validate && wrong_ ? exit_failed : exit_done;
  }

 private:
  void show_messages() {
    while (const auto found = scanner_.next()) {
      ++found_;
      const DecodedMessage& message = decoder_.decode(*found);
      if (!wanted(message)) continue;
      wrong_ = wrong_ || message.bad() || !message.violation.empty();
      if (options_.summary) {
        summary_.count(message);
      } else if (options_.json) {
        print_json(output_.text, message, print_);
      } else if (options_.one_line) {
        print_one_line(output_.text, message, print_);
      } else {
        print_fields(output_.text, message, print_);
      }
      output_.flush_when_large();
    }
  }

  [[nodiscard]] bool wanted(const DecodedMessage& message) const {
    return options_.only.empty() || std::ranges::any_of(options_.only, [&](const std::string& type) {
             return type == message.msg_type || (!message.type_name.empty() && type == message.type_name);
           });
  }

  const DecodeOptions& options_;
  Dictionaries dictionaries_;
  Decoder decoder_;
  PrintOptions print_;
  MessageScanner scanner_;
  Output output_;
  Summary summary_;
  std::uint64_t found_ = 0;
  bool wrong_ = false;
};

}  // namespace

cli::Command decode_command() {
  static DecodeOptions options;
  return {
      .name = "decode",
      .summary = "Decode the FIX messages in a log of any engine",
      .run = [] { return Decode{options}.run(); },
      .options =
          {{.names = "FILE", .target = &options.file, .help = "Log file; -: standard input", .kind = cli::Kind::file},
           {.names = "--dictionary",
            .target = &options.dictionaries,
            .help = "Dictionary or overlay, used for its version; repeatable",
            .kind = cli::Kind::file},
           {.names = "--only",
            .target = &options.only,
            .help = "Only messages of these types, by code or name",
            .value = "TYPE[,TYPE]",
            .separator = ','},
           {.names = "--validate",
            .target = &options.validate,
            .help = "Also report the first violation of its dictionary in each message; exit code 1 if any message is "
                    "malformed or invalid"},
           {.names = "--one-line",
            .target = &options.one_line,
            .help = "One line per message",
            .excludes = {"--json", "--summary"}},
           {.names = "--json",
            .target = &options.json,
            .help = "One JSON object per message and line",
            .excludes = {"--summary"}},
           {.names = "--summary", .target = &options.summary, .help = "Print only the number of messages of each type"},
           color_option(options.color),
           {.names = "--show-secrets",
            .target = &options.show_secrets,
            .help = "Show passwords and RawData(96), masked with *** otherwise"}},
      .details =
          R"(Messages may be anywhere in a line, after timestamps or other text, several to a line or without any lines. Fields may be separated by SOH, ^A, \x01, <SOH>, [SOH], '|', ';' and other short texts, or each be a line; the separator is detected per message. A log in UTF-16 is read.
BodyLength and CheckSum are verified with SOH in place of the separator; byte numbers count from 0 in that form. Malformed messages are explained and shown as far as they can be parsed. Control characters are shown as \xNN.
A message of FIXT.1.1 is decoded as the version that it names, or that its sender's Logon named, or FIX 5.0 SP2.
A message may have 8 MiB; a longer one is reported and skipped. Works on a growing pipe.)",
      .exit_codes = "0 done, 1 failed, or --validate found a malformed or invalid message, 2 wrong usage",
      .examples = {{.line = "nfx decode messages.log", .about = "show a FIX log of any engine field by field"},
                   {.line = "tail -f session.log | nfx decode --one-line --only NewOrderSingle,8"},
                   {.line = "nfx decode --json messages.log | jq 'select(.ok | not)'"},
                   {.line = "nfx decode --summary --validate messages.log"}},
  };
}

}  // namespace nfx::app
