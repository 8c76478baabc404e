// Conversion of decimals to another scale without rounding.
#include "nexusfix/market/exact_number.hpp"

#include <array>
#include <limits>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {
namespace {

constexpr std::array<std::int64_t, 19> powers = [] {
  std::array<std::int64_t, 19> result{1};
  for (std::size_t i = 1; i < result.size(); ++i) result[i] = result[i - 1] * 10;
  return result;
}();

}  // namespace

std::optional<std::int64_t> to_units(Decimal value, unsigned scale) noexcept {
  NFX_ASSERT(scale < powers.size());
  const unsigned from = value.scale();
  if (from <= scale) {
    std::int64_t units = 0;
    if (__builtin_mul_overflow(value.mantissa(), powers[scale - from], &units)) return std::nullopt;
    // Price::undefined() is not a price.
    if (units == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return units;
  }
  const std::int64_t divisor = powers[from - scale];
  if (value.mantissa() % divisor != 0) return std::nullopt;
  return value.mantissa() / divisor;
}

}  // namespace nfx::market
