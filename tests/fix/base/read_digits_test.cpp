// Reading digits a word at a time, compared with reading single digits.
#include "nexusfix/base/digits.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/hostile_text.hpp"

namespace nfx {
namespace {

TEST(read_digits, loads_one_to_eight_characters_with_zeros_in_front) {
  for (std::size_t count = 1; count <= 8; ++count) {
    const std::string text = std::string{"12345678"}.substr(0, count);
    const std::string filled = std::string(8 - count, '0') + text;
    EXPECT_EQ(digits::load_last(text.data(), count), digits::load_8(filled.data())) << text;
    EXPECT_EQ(digits::value(digits::load_last(text.data(), count)), std::stoull(text)) << text;
  }
}

TEST(read_digits, reads_nothing_outside_the_characters_named) {
  test::GuardedText memory;
  for (std::size_t count = 1; count <= 8; ++count) {
    const std::string text = std::string{"98765432"}.substr(0, count);
    EXPECT_EQ(digits::value(digits::load_last(memory.at_start(text).data(), count)), std::stoull(text));
    EXPECT_EQ(digits::value(digits::load_last(memory.at_end(text).data(), count)), std::stoull(text));
  }
}

TEST(read_digits, marks_exactly_the_first_byte_that_is_not_a_digit) {
  for (std::size_t place = 0; place < 8; ++place) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      for (const char other : {'0', '9'}) {
        std::string text(8, other);
        text[place] = static_cast<char>(byte);
        const bool digit = byte >= '0' && byte <= '9';
        const std::uint64_t marks = digits::non_digits(digits::load_8(text.data()));
        const std::uint64_t first = marks & (0 - marks);
        ASSERT_EQ(first, digit ? 0 : std::uint64_t{0x80} << 8 * place) << byte << " at " << place;
      }
    }
  }
}

TEST(read_digits, finds_every_byte_that_is_not_a_digit_among_others) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 200'000; ++i) {
    char text[8];
    std::uint64_t expected = 0;
    for (unsigned place = 0; place < 8; ++place) {
      const bool digit = random.below(2) == 0;
      text[place] = static_cast<char>(digit ? '0' + random.below(10) : random.below(256));
      if (text[place] < '0' || text[place] > '9') expected |= std::uint64_t{0x80} << 8 * place;
    }
    ASSERT_EQ(digits::non_digits(digits::load_8(text)) & expected, expected);
  }
}

TEST(read_digits, values_and_pairs_are_those_of_the_digits) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 200'000; ++i) {
    char text[8];
    std::uint64_t expected = 0;
    for (char& c : text) {
      const std::uint64_t digit = random.below(10);
      c = static_cast<char>('0' + digit);
      expected = expected * 10 + digit;
    }
    const std::uint64_t word = digits::load_8(text);
    ASSERT_EQ(digits::value(word), expected);
    for (unsigned place = 0; place < 8; ++place) {
      const int behind = place < 7 ? text[place + 1] - '0' : 0;
      ASSERT_EQ(static_cast<int>(digits::pairs(word) >> 8 * place & 0xFF), (text[place] - '0') * 10 + behind);
    }
  }
}

TEST(read_digits, puts_the_sign_on_any_magnitude) {
  for (const std::uint64_t magnitude : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{999'999'999'999'999'999}}) {
    EXPECT_EQ(digits::with_sign(magnitude, 0), static_cast<std::int64_t>(magnitude));
    EXPECT_EQ(digits::with_sign(magnitude, 1), -static_cast<std::int64_t>(magnitude));
  }
}

}  // namespace
}  // namespace nfx
