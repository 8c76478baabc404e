// Decimal text of a feed to exact prices and quantities: what cannot be represented exactly is refused, never rounded.
// Thread: any, no state. Cost: about 10 ns, no allocation. Errors: empty for text that is not a number, that has more
// digits than fit, or, for a quantity, that is negative.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/decimal.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::market {

// The number of units of 10^-scale. Empty if it is not a whole number of them or beyond 64 bits.
[[nodiscard]] inline std::optional<std::int64_t> to_units(Decimal value, unsigned scale) noexcept {
  NFX_ASSERT(scale < powers_of_ten.size());
  const unsigned from = value.scale();
  if (from <= scale) {
    std::int64_t units = 0;
    if (__builtin_mul_overflow(value.mantissa(), powers_of_ten[scale - from], &units)) return std::nullopt;
    // Price::undefined() is not a price.
    if (units == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return units;
  }
  const std::int64_t divisor = powers_of_ten[from - scale];
  if (value.mantissa() % divisor != 0) return std::nullopt;
  return value.mantissa() / divisor;
}

[[nodiscard]] inline std::optional<Price> to_price(Decimal value) noexcept {
  const auto nano = to_units(value, Price::scale);
  if (!nano) return std::nullopt;
  return Price{*nano};
}
[[nodiscard]] inline std::optional<Quantity> to_quantity(Decimal value, unsigned scale) noexcept {
  const auto units = to_units(value, scale);
  if (!units || *units < 0) return std::nullopt;
  return static_cast<Quantity>(*units);
}

[[nodiscard]] inline std::optional<Price> parse_price(std::string_view text) noexcept {
  const auto value = Decimal::parse(text);
  return value ? to_price(*value) : std::nullopt;
}
[[nodiscard]] inline std::optional<Quantity> parse_quantity(std::string_view text, unsigned scale) noexcept {
  const auto value = Decimal::parse(text);
  return value ? to_quantity(*value, scale) : std::nullopt;
}

}  // namespace nfx::market
