// Decimal digits read eight at a time as the bytes of one 64-bit word: shared by the parsers of numbers and times.
// Thread: any, no state. Cost: a handful of instructions; no branch depends on what the characters are.
// Nothing is read outside the characters that the caller passes. A word holds its first character in the lowest byte on
// every machine, so that carries go from a character to the next. "Digits" are characters xor '0': 0 to 9 for a digit,
// more for anything else.
#pragma once

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
