#include "nexusfix/base/time.hpp"

#include <cstring>

namespace nfx {
namespace {

// The value of `count` decimal digits, or -1.
constexpr int digits(const char* p, int count) noexcept {
  int result = 0;
  for (int i = 0; i < count; ++i) {
    const unsigned digit = static_cast<unsigned char>(p[i]) - unsigned{'0'};
    if (digit > 9) return -1;
    result = result * 10 + static_cast<int>(digit);
  }
  return result;
}

void put_digits(char* out, unsigned value, int count) noexcept {
  for (int i = count - 1; i >= 0; --i) {
    out[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

constexpr std::array<std::uint32_t, 10> powers_of_ten{1,      10,      100,      1000,      10000,
                                                      100000, 1000000, 10000000, 100000000, 1000000000};

void put_seconds(char* out, std::chrono::sys_seconds time) noexcept {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  put_digits(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  put_digits(out + 4, static_cast<unsigned>(date.month()), 2);
  put_digits(out + 6, static_cast<unsigned>(date.day()), 2);
  out[8] = '-';
  put_digits(out + 9, static_cast<unsigned>(clock.hours().count()), 2);
  out[11] = ':';
  put_digits(out + 12, static_cast<unsigned>(clock.minutes().count()), 2);
  out[14] = ':';
  put_digits(out + 15, static_cast<unsigned>(clock.seconds().count()), 2);
}

std::size_t put_fraction(char* out, std::int64_t nanoseconds, unsigned fraction_digits) noexcept {
  if (fraction_digits == 0) return 17;
  if (fraction_digits > 9) fraction_digits = 9;
  out[17] = '.';
  put_digits(out + 18, static_cast<unsigned>(nanoseconds) / powers_of_ten[9 - fraction_digits],
             static_cast<int>(fraction_digits));
  return 18 + fraction_digits;
}

}  // namespace

std::optional<UtcTimestamp> parse_utc_timestamp(std::string_view text) noexcept {
  if (text.size() < 17 || text.size() > 30) return std::nullopt;
  const char* p = text.data();
  const int year = digits(p, 4), month = digits(p + 4, 2), day = digits(p + 6, 2);
  const int hour = digits(p + 9, 2), minute = digits(p + 12, 2), second = digits(p + 15, 2);
  if (p[8] != '-' || p[11] != ':' || p[14] != ':') return std::nullopt;
  if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;

  UtcTimestamp result;
  std::int64_t nanoseconds = 0;
  if (text.size() > 17) {
    const std::size_t count = text.size() - 18;
    if (p[17] != '.' || count == 0) return std::nullopt;
    std::int64_t picoseconds = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      unsigned digit = 0;
      if (i < count) {
        digit = static_cast<unsigned char>(p[18 + i]) - unsigned{'0'};
        if (digit > 9) return std::nullopt;
      }
      picoseconds = picoseconds * 10 + digit;
    }
    nanoseconds = picoseconds / 1000;
    result.picoseconds = static_cast<std::uint16_t>(picoseconds % 1000);
    result.fraction_digits = static_cast<std::uint8_t>(count);
  }
  // Years beyond what nanoseconds in 64 bits hold (1677 to 2262) are no time a session can mean.
  if (year < 1678 || year > 2261) return std::nullopt;
  result.time = UtcTime{std::chrono::sys_days{date}} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
                std::chrono::seconds{second} + Duration{nanoseconds};
  return result;
}

std::size_t write_utc_timestamp(char* out, UtcTime time, unsigned fraction_digits) noexcept {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  put_seconds(out, second);
  return put_fraction(out, (time - second).count(), fraction_digits);
}

std::size_t UtcTimestampWriter::write(char* out, UtcTime time, unsigned fraction_digits) noexcept {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  if (second.time_since_epoch().count() != second_) {
    put_seconds(text_.data(), second);
    second_ = second.time_since_epoch().count();
  }
  std::memcpy(out, text_.data(), text_.size());
  return put_fraction(out, (time - second).count(), fraction_digits);
}

}  // namespace nfx
