#include "nexusfix/wire/field_values.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

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

TEST(parse_int, refuses_what_is_no_integer) {
  for (const char* text : {"", "-", "+1", "1.0", " 1", "1 ", "--1", "1-", "12x", "x"}) {
    const auto value = parse_int(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error(), FieldError::bad_format) << text;
  }
}

TEST(parse_int, tells_too_many_digits_from_nonsense) {
  EXPECT_EQ(parse_int("1000000000000000000").error(), FieldError::out_of_range);
  EXPECT_EQ(parse_int("99999999999999999999999999999999").error(), FieldError::out_of_range);
  EXPECT_EQ(parse_int("99999999999999999999999999999999x").error(), FieldError::bad_format);
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

TEST(standard_fields, tells_header_trailer_and_session_types) {
  EXPECT_TRUE(is_header_tag(Tag::SendingTime));
  EXPECT_FALSE(is_header_tag(Tag::CheckSum));
  EXPECT_TRUE(is_trailer_tag(Tag::CheckSum));
  EXPECT_FALSE(is_trailer_tag(Tag::Text));
  for (const char* type : {"0", "1", "2", "3", "4", "5", "A"}) EXPECT_TRUE(is_session_msg_type(type)) << type;
  for (const char* type : {"", "6", "D", "AE", "00", "a", "n"}) EXPECT_FALSE(is_session_msg_type(type)) << type;
}

}  // namespace
}  // namespace nfx
