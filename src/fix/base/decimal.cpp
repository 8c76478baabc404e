// Exact decimal parsing, comparison and sums without division or floating point.
#include "nexusfix/base/decimal.hpp"

#include <algorithm>
#include <cstring>

#include "nexusfix/base/digits.hpp"

namespace nfx {
namespace {

// Int128 holds any mantissa times 10^18: 2^63 x 10^18 < 2^123.
using Wide = Int128;

constexpr std::array<Int128, WideDecimal::max_scale + 1> wide_powers_of_ten = [] {
  std::array<Int128, WideDecimal::max_scale + 1> result{1};
  for (std::size_t i = 1; i < result.size(); ++i) result[i] = result[i - 1] * 10;
  return result;
}();

Wide scaled(std::int64_t mantissa, unsigned by) noexcept {
  NFX_REQUIRE(by <= Decimal::max_scale);
  return Wide{mantissa} * powers_of_ten[by];
}

std::optional<Decimal> narrow(Wide mantissa, std::uint8_t scale) noexcept {
  if (mantissa > INT64_MAX || mantissa < INT64_MIN) return std::nullopt;
  return Decimal{static_cast<std::int64_t>(mantissa), scale};
}

// More than 18 digits, or not a number.
[[gnu::cold, gnu::noinline]] std::optional<Decimal> parse_unusual(const char* p, std::size_t count,
                                                                  std::uint64_t negative) noexcept {
  const auto wide = WideDecimal::parse({p - negative, count + negative});
  return wide ? wide->narrow() : std::nullopt;
}

// `count` characters after the sign: none, or more than fit into one word.
[[gnu::noinline]] std::optional<Decimal> parse_long(const char* p, std::size_t count, std::uint64_t negative) noexcept {
  constexpr std::uint64_t limit = 1'000'000'000'000'000'000;  // the smallest number of more than 18 digits
  if (count == 0) return std::nullopt;
  // One to eight digits, the point, and eight digits: the usual format of cryptocurrency venues.
  if (count - 10 < 8 && p[count - 9] == '.') {
    const std::uint64_t whole = digits::load_8(p) << 8 * (17 - count);
    const std::uint64_t fraction = digits::load_8(p + count - 8);
    if ((digits::non_digits(whole) | digits::non_digits(fraction)) != 0) return std::nullopt;
    const std::uint64_t number = digits::value(whole) * 100'000'000 + digits::value(fraction);
    return Decimal{digits::with_sign(number, negative), 8};
  }
  const char* const begin = p;
  const char* const end = p + count;
  const std::size_t in_first = (count - 1) % 8 + 1;
  digits::Part whole;
  if (!digits::read_part(digits::load_last(p, in_first), whole)) return std::nullopt;
  for (p += in_first; p != end; p += 8) {
    digits::Part part;
    if (!digits::read_part(digits::load_8(p), part) || (part.has_point && whole.has_point)) return std::nullopt;
    const std::uint64_t weight = part.has_point ? 10'000'000 : 100'000'000;
    if (whole.number >= (part.has_point ? limit / 10'000'000 : limit / 100'000'000))
      return parse_unusual(begin, count, negative);
    whole.number = whole.number * weight + part.number;
    whole.scale = static_cast<std::uint8_t>(whole.has_point ? whole.scale + 8 : part.scale);
    if (whole.scale > Decimal::max_scale) return parse_unusual(begin, count, negative);
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
  char text[41];  // write_scaled may store more bytes than the text has
  const std::size_t size = write_scaled(text, mantissa_, scale_).size;
  NFX_ASSERT(size > scale_ && size <= max_text_size);
  std::memcpy(out, text, size);
  return size;
}

std::string to_string(Decimal value) {
  char text[Decimal::max_text_size];
  return {text, value.write(text)};
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

std::optional<WideDecimal> WideDecimal::parse(std::string_view text) noexcept {
  if (!is_decimal_text(text)) return std::nullopt;
  const bool negative = text[0] == '-';
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  [[maybe_unused]] const std::size_t fraction = point == std::string_view::npos ? 0 : text.size() - point - 1;
  // If there is no space for another digit, it must be a zero.
  constexpr Int128 limit = wide_powers_of_ten[max_scale - 1];
  Int128 mantissa = 0;
  std::size_t scale = 0, zeros = 0;  // zeros: trailing zeros of the fraction that are not yet in the mantissa
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') continue;
    const bool in_fraction = point != std::string_view::npos && i > point;
    if (in_fraction && text[i] == '0') {
      ++zeros;
      continue;
    }
    for (std::size_t digits_left = zeros + 1; digits_left != 0; --digits_left) {
      if (mantissa >= limit) return std::nullopt;
      mantissa = mantissa * 10 + (digits_left == 1 ? text[i] - '0' : 0);
    }
    if (in_fraction) scale += zeros + 1;
    zeros = 0;
    if (scale > max_scale) return std::nullopt;
  }
  NFX_ASSERT(scale + zeros == fraction);
  for (; zeros != 0 && scale < max_scale && mantissa < limit; --zeros, ++scale) mantissa *= 10;
  return WideDecimal{negative ? -mantissa : mantissa, static_cast<std::uint8_t>(scale)};
}

std::optional<Decimal> WideDecimal::narrow() const noexcept {
  Int128 mantissa = mantissa_;
  std::uint8_t scale = scale_;
  while (scale > 0 && (scale > Decimal::max_scale || mantissa > INT64_MAX || mantissa < INT64_MIN)) {
    if (mantissa % 10 != 0) return std::nullopt;
    mantissa /= 10;
    --scale;
  }
  return nfx::narrow(mantissa, scale);
}

std::size_t WideDecimal::write(char* out) const noexcept {
  __extension__ using Unsigned = unsigned __int128;
  char reversed[max_text_size];
  std::size_t size = 0;
  Unsigned rest = mantissa_ < 0 ? -static_cast<Unsigned>(mantissa_) : static_cast<Unsigned>(mantissa_);
  for (unsigned digit = 0; digit <= scale_ || rest != 0; ++digit) {
    if (digit == scale_ && scale_ != 0) reversed[size++] = '.';
    reversed[size++] = static_cast<char>('0' + static_cast<char>(rest % 10));
    rest /= 10;
  }
  if (mantissa_ < 0) reversed[size++] = '-';
  NFX_ASSERT(size <= max_text_size);
  std::reverse_copy(reversed, reversed + size, out);
  return size;
}

std::strong_ordering operator<=>(const WideDecimal& a, const WideDecimal& b) noexcept {
  if (a.scale_ == b.scale_) return a.mantissa_ <=> b.mantissa_;
  // Compares the integer parts first, then the fractions at the larger scale, so that nothing overflows.
  const Int128 power_a = wide_powers_of_ten[a.scale_], power_b = wide_powers_of_ten[b.scale_];
  if (const auto whole = a.mantissa_ / power_a <=> b.mantissa_ / power_b; whole != 0) return whole;
  const std::uint8_t scale = std::max(a.scale_, b.scale_);
  return a.mantissa_ % power_a * wide_powers_of_ten[scale - a.scale_] <=>
         b.mantissa_ % power_b * wide_powers_of_ten[scale - b.scale_];
}

bool is_decimal_text(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c < '0' || c > '9') {
      return false;
    }
  }
  return text.size() > (point ? 1U : 0U);
}

}  // namespace nfx
