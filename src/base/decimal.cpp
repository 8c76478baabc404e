// Exact decimal parsing, comparison and sums without division or floating point.
#include "nexusfix/base/decimal.hpp"

#include <algorithm>
#include <cstring>

#include "nexusfix/base/read_digits.hpp"
#include "nexusfix/base/write_digits.hpp"

namespace nfx {
namespace {

// __int128 holds any mantissa times 10^18: 2^63 x 10^18 < 2^123.
__extension__ using Wide = __int128;

Wide scaled(std::int64_t mantissa, unsigned by) noexcept {
  NFX_ASSERT(by <= Decimal::max_scale);
  return Wide{mantissa} * powers_of_ten[by];
}

std::optional<Decimal> narrow(Wide mantissa, std::uint8_t scale) noexcept {
  if (mantissa > INT64_MAX || mantissa < INT64_MIN) return std::nullopt;
  return Decimal{static_cast<std::int64_t>(mantissa), scale};
}

// `count` characters after the sign: none, or more than one word holds.
[[gnu::noinline]] std::optional<Decimal> parse_long(const char* p, std::size_t count, std::uint64_t negative) noexcept {
  constexpr std::uint64_t limit = 1'000'000'000'000'000'000;  // the first number of more than 18 digits
  if (count == 0) return std::nullopt;
  // One to eight digits, the point, and eight digits, as venues of crypto currencies write all numbers.
  if (count - 10 < 8 && p[count - 9] == '.') {
    const std::uint64_t whole = digits::load_8(p) << 8 * (17 - count);
    const std::uint64_t fraction = digits::load_8(p + count - 8);
    if ((digits::non_digits(whole) | digits::non_digits(fraction)) != 0) return std::nullopt;
    const std::uint64_t number = digits::value(whole) * 100'000'000 + digits::value(fraction);
    return Decimal{digits::with_sign(number, negative), 8};
  }
  const char* const end = p + count;
  const std::size_t in_first = (count - 1) % 8 + 1;
  digits::Part whole;
  if (!digits::read_part(digits::load_last(p, in_first), whole)) return std::nullopt;
  for (p += in_first; p != end; p += 8) {
    digits::Part part;
    if (!digits::read_part(digits::load_8(p), part) || (part.has_point && whole.has_point)) return std::nullopt;
    const std::uint64_t weight = part.has_point ? 10'000'000 : 100'000'000;
    if (whole.number >= (part.has_point ? limit / 10'000'000 : limit / 100'000'000)) return std::nullopt;
    whole.number = whole.number * weight + part.number;
    whole.scale = static_cast<std::uint8_t>(whole.has_point ? whole.scale + 8 : part.scale);
    if (whole.scale > Decimal::max_scale) return std::nullopt;
    whole.has_point |= part.has_point;
    NFX_ASSERT(whole.number < limit);
  }
  return Decimal{digits::with_sign(whole.number, negative), whole.scale};
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  const std::uint64_t negative = text[0] == '-';
  const char* const p = text.data() + negative;
  const std::size_t count = text.size() - negative;
  if (count - 1 >= 8) return parse_long(p, count, negative);
  digits::Part part;
  if (!digits::read_part(digits::load_last(p, count), part)) return std::nullopt;
  if (part.has_point && count == 1) return std::nullopt;
  return Decimal{digits::with_sign(part.number, negative), part.scale};
}

std::size_t Decimal::write(char* out) const noexcept {
  char text[41];  // write_scaled stores more than the text is long
  const std::size_t size = write_scaled(text, mantissa_, scale_).size;
  NFX_ASSERT(size > scale_ && size <= max_text_size);
  std::memcpy(out, text, size);
  return size;
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
