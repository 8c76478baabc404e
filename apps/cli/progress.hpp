// Progress of long work: one line on standard error, rewritten at most five times per second and erased at the end.
// Nothing is written unless standard error is a terminal, nor in the first fifth of a second.
// Thread: one owner. Cost: a clock read per add(), a write per rewrite. Errors: none; failed writes are ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "log/print.hpp"

namespace nfx::cli {

// Decides when to rewrite the line, and its text. A separate class, so that time is an argument.
class ProgressLine {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds interval{200};

  // `what`: "decoding venue.log". `total` is in bytes; 0: unknown.
  ProgressLine(std::string_view what, std::uint64_t total, Time begin) : what_(what), total_(total), last_(begin) {}

  // The line that replaces the previous one; empty if it is too early.
  [[nodiscard]] SafeText after(std::uint64_t bytes, Time now);
  // The text that erases the line; empty if there is none.
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
  // `quiet`: shows nothing, for example because the results go to the terminal.
  explicit Progress(std::string_view what, std::uint64_t total = 0, bool quiet = false);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::uint64_t bytes);
  // Erases the line. Call it before printing anything else.
  void end();

 private:
  bool shows_;
  ProgressLine line_;
};

// The size of a regular file; 0 for a pipe, "-", or a file that cannot be examined.
[[nodiscard]] std::uint64_t file_size_or_zero(const std::string& file) noexcept;

}  // namespace nfx::cli
