// Formats numbers for the commands below `nfx fabric`.
// Thread: any; pure.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include "log/print.hpp"

namespace nfx::app::fabric {

[[nodiscard]] inline std::string decimal(double number, int digits) {
  std::array<char, 48> text;
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return {text.data(), static_cast<std::size_t>(length)};
}

[[nodiscard]] inline std::string microseconds(std::uint64_t ns) { return decimal(static_cast<double>(ns) / 1000, 2); }

// Right-aligned in a column.
inline void append_right(SafeText& out, const std::string& text, std::size_t width) {
  if (text.size() < width) out.append_spaces(width - text.size());
  out += text;
}

}  // namespace nfx::app::fabric
