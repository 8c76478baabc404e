// Lines about the engine: one LogEntry each, written by a LineLog.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/log/log_format.hpp"

namespace nfx {

class SafeText;

// One thing that the engine reports, and the forms that its line may have: for people, as JSON, or for systemd's
// journal.
//
//   text      20240315-12:00:00.123 FIX.4.4:ME->YOU logged out: the peer's text
//   json      {"time":"2024-03-15T12:00:00.123Z","level":"info","what":"logged out","session":"FIX.4.4:ME->YOU",
//              "text":"logged out: the peer's text","fields":{"reason":"the peer's text"}}   (one line)
//   journald  <6>FIX.4.4:ME->YOU logged out: the peer's text
//
// Thread: values. Cost: allocates; no part of a hot path. Lifetime: views borrow. Errors: none; all that a peer may
// have written is escaped.
struct LogField {
  std::string_view name;  // "next_in"
  std::variant<std::string_view, std::uint64_t> value;
};

struct LogEntry {
  UtcTime time{};
  LogLevel level = LogLevel::info;
  std::string_view what = "engine";       // the same for every line of its kind, for filters
  std::string_view session{};             // its identity; empty: of the engine
  std::string_view text{};                // for people; what follows the session in the line
  std::span<const LogField> fields = {};  // what `text` has, for programs
};

struct LineCounters {
  std::uint64_t dropped = 0;
};

template <>
inline constexpr auto counter_rows<LineCounters> = std::to_array<CounterRow<LineCounters>>({
    {&LineCounters::dropped, "nfx_lines_dropped_total",
     "Lines that were not written: the stream is not read in time, is closed, or is a file on a full disk."},
});
static_assert(rows_are_complete<LineCounters>());

// Lines for standard output or standard error of threads that must not wait for the reader: a bounded queue,
// and a thread that writes. A reader that stalls or ends costs lines, never time on a poll thread. Thread: line(),
// add(), flush(), closed() and counters() from any; the destructor from the owner, once no other thread adds. It waits
// until everything is written, or until the reader has taken nothing for `patience`, and then reports on standard error
// how many lines were not written. Cost: a copy under a mutex that is never held during a write. flush() makes a system
// call only when the writer sleeps and there is something to write, a few hundred times a second at most. Bounds:
// queue_bytes wait; a line that does not fit is dropped and counted, and the number of missing lines is written as soon
// as the stream is read again. Errors: a stream that is closed is reported on standard error once, and lines are
// dropped from then on; one that fails otherwise, as on a full disk, is tried again with the next lines. SIGPIPE is
// ignored from the first LineLog on.
class LineLog {
 public:
  static constexpr std::size_t queue_bytes = std::size_t{1} << 20;

  explicit LineLog(Stream stream, LineFormat format = LineFormat::text,
                   std::chrono::milliseconds patience = std::chrono::seconds{1});
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  // In this log's format; everything is escaped. Nothing where the level is below least_level().
  void line(const LogEntry& entry);
  // The same of the engine: "YYYYMMDD-HH:MM:SS.mmm text".
  void line(UtcTime time, std::string_view text) { line(LogEntry{.time = time, .text = text}); }
  // Complete lines, unchanged: for programs of this project, as SafeText is not installed.
  void add(const SafeText& lines);
  // Wakes the writer. Lines that are only added wait for this, or until there are many.
  void flush();
  [[nodiscard]] bool closed() const noexcept;
  [[nodiscard]] LineCounters counters() const noexcept;
  [[nodiscard]] Stream stream() const noexcept;
  // The writing thread's id in the kernel; the thread exists from the constructor on.
  [[nodiscard]] int thread_id() const noexcept;
  static constexpr const char* thread_name = "nfx-lines";

  // The lowest level that is printed, for all logs of the process. Lines of add() have no level and are always printed.
  [[nodiscard]] static LogLevel least_level() noexcept;
  static void set_least_level(LogLevel level) noexcept;

 private:
  struct State;
  // The writing thread has its own reference: where a reader never takes the last lines, the thread remains in its
  // system call when the program ends.
  std::shared_ptr<State> state_;
  std::chrono::milliseconds patience_;
};

}  // namespace nfx
