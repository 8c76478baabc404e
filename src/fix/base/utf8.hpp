// Well-formed UTF-8, for every reader that accepts nothing else.
// Thread: any, no state. Cost: one pass without memory. Errors: none.
#pragma once

#include <cstddef>
#include <string_view>

namespace nfx {

// The number of bytes of the UTF-8 character at the start of `text`; 0 for other bytes, and for an empty text.
[[nodiscard]] inline std::size_t utf8_character_size(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                           : (first & 0xF0) == 0xE0         ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  // Neither longer than necessary, nor half of a surrogate pair, nor beyond U+10FFFF.
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return size;
}

}  // namespace nfx
