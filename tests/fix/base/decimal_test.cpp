// Decimal parsing, writing, order and sums, compared with a reference and with random values.
#include "nexusfix/base/decimal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/hostile_text.hpp"
#include "base/seeded.hpp"

namespace nfx {
namespace {

std::string round_trip(std::string_view text) {
  const auto value = Decimal::parse(text);
  return value ? to_string(*value) : "none";
}

TEST(decimal, keeps_the_digits_after_the_point) {
  const auto value = Decimal::parse("23.230");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->mantissa(), 23230);
  EXPECT_EQ(value->scale(), 3);
}

TEST(decimal, writes_what_it_read) {
  for (const char* text : {"0", "1", "-1", "0.5", "-0.5", "23.230", "0.00", "100", "0.000000000000000001",
                           "999999999999999999", "-999999999999999999", "0.999999999999999999"}) {
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST(decimal, reads_every_spelling_fix_allows) {
  EXPECT_EQ(round_trip("00023.23"), "23.23");
  EXPECT_EQ(round_trip(".5"), "0.5");
  EXPECT_EQ(round_trip("-.5"), "-0.5");
  EXPECT_EQ(round_trip("5."), "5");
  EXPECT_EQ(round_trip("-0"), "0");
  EXPECT_EQ(round_trip("000000000000000000000000000001"), "1");
}

TEST(decimal, refuses_what_is_not_a_fix_float) {
  for (const char* text :
       {"", "-", ".", "-.", "+1", " 1", "1 ", "1,5", "1e5", "1.2.3", "--1", "1-", "0x10", "nan", "inf"}) {
    EXPECT_FALSE(Decimal::parse(text)) << text;
  }
  EXPECT_FALSE(Decimal::parse(std::string_view("1\0", 2)));
}

TEST(decimal, refuses_what_does_not_fit_instead_of_rounding) {
  EXPECT_EQ(round_trip("123456789012345678"), "123456789012345678");
  EXPECT_EQ(round_trip("1.123456789012345678"), "1.123456789012345678");
  EXPECT_EQ(round_trip("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(round_trip("9.223372036854775807"), "9.223372036854775807");
  for (const char* text : {"9223372036854775808", "9.223372036854775808", "12.123456789012345678",
                           "0.0000000000000000001", "100000000000000000000", "-99999999999999999999.5"}) {
    EXPECT_FALSE(Decimal::parse(text)) << text;
  }
}

TEST(decimal, drops_zeros_of_the_fraction_only_where_the_value_fits_without_them) {
  EXPECT_EQ(round_trip("100.0000000000000000"), "100.0000000000000000");
  EXPECT_EQ(round_trip("100.00000000000000000"), "100.0000000000000000");
  EXPECT_EQ(round_trip("100.00000000000000000000"), "100.0000000000000000");
  EXPECT_EQ(round_trip("1.5" + std::string(60, '0')), "1.500000000000000000");
  EXPECT_EQ(round_trip("1234567890.50000000000000000000"), "1234567890.500000000");
  EXPECT_EQ(round_trip("0." + std::string(60, '0')), "0.000000000000000000");
}

std::string wide_round_trip(std::string_view text) {
  const auto value = WideDecimal::parse(text);
  if (!value) return "none";
  char out[WideDecimal::max_text_size];
  return {out, value->write(out)};
}

TEST(wide_decimal, writes_what_it_read) {
  for (const char* text : {"0", "1", "-1", "0.5", "-0.5", "23.230", "0.00", "12.123456789012345678",
                           "1000000000.123456789012345678", "-99999999999999999999999999999999999999",
                           "0.99999999999999999999999999999999999999", "100.00000000000000000000"}) {
    EXPECT_EQ(wide_round_trip(text), text);
  }
  EXPECT_EQ(wide_round_trip("00012.50"), "12.50");
  EXPECT_EQ(wide_round_trip(".5"), "0.5");
  EXPECT_EQ(wide_round_trip("5."), "5");
  EXPECT_EQ(wide_round_trip("1." + std::string(100, '0')), "1." + std::string(37, '0'));
}

TEST(wide_decimal, refuses_what_is_no_number_or_has_too_many_digits) {
  for (const char* text : {"", "-", ".", "-.", "+1", "1e5", "1.2.3", "1 "})
    EXPECT_EQ(wide_round_trip(text), "none") << text;
  EXPECT_EQ(wide_round_trip("1" + std::string(38, '0')), "none");
  EXPECT_EQ(wide_round_trip("0." + std::string(38, '0') + "1"), "none");
}

TEST(wide_decimal, compares_by_value_with_decimals_too) {
  EXPECT_EQ(*WideDecimal::parse("1.50"), WideDecimal(Decimal(15, 1)));
  EXPECT_LT(*WideDecimal::parse("12.123456789012345678"), *WideDecimal::parse("12.1234567890123456781"));
  EXPECT_GT(*WideDecimal::parse("99999999999999999999999999999999999999"),
            *WideDecimal::parse("0.99999999999999999999999999999999999999"));
  EXPECT_LT(*WideDecimal::parse("-2"), *WideDecimal::parse("-1.99999999999999999999999999999999999"));
  EXPECT_EQ(*WideDecimal::parse("0"), *WideDecimal::parse("-0.000"));
}

TEST(wide_decimal, is_a_decimal_again_where_that_holds_the_value) {
  EXPECT_EQ(WideDecimal::parse("12.500000000000000000000")->narrow(), Decimal(125, 1));
  EXPECT_EQ(WideDecimal::parse("12.123456789012345678")->narrow(), std::nullopt);
}

TEST(decimal, writes_the_extreme_mantissas) {
  EXPECT_EQ(to_string(Decimal{std::numeric_limits<std::int64_t>::min()}), "-9223372036854775808");
  EXPECT_EQ(to_string(Decimal{std::numeric_limits<std::int64_t>::max(), 18}), "9.223372036854775807");
  EXPECT_EQ(to_string(Decimal{-5, 18}), "-0.000000000000000005");
}

TEST(decimal, compares_by_value) {
  EXPECT_EQ(Decimal(150, 2), Decimal(15, 1));
  EXPECT_LT(Decimal(149, 2), Decimal(15, 1));
  EXPECT_GT(Decimal(-149, 2), Decimal(-15, 1));
  EXPECT_LT(Decimal(std::numeric_limits<std::int64_t>::min(), 0),
            Decimal(std::numeric_limits<std::int64_t>::min(), 18));
  EXPECT_NE(Decimal(1), Decimal(1, 1));
}

TEST(decimal, adds_and_subtracts_at_the_larger_scale) {
  const auto sum = add(Decimal{1, 1}, Decimal{2, 2});
  ASSERT_TRUE(sum);
  EXPECT_EQ(to_string(*sum), "0.12");
  const auto difference = subtract(Decimal{1, 1}, Decimal{2, 2});
  ASSERT_TRUE(difference);
  EXPECT_EQ(to_string(*difference), "0.08");
}

TEST(decimal, reports_overflow_as_no_result) {
  EXPECT_FALSE(add(Decimal{std::numeric_limits<std::int64_t>::max()}, Decimal{1}));
  EXPECT_FALSE(subtract(Decimal{std::numeric_limits<std::int64_t>::min()}, Decimal{1}));
  EXPECT_FALSE(add(Decimal{1'000'000'000'000}, Decimal{1, 18}));
  EXPECT_TRUE(add(Decimal{std::numeric_limits<std::int64_t>::max()}, Decimal{-1}));
}

TEST(decimal, random_values_survive_writing_and_reading) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 20000; ++i) {
    const auto digits = random.below(19);
    std::uint64_t limit = 1;
    for (std::uint64_t d = 0; d < digits; ++d) limit *= 10;
    auto mantissa = static_cast<std::int64_t>(random.below(limit));
    if (random.below(2) == 0) mantissa = -mantissa;
    const Decimal value{mantissa, static_cast<std::uint8_t>(random.below(19))};
    const std::string text = to_string(value);
    const auto again = Decimal::parse(text);
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(again->mantissa(), value.mantissa()) << text;
    ASSERT_EQ(again->scale(), value.scale()) << text;
  }
}

// The reference parser, one character at a time: drops zeros at the end of the fraction until the rest fits.
std::optional<Decimal> plainly(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  std::string digits{text};
  if (point != std::string::npos) digits.erase(point, 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::size_t scale = point == std::string::npos ? 0 : text.size() - point - 1;
  const auto fits = [&] {
    const std::string value = digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
    const std::string_view largest = negative ? "9223372036854775808" : "9223372036854775807";
    return scale <= Decimal::max_scale &&
           (value.size() < largest.size() || (value.size() == largest.size() && value <= largest));
  };
  for (; !fits(); --scale, digits.pop_back()) {
    if (scale == 0 || digits.back() != '0') return std::nullopt;
  }
  std::uint64_t mantissa = 0;
  for (const char digit : digits) mantissa = mantissa * 10 + static_cast<std::uint64_t>(digit - '0');
  return Decimal{static_cast<std::int64_t>(negative ? -mantissa : mantissa), static_cast<std::uint8_t>(scale)};
}

// Compares value and scale: 1.5 and 1.50 differ here.
bool reads_as_plainly(std::string_view text) {
  const auto value = Decimal::parse(text);
  const auto expected = plainly(text);
  if (!value || !expected) return value.has_value() == expected.has_value();
  return value->mantissa() == expected->mantissa() && value->scale() == expected->scale();
}

TEST(decimal, reads_every_short_text_like_a_reader_of_single_characters) {
  test::every_text_of(test::number_alphabet, 4,
                      [](std::string_view text) { ASSERT_TRUE(reads_as_plainly(text)) << text; });
  test::every_text_of("09.", 9, [](std::string_view text) { ASSERT_TRUE(reads_as_plainly(text)) << text; });
}

TEST(decimal, reads_every_byte_in_every_place_like_a_reader_of_single_characters) {
  for (const std::string text : {"123456789012345678901234567890", "-98765432109876543210987654321",
                                 "000000000000000000000000000001", "1234.567890123456789012345678"}) {
    for (std::size_t size = 1; size <= text.size(); ++size) {
      test::with_every_byte_everywhere(text.substr(0, size),
                                       [](std::string_view t) { ASSERT_TRUE(reads_as_plainly(t)) << t; });
    }
  }
}

TEST(decimal, reads_a_point_in_every_place_of_every_length) {
  for (const char digit : {'0', '1', '9'}) {
    for (std::size_t size = 1; size <= 40; ++size) {
      for (std::size_t point = 0; point < size; ++point) {
        std::string text(size, digit);
        text[point] = '.';
        ASSERT_TRUE(reads_as_plainly(text)) << text;
        ASSERT_TRUE(reads_as_plainly("-" + text)) << text;
        ASSERT_TRUE(reads_as_plainly("0000000" + text)) << text;
      }
    }
  }
}

TEST(decimal, reads_random_texts_like_a_reader_of_single_characters) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  test::RandomNumberText texts;
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string_view text = texts.next(random);
    ASSERT_TRUE(reads_as_plainly(text)) << text;
    accepted += plainly(text).has_value();
  }
  EXPECT_GT(accepted, 60'000);
  EXPECT_LT(accepted, 180'000);
}

TEST(decimal, reads_nothing_outside_the_text) {
  test::GuardedText memory;
  const std::string text = "-123456.78901234567890123";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    for (std::size_t from = 0; from <= size; ++from) {
      const std::string_view part = std::string_view{text}.substr(from, size - from);
      ASSERT_TRUE(reads_as_plainly(memory.at_start(part))) << part;
      ASSERT_TRUE(reads_as_plainly(memory.at_end(part))) << part;
    }
  }
  EXPECT_FALSE(Decimal::parse(std::string_view{}));
}

TEST(decimal, subtracting_what_was_added_gives_the_start) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 20000; ++i) {
    const auto any = [&random] {
      const auto mantissa = static_cast<std::int64_t>(random.below(2'000'000'000)) - 1'000'000'000;
      return Decimal{mantissa, static_cast<std::uint8_t>(random.below(9))};
    };
    const Decimal a = any(), b = any();
    const auto sum = add(a, b);
    ASSERT_TRUE(sum);
    const auto back = subtract(*sum, b);
    ASSERT_TRUE(back);
    ASSERT_EQ(*back, a);
    ASSERT_EQ(a < b, *sum < *add(b, b));
  }
}

TEST(decimal, writes_nothing_after_the_longest_text) {
  for (const std::int64_t mantissa : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{7}}) {
    for (std::uint8_t scale = 0; scale <= Decimal::max_scale; ++scale) {
      std::string out(Decimal::max_text_size + 16, '#');
      const std::size_t size = Decimal(mantissa, scale).write(out.data());
      EXPECT_LE(size, Decimal::max_text_size);
      EXPECT_EQ(out.substr(Decimal::max_text_size), std::string(16, '#'));
    }
  }
}

}  // namespace
}  // namespace nfx
