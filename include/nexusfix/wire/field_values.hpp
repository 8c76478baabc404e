// Parses one field's text as a typed value. No allocation, no locale; the whole text must be the value.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/wire_error.hpp"

namespace nfx {

// FIX int: optional '-', digits, leading zeros allowed; no '+'. 18 digits at most after leading zeros.
[[nodiscard]] std::expected<std::int64_t, FieldError> parse_int(std::string_view text) noexcept;

[[nodiscard]] inline std::expected<Decimal, FieldError> parse_decimal(std::string_view text) noexcept {
  if (const auto value = Decimal::parse(text)) return *value;
  return std::unexpected(is_decimal_text(text) ? FieldError::out_of_range : FieldError::bad_format);
}
[[nodiscard]] inline std::expected<WideDecimal, FieldError> parse_wide_decimal(std::string_view text) noexcept {
  if (const auto value = WideDecimal::parse(text)) return *value;
  return std::unexpected(is_decimal_text(text) ? FieldError::out_of_range : FieldError::bad_format);
}

[[nodiscard]] inline std::expected<char, FieldError> parse_char(std::string_view text) noexcept {
  if (text.size() != 1) return std::unexpected(FieldError::bad_format);
  return text[0];
}

[[nodiscard]] inline std::expected<bool, FieldError> parse_bool(std::string_view text) noexcept {
  if (text == "Y") return true;
  if (text == "N") return false;
  return std::unexpected(FieldError::bad_format);
}

}  // namespace nfx
