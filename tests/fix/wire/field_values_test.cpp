// Typed values of fields: accepted texts, refused ones, and every short text compared with a reference.
#include "nexusfix/wire/message_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/hostile_text.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

TEST(parse_int, reads_signs_and_leading_zeros) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-0"), 0);
  EXPECT_EQ(parse_int("-23"), -23);
  EXPECT_EQ(parse_int("00023"), 23);
  EXPECT_EQ(parse_int("0000000000000000000000023"), 23);
  EXPECT_EQ(parse_int("999999999999999999"), 999999999999999999);
  EXPECT_EQ(parse_int("-999999999999999999"), -999999999999999999);
}

TEST(parse_int, refuses_what_is_not_an_integer) {
  for (const char* text : {"", "-", "+1", "1.0", " 1", "1 ", "--1", "1-", "12x", "x"}) {
    const auto value = parse_int(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error(), FieldError::bad_format) << text;
  }
}

TEST(parse_int, distinguishes_too_many_digits_from_nonsense) {
  EXPECT_EQ(parse_int("1000000000000000000").error(), FieldError::out_of_range);
  EXPECT_EQ(parse_int("99999999999999999999999999999999").error(), FieldError::out_of_range);
  EXPECT_EQ(parse_int("99999999999999999999999999999999x").error(), FieldError::bad_format);
}

// The reference parser, one character at a time.
std::expected<std::int64_t, FieldError> plainly(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::unexpected(FieldError::bad_format);
  std::int64_t magnitude = 0;
  bool in_range = true;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::unexpected(FieldError::bad_format);
    in_range = in_range && magnitude < 100'000'000'000'000'000;
    if (in_range) magnitude = magnitude * 10 + (c - '0');
  }
  if (!in_range) return std::unexpected(FieldError::out_of_range);
  return negative ? -magnitude : magnitude;
}

TEST(parse_int, reads_every_short_text_like_a_reader_of_single_characters) {
  test::every_text_of(test::number_alphabet, 4,
                      [](std::string_view text) { ASSERT_EQ(parse_int(text), plainly(text)) << text; });
  test::every_text_of("-09", 9, [](std::string_view text) { ASSERT_EQ(parse_int(text), plainly(text)) << text; });
}

TEST(parse_int, reads_every_byte_in_every_place_like_a_reader_of_single_characters) {
  for (const std::string text : {"123456789012345678901234567890", "-98765432109876543210987654321",
                                 "000000000000000000000000000001", "999999999999999999999999999999"}) {
    for (std::size_t size = 1; size <= text.size(); ++size) {
      test::with_every_byte_everywhere(text.substr(0, size),
                                       [](std::string_view t) { ASSERT_EQ(parse_int(t), plainly(t)) << t; });
    }
  }
}

TEST(parse_int, knows_the_limit_after_any_number_of_zeros) {
  for (std::size_t zeros = 0; zeros <= 100; ++zeros) {
    const std::string front(zeros, '0');
    EXPECT_EQ(parse_int(front + "999999999999999999"), 999999999999999999);
    EXPECT_EQ(parse_int(front + "1000000000000000000").error(), FieldError::out_of_range);
    // Multiples of 2^64, which are 0 if a sum wraps.
    EXPECT_EQ(parse_int(front + "18446744073709551616").error(), FieldError::out_of_range);
    EXPECT_EQ(parse_int(front + "340282366920938463463374607431768211456").error(), FieldError::out_of_range);
    EXPECT_EQ(parse_int(front + "1844674407370955161600000001").error(), FieldError::out_of_range);
    EXPECT_EQ(parse_int("-" + front + "7"), -7);
  }
}

TEST(parse_int, reads_random_texts_like_a_reader_of_single_characters) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  test::RandomNumberText texts;
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string_view text = texts.next(random);
    ASSERT_EQ(parse_int(text), plainly(text)) << text;
    accepted += plainly(text).has_value();
  }
  EXPECT_GT(accepted, 40'000);
  EXPECT_LT(accepted, 160'000);
}

TEST(parse_int, reads_nothing_outside_the_text) {
  test::GuardedText memory;
  const std::string text = "-12345678901234567890123456789";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    for (const std::size_t from : {std::size_t{0}, std::min(size, std::size_t{1})}) {
      const std::string_view part = std::string_view{text}.substr(from, size - from);
      ASSERT_EQ(parse_int(memory.at_start(part)), plainly(part)) << part;
      ASSERT_EQ(parse_int(memory.at_end(part)), plainly(part)) << part;
    }
  }
  EXPECT_FALSE(parse_int(std::string_view{}));
}

TEST(parse_bool, knows_only_y_and_n) {
  EXPECT_EQ(parse_bool("Y"), true);
  EXPECT_EQ(parse_bool("N"), false);
  for (const char* text : {"", "y", "n", "1", "YES", "Y "}) EXPECT_FALSE(parse_bool(text)) << text;
}

TEST(parse_char, takes_exactly_one_byte) {
  EXPECT_EQ(parse_char("x"), 'x');
  EXPECT_FALSE(parse_char(""));
  EXPECT_FALSE(parse_char("xy"));
}

TEST(parse_decimal, maps_refusal_to_bad_format) {
  EXPECT_EQ(parse_decimal("1.5"), Decimal(15, 1));
  EXPECT_EQ(parse_decimal("1e5").error(), FieldError::bad_format);
}

TEST(errors, every_one_has_its_own_sentence) {
  std::vector<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(WireError::not_fix); ++i) seen.push_back(to_string(static_cast<WireError>(i)));
  for (int i = 0; i <= static_cast<int>(FieldError::out_of_range); ++i) {
    seen.push_back(to_string(static_cast<FieldError>(i)));
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_NE(seen[i], "unknown error");
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(seen[i], seen[j]);
  }
}

TEST(standard_fields, data_fields_have_a_length_in_front) {
  EXPECT_EQ(data_tag_of(Tag::RawDataLength), Tag::RawData);
  EXPECT_EQ(data_tag_of(Tag::SignatureLength), Tag::Signature);
  EXPECT_EQ(data_tag_of(Tag::Text), Tag{0});
}

TEST(standard_fields, distinguishes_header_trailer_and_session_types) {
  EXPECT_TRUE(is_header_tag(Tag::SendingTime));
  EXPECT_FALSE(is_header_tag(Tag::CheckSum));
  EXPECT_TRUE(is_trailer_tag(Tag::CheckSum));
  EXPECT_FALSE(is_trailer_tag(Tag::Text));
  for (const char* type : {"0", "1", "2", "3", "4", "5", "A"}) EXPECT_TRUE(is_session_msg_type(type)) << type;
  for (const char* type : {"", "6", "D", "AE", "00", "a", "n"}) EXPECT_FALSE(is_session_msg_type(type)) << type;
}

}  // namespace
}  // namespace nfx
