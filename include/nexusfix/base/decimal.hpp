// Exact decimal numbers for prices and quantities: mantissa x 10^-scale, never a binary fraction. Decimal is for
// almost all of them: 64 bits, 18 digits after the point. WideDecimal has 128 bits, for quantities of crypto currencies
// with 18 digits after the point and some before it.
// Cost: no allocation. Errors: values that do not fit are rejected, not rounded; zeros at the end of a fraction are
// dropped where the value fits without them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/base/assert.hpp"

namespace nfx {

// 1, 10, 100, ...: the units of each scale of a Decimal.
inline constexpr std::array<std::int64_t, 19> powers_of_ten = [] {
  std::array<std::int64_t, 19> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

class Decimal {
 public:
  static constexpr std::uint8_t max_scale = 18;

  constexpr Decimal() noexcept = default;
  constexpr explicit Decimal(std::int64_t mantissa, std::uint8_t scale = 0) noexcept
      : mantissa_(mantissa), scale_(scale) {
    NFX_ASSERT(scale <= max_scale);
  }

  [[nodiscard]] constexpr std::int64_t mantissa() const noexcept { return mantissa_; }
  [[nodiscard]] constexpr std::uint8_t scale() const noexcept { return scale_; }

  // Reads FIX float text: optional '-', digits, optional point; at least one digit, no '+', exponent or spaces.
  // Leading and trailing zeros are accepted ("00023.230"); the scale includes the trailing ones that fit. Empty
  // otherwise, and when the value does not fit: 18 digits always do.
  [[nodiscard]] static std::optional<Decimal> parse(std::string_view text) noexcept;

  // Longest text write() produces: sign, zero, point and 19 digits.
  static constexpr std::size_t max_text_size = 24;

  // Writes the value with exactly scale() digits after the point; returns the length. `out` holds max_text_size.
  std::size_t write(char* out) const noexcept;

  // By value: 1.50 equals 1.5.
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept;
  friend bool operator==(const Decimal& a, const Decimal& b) noexcept { return (a <=> b) == 0; }

  // Exact sums and differences at the larger scale. Empty on overflow.
  friend std::optional<Decimal> add(Decimal a, Decimal b) noexcept;
  friend std::optional<Decimal> subtract(Decimal a, Decimal b) noexcept;

 private:
  std::int64_t mantissa_ = 0;
  std::uint8_t scale_ = 0;
};

// As write(), for a log or a screen: "23.230".
[[nodiscard]] std::string to_string(Decimal value);

[[nodiscard]] std::optional<Decimal> add(Decimal a, Decimal b) noexcept;
[[nodiscard]] std::optional<Decimal> subtract(Decimal a, Decimal b) noexcept;

__extension__ using Int128 = __int128;

// Up to 38 digits. Slower than Decimal: for fields whose get_decimal() is out of range.
class WideDecimal {
 public:
  static constexpr std::uint8_t max_scale = 38;

  constexpr WideDecimal() noexcept = default;
  constexpr WideDecimal(Decimal value) noexcept : mantissa_(value.mantissa()), scale_(value.scale()) {}
  constexpr explicit WideDecimal(Int128 mantissa, std::uint8_t scale) noexcept : mantissa_(mantissa), scale_(scale) {
    NFX_ASSERT(scale <= max_scale);
  }

  [[nodiscard]] constexpr Int128 mantissa() const noexcept { return mantissa_; }
  [[nodiscard]] constexpr std::uint8_t scale() const noexcept { return scale_; }

  // As Decimal::parse().
  [[nodiscard]] static std::optional<WideDecimal> parse(std::string_view text) noexcept;

  // The same value as a Decimal, without zeros at its end where it fits only so; empty when it does not fit.
  [[nodiscard]] std::optional<Decimal> narrow() const noexcept;

  // Longest text write() produces: sign, zero, point and 39 digits.
  static constexpr std::size_t max_text_size = 42;

  // Writes the value with exactly scale() digits after the point; returns the length. `out` holds max_text_size.
  std::size_t write(char* out) const noexcept;

  // By value: 1.50 equals 1.5.
  friend std::strong_ordering operator<=>(const WideDecimal& a, const WideDecimal& b) noexcept;
  friend bool operator==(const WideDecimal& a, const WideDecimal& b) noexcept { return (a <=> b) == 0; }

 private:
  Int128 mantissa_ = 0;
  std::uint8_t scale_ = 0;
};

// Whether the text is a FIX float, of any length: optional '-', digits with at most one point among them.
[[nodiscard]] bool is_decimal_text(std::string_view text) noexcept;

}  // namespace nfx
