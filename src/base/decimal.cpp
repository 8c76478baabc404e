#include "nexusfix/base/decimal.hpp"

#include <algorithm>

namespace nfx {
namespace {

// __int128 holds any mantissa times 10^18: 2^63 x 10^18 < 2^123.
__extension__ using Wide = __int128;

Wide scaled(std::int64_t mantissa, unsigned by) noexcept {
  Wide result = mantissa;
  while (by-- != 0) result *= 10;
  return result;
}

std::optional<Decimal> narrow(Wide mantissa, std::uint8_t scale) noexcept {
  if (mantissa > INT64_MAX || mantissa < INT64_MIN) return std::nullopt;
  return Decimal{static_cast<std::int64_t>(mantissa), scale};
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) noexcept {
  std::size_t i = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++i;
  std::int64_t mantissa = 0;
  unsigned significant = 0;
  unsigned scale = 0;
  bool any_digit = false;
  bool after_point = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (after_point) return std::nullopt;
      after_point = true;
      continue;
    }
    const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
    if (digit > 9) return std::nullopt;
    any_digit = true;
    if (significant != 0 || digit != 0) ++significant;
    if (after_point) ++scale;
    if (significant > 18 || scale > max_scale) return std::nullopt;
    mantissa = mantissa * 10 + static_cast<std::int64_t>(digit);
  }
  if (!any_digit) return std::nullopt;
  return Decimal{negative ? -mantissa : mantissa, static_cast<std::uint8_t>(scale)};
}

std::size_t Decimal::write(char* out) const noexcept {
  char reversed[max_text_size];
  std::size_t count = 0;
  // Negate as unsigned: the smallest mantissa has no positive counterpart.
  std::uint64_t rest =
      mantissa_ < 0 ? 0 - static_cast<std::uint64_t>(mantissa_) : static_cast<std::uint64_t>(mantissa_);
  unsigned written = 0;
  do {
    reversed[count++] = static_cast<char>('0' + rest % 10);
    rest /= 10;
    if (++written == scale_) reversed[count++] = '.';
  } while (rest != 0 || written <= scale_);
  if (mantissa_ < 0) reversed[count++] = '-';
  std::reverse_copy(reversed, reversed + count, out);
  return count;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept {
  if (a.scale_ == b.scale_) return a.mantissa_ <=> b.mantissa_;
  const std::uint8_t scale = std::max(a.scale_, b.scale_);
  const Wide left = scaled(a.mantissa_, static_cast<unsigned>(scale - a.scale_));
  const Wide right = scaled(b.mantissa_, static_cast<unsigned>(scale - b.scale_));
  return left < right ? std::strong_ordering::less
                      : (left > right ? std::strong_ordering::greater : std::strong_ordering::equal);
}

std::optional<Decimal> add(Decimal a, Decimal b) noexcept {
  const std::uint8_t scale = std::max(a.scale_, b.scale_);
  return narrow(scaled(a.mantissa_, static_cast<unsigned>(scale - a.scale_)) +
                    scaled(b.mantissa_, static_cast<unsigned>(scale - b.scale_)),
                scale);
}

std::optional<Decimal> subtract(Decimal a, Decimal b) noexcept {
  const std::uint8_t scale = std::max(a.scale_, b.scale_);
  return narrow(scaled(a.mantissa_, static_cast<unsigned>(scale - a.scale_)) -
                    scaled(b.mantissa_, static_cast<unsigned>(scale - b.scale_)),
                scale);
}

}  // namespace nfx
