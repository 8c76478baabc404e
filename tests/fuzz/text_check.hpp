// Decides independently of the library what may be sent to a terminal: RFC 3629 by arithmetic, where the library works
// by bytes.
// Thread: any, no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nfx::fuzz {

struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;
};

// The UTF-8 character at the start of a non-empty text.
inline std::optional<Character> decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return Character{first, 1};
  std::size_t size = 0;
  while (size < 8 && (first & (0x80U >> size)) != 0) ++size;
  if (size < 2 || size > 4 || text.size() < size) return std::nullopt;
  std::uint32_t code = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80 || byte > 0xBF) return std::nullopt;
    code = code * 64 + (byte - 0x80U);
  }
  constexpr std::uint32_t least[] = {0x80, 0x800, 0x10000};
  if (code < least[size - 2] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return std::nullopt;
  return Character{code, size};
}

// False for control characters, including Latin-1's, for characters that change the text direction, and for line ends.
inline bool is_printable(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
  const bool bidirectional = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                             (code >= 0x2066 && code <= 0x2069);
  const bool line_end = code == 0x2028 || code == 0x2029;
  return !control && !bidirectional && !line_end;
}

inline bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto character = decode(text);
    if (!character || !is_printable(character->code)) return false;
    text.remove_prefix(character->size);
  }
  return true;
}

// The same for each line.
inline bool lines_are_printable(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (!is_printable(text.substr(begin, end - begin))) return false;
    if (end == std::string_view::npos) return true;
    begin = end + 1;
  }
  return true;
}

}  // namespace nfx::fuzz
