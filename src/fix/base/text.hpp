// Basic text functions: trims blanks, converts to lower case, and writes bytes as hexadecimal digits or base64.
// Thread: any, no state. Cost: one pass; hexadecimal() and base64() allocate their result. Errors: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

inline constexpr std::string_view blank_characters = " \t\r\n\v\f";

// The text without those characters at its ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view blanks = blank_characters) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// ASCII only.
[[nodiscard]] constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr bool same_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, lower, lower);
}

inline constexpr std::string_view hexadecimal_digits = "0123456789abcdef";

// 16 digits.
[[nodiscard]] std::string hexadecimal(std::uint64_t number);
// Two digits for each byte.
[[nodiscard]] std::string hexadecimal(std::string_view bytes);

// RFC 4648: four characters for every three bytes, the last group padded. Returns the end of the output.
char* write_base64(char* out, std::string_view bytes) noexcept;
[[nodiscard]] std::string base64(std::string_view bytes);

// For bytes of another type.
template <class Bytes>
[[nodiscard]] std::string_view text_of_bytes(const Bytes& bytes) noexcept {
  static_assert(sizeof(*bytes.data()) == 1);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace nfx
