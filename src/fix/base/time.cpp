// Parses and writes UTC timestamps a word at a time, because every message has at least one.
#include "nexusfix/base/time.hpp"

#include <algorithm>
#include <cstring>

#include "nexusfix/base/digits.hpp"

namespace nfx {
namespace {

// 64-bit nanoseconds cover 1677 to 2262; other years are rejected.
constexpr unsigned first_year = 1678, last_year = 2261;

constexpr bool is_leap(unsigned year) noexcept { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// For every year: the number of days before its first day, from 1970, minus one, times two; plus whether it is a leap
// year.
constexpr auto years = [] {
  std::array<std::int32_t, last_year - first_year + 1> table{};
  std::int32_t day = -1;
  for (unsigned year = first_year; year < 1970; ++year) day -= is_leap(year) ? 366 : 365;
  for (unsigned year = first_year; year <= last_year; ++year) {
    table[year - first_year] = day * 2 + is_leap(year);
    day += is_leap(year) ? 366 : 365;
  }
  return table;
}();

// For every month of a common and of a leap year: the number of days before it, times 32; plus its length. Month 0 has
// no days.
constexpr auto months = [] {
  constexpr unsigned lengths[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  std::array<std::array<std::uint16_t, 13>, 2> table{};
  for (unsigned leap = 0; leap < 2; ++leap) {
    unsigned before = 0;
    for (unsigned month = 1; month <= 12; ++month) {
      const unsigned length = lengths[month] + (month == 2 ? leap : 0);
      table[leap][month] = static_cast<std::uint16_t>(before * 32 + length);
      before += length;
    }
  }
  return table;
}();

struct Fraction {
  std::uint64_t nanoseconds = 0;
  unsigned picoseconds = 0;  // below the nanosecond
  std::uint8_t digits = 0;
  std::uint64_t bad = 0;  // 0 if all characters were digits
};

// Reads the fraction of `count` digits at `p`, 1 to 12, after at least seven other characters. Inlined so that its
// parts stay in registers; through memory they would cost as much as everything else.
[[gnu::always_inline]] inline Fraction read_fraction(const char* p, std::size_t count) noexcept {
  NFX_ASSERT(count - 1 < 12);
  // The last eight characters, shifted so that the word starts with the digits and is filled with zeros.
  const std::size_t in_last = count > 8 ? count - 8 : count;
  const std::uint64_t last = digits::load_8(p + count - 8) >> (64 - 8 * in_last);
  Fraction fraction;
  fraction.digits = static_cast<std::uint8_t>(count);
  fraction.bad = digits::non_digits(last);
  if (count <= 8) {
    fraction.nanoseconds = digits::value(last) * 10;
  } else {
    const std::uint64_t first = digits::load_8(p);
    const auto rest = static_cast<unsigned>(digits::value(last) / 10'000);  // digits 9 to 12
    fraction.nanoseconds = digits::value(first) * 10 + rest / 1000;
    fraction.picoseconds = rest % 1000;
    fraction.bad |= digits::non_digits(first);
  }
  return fraction;
}

// Inlined for the same reason.
[[gnu::always_inline]] inline bool read_timestamp(std::string_view text, UtcTime& time, Fraction& fraction) noexcept {
  if (text.size() < 17 || text.size() > 30) return false;
  const char* const p = text.data();
  if (p[8] != '-') return false;
  if (text.size() > 17) {
    if (p[17] != '.' || text.size() == 18) return false;
    fraction = read_fraction(p + 18, text.size() - 18);
  }
  // "YYYYMMDD" and "HH:MM:SS". The colons become zeros, and their bytes must be zero.
  constexpr std::uint64_t colons = std::uint64_t{':' ^ '0'} << 16 | std::uint64_t{':' ^ '0'} << 40;
  constexpr std::uint64_t nine_or_colon = digits::up_to_nine + (std::uint64_t{9} << 16 | std::uint64_t{9} << 40);
  const std::uint64_t date = digits::load_8(p);
  const std::uint64_t clock = digits::load_8(p + 9) ^ colons;
  // Hour, minute and second are in bytes 0, 3 and 6; values above 23, 59 or 60 carry into their top bits.
  constexpr std::uint64_t clock_limits = (0x7F - 23) | std::uint64_t{0x7F - 59} << 24 | std::uint64_t{0x7F - 60} << 48;
  const std::uint64_t date_pairs = digits::pairs(date);
  const std::uint64_t clock_pairs = digits::pairs(clock);
  const std::uint64_t bad = digits::non_digits(date) | (clock + nine_or_colon) | clock | (clock_pairs + clock_limits);
  if (((bad | fraction.bad) & digits::top_bits) != 0) return false;

  const unsigned year = (static_cast<std::uint32_t>(date_pairs) & 0x00FF00FF) * (1 + (100u << 16)) >> 16;
  const unsigned month = date_pairs >> 32 & 0xFF;
  const unsigned day = date_pairs >> 48 & 0xFF;
  if (year < first_year || year > last_year || month > 12) return false;
  const std::int32_t of_year = years[year - first_year];
  const unsigned of_month = months[of_year & 1][month];
  if (day - 1 >= of_month % 32) return false;
  const std::int64_t days = (of_year >> 1) + static_cast<std::int32_t>(of_month / 32 + day);

  // The product adds hours and minutes, in units of four seconds, in the top 16 bits, because whole seconds would not
  // fit.
  const std::uint64_t units = clock_pairs & 0x00FF0000FF0000FF;
  const std::uint64_t of_day = (units * (std::uint64_t{900} << 48 | 15 << 24) >> 48) * 4 + (units >> 48);
  NFX_ASSERT(of_day <= 86'400 && fraction.nanoseconds < 1'000'000'000);  // 86'400: a leap second
  const std::int64_t seconds = days * 86'400 + static_cast<std::int64_t>(of_day);
  time = UtcTime{Duration{seconds * 1'000'000'000 + static_cast<std::int64_t>(fraction.nanoseconds)}};
  return true;
}

}  // namespace

std::optional<UtcTimestamp> parse_utc_timestamp(std::string_view text) noexcept {
  Fraction fraction;
  UtcTime time;
  if (!read_timestamp(text, time, fraction)) return std::nullopt;
  return UtcTimestamp{time, static_cast<std::uint16_t>(fraction.picoseconds), fraction.digits};
}

bool read_utc_time(std::string_view text, UtcTime& time) noexcept {
  Fraction fraction;
  return read_timestamp(text, time, fraction);
}

std::size_t write_utc_timestamp(char* out, UtcTime time, unsigned fraction_digits) noexcept {
  UtcTimestampWriter writer;
  return writer.write(out, time, fraction_digits);
}

std::size_t UtcTimestampWriter::write(char* out, UtcTime time, unsigned fraction_digits) noexcept {
  const std::uint32_t nanoseconds = settle(time);
  std::memcpy(out, text_.data(), 17);
  if (fraction_digits == 0) return 17;  // there may be no space after `out`
  return 17 + write_fraction(out + 17, nanoseconds, std::min(fraction_digits, 9u)).size;
}

std::uint32_t UtcTimestampWriter::renew(UtcTime time) noexcept {
  constexpr auto first_whole_second = std::chrono::ceil<std::chrono::seconds>(UtcTime::min());
  const auto second = std::max(std::chrono::floor<std::chrono::seconds>(time), first_whole_second);
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date{day};
  const auto of_day = static_cast<unsigned>((second - day).count());
  const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
  const std::uint64_t days =
      digit_words::eight(year * 10000 + static_cast<unsigned>(date.month()) * 100 + static_cast<unsigned>(date.day()));
  // "HH0MM0SS": the zeros between the pairs become colons.
  const std::uint64_t clock = digit_words::eight(of_day / 3600 * 1000000 + of_day / 60 % 60 * 1000 + of_day % 60);
  constexpr std::uint64_t colons = std::uint64_t{':' - '0'} << 16 | std::uint64_t{':' - '0'} << 40;
  const std::uint64_t clock_text = clock + digit_words::zero_characters + colons;
  digit_words::store(text_.data(), days + digit_words::zero_characters);
  digit_words::store(text_.data() + 8, '-' | clock_text << 8);
  digit_words::store(text_.data() + 16, clock_text >> 56 | std::uint64_t{'.'} << 8);
  sum_ = digit_words::digit_sum(days) + digit_words::digit_sum(clock) + 14 * '0' + '-' + 2 * ':';
  begin_ = static_cast<std::uint64_t>(UtcTime{second}.time_since_epoch().count());
  NFX_ASSERT(time < UtcTime{second} || covers(time));
  return time < UtcTime{second} ? 0 : static_cast<std::uint32_t>((time - UtcTime{second}).count());
}

}  // namespace nfx
