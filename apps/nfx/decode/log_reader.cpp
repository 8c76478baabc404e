// Opens logs by what they begin with, and merges them.
#include "decode/log_reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>
#include <type_traits>

#include "base/error_text.hpp"
#include "decode/capture.hpp"
#include "decode/log_time.hpp"
#include "decode/needle_source.hpp"
#include "decode/text_form.hpp"
#include "market/byte_input.hpp"
#include "market/read_ahead.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::app {
namespace {

constexpr const char* or_stdin = "; give the path of a readable file, or - for standard input";
constexpr std::size_t max_open_logs = 64;  // that wait for their time

class FileBytes final : public ByteStream {
 public:
  FileBytes(const std::string& path, bool read_ahead)
      : input_(path, read_ahead ? market::Decompress::ahead : market::Decompress::by_caller) {}

  std::string_view next() override {
    const std::span<const std::byte> bytes = input_.next();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  bool ready(int timeout_ms) const override { return input_.ready(timeout_ms); }

 private:
  market::ByteInput input_;
};

std::optional<UtcTime> sending_time(std::string_view text) {
  const std::size_t at = text.find(
      "\x01"
      "52=");
  if (at == std::string_view::npos) return std::nullopt;
  const auto time = parse_utc_timestamp(text.substr(at + 4, text.find('\x01', at + 4) - at - 4));
  return time ? std::optional{time->time} : std::nullopt;
}

// Zones differ from UTC by quarters of an hour.
Duration zone_between(UtcTime logged, UtcTime sent) {
  using Quarters = std::chrono::duration<std::int64_t, std::ratio<900>>;
  const auto difference = std::chrono::round<Quarters>(logged - sent);
  return std::chrono::abs(difference) <= std::chrono::hours{14} ? Duration{difference} : Duration{};
}

// Messages in text.
class TextSource final : public MessageSource {
 public:
  TextSource(std::unique_ptr<ByteStream> bytes, std::string_view first, std::string name,
             const LogReaderOptions& options)
      : bytes_(std::move(bytes)),
        name_(std::move(name)),
        with_times_(options.times == Times::yes),
        hooks_(options.hooks) {
    take(first);
  }

  bool next(LogMessage& message) override {
    for (;;) {
      if (const auto found = scanner_.next()) {
        message = {*found, name_, with_times_ ? times_.of(*found) : std::nullopt, false};
        return true;
      }
      if (ended_) return false;
      // Everything known is shown before waiting. A message that seems complete does not wait for ever for more bytes.
      if (!bytes_->ready(0) && hooks_.before_waiting) hooks_.before_waiting();
      if (scanner_.waiting() && !settled_ && !bytes_->ready(200)) {
        settled_ = true;
        scanner_.settle();
        continue;
      }
      if (!bytes_->ready(-1)) continue;
      take(bytes_->next());
    }
  }

 private:
  void take(std::string_view bytes) {
    settled_ = false;
    if (!bytes.empty()) {
      scanner_.feed(form_.convert(bytes));
      if (hooks_.on_read) hooks_.on_read(bytes.size());
      return;
    }
    ended_ = true;
    scanner_.feed(form_.finish());
    scanner_.finish();
  }

  std::unique_ptr<ByteStream> bytes_;
  std::string name_;
  bool with_times_;
  const LogReaderHooks& hooks_;
  TextForm form_;
  MessageScanner scanner_;
  MessageTimes times_;
  bool settled_ = false;
  bool ended_ = false;
};

// Messages of a log that a separate thread reads and finds, while the owner uses those before them.
class AheadSource final : public MessageSource {
 public:
  explicit AheadSource(std::unique_ptr<MessageSource> source)
      : source_(std::move(source)), ahead_([this](std::span<std::byte> out) { return fill(out); }, chunk_size) {}

  bool next(LogMessage& message) override {
    if (unread_.empty()) unread_ = ahead_.next();
    if (unread_.empty()) return false;
    Sizes sizes;
    std::memcpy(&sizes, unread_.data(), sizeof sizes);
    std::memcpy(static_cast<void*>(&message), unread_.data() + sizeof sizes, sizeof message);
    const char* text = reinterpret_cast<const char*>(unread_.data()) + sizeof sizes + sizeof message;
    message.found.text = {text, sizes.text};
    message.found.prefix = {text + sizes.text, sizes.prefix};
    message.found.separator = {};
    unread_ = unread_.subspan(sizeof sizes + sizeof message + sizes.text + sizes.prefix);
    return true;
  }

 private:
  // A message of the largest size and its prefix have room in a chunk.
  static constexpr std::size_t chunk_size = MessageScanner::default_max_message_size + 1024 * 1024;
  static constexpr std::size_t enough = 1024 * 1024;  // for a chunk, of small messages
  struct Sizes {
    std::size_t text = 0, prefix = 0;
  };
  static_assert(std::is_trivially_copyable_v<LogMessage>);

  std::size_t fill(std::span<std::byte> out) {
    std::size_t used = 0;
    while (used < enough && (pending_ || source_->next(message_))) {
      const std::string_view text = message_.found.text, prefix = message_.found.prefix;
      const Sizes sizes{text.size(), prefix.size()};
      const std::size_t size = sizeof sizes + sizeof message_ + text.size() + prefix.size();
      pending_ = size > out.size() - used;
      if (pending_) break;
      std::byte* at = out.data() + used;
      std::memcpy(at, &sizes, sizeof sizes);
      std::memcpy(at + sizeof sizes, &message_, sizeof message_);
      std::memcpy(at + sizeof sizes + sizeof message_, text.data(), text.size());
      if (!prefix.empty()) std::memcpy(at + sizeof sizes + sizeof message_ + text.size(), prefix.data(), prefix.size());
      used += size;
    }
    return used;
  }

  std::unique_ptr<MessageSource> source_;
  LogMessage message_;
  bool pending_ = false;  // it did not fit
  std::span<const std::byte> unread_;
  market::ReadAhead ahead_;  // declared last, because it uses the members above
};

// Whether a second thread is worth its start: the log is a file of some size.
bool is_large(const LogFile& file) {
  constexpr std::uintmax_t large = 4 * 1024 * 1024;
  std::error_code error;
  return !file.archived && std::filesystem::is_regular_file(file.path, error) &&
         std::filesystem::file_size(file.path, error) >= large;
}

bool is_archive(const std::string& path) {
  std::array<char, 4> begin{};
  std::ifstream file{path, std::ios::binary};
  return file.read(begin.data(), begin.size()) && std::memcmp(begin.data(), "PK\x03\x04", 4) == 0;
}

void add_file(std::vector<LogFile>& files, const std::string& path) {
  if (!is_archive(path)) {
    files.push_back({.path = path, .name = path});
    return;
  }
  for (LogFile& each : files_in_archive(path)) files.push_back(std::move(each));
}

}  // namespace

std::optional<UtcTime> MessageTimes::of(const FoundMessage& message) {
  const std::optional<UtcTime> sent = sending_time(message.text);
  const std::optional<LogTime> logged = time_in(message.prefix);
  if (!logged) return sent;
  if (logged->zone_known) return logged->time;
  if (!zone_ && sent) zone_ = zone_between(logged->time, *sent);
  return logged->time - zone_.value_or(Duration{});
}

bool begins_capture(std::string_view begin) {
  constexpr std::array<std::string_view, 5> magics{"\xD4\xC3\xB2\xA1", "\xA1\xB2\xC3\xD4", "\x4D\x3C\xB2\xA1",
                                                   "\xA1\xB2\x3C\x4D", "\x0A\x0D\x0D\x0A"};
  return std::ranges::any_of(magics, [begin](std::string_view magic) { return begin.starts_with(magic); });
}

std::unique_ptr<ByteStream> open_bytes(const LogFile& file, bool read_ahead) {
  if (file.archived) return open_archived(file);
  return std::make_unique<FileBytes>(file.path, read_ahead);
}

std::unique_ptr<MessageSource> open_log(const LogFile& file, const LogReaderOptions& options, bool read_ahead) {
  if (auto source = open_needle_source(file, options.needles, options.hooks)) return source;
  std::unique_ptr<ByteStream> bytes = open_bytes(file, read_ahead);
  const std::string_view first = bytes->next();
  if (begins_capture(first)) return open_capture(std::move(bytes), first, file, options.hooks);
  return std::make_unique<TextSource>(std::move(bytes), first, file.name, options);
}

std::vector<LogFile> expand_paths(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<LogFile> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (path == "-") {
      files.push_back({.path = path, .name = "standard input"});
    } else if (::access(path.c_str(), R_OK) != 0) {
      throw ConfigError(cannot("read", path, errno) + or_stdin);
    } else if (fs::is_directory(status)) {
      std::vector<std::string> below;
      fs::recursive_directory_iterator each{path, error};
      for (; !error && each != fs::recursive_directory_iterator{}; each.increment(error)) {
        const bool hidden = each->path().filename().string().starts_with('.');
        if (hidden && each->is_directory()) each.disable_recursion_pending();
        if (!hidden && each->is_regular_file()) below.push_back(each->path().string());
      }
      if (error) throw std::runtime_error(cannot("read", path, error.value()));
      std::ranges::sort(below);
      for (const std::string& file : below) add_file(files, file);
    } else if (fs::is_regular_file(status)) {
      add_file(files, path);
    } else {
      files.push_back({.path = path, .name = path});
    }
  }
  return files;
}

LogReader::LogReader(std::vector<LogFile> files, LogReaderOptions options)
    : options_(std::move(options)), waiting_(Later{&logs_}) {
  if (files.size() > 1) options_.times = Times::yes;
  for (LogFile& file : files) logs_.push_back({.file = std::move(file), .source = {}, .head = {}, .time = {}});
  if (logs_.size() == 1) return;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    if (!advance(logs_[i])) continue;
    waiting_.push(i);
    // Standard input cannot be opened again.
    if (logs_.size() > max_open_logs && logs_[i].file.path != "-") logs_[i].source.reset();
  }
}

bool LogReader::advance(Log& log) {
  if (!log.source) log.source = open_log(log.file, options_, logs_.size() <= 4);
  if (!log.source->next(log.head)) {
    log.source.reset();
    return false;
  }
  if (log.head.time) log.time = *log.head.time;
  return true;
}

bool LogReader::next(LogMessage& message) {
  if (logs_.size() == 1) {
    Log& log = logs_.front();
    if (!log.source) {
      log.source = open_log(log.file, options_);
      if (options_.needles.empty() && is_large(log.file) && std::thread::hardware_concurrency() > 1 &&
          dynamic_cast<TextSource*>(log.source.get()) != nullptr)
        log.source = std::make_unique<AheadSource>(std::move(log.source));
    }
    return log.source->next(message);
  }
  if (current_ && advance(logs_[*current_])) waiting_.push(*current_);
  current_.reset();
  if (waiting_.empty()) return false;
  current_ = waiting_.top();
  waiting_.pop();
  Log& log = logs_[*current_];
  if (!log.source && !advance(log)) return next(message);  // it was shortened since
  message = log.head;
  return true;
}

}  // namespace nfx::app
