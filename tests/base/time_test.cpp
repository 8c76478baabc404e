#include "nexusfix/base/time.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/seeded.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

std::string text_of(UtcTime time, unsigned fraction_digits) {
  char out[max_utc_timestamp_size];
  return {out, write_utc_timestamp(out, time, fraction_digits)};
}

UtcTime noon(int y, unsigned m, unsigned d) {
  return UtcTime{std::chrono::sys_days{std::chrono::year{y} / std::chrono::month{m} / std::chrono::day{d}}} + 12h;
}

TEST(utc_timestamp, reads_a_timestamp_without_fraction) {
  const auto t = parse_utc_timestamp("20240315-12:00:07");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->time, noon(2024, 3, 15) + 7s);
  EXPECT_EQ(t->fraction_digits, 0);
  EXPECT_EQ(t->picoseconds, 0);
}

TEST(utc_timestamp, reads_one_to_twelve_digits_of_fraction) {
  const std::string digits = "123456789876";
  const std::int64_t nanoseconds[] = {0,         100000000, 120000000, 123000000, 123400000, 123450000, 123456000,
                                      123456700, 123456780, 123456789, 123456789, 123456789, 123456789};
  const unsigned picoseconds[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 800, 870, 876};
  for (std::size_t n = 1; n <= 12; ++n) {
    const auto t = parse_utc_timestamp("20240315-12:00:00." + digits.substr(0, n));
    ASSERT_TRUE(t) << n;
    EXPECT_EQ(t->time, noon(2024, 3, 15) + Duration{nanoseconds[n]}) << n;
    EXPECT_EQ(t->picoseconds, picoseconds[n]) << n;
    EXPECT_EQ(t->fraction_digits, n);
  }
}

TEST(utc_timestamp, knows_leap_days) {
  EXPECT_TRUE(parse_utc_timestamp("20240229-00:00:00"));
  EXPECT_TRUE(parse_utc_timestamp("20000229-00:00:00"));
  EXPECT_FALSE(parse_utc_timestamp("20230229-00:00:00"));
  EXPECT_FALSE(parse_utc_timestamp("21000229-00:00:00"));
}

TEST(utc_timestamp, takes_second_60_for_the_next_minutes_first) {
  const auto t = parse_utc_timestamp("20161231-23:59:60");
  ASSERT_TRUE(t);
  EXPECT_EQ(text_of(t->time, 0), "20170101-00:00:00");
}

TEST(utc_timestamp, refuses_anything_else) {
  for (const char* text : {"",
                           "20240315",
                           "20240315-12:00",
                           "20240315-12:00:0",
                           "20240315 12:00:00",
                           "20240315-12:00:00.",
                           "20240315-12:00:00.1234567890123",
                           "20240315-12:00:00,123",
                           "20240315-12:00:00.12x",
                           "20240315-24:00:00",
                           "20240315-12:60:00",
                           "20240315-12:00:61",
                           "20241315-12:00:00",
                           "20240015-12:00:00",
                           "20240300-12:00:00",
                           "20240431-12:00:00",
                           "2024031-512:00:00",
                           "-0240315-12:00:00",
                           "20240315-12:00:00Z",
                           " 20240315-12:00:00",
                           "20240315-12-00:00",
                           "20240315-1 :00:00",
                           "16770101-00:00:00",
                           "22620101-00:00:00"}) {
    EXPECT_FALSE(parse_utc_timestamp(text)) << text;
  }
}

TEST(utc_timestamp, writes_zero_to_nine_digits_truncated) {
  const UtcTime t = noon(2024, 2, 29) + 59s + Duration{999999999};
  EXPECT_EQ(text_of(t, 0), "20240229-12:00:59");
  EXPECT_EQ(text_of(t, 1), "20240229-12:00:59.9");
  EXPECT_EQ(text_of(t, 3), "20240229-12:00:59.999");
  EXPECT_EQ(text_of(t, 6), "20240229-12:00:59.999999");
  EXPECT_EQ(text_of(t, 9), "20240229-12:00:59.999999999");
  EXPECT_EQ(text_of(t, 12), "20240229-12:00:59.999999999");
}

TEST(utc_timestamp, writes_times_before_1970) { EXPECT_EQ(text_of(UtcTime{-1ns}, 9), "19691231-23:59:59.999999999"); }

TEST(utc_timestamp, random_times_survive_writing_and_reading) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  UtcTimestampWriter writer;
  for (int i = 0; i < 20000; ++i) {
    const auto limit = static_cast<std::uint64_t>((UtcTime{noon(2261, 12, 31)} - UtcTime{}).count());
    const UtcTime time{Duration{static_cast<std::int64_t>(random.below(limit))}};
    const auto digits = static_cast<unsigned>(random.below(10));
    const std::string text = text_of(time, digits);
    const auto again = parse_utc_timestamp(text);
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(again->fraction_digits, digits);
    ASSERT_EQ(text_of(again->time, digits), text);
    ASSERT_LE(again->time, time);
    char out[max_utc_timestamp_size];
    ASSERT_EQ(std::string(out, writer.write(out, time, digits)), text);
  }
}

TEST(utc_timestamp_writer, follows_the_clock_across_seconds_in_both_directions) {
  UtcTimestampWriter writer;
  const UtcTime start = noon(2024, 12, 31) + 11h + 59min + 59s;
  for (const Duration step :
       {Duration{0}, Duration{1ms}, Duration{999ms}, Duration{1s}, Duration{1s + 1ns}, Duration{0}}) {
    char out[max_utc_timestamp_size];
    EXPECT_EQ(std::string(out, writer.write(out, start + step, 9)), text_of(start + step, 9));
  }
}

}  // namespace
}  // namespace nfx
