// Escapes what a terminal or a log must not receive raw: control characters and invalid UTF-8.
#include "nexusfix/base/printable.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// The size of the well-formed UTF-8 character at the start, or 0. Control characters of Latin-1 count as malformed.
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
  return overlong || surrogate || beyond || control ? 0 : size;
}

}  // namespace

void append_printable(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  while (!bytes.empty()) {
    const std::size_t size = character_size(bytes);
    NFX_ASSERT(size <= bytes.size());
    if (size != 0) {
      out += bytes.substr(0, size);
    } else {
      const auto byte = static_cast<unsigned char>(bytes[0]);
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
    bytes.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

}  // namespace nfx
