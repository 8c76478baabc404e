// Lines for standard output or standard error of threads that must not wait for the reader: a bounded queue,
// and a thread that writes. A reader that stalls or ends costs lines, never time on a poll thread. Thread: line(),
// add(), flush(), closed() and counters() from any; the destructor from the owner, once no other thread adds. It waits
// until everything is written, or until the reader has taken nothing for `patience`, and then reports on standard error
// how many lines were not written. Cost: a copy under a mutex that is never held during a write; flush() makes a system
// call only when the writer sleeps and there is something to write, a few hundred times a second at most. Bounds:
// queue_bytes wait; a line that does not fit is dropped and counted, and the number of missing lines is written as soon
// as the stream is read again. Errors: a stream that is closed is reported on standard error once, and lines are
// dropped from then on; one that fails otherwise, as on a full disk, is tried again with the next lines. SIGPIPE is
// ignored from the first LineLog on.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/observe/log_entry.hpp"
#include "nexusfix/observe/print.hpp"

namespace nfx {

struct LineCounters {
  std::uint64_t dropped = 0;
};

template <>
inline constexpr auto counter_rows<LineCounters> = std::to_array<CounterRow<LineCounters>>({
    {&LineCounters::dropped, "nfx_lines_dropped_total",
     "Lines that were not written: the stream is not read in time, is closed, or is a file on a full disk."},
});
static_assert(rows_are_complete<LineCounters>());

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
  // Complete lines, as they are.
  void add(const SafeText& lines);
  // Has the writer begin. Lines that are only added wait for this, or until there are many.
  void flush();
  [[nodiscard]] bool closed() const noexcept;
  [[nodiscard]] LineCounters counters() const noexcept;
  [[nodiscard]] Stream stream() const noexcept;
  // What the kernel calls the writing thread; it is there from the constructor on.
  [[nodiscard]] int thread_id() const noexcept;
  static constexpr const char* thread_name = "nfx-lines";

  // The least level of lines, of all logs of the process, which print one output. What add() is given has none.
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
