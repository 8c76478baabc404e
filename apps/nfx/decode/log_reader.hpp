// Reads the FIX messages of logs and captures, in files, folders and zip archives, compressed or not, merged by time.
// Messages of one log stay in their order. A log without times is read as one with those of its SendingTime(52).
// Thread: one owner. Cost: memory for one message and two buffers of 256 KiB per open file; files of another time are
// closed meanwhile. Lifetime: a LogMessage is valid until the next call. Errors: ConfigError for a path that does not
// exist, std::runtime_error for one that cannot be read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "decode/byte_stream.hpp"
#include "decode/scanner.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::app {

struct LogMessage {
  FoundMessage found;
  std::string_view source;      // name of its log
  std::optional<UtcTime> time;  // when it was logged or captured, otherwise its SendingTime
  bool captured = false;        // found.line is the number of a packet
};

class MessageSource {
 public:
  MessageSource() = default;
  virtual ~MessageSource() = default;
  MessageSource(const MessageSource&) = delete;
  MessageSource& operator=(const MessageSource&) = delete;

  // The next message; false at the end.
  [[nodiscard]] virtual bool next(LogMessage& message) = 0;
};

struct LogReaderHooks {
  std::function<void()> before_waiting;             // for input that grows
  std::function<void(std::size_t bytes)> on_read;   // for progress
  std::function<void(const std::string&)> on_note;  // of bytes that are missing
};

// Whether times are wanted: they cost a search of each line.
enum class Times : bool { no, yes };

// Values of fields. Messages that contain none of them may be omitted, which makes it fast. None: all messages.
using Needles = std::vector<std::string>;

struct LogReaderOptions {
  Times times = Times::no;
  Needles needles = {};
  LogReaderHooks hooks = {};
};

// The time of each message of one log. The first message that has a SendingTime determines the log's zone.
class MessageTimes {
 public:
  [[nodiscard]] std::optional<UtcTime> of(const FoundMessage& message);

 private:
  std::optional<Duration> zone_;
};

[[nodiscard]] std::unique_ptr<MessageSource> open_log(const LogFile& file, const LogReaderOptions& options,
                                                      bool read_ahead = true);

// Whether a file begins as captures of packets do.
[[nodiscard]] bool begins_capture(std::string_view begin);

// Files stay, folders become the files below them, in the order of their names and without hidden ones; archives become
// the files in them.
[[nodiscard]] std::vector<LogFile> expand_paths(const std::vector<std::string>& paths);

class LogReader {
 public:
  LogReader(std::vector<LogFile> files, LogReaderOptions options);

  [[nodiscard]] bool next(LogMessage& message);

 private:
  struct Log {
    LogFile file;
    std::unique_ptr<MessageSource> source;  // null: not open
    LogMessage head;
    UtcTime time{};  // of head; that of the message before it if it has none
  };
  struct Later {
    const std::vector<Log>* logs;
    bool operator()(std::size_t a, std::size_t b) const noexcept {
      const UtcTime first = (*logs)[a].time, second = (*logs)[b].time;
      return first != second ? first > second : a > b;
    }
  };

  [[nodiscard]] bool advance(Log& log);

  std::vector<Log> logs_;
  LogReaderOptions options_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, Later> waiting_;
  std::optional<std::size_t> current_;  // the log of the last message
};

}  // namespace nfx::app
