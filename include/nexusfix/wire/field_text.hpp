// The texts that fields consist of, with the sums of their bytes: tags, short values, constant fields.
// Thread: any, no state. Cost: texts of tags known at compile time are constants; others take a few instructions.
//   append<Tag::Price>(price)                     "44=" is one store of a constant
//   append(constant_fields<"21=1|59=0|">)         whole fields as one constant; '|' stands for SOH
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#ifdef __SSE2__  // every x86-64 has it
#include <emmintrin.h>
#endif

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/digits.hpp"
#include "nexusfix/base/tag.hpp"

namespace nfx {

inline constexpr char soh = '\x01';

// "<tag>=" in one word, the first character in the lowest byte. Size 0: the tag is not positive or has more than 7
// digits.
struct TagText {
  std::uint64_t word;
  std::uint32_t size;
  std::uint32_t sum;
};

[[nodiscard]] constexpr TagText tag_text(Tag tag) noexcept {
  const auto number = static_cast<std::uint32_t>(value(tag));  // a negative one becomes too large
  if (number - 1 < 999) {
    const digit_words::ThreeDigits digits = digit_words::three(number);
    const unsigned zeros = static_cast<unsigned>(std::countr_zero(digits.bytes | 0x10000)) / 8;
    const std::uint32_t text = (digits.bytes + digit_words::three_zero_characters) | std::uint32_t{'='} << 24;
    return {text >> 8 * zeros, 4 - zeros, digits.sum + (3 - zeros) * '0' + '='};
  }
  if (number - 1 > 9'999'998) return {0, 0, 0};
  const std::uint64_t bytes = digit_words::eight(number);
  const unsigned zeros = digit_words::leading_zeros(bytes);  // at least 1
  const unsigned count = 8 - zeros;
  return {(bytes + digit_words::zero_characters) >> 8 * zeros | std::uint64_t{'='} << 8 * count, count + 1,
          digit_words::digit_sum(bytes) + count * '0' + '='};
}

// The same for a tag known at compile time.
template <Tag tag>
inline constexpr TagText tag_text_of = tag_text(tag);

// Eight bytes at a time: their sum, and whether one of them is SOH.
class ByteWord {
 public:
#ifdef __SSE2__
  [[gnu::always_inline]] explicit ByteWord(std::uint64_t word) noexcept
      : word_(_mm_cvtsi64_si128(static_cast<long long>(word))) {}
  [[nodiscard, gnu::always_inline]] std::uint32_t sum() const noexcept {
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_sad_epu8(word_, _mm_setzero_si128())));
  }
  [[nodiscard, gnu::always_inline]] bool holds_soh() const noexcept {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(word_, _mm_set1_epi8(soh))) != 0;
  }

 private:
  __m128i word_;
#else
  explicit ByteWord(std::uint64_t word) noexcept : word_(word) {}
  [[nodiscard]] std::uint32_t sum() const noexcept {
    constexpr std::uint64_t even_bytes = 0x00FF00FF00FF00FF;
    const std::uint64_t pairs = (word_ & even_bytes) + (word_ >> 8 & even_bytes);
    return static_cast<std::uint32_t>(pairs * 0x0001000100010001 >> 48);
  }
  [[nodiscard]] bool holds_soh() const noexcept {
    const std::uint64_t other = word_ ^ digit_words::every_byte;
    return ((other - digit_words::every_byte) & ~other & digit_words::every_byte * 0x80) != 0;
  }

 private:
  std::uint64_t word_;
#endif
};

// One to eight characters in a word, followed by zeros; zero for none. Nothing outside the text is read: two
// overlapping loads cover 4 to 8 characters, three loads of one byte cover fewer.
[[nodiscard, gnu::always_inline]] inline std::uint64_t load_short(const char* p, std::size_t size) noexcept {
  NFX_ASSERT(size <= 8);
  if (size >= 4) {
    const std::uint64_t last = digit_words::load<std::uint32_t>(p + size - 4);
    return digit_words::load<std::uint32_t>(p) | last << 8 * (size - 4);
  }
  if (size == 0) return 0;
  const auto byte = [p](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])} << 8 * i; };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

// Copies bytes, exactly `size` of them, and returns their sum.
std::uint32_t copy_and_sum(char* out, const char* bytes, std::size_t size) noexcept;

// Complete fields known at compile time, followed by unused bytes so that they can be copied in whole steps of 16.
template <std::size_t padded_size>
struct ConstantFields {
  std::array<char, padded_size> bytes;
  std::size_t size;
  std::uint32_t sum;

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes.data(), size}; }
};

// A string literal as a template argument.
template <std::size_t size>
struct FieldsLiteral {
  char text[size];

  consteval FieldsLiteral(const char (&literal)[size]) {  // NOLINT: meant implicit
    for (std::size_t i = 0; i < size; ++i) text[i] = literal[i];
  }
};

namespace detail {

// Not constexpr: reaching it while a constant is made is the compiler's error message.
inline void constant_fields_must_read_tag_equals_value_bar() {}

template <FieldsLiteral literal>
consteval auto make_constant_fields() {
  constexpr std::size_t size = sizeof literal.text - 1;
  ConstantFields<(size + 15) / 16 * 16> result{{}, size, 0};
  bool in_tag = true;
  std::size_t tag_size = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const char c = literal.text[i];
    if (in_tag) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit && (c != '=' || tag_size == 0)) constant_fields_must_read_tag_equals_value_bar();
      tag_size += digit ? 1 : 0;
      in_tag = digit;
    } else if (c == '|') {
      in_tag = true;
      tag_size = 0;
    }
    result.bytes[i] = c == '|' ? soh : c;
    result.sum += static_cast<unsigned char>(result.bytes[i]);
  }
  if (!in_tag || tag_size != 0) constant_fields_must_read_tag_equals_value_bar();
  return result;
}

}  // namespace detail

// constant_fields<"21=1|59=0|">: one or more complete fields, checked while compiling.
template <FieldsLiteral literal>
inline constexpr auto constant_fields = detail::make_constant_fields<literal>();

}  // namespace nfx
