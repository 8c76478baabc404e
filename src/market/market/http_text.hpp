// The lines of an HTTP message. Thread: any, no state. Cost: one pass. Errors: nothing for another line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace nfx::market::http_text {

inline std::string_view without_spaces(std::string_view text) noexcept { return trimmed(text, " \t"); }

inline bool has_token(std::string_view list, std::string_view token) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (same_ignoring_case(without_spaces(list.substr(0, comma)), token)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

inline bool has_controls(std::string_view text) noexcept {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x21 || c == 0x7F; });
}

// The status line of complete lines, which is taken off: "HTTP/1.1 200 OK".
inline std::optional<int> take_status(std::string_view& lines) noexcept {
  const std::string_view status = lines.substr(0, lines.find("\r\n"));
  const auto digit = [&](std::size_t i) { return status[i] >= '0' && status[i] <= '9'; };
  if (!status.starts_with("HTTP/1.1 ") || status.size() < 12 || !digit(9) || !digit(10) || !digit(11) ||
      (status.size() > 12 && status[12] != ' ')) {
    return std::nullopt;
  }
  lines.remove_prefix(status.size() + 2);
  return (status[9] - '0') * 100 + (status[10] - '0') * 10 + (status[11] - '0');
}

struct Header {
  std::string_view name, value;
};

// The next of complete lines, which is taken off.
inline std::optional<Header> take_header(std::string_view& lines) noexcept {
  const std::size_t end = lines.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(end + 2);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || has_controls(line.substr(0, colon))) return std::nullopt;
  return Header{line.substr(0, colon), without_spaces(line.substr(colon + 1))};
}

}  // namespace nfx::market::http_text
