// Writing digits a word at a time: text, size, sum, and no write beyond the space that each function documents.
#include "nexusfix/base/digits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/seeded.hpp"

namespace nfx {
namespace {

std::uint32_t sum_of(std::string_view text) {
  std::uint32_t sum = 0;
  for (const char c : text) sum += static_cast<unsigned char>(c);
  return sum;
}

// The reference writer, digit by digit.
std::string plain(std::int64_t mantissa, unsigned scale) {
  const bool negative = mantissa < 0;
  auto number = static_cast<std::uint64_t>(mantissa);
  if (negative) number = 0 - number;
  std::string text = std::to_string(number);
  if (text.size() < scale + 1) text.insert(0, scale + 1 - text.size(), '0');
  if (scale != 0) text.insert(text.size() - scale, ".");
  return negative ? '-' + text : text;
}

// The text that a writer left in `out`, if its size and sum are right and nothing after `room` was written.
template <std::size_t room, typename Write>
std::string written_by(Write write) {
  std::string out(room + 16, '#');
  const WrittenText written = write(out.data());
  EXPECT_EQ(out.substr(room), std::string(16, '#')) << "written after the space that was requested";
  EXPECT_EQ(written.sum, sum_of(std::string_view{out}.substr(0, written.size)));
  return out.substr(0, written.size);
}

// Every power of ten and its neighbours, and the ends of the range.
std::vector<std::uint64_t> edges() {
  std::vector<std::uint64_t> numbers{0, std::numeric_limits<std::uint64_t>::max()};
  for (std::uint64_t power = 1;; power *= 10) {
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
    if (power == 10'000'000'000'000'000'000u) break;
  }
  for (unsigned bit = 0; bit < 64; ++bit) numbers.push_back(std::uint64_t{1} << bit);
  return numbers;
}

TEST(write_digits, writes_every_length_of_number) {
  for (const std::uint64_t number : edges()) {
    const std::string text = std::to_string(number);
    EXPECT_EQ(written_by<40>([&](char* out) { return write_digits(out, number); }), text);
    EXPECT_EQ(count_digits(number), text.size()) << number;
  }
}

TEST(write_digits, writes_every_number_below_twenty_thousand) {
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    ASSERT_EQ(written_by<40>([&](char* out) { return write_digits(out, number); }), std::to_string(number));
  }
}

TEST(write_digits, splits_numbers_of_every_half_into_eight_digits) {
  const auto expect_split = [](std::uint64_t number) {
    std::uint64_t expected = 0, rest = number;
    for (int i = 7; i >= 0; --i, rest /= 10) expected |= rest % 10 << 8 * i;
    ASSERT_EQ(digit_words::eight(number), expected) << number;
  };
  for (std::uint64_t half = 0; half < 10000; ++half) {
    for (const std::uint64_t other : {0u, 1u, 4999u, 5000u, 9999u}) {
      expect_split(half * 10000 + other);
      expect_split(other * 10000 + half);
    }
  }
}

TEST(write_digits, splits_every_number_below_one_thousand_into_three_digits) {
  for (std::uint32_t number = 0; number < 1000; ++number) {
    const digit_words::ThreeDigits digits = digit_words::three(number);
    ASSERT_EQ(digits.bytes, number / 100 | number / 10 % 10 << 8 | number % 10 << 16) << number;
    ASSERT_EQ(digits.sum, number / 100 + number / 10 % 10 + number % 10) << number;
  }
}

TEST(write_digits, random_numbers_equal_the_standard_librarys) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 300000; ++i) {
    const std::uint64_t number = random.generator() >> random.below(64);
    ASSERT_EQ(written_by<40>([&](char* out) { return write_digits(out, number); }), std::to_string(number));
  }
}

TEST(write_scaled, writes_the_edges_at_every_scale) {
  for (const std::uint64_t bits : edges()) {
    for (const auto mantissa : {static_cast<std::int64_t>(bits), static_cast<std::int64_t>(0 - bits)}) {
      for (unsigned scale = 0; scale <= 18; ++scale) {
        ASSERT_EQ(written_by<41>([&](char* out) { return write_scaled(out, mantissa, scale); }), plain(mantissa, scale))
            << mantissa << " at scale " << scale;
      }
    }
  }
}

TEST(write_scaled, random_decimals_equal_digit_by_digit_writing) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 300000; ++i) {
    auto mantissa = static_cast<std::int64_t>(random.generator() >> random.below(64));
    if (random.below(2) == 0) mantissa = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(mantissa));
    const auto scale = static_cast<unsigned>(random.below(19));
    ASSERT_EQ(written_by<41>([&](char* out) { return write_scaled(out, mantissa, scale); }), plain(mantissa, scale))
        << mantissa << " at scale " << scale;
  }
}

TEST(write_fraction, writes_a_prefix_of_nine_digits) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  std::vector<std::uint32_t> samples{0, 1, 9, 10, 999, 1000, 999'999, 1'000'000, 999'000'000, 999'999'999};
  for (int i = 0; i < 20000; ++i) samples.push_back(static_cast<std::uint32_t>(random.below(1'000'000'000)));
  for (const std::uint32_t nanoseconds : samples) {
    std::string digits = std::to_string(nanoseconds);
    digits.insert(0, 9 - digits.size(), '0');
    for (unsigned count = 0; count <= 9; ++count) {
      const std::string expected = count == 0 ? "" : '.' + digits.substr(0, count);
      ASSERT_EQ(written_by<10>([&](char* out) { return write_fraction(out, nanoseconds, count); }), expected);
    }
  }
}

}  // namespace
}  // namespace nfx
