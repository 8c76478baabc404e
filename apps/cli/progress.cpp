// The progress line of a long command: percent if the total is known, and bytes in a suitable unit.
#include "cli/progress.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace nfx::cli {
namespace {

constexpr TerminalControl rewrite_line{"\r\x1b[K"};
// Without wrapping, a line longer than the terminal's width remains one line, which can be erased.
constexpr TerminalControl wrap_off{"\x1b[?7l"};
constexpr TerminalControl wrap_on{"\x1b[?7h"};

// "1.2 GiB".
void add_bytes(SafeText& out, std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 1;
  std::uint64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
  for (; tenths >= 10240 && unit + 1 < units.size(); ++unit) tenths /= 1024;
  bytes < 1024 ? out.add("{} B", bytes) : out.add("{}.{} {}", tenths / 10, tenths % 10, units[unit]);
}

}  // namespace

SafeText ProgressLine::after(std::uint64_t bytes, Time now) {
  done_ += bytes;
  if (now - last_ < interval) return {};
  last_ = now;
  shown_ = true;
  SafeText out;
  out += rewrite_line;
  out += wrap_off;
  out.add("{}: ", what_);
  if (total_ != 0) {
    // A file may grow while it is read.
    const std::uint64_t percent = done_ >= total_ ? 100 : done_ / 128 * 100 / std::max<std::uint64_t>(total_ / 128, 1);
    out.add("{}%, ", std::min<std::uint64_t>(percent, 100));
  }
  add_bytes(out, done_);
  if (total_ != 0) {
    out += " of ";
    add_bytes(out, total_);
  }
  out += wrap_on;
  return out;
}

SafeText ProgressLine::end() {
  SafeText out;
  if (shown_) out += rewrite_line;
  shown_ = false;
  return out;
}

Progress::Progress(std::string_view what, std::uint64_t total, bool quiet)
    : shows_(!quiet && is_terminal(Stream::err)), line_(what, total, std::chrono::steady_clock::now()) {}

void Progress::add(std::uint64_t bytes) {
  if (!shows_) return;
  const SafeText text = line_.after(bytes, std::chrono::steady_clock::now());
  if (!text.empty()) print_error(text);
}

void Progress::end() {
  if (!shows_) return;
  const SafeText text = line_.end();
  if (!text.empty()) print_error(text);
}

std::uint64_t file_size_or_zero(const std::string& file) noexcept {
  std::error_code error;
  if (file == "-" || !std::filesystem::is_regular_file(file, error)) return 0;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace nfx::cli
