// Progress of long work: one line on standard error, rewritten at most five times per second and erased at the end.
// Nothing is written unless standard error is a terminal, nor in the first fifth of a second.
// Thread: one owner. Cost: a clock read per add(), a write per rewrite. Errors: none; what cannot be written is
// skipped.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "observe/print.hpp"

namespace nfx::cli {

// Whether and with what the line is rewritten. A value of its own, so that time is an argument.
class ProgressLine {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds interval{200};

  // `what`: "decoding venue.log". `total` is in bytes; 0: unknown.
  ProgressLine(std::string_view what, std::uint64_t total, Time begin) : what_(what), total_(total), last_(begin) {}

  // The line that replaces the one before; empty when it is too early.
  [[nodiscard]] SafeText after(std::uint64_t bytes, Time now);
  // What erases the line; empty when there is none.
  [[nodiscard]] SafeText end();

 private:
  std::string what_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  Time last_;
  bool shown_ = false;
};

class Progress {
 public:
  // `quiet`: nothing is shown, as where the results themselves go to the terminal meanwhile.
  explicit Progress(std::string_view what, std::uint64_t total = 0, bool quiet = false);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::uint64_t bytes);
  // Erases the line: before anything else is printed.
  void end();

 private:
  bool shows_;
  ProgressLine line_;
};

// The size of a regular file; 0 for a pipe, "-", or what cannot be examined.
[[nodiscard]] std::uint64_t file_size_or_zero(const std::string& file) noexcept;

}  // namespace nfx::cli
