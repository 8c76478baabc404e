// Text files that grow by whole lines, one after the other: a new one each UTC day and whenever one is large enough,
// the oldest removed. Thread: one owner, a worker's. Cost: one write per append; a new file lists its folder.
// Names: <folder>/<name>-YYYYMMDD-NNNN.log, so that their order is their age; the last one is being written. Files are
// made for the owner alone (0600), the folder too (0700), symbolic links are not followed. A folder that other users
// may change is refused, a file of another user too; one that others may open gets 0600, or stays when it has 0640.
// Nothing is synced: what the kernel has not written when the machine loses power is gone. Errors: the constructor
// throws std::runtime_error that names the folder and the fix; append() returns what failed and how much was written
// before, and may be called again: it begins with a new line after a torn one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/base/time.hpp"

namespace nfx {

struct LogFileOptions {
  std::filesystem::path folder;
  std::string name = "messages";                       // letters, digits, '.', '_' and '-'
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  // a file that would grow beyond is followed by the next
  std::uint32_t keep_files = 30;                       // at least 1: the one that is written
  std::uint32_t keep_days = 0;                         // 0: whatever keep_files allows
};

struct LogFileError {
  int code = 0;             // an errno value
  std::string text;         // "write /var/log/x-20240315-0001.log: No space left on device"
  std::size_t written = 0;  // bytes of this append that were written before
};

class LogFile {
 public:
  explicit LogFile(LogFileOptions options);
  // Lines go to this open file descriptor, which stays the caller's: 1 for standard output. Nothing is rotated.
  explicit LogFile(int fd);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Appends whole lines of the UTC day of `time`. A day before that of the open file counts as its day.
  [[nodiscard]] std::expected<void, LogFileError> append(UtcTime time, std::string_view lines);

  // Opens the file of that day now, so that what is wrong with it is known before there are lines.
  [[nodiscard]] std::expected<void, LogFileError> open_now(UtcTime time) {
    return borrowed_ ? std::expected<void, LogFileError>{} : open_for(std::max(day_of(time), day_), 0);
  }
  // What was changed when the file was opened, once: other users could read it.
  [[nodiscard]] std::string take_correction() { return std::exchange(corrected_, {}); }

  // Whether lines of `time` belong into a later file than the last ones.
  [[nodiscard]] bool is_later_day(UtcTime time) const noexcept { return !borrowed_ && day_of(time) > day_; }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }  // empty: none open yet
  // Grows with each file that is opened.
  [[nodiscard]] std::uint64_t opened() const noexcept { return opened_; }
  // Old files that could not be removed, from any thread. One is tried again with each new file.
  [[nodiscard]] std::uint64_t removals_failed() const noexcept {
    return removals_failed_.load(std::memory_order_relaxed);
  }

 private:
  using Day = std::chrono::sys_days;

  static Day day_of(UtcTime time) noexcept { return std::chrono::floor<std::chrono::days>(time); }
  [[nodiscard]] std::expected<void, LogFileError> open_for(Day day, std::size_t size);
  [[nodiscard]] std::expected<void, LogFileError> open(Day day, std::uint32_t number);
  [[nodiscard]] std::expected<void, LogFileError> write(std::string_view bytes, std::size_t* written);
  void close() noexcept;
  void remove_old();

  LogFileOptions options_;
  bool borrowed_ = false;
  int fd_ = -1;
  Day day_{};  // of the open file; 1970 when none was
  std::uint32_t number_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t opened_ = 0;
  bool torn_ = false;  // the file does not end with a line feed
  std::filesystem::path path_;
  std::atomic<std::uint64_t> removals_failed_{0};
  std::string corrected_;
};

}  // namespace nfx
