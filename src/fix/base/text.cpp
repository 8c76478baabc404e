// Formats numbers and bytes as hexadecimal and base64.
#include "base/text.hpp"

#include <cstddef>

namespace nfx {

std::string hexadecimal(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; number >>= 4) text[i] = hexadecimal_digits[number & 15];
  return text;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += hexadecimal_digits[byte >> 4];
    text += hexadecimal_digits[byte & 15];
  }
  return text;
}

char* write_base64(char* out, std::string_view bytes) noexcept {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) *out++ = k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  write_base64(text.data(), bytes);
  return text;
}

}  // namespace nfx
