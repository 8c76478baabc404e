#include "nexusfix/wire/field_values.hpp"

namespace nfx {

std::expected<std::int64_t, FieldError> parse_int(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::unexpected(FieldError::bad_format);
  std::uint64_t number = 0;
  std::size_t significant = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return std::unexpected(FieldError::bad_format);
    if (significant != 0 || digit != 0) ++significant;
    number = number * 10 + digit;  // may wrap beyond 18 digits, and is then not used
  }
  if (significant > 18) return std::unexpected(FieldError::out_of_range);
  const auto magnitude = static_cast<std::int64_t>(number);
  return negative ? -magnitude : magnitude;
}

}  // namespace nfx
