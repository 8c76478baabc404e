// Text files that grow by whole lines, with a new file each UTC day and whenever a file is full; the oldest are
// removed.
// Thread: one owner, a worker's. Cost: one write per append; a new file lists its folder. Names:
// <folder>/<name>-YYYYMMDD-NNNN.log, so that they sort by age; the last one is being written. Files are created for the
// owner only (0600), the folder too (0700); symbolic links are not followed. A folder that other users may change is
// refused, and so is a file of another user. A file that others may open is changed to 0600, except if it has 0640.
// Nothing is synced: on power loss, data that the kernel has not written is lost. Errors: the constructor throws
// std::runtime_error, which names the folder and the fix. append() returns the error and the number of bytes written
// before it, and may be called again: it then starts a new line after a torn one.
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
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  // a file that would grow beyond this is followed by the next
  std::uint32_t keep_files = 30;                       // at least 1: the current one
  std::uint32_t keep_days = 0;                         // 0: no limit by age
};

struct LogFileError {
  int code = 0;             // an errno value
  std::string text;         // "write /var/log/x-20240315-0001.log: No space left on device"
  std::size_t written = 0;  // bytes of this append written before the error
};

class LogFile {
 public:
  explicit LogFile(LogFileOptions options);
  // Lines go to this open file descriptor, which the caller owns: 1 for standard output. Nothing is rotated.
  explicit LogFile(int fd);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Appends whole lines of the UTC day of `time`. An earlier day than the open file's counts as the file's day.
  [[nodiscard]] std::expected<void, LogFileError> append(UtcTime time, std::string_view lines);

  // Opens the file of that day now, so that problems are found before there are lines.
  [[nodiscard]] std::expected<void, LogFileError> open_now(UtcTime time) {
    return borrowed_ ? std::expected<void, LogFileError>{} : open_for(std::max(day_of(time), day_), 0);
  }
  // The change made when the file was opened, because other users could read it. Returned once.
  [[nodiscard]] std::string take_correction() { return std::exchange(corrected_, {}); }

  // Whether lines of `time` belong to a later file than the last lines.
  [[nodiscard]] bool is_later_day(UtcTime time) const noexcept { return !borrowed_ && day_of(time) > day_; }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }  // empty: no file was opened yet
  // Number of files opened so far.
  [[nodiscard]] std::uint64_t opened() const noexcept { return opened_; }
  // Number of old files that could not be removed, from any thread. One is tried again with each new file.
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
  Day day_{};  // day of the open file; 1970 if none was opened
  std::uint32_t number_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t opened_ = 0;
  bool torn_ = false;  // the file does not end with a newline
  std::filesystem::path path_;
  std::atomic<std::uint64_t> removals_failed_{0};
  std::string corrected_;
};

}  // namespace nfx
