// The syntax of each FIX data type.
#include "nexusfix/dictionary/dictionary.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace nfx {
namespace {

void expect_values(FieldType type, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_TRUE(has_format(text, type)) << to_string(type) << " " << text;
}

void expect_no_values(FieldType type, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_FALSE(has_format(text, type)) << to_string(type) << " " << text;
}

TEST(FieldType, every_type_is_found_by_its_own_name) {
  for (const FieldTypeRow& row : field_type_rows) {
    EXPECT_EQ(parse_field_type(row.name), row.type) << row.name;
    EXPECT_EQ(to_string(row.type), row.name);
  }
}

TEST(FieldType, older_names_mean_the_same_types) {
  EXPECT_EQ(parse_field_type("TIME"), FieldType::utc_timestamp);
  EXPECT_EQ(parse_field_type("UTCDATE"), FieldType::utc_date_only);
  EXPECT_EQ(parse_field_type("MULTIPLEVALUESTRING"), FieldType::multiple_string_value);
  EXPECT_EQ(parse_field_type("NUMBER"), std::nullopt);
}

TEST(FieldType, an_empty_text_is_a_value_of_no_type) {
  for (const FieldTypeRow& row : field_type_rows) EXPECT_FALSE(has_format("", row.type)) << row.name;
}

TEST(FieldType, integers_are_digits_with_an_optional_minus) {
  expect_values(FieldType::integer, {"0", "-1", "007", "123456789012345678", "000000000000000000000001",
                                     "-1234567890123456789012345678901234567890"});
  expect_no_values(FieldType::integer, {"+1", "1.0", "-", " 1", "1 ", "1e3", "0x1", "12345678901234567890x"});
}

TEST(FieldType, counts_lengths_and_sequence_numbers_are_not_negative) {
  for (const FieldType type : {FieldType::length, FieldType::seq_num, FieldType::num_in_group, FieldType::tag_num}) {
    expect_values(type, {"0", "1", "0010"});
    expect_no_values(type, {"-1", "+1", "1.0", "x"});
  }
}

TEST(FieldType, decimals_take_leading_and_trailing_zeros_but_no_plus) {
  for (const FieldType type : {FieldType::float_number, FieldType::quantity, FieldType::price, FieldType::price_offset,
                               FieldType::amount, FieldType::percentage}) {
    expect_values(type, {"002000.00", "0", "-1.5", ".5", "5.", "100"});
    expect_no_values(type, {"+200.00", "1,000", "1.2.3", ".", "-", "1e5", " 1", "--1"});
  }
}

TEST(FieldType, characters_and_booleans_have_one_character) {
  expect_values(FieldType::character, {"1", "w", " "});
  expect_no_values(FieldType::character, {"12"});
  expect_values(FieldType::boolean, {"Y", "N"});
  expect_no_values(FieldType::boolean, {"y", "1", "YES"});
}

TEST(FieldType, lists_have_one_space_between_values) {
  expect_values(FieldType::multiple_string_value, {"A", "A B", "AA 1 CC"});
  expect_no_values(FieldType::multiple_string_value, {" ", " A", "A ", "A  B"});
  expect_values(FieldType::multiple_char_value, {"A", "A B"});
  expect_no_values(FieldType::multiple_char_value, {"AA", "A BB", "A ", "A  B"});
}

TEST(FieldType, timestamps_have_up_to_twelve_digits_of_fraction) {
  expect_values(FieldType::utc_timestamp, {"20040415-00:00:00", "20040415-23:59:60", "20040415-12:00:00.1",
                                           "20040415-12:00:00.123456789012", "99991231-23:59:59"});
  expect_no_values(FieldType::utc_timestamp,
                   {"20040415", "20040415-00:00", "20040230-00:00:00", "20040415 00:00:00", "20040415-12:00:00.",
                    "20040415x12:00:00", "20040415-12:00:00,1", "20040415-12:00:00.1234567890123"});
}

TEST(FieldType, times_of_day_are_within_the_day) {
  expect_values(FieldType::utc_time_only, {"00:00:00", "23:59:60", "12:00:00.123"});
  expect_no_values(FieldType::utc_time_only, {"24:00:00", "12:60:00", "12:00", "12:00:00.", "1:00:00", "12-00-00"});
  expect_values(FieldType::local_mkt_time, {"12:00:00"});
  expect_no_values(FieldType::local_mkt_time, {"12:00:00.1"});
}

TEST(FieldType, dates_exist_in_the_calendar) {
  for (const FieldType type : {FieldType::utc_date_only, FieldType::local_mkt_date}) {
    expect_values(type, {"20240229", "19991231"});
    expect_no_values(type, {"20230229", "20241301", "20240100", "2024-1-1", "202401011", "2024011"});
  }
  expect_values(FieldType::day_of_month, {"1", "01", "31"});
  expect_no_values(FieldType::day_of_month, {"0", "32", "001", "x"});
}

TEST(FieldType, months_may_name_a_day_or_a_week) {
  expect_values(FieldType::month_year, {"202401", "20240131", "202412w1", "202412w5"});
  expect_no_values(FieldType::month_year,
                   {"202400", "202413", "20240132", "202412w0", "202412w6", "202413w1", "2024", "202412W1"});
}

TEST(FieldType, zoned_times_may_leave_out_seconds_and_zone) {
  expect_values(FieldType::tz_time_only, {"07:39", "07:39Z", "07:39:01.123Z", "07:39-05", "07:39+05:30"});
  expect_no_values(FieldType::tz_time_only,
                   {"7:39", "07:39Y", "07:39+5", "07:39+05:60", "24:00Z", "07:39Z5", "07:39+15"});
  expect_values(FieldType::tz_timestamp, {"20060901-07:39Z", "20060901-02:39:00-05"});
  expect_no_values(FieldType::tz_timestamp, {"20060931-07:39Z", "20060901", "20060901-", "20060901T07:39Z"});
}

TEST(FieldType, texts_and_data_take_anything) {
  for (const FieldType type : {FieldType::string, FieldType::currency, FieldType::exchange, FieldType::country,
                               FieldType::data, FieldType::xml_data}) {
    expect_values(type, {"x", " ", "PRE-OPEN", "\x80\xff"});
  }
}

}  // namespace
}  // namespace nfx
