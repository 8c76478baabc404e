// UTC timestamps parsed and written, compared with the calendar of the standard library.
#include "nexusfix/base/time.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hostile_text.hpp"
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

// The reference parser, one character at a time, with the calendar of std::chrono.
std::optional<UtcTimestamp> plainly(std::string_view text) {
  constexpr std::string_view form = "dddddddd-dd:dd:dd.dddddddddddd";
  if (text.size() < 17 || text.size() == 18 || text.size() > form.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return std::nullopt;
  }
  const auto number = [text](std::size_t from, std::size_t count) {
    std::int64_t result = 0;
    for (std::size_t i = from; i < from + count; ++i) result = result * 10 + (i < text.size() ? text[i] - '0' : 0);
    return result;
  };
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(number(0, 4))},
                                         std::chrono::month{static_cast<unsigned>(number(4, 2))},
                                         std::chrono::day{static_cast<unsigned>(number(6, 2))}};
  if (!date.ok() || date.year() < std::chrono::year{1678} || date.year() > std::chrono::year{2261}) return std::nullopt;
  if (number(9, 2) > 23 || number(12, 2) > 59 || number(15, 2) > 60) return std::nullopt;
  const auto clock = std::chrono::hours{number(9, 2)} + std::chrono::minutes{number(12, 2)} +
                     std::chrono::seconds{number(15, 2)} + Duration{number(18, 9)};
  return UtcTimestamp{UtcTime{std::chrono::sys_days{date}} + clock, static_cast<std::uint16_t>(number(27, 3)),
                      static_cast<std::uint8_t>(text.size() > 17 ? text.size() - 18 : 0)};
}

bool reads_as_plainly(std::string_view text) {
  const auto value = parse_utc_timestamp(text);
  const auto expected = plainly(text);
  if (!value || !expected) return value.has_value() == expected.has_value();
  return value->time == expected->time && value->picoseconds == expected->picoseconds &&
         value->fraction_digits == expected->fraction_digits;
}

void put(std::string& text, std::size_t at, std::size_t count, unsigned number) {
  for (std::size_t i = at + count; i-- > at; number /= 10) text[i] = static_cast<char>('0' + number % 10);
}

TEST(utc_timestamp, knows_every_day_that_the_format_and_64_bits_of_nanoseconds_can_hold) {
  std::string text = "20240315-12:34:56.789";
  unsigned days = 0;
  for (unsigned year = 1670; year <= 2270; ++year) {
    put(text, 0, 4, year);
    for (unsigned month = 0; month <= 20; ++month) {
      put(text, 4, 2, month);
      for (unsigned day = 0; day <= 40; ++day) {
        put(text, 6, 2, day);
        ASSERT_TRUE(reads_as_plainly(text)) << text;
        days += parse_utc_timestamp(text).has_value();
      }
    }
  }
  const auto first = std::chrono::sys_days{std::chrono::year{1678} / 1 / 1};
  const auto behind_last = std::chrono::sys_days{std::chrono::year{2262} / 1 / 1};
  EXPECT_EQ(days, static_cast<unsigned>((behind_last - first).count()));
}

TEST(utc_timestamp, refuses_every_year_and_month_outside_its_range) {
  std::string text = "20240228-12:34:56";
  for (unsigned year = 0; year <= 9999; ++year) {
    put(text, 0, 4, year);
    for (const unsigned month : {0u, 2u, 12u, 13u, 16u, 18u, 32u, 34u, 99u}) {
      put(text, 4, 2, month);
      const bool exists = year >= 1678 && year <= 2261 && month >= 1 && month <= 12;
      ASSERT_EQ(parse_utc_timestamp(text).has_value(), exists) << text;
    }
  }
}

TEST(utc_timestamp, knows_every_second_of_a_day) {
  std::string text = "19691231-00:00:00";
  unsigned seconds = 0;
  for (unsigned hour = 0; hour <= 99; ++hour) {
    put(text, 9, 2, hour);
    for (unsigned minute = 0; minute <= 99; ++minute) {
      put(text, 12, 2, minute);
      for (unsigned second = 0; second <= 99; ++second) {
        put(text, 15, 2, second);
        const auto t = parse_utc_timestamp(text);
        ASSERT_EQ(t.has_value(), hour <= 23 && minute <= 59 && second <= 60) << text;
        if (!t) continue;
        ASSERT_EQ(t->time, UtcTime{-24h} + hour * 1h + minute * 1min + second * 1s) << text;
        ++seconds;
      }
    }
  }
  EXPECT_EQ(seconds, 24u * 60 * 61);
}

TEST(utc_timestamp, reads_every_byte_in_every_place_like_a_reader_of_single_characters) {
  for (const std::string text : {"20240229-23:59:60.987654321098", "19991130-09:05:07.000000000001"}) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      test::with_every_byte_everywhere(text.substr(0, size),
                                       [](std::string_view t) { ASSERT_TRUE(reads_as_plainly(t)) << t; });
    }
    ASSERT_TRUE(reads_as_plainly(text + "0"));
  }
}

TEST(utc_timestamp, reads_random_texts_like_a_reader_of_single_characters) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  int accepted = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    char text[] = "20240229-23:59:59.000000000000";
    const std::uint64_t bits = random.below(UINT64_MAX);
    text[2] = static_cast<char>('0' + bits % 10);
    text[3] = static_cast<char>('0' + (bits >> 8) % 10);
    text[5] = static_cast<char>('0' + (bits >> 16) % 10);
    text[7] = static_cast<char>('0' + (bits >> 24) % 10);
    text[10] = static_cast<char>('0' + (bits >> 32) % 4);
    text[13] = static_cast<char>('0' + (bits >> 40) % 10);
    text[16] = static_cast<char>('0' + (bits >> 48) % 10);
    std::uint64_t fraction = random.below(1'000'000'000'000);
    for (std::size_t at = 30; at-- > 18; fraction /= 10) text[at] = static_cast<char>('0' + fraction % 10);
    const std::size_t size = 17 + random.below(14);
    for (std::uint64_t n = random.below(8); n > 5; --n) {
      text[random.below(size)] = test::number_alphabet[random.below(test::number_alphabet.size())];
    }
    ASSERT_TRUE(reads_as_plainly({text, size})) << std::string_view(text, size);
    accepted += plainly({text, size}).has_value();
  }
  EXPECT_GT(accepted, 300'000);
  EXPECT_LT(accepted, 900'000);
}

TEST(utc_timestamp, reads_nothing_outside_the_text) {
  test::GuardedText memory;
  const std::string text = "20240229-23:59:60.987654321098";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string_view part = std::string_view{text}.substr(0, size);
    ASSERT_TRUE(reads_as_plainly(memory.at_start(part))) << part;
    ASSERT_TRUE(reads_as_plainly(memory.at_end(part))) << part;
  }
  EXPECT_FALSE(parse_utc_timestamp(std::string_view{}));
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

// The reference writer: the standard library's calendar, one digit after the other.
std::string plain_text_of(UtcTime time, unsigned fraction_digits) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{second - day};
  const auto padded = [](auto number, std::size_t width) {
    std::string text = std::to_string(number);
    return text.insert(0, width - text.size(), '0');
  };
  std::string text = padded(static_cast<int>(date.year()), 4) + padded(static_cast<unsigned>(date.month()), 2) +
                     padded(static_cast<unsigned>(date.day()), 2) + '-' + padded(clock.hours().count(), 2) + ':' +
                     padded(clock.minutes().count(), 2) + ':' + padded(clock.seconds().count(), 2);
  if (fraction_digits != 0) text += '.' + padded((time - second).count(), 9).substr(0, fraction_digits);
  return text;
}

TEST(utc_timestamp_writer, equals_the_calendar_for_times_of_the_whole_range) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  UtcTimestampWriter writer;
  std::vector<UtcTime> times{UtcTime{}, UtcTime{-1ns}, UtcTime{1s - 1ns}, UtcTime::max(), UtcTime::min() + 1s};
  // Longer and shorter steps, so that the cached second is both reused and replaced.
  UtcTime time{noon(2024, 2, 28)};
  for (int i = 0; i < 20000; ++i) {
    time += Duration{static_cast<std::int64_t>(random.below(random.below(2) == 0 ? 400'000'000 : 40'000'000'000'000))};
    times.push_back(time);
    times.emplace_back(Duration{static_cast<std::int64_t>(random.generator() >> 1)});
    times.emplace_back(Duration{-static_cast<std::int64_t>(random.below(9'200'000'000'000'000'000))});
  }
  for (const UtcTime t : times) {
    const auto digits = static_cast<unsigned>(random.below(10));
    char out[max_utc_timestamp_size + 1];
    out[max_utc_timestamp_size] = '#';
    ASSERT_EQ(std::string(out, writer.write(out, t, digits)), plain_text_of(t, digits));
    ASSERT_EQ(out[max_utc_timestamp_size], '#');
    std::uint32_t sum = 0;
    for (const char c : plain_text_of(t, 0)) sum += static_cast<unsigned char>(c);
    ASSERT_EQ(writer.sum(), sum);
    ASSERT_TRUE(writer.covers(t));
  }
}

TEST(utc_timestamp_writer, begins_with_the_first_whole_second_of_the_range) {
  EXPECT_EQ(text_of(UtcTime::min(), 9), text_of(UtcTime::min() + 145224192ns, 9).substr(0, 17) + ".000000000");
  UtcTimestampWriter writer;
  char out[max_utc_timestamp_size];
  writer.write(out, UtcTime::min(), 0);
  EXPECT_EQ(std::string(out, writer.write(out, UtcTime::max(), 3)), plain_text_of(UtcTime::max(), 3));
}

TEST(utc_timestamp_writer, writes_only_17_characters_without_a_fraction) {
  std::string out(17 + 16, '#');
  EXPECT_EQ(write_utc_timestamp(out.data(), noon(2024, 3, 15), 0), 17u);
  EXPECT_EQ(out, "20240315-12:00:00" + std::string(16, '#'));
}

}  // namespace
}  // namespace nfx
