// JSON strings of any bytes.
#include "base/json_text.hpp"

#include <algorithm>

#include "base/printable.hpp"

namespace nfx {
namespace {

bool is_plain(char c) noexcept { return c >= 0x20 && c <= 0x7E && c != '"' && c != '\\'; }

void append_hex(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

void append_json_byte(std::string& out, unsigned char byte) {
  out += "\\u00";
  append_hex(out, byte);
}

// The code point if this is a character of U+2000 to U+207F that must not be printed, otherwise 0.
unsigned format_control(std::string_view character) {
  if (character.size() != 3 || character[0] != '\xE2') return 0;
  const auto second = static_cast<unsigned char>(character[1]), third = static_cast<unsigned char>(character[2]);
  if ((second != 0x80 && second != 0x81) || (third & 0xC0) != 0x80) return 0;
  std::string safe;
  append_printable(safe, character);
  return safe == character ? 0 : 0x2000u | (second & 0x3Fu) << 6 | (third & 0x3Fu);
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out{'"'};
  std::string safe;
  for (std::size_t i = 0; i < text.size();) {
    const auto plain_end = std::ranges::find_if_not(text.substr(i), is_plain);
    if (const auto plain = static_cast<std::size_t>(plain_end - text.substr(i).begin()); plain != 0) {
      out += text.substr(i, plain);
      i += plain;
      continue;
    }
    // One character at a time, because append_printable() detects malformed UTF-8.
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    // A Latin-1 control character is valid UTF-8, but must not reach a terminal.
    const bool control =
        byte == 0xC2 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xE0) == 0x80;
    if (control) {
      append_json_byte(out, static_cast<unsigned char>(text[i + 1]));
      i += 2;
      continue;
    }
    // The same holds for line separators and characters that reverse the text direction: U+2028 to U+202E, U+2066 to
    // U+2069.
    if (const unsigned code = format_control(text.substr(i, 3)); code != 0) {
      out += "\\u20";
      append_hex(out, static_cast<unsigned char>(code & 0xFF));
      i += 3;
      continue;
    }
    std::size_t size = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    safe.clear();
    append_printable(safe, text.substr(i, size));
    if (safe == text.substr(i, size)) {
      out += safe;
    } else {
      append_json_byte(out, byte);
      size = 1;
    }
    i += size;
  }
  return out + '"';
}

}  // namespace nfx
