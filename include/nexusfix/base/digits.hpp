// Decimal digits, eight at a time as the bytes of one 64-bit word: shared by the parsers of numbers and times and by
// the writers of fields.
// Thread: any, no state. Cost: a handful of instructions; no branch depends on what the characters are, and writing has
// no loop and no division by a variable. Nothing is read outside the characters that the caller passes; the writers
// store whole words, so `out` needs more space than the text is long, and each function states how much.
// A word holds its first character in the lowest byte on every machine, so that carries go from a character to the
// next. "Digits" are characters xor '0': 0 to 9 for a digit, more for anything else.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nexusfix/base/assert.hpp"

namespace nfx::digits {

inline constexpr std::uint64_t every_byte = 0x0101010101010101;
inline constexpr std::uint64_t top_bits = every_byte * 0x80;
inline constexpr std::uint64_t zero_characters = every_byte * '0';

// Added to digits, it carries into the top bit of every byte above 9.
inline constexpr std::uint64_t up_to_nine = every_byte * (0x7F - 9);

template <typename Word>
[[nodiscard, gnu::always_inline]] inline Word load(const char* p) noexcept {
  Word word;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  return word;
}

// The digits of the eight characters at `p`.
[[nodiscard]] inline std::uint64_t load_8(const char* p) noexcept { return load<std::uint64_t>(p) ^ zero_characters; }

// The digits of the `count` characters at `p`, 1 to 8, at the end of the word, after zeros.
[[nodiscard]] inline std::uint64_t load_last(const char* p, std::size_t count) noexcept {
  NFX_ASSERT(count - 1 < 8);
  const std::size_t bits_in_front = (0 - 8 * count) % 64;
  if (count >= 4) {
    // Where the two overlap they are equal.
    constexpr auto four_zeros = static_cast<std::uint32_t>(zero_characters);
    const std::uint64_t first = load<std::uint32_t>(p) ^ four_zeros;
    const std::uint64_t last = load<std::uint32_t>(p + (count - 4)) ^ four_zeros;
    return first << bits_in_front | last << 32;
  }
  // The three last bytes; those before the first character repeat it and are shifted out.
  const auto byte = [p](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])}; };
  const std::uint64_t word = byte(count - 1) << 56 | byte((count - 1) / 2) << 48 | byte(0) << 40;
  return (word ^ zero_characters) >> bits_in_front << bits_in_front;
}

// The top bit of every byte that is not a digit. A byte above 0x89 may mark the following digit as well.
[[nodiscard]] constexpr std::uint64_t non_digits(std::uint64_t digits) noexcept {
  return ((digits + up_to_nine) | digits) & top_bits;
}

// The eight digits as pairs: 0 to 99 in bytes 0, 2, 4 and 6. The odd bytes hold the pairs between them, also up to 99.
[[nodiscard]] constexpr std::uint64_t pairs(std::uint64_t digits) noexcept { return digits * 10 + (digits >> 8); }

// The value of eight digits. Each step combines neighbours: every product adds the first one, weighted, to the position
// of the second.
[[nodiscard]] constexpr std::uint64_t value(std::uint64_t digits) noexcept {
  const std::uint64_t twos = digits * (1 + (10 << 8)) >> 8 & 0x00FF00FF00FF00FF;
  const std::uint64_t fours = twos * (1 + (100 << 16)) >> 16 & 0x0000FFFF0000FFFF;
  return fours * (1 + (std::uint64_t{10'000} << 32)) >> 32;
}

// The magnitude, negated if `negative` is 1 rather than 0. No branch: signs are as unpredictable as lengths. The sign
// is a whole word because g++ puts a bool into part of a register, which makes every call depend on the previous one.
[[nodiscard]] constexpr std::int64_t with_sign(std::uint64_t magnitude, std::uint64_t negative) noexcept {
  return static_cast<std::int64_t>((magnitude ^ (0 - negative)) + negative);
}

// The contents of one word of a number: 8 digits, or 7 and a point.
struct Part {
  std::uint64_t number = 0;
  bool has_point = false;
  std::uint8_t scale = 0;  // digits after the point
};

// Reads the digits in `word`, which end with the word. False unless there are only digits and at most one point.
[[nodiscard, gnu::always_inline]] inline bool read_part(std::uint64_t word, Part& part) noexcept {
  constexpr std::uint64_t point = '.' ^ '0';
  const std::uint64_t marks = non_digits(word);
  part.has_point = marks != 0;
  if (part.has_point) {
    const auto top_bit = static_cast<unsigned>(std::countr_zero(marks));
    if ((marks & (marks - 1)) != 0 || (word >> (top_bit - 7) & 0xFF) != point) return false;
    // The digits before the point move over it. (The point's own byte has no top bit, where the mark is.)
    const std::uint64_t in_front = word & ((marks >> 7) - 1);
    word = (word & (0 - marks)) | in_front << 8;
    part.scale = static_cast<std::uint8_t>((63 - top_bit) / 8);
  }
  part.number = value(word);
  NFX_ASSERT(part.number < 100'000'000 && part.scale <= 7);
  return true;
}

static_assert(value(0x0807060504030201) == 12'345'678);
static_assert(pairs(0x0807060504030201) == 0x504E43382D22170C);
static_assert(non_digits(0x090A008000000009) == 0x0080008000000000);

}  // namespace nfx::digits

namespace nfx {

// A text just written: its length and the sum of its bytes, for CheckSum(10). Returned in one register.
struct WrittenText {
  std::uint32_t size;
  std::uint32_t sum;
};

namespace digit_words {

using digits::every_byte;
using digits::load;
using digits::zero_characters;
inline constexpr std::uint64_t limit_8 = 100'000'000;              // the first number with more than 8 digits
inline constexpr std::uint64_t limit_16 = 10'000'000'000'000'000;  // and with more than 16

// Stores a word's bytes, the lowest first.
template <typename Word>
[[gnu::always_inline]] inline void store(char* out, Word word) noexcept {
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  std::memcpy(out, &word, sizeof word);
}

// The eight digits of a number below limit_8, each a byte from 0 to 9, leading zeros included.
[[nodiscard]] constexpr std::uint64_t eight(std::uint64_t number) noexcept {
  NFX_ASSERT(number < limit_8);
  // Halves of four digits, quarters of two, then single digits. Each step divides all parts with one multiplication by
  // a rounded-up reciprocal, which is exact for parts this small. A second multiplication moves the quotients before
  // the remainders: part - q * divisor, shifted up, plus q.
  const std::uint64_t thousands = number * 0xD1B71759 >> 45;
  const std::uint64_t halves = (number << 32) + thousands * (1 - (std::uint64_t{10000} << 32));
  const std::uint64_t hundreds = halves * 10486 >> 20 & 0x0000007F0000007F;
  const std::uint64_t quarters = (halves << 16) + hundreds * (1 - (std::uint64_t{100} << 16));
  const std::uint64_t tens = quarters * 103 >> 10 & 0x000F000F000F000F;
  return (quarters << 8) + tens * (1 - (std::uint64_t{10} << 8));
}

// The four digits of a number below 10000, in the same way.
[[nodiscard]] constexpr std::uint32_t four(std::uint32_t number) noexcept {
  NFX_ASSERT(number < 10'000);
  const std::uint32_t hundreds = number * 5243 >> 19;
  const std::uint32_t quarters = (number << 16) + hundreds * (1 - (100u << 16));
  const std::uint32_t tens = quarters * 103 >> 10 & 0x000F000F;
  return (quarters << 8) + tens * (1 - (10u << 8));
}
inline constexpr std::uint32_t four_zero_characters = 0x01010101 * '0';

// The three digits of a number below 1000, in the lowest three bytes, and their sum.
struct ThreeDigits {
  std::uint32_t bytes;
  std::uint32_t sum;
};
[[nodiscard]] constexpr ThreeDigits three(std::uint32_t number) noexcept {
  NFX_ASSERT(number < 1000);
  const std::uint32_t tens = number * 205 >> 11, hundreds = tens * 103 >> 10;
  return {(number << 16) + tens * (0x100u - 0xA0000u) + hundreds * (1 - 0xA00u), number - 9 * (tens + hundreds)};
}
inline constexpr std::uint32_t three_zero_characters = '0' | '0' << 8 | '0' << 16;

// The sum of eight digits, each a byte from 0 to 9: at most 72, so that nothing carries into the highest byte.
[[nodiscard]] constexpr std::uint32_t digit_sum(std::uint64_t digit_bytes) noexcept {
  return static_cast<std::uint32_t>(digit_bytes * every_byte >> 56);
}

// The number of leading zeros of eight digits, of which at least `least` digits (1 to 8) remain.
[[nodiscard]] constexpr unsigned leading_zeros(std::uint64_t digit_bytes, unsigned least = 1) noexcept {
  NFX_ASSERT(least - 1 < 8);
  return static_cast<unsigned>(std::countr_zero(digit_bytes | std::uint64_t{1} << (64 - 8 * least))) / 8;
}

__extension__ using Sixteen = unsigned __int128;  // sixteen characters, the first in the lowest byte

// Digits and point of a number below limit_16 with scale at most 15. `out` has space for 34 characters.
[[nodiscard]] inline WrittenText write_sixteen(char* out, std::uint64_t number, unsigned scale) noexcept {
  NFX_ASSERT(number < limit_16 && scale <= 15);
  const std::uint64_t high = eight(number / limit_8), low = eight(number % limit_8);
  // The digit before the point is always written.
  const unsigned least = scale + 1;
  const std::uint64_t forced = least > 8 ? std::uint64_t{1} << (128 - 8 * least) : 0;
  const unsigned zeros =
      (high | forced) != 0 ? static_cast<unsigned>(std::countr_zero(high | forced)) / 8 : 8 + leading_zeros(low, least);
  const unsigned count = 16 - zeros;
  NFX_ASSERT(count > scale && count <= 16);
  const unsigned whole = count - scale;
  const Sixteen text = ((Sixteen{low + zero_characters} << 64) | (high + zero_characters)) >> (8 * zeros);
  store(out, static_cast<std::uint64_t>(text));
  store(out + 8, static_cast<std::uint64_t>(text >> 64));
  const std::uint32_t sum = digit_sum(high) + digit_sum(low) + '0' * count;
  if (scale == 0) return {count, sum};
  const Sixteen fraction = text >> (8 * whole);  // scale is at least 1, so whole is at most 15
  out[whole] = '.';
  store(out + whole + 1, static_cast<std::uint64_t>(fraction));
  store(out + whole + 9, static_cast<std::uint64_t>(fraction >> 64));
  return {count + 1, sum + '.'};
}

// Digits and point of any number with scale at most 18. `out` has space for 40 characters.
[[nodiscard, gnu::noinline]] inline WrittenText write_any(char* out, std::uint64_t number, unsigned scale) noexcept {
  NFX_REQUIRE(scale <= 18);
  if (number < limit_16 && scale <= 15) return write_sixteen(out, number, scale);
  // 24 digits with leading zeros, of which the significant ones are copied: numbers this long are rare.
  const std::uint64_t rest = number % limit_16;
  const std::array<std::uint64_t, 3> words{eight(number / limit_16), eight(rest / limit_8), eight(rest % limit_8)};
  std::array<char, 24> padded;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    store(padded.data() + 8 * i, words[i] + zero_characters);
    sum += digit_sum(words[i]);
  }
  const unsigned zeros = words[0] != 0   ? leading_zeros(words[0])
                         : words[1] != 0 ? 8 + leading_zeros(words[1])
                                         : 16 + leading_zeros(words[2]);
  const unsigned count = 24 - zeros > scale ? 24 - zeros : scale + 1;
  NFX_ASSERT(count > scale && count <= 20);
  const unsigned whole = count - scale;
  const char* const first = padded.data() + (24 - count);
  std::memcpy(out, first, whole);
  sum += '0' * count;
  if (scale == 0) return {count, sum};
  out[whole] = '.';
  std::memcpy(out + whole + 1, first + whole, scale);
  return {count + 1, sum + '.'};
}

}  // namespace digit_words

// How many digits write_digits() writes: 1 to 20.
[[nodiscard]] constexpr std::size_t count_digits(std::uint64_t number) noexcept {
  if (number < digit_words::limit_8) return 8 - digit_words::leading_zeros(digit_words::eight(number));
  if (number < digit_words::limit_16)
    return 16 - digit_words::leading_zeros(digit_words::eight(number / digit_words::limit_8));
  return 24 - digit_words::leading_zeros(digit_words::eight(number / digit_words::limit_16));
}

// Writes a number without leading zeros and returns its length. `out` has space for 40 characters.
[[nodiscard]] inline WrittenText write_digits(char* out, std::uint64_t number) noexcept {
  if (number < 10000) {  // most quantities and counts
    const std::uint32_t four = digit_words::four(static_cast<std::uint32_t>(number));
    const unsigned zeros = static_cast<unsigned>(std::countr_zero(four | 0x1000000)) / 8;
    digit_words::store(out, (four + digit_words::four_zero_characters) >> 8 * zeros);
    return {4 - zeros, (four * 0x01010101 >> 24) + '0' * (4 - zeros)};
  }
  if (number >= digit_words::limit_8) return digit_words::write_any(out, number, 0);
  const std::uint64_t bytes = digit_words::eight(number);
  const unsigned zeros = digit_words::leading_zeros(bytes);
  digit_words::store(out, (bytes + digit_words::zero_characters) >> (8 * zeros));
  return {8 - zeros, digit_words::digit_sum(bytes) + '0' * (8 - zeros)};
}

// Writes mantissa x 10^-scale, scale at most 18, as Decimal::write does. `out` has space for 41 characters.
[[nodiscard]] inline WrittenText write_scaled(char* out, std::int64_t mantissa, unsigned scale) noexcept {
  // Negated as unsigned: the smallest mantissa has no positive counterpart.
  const bool negative = mantissa < 0;
  const auto bits = static_cast<std::uint64_t>(mantissa);
  const std::uint64_t number = negative ? 0 - bits : bits;
  *out = '-';
  out += negative ? 1 : 0;
  WrittenText text;
  if (number < digit_words::limit_8 && scale <= 7) [[likely]] {
    const std::uint64_t bytes = digit_words::eight(number);
    const unsigned fraction_bits = 8 * scale;
    // The digit before the point is written even when it is zero.
    const std::uint64_t needed = std::uint64_t{1} << 56 >> fraction_bits;
    const unsigned zeros = static_cast<unsigned>(std::countr_zero(bytes | needed)) / 8;
    const std::uint64_t characters = bytes + digit_words::zero_characters;
    const unsigned count = 8 - zeros;
    NFX_ASSERT(count > scale && count <= 8);
    char* const point = out + (count - scale);
    // Without a fraction, the point and the digits after it are written after the end of the text, where they are
    // ignored.
    digit_words::store(out, characters >> 8 * zeros);
    *point = '.';
    digit_words::store(point + 1, characters >> (64 - fraction_bits) % 64);
    text = {count, digit_words::digit_sum(bytes) + '0' * count};
    if (scale != 0) text = {text.size + 1, text.sum + '.'};
  } else {
    text = digit_words::write_any(out, number, scale);
  }
  if (negative) text = {text.size + 1, text.sum + '-'};
  return text;
}

// Writes a point and the first `count` digits, 0 to 9, of nanoseconds below a second; nothing when `count` is 0.
// `out` has space for 10 characters, whatever `count` is.
[[nodiscard]] inline WrittenText write_fraction(char* out, std::uint32_t nanoseconds, unsigned count) noexcept {
  NFX_ASSERT(nanoseconds < 1'000'000'000 && count <= 9);
  if (count == 0) return {0, 0};
  if (count == 3) {
    const digit_words::ThreeDigits digits = digit_words::three(nanoseconds / 1'000'000);
    digit_words::store(out, '.' + ((digits.bytes + digit_words::three_zero_characters) << 8));
    return {4, '.' + 3 * '0' + digits.sum};
  }
  const std::uint64_t bytes = digit_words::eight(nanoseconds / 10);
  const std::uint32_t last = nanoseconds % 10;
  *out = '.';
  digit_words::store(out + 1, bytes + digit_words::zero_characters);
  out[9] = static_cast<char>('0' + last);
  const std::uint64_t kept = count < 8 ? bytes & ~(~std::uint64_t{0} << 8 * count) : bytes;
  return {count + 1, '.' + count * '0' + digit_words::digit_sum(kept) + (count == 9 ? last : 0)};
}

}  // namespace nfx
