// Escapes control characters and invalid UTF-8, which must not reach a terminal or a log.
#include "base/printable.hpp"

#include <algorithm>

#include "base/utf8.hpp"
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
  const std::size_t size = utf8_character_size(text);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  switch (size) {
    case 1: return byte(0) < 0x20 || byte(0) == 0x7F ? 0 : 1;
    case 2: return (byte(0) == 0xC2 && byte(1) < 0xA0) || is_format_control(byte(0), byte(1), 0) ? 0 : 2;
    case 3: return is_format_control(byte(0), byte(1), byte(2)) ? 0 : 3;
    default: return size;
  }
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
