// Escapes control characters and invalid UTF-8, which must not reach a terminal or a log.
#include "base/printable.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// U+061C, U+200E, U+200F, U+2028..U+202E and U+2066..U+2069: line separators, and characters that make a text look like
// another one.
constexpr bool is_format_control(unsigned first, unsigned second, unsigned third) noexcept {
  if (first == 0xD8) return second == 0x9C;
  if (first != 0xE2) return false;
  return (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

// The size of the well-formed UTF-8 character at the start, or 0. Control characters count as malformed.
std::size_t character_size(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x20 || first == 0x7F) return 0;
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool beyond = first == 0xF4 && second > 0x8F;
  const bool control = first == 0xC2 && second < 0xA0;
  return overlong || surrogate || beyond || control || is_format_control(first, second, byte(2)) ? 0 : size;
}

void append_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

}  // namespace

void append_printable(std::string& out, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto plain_end = std::ranges::find_if(bytes, [](char c) { return c < 0x20 || c > 0x7E; });
    const auto plain = static_cast<std::size_t>(plain_end - bytes.begin());
    out += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) return;
    const std::size_t size = character_size(bytes);
    NFX_ASSERT(size <= bytes.size());
    if (size != 0) {
      out += bytes.substr(0, size);
    } else {
      // The remaining bytes of such a character are escaped one by one.
      append_escaped(out, static_cast<unsigned char>(bytes[0]));
    }
    bytes.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

void append_printable_lines(std::string& out, std::string_view bytes) {
  for (;;) {
    const std::size_t end = bytes.find('\n');
    append_printable(out, bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    out += '\n';
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace nfx
