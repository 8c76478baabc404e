// Formats prices like ref documents of market data: the whole part rounded down, a point, and nine digits, so that
// -0.25 is -1.750000000. Also as exact decimals.
// Thread: any. Cost: a few multiplications. Errors: none. `out` has space for 41 characters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nexusfix/base/digits.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::app::market {

// Returns the end of the text.
[[nodiscard]] inline char* write_floored(char* out, nfx::market::Price price) noexcept {
  constexpr std::int64_t one = 1'000'000'000;
  std::int64_t whole = price.nano / one, fraction = price.nano % one;
  if (fraction < 0) {
    --whole;
    fraction += one;
  }
  if (whole < 0) {
    *out++ = '-';
    whole = -whole;
  }
  out += write_digits(out, static_cast<std::uint64_t>(whole)).size;
  out += write_fraction(out, static_cast<std::uint32_t>(fraction), 9).size;
  return out;
}

[[nodiscard]] inline char* write_number(char* out, std::uint64_t number) noexcept {
  return out + write_digits(out, number).size;
}

[[nodiscard]] inline char* write_decimal(char* out, nfx::market::Price price) noexcept {
  return out + write_scaled(out, price.nano, nfx::market::Price::scale).size;
}

}  // namespace nfx::app::market
