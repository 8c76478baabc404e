// Reads times by trying each number of a text as their beginning.
#include "decode/log_time.hpp"

#include <chrono>

namespace nfx::app {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Takes parts off the front of a text; a part that is not there leaves the text unchanged.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] bool at_end() const noexcept { return text_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return text_; }

  [[nodiscard]] bool take(char c) noexcept {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool take_one_of(std::string_view characters) noexcept {
    if (text_.empty() || !characters.contains(text_[0])) return false;
    text_.remove_prefix(1);
    return true;
  }
  // A number of exactly this many digits; -1 if there is none.
  [[nodiscard]] int digits(std::size_t count) noexcept {
    if (text_.size() < count) return -1;
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(text_[i])) return -1;
      number = number * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return number;
  }

 private:
  std::string_view text_;
};

std::optional<std::chrono::sys_days> read_date(Reader& reader) noexcept {
  Reader text = reader;
  int year = text.digits(4), month = -1, day = -1;
  if (year >= 0) {
    const char separator = text.rest().starts_with('-') ? '-' : text.rest().starts_with('/') ? '/' : '\0';
    if (separator != '\0') static_cast<void>(text.take(separator));
    month = text.digits(2);
    if (separator != '\0' && !text.take(separator)) return std::nullopt;
    day = text.digits(2);
  } else {
    month = text.digits(2);
    if (!text.take('/')) return std::nullopt;
    day = text.digits(2);
    if (!text.take('/')) return std::nullopt;
    year = text.digits(4);
    if (month > 12) std::swap(month, day);
  }
  if (year < 1970 || year > 2200 || month < 1 || day < 1) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  reader = text;
  return std::chrono::sys_days{date};
}

// The fraction's digits may be in groups: 12:00:00.123_456.
Duration read_fraction(Reader& reader) noexcept {
  Reader text = reader;
  if (!text.take_one_of(".,")) return {};
  std::int64_t nanoseconds = 0, unit = 100'000'000;
  bool any = false;
  for (;;) {
    const int digit = text.digits(1);
    if (digit >= 0) {
      nanoseconds += digit * unit;
      unit /= 10;
      any = true;
    } else if (!text.rest().starts_with('_') || !any || text.rest().size() < 2 || !is_digit(text.rest()[1])) {
      break;
    } else {
      static_cast<void>(text.take('_'));
    }
  }
  if (any) reader = text;
  return Duration{nanoseconds};
}

std::optional<Duration> read_time_of_day(Reader& reader, bool seconds_required) noexcept {
  Reader text = reader;
  const int hours = text.digits(2);
  if (hours < 0 || hours > 23 || !text.take(':')) return std::nullopt;
  const int minutes = text.digits(2);
  if (minutes < 0 || minutes > 59) return std::nullopt;
  int seconds = 0;
  Duration fraction{};
  if (text.take(':')) {
    seconds = text.digits(2);
    if (seconds < 0 || seconds > 60) return std::nullopt;
    fraction = read_fraction(text);
  } else if (seconds_required) {
    return std::nullopt;
  }
  reader = text;
  return std::chrono::hours{hours} + std::chrono::minutes{minutes} + std::chrono::seconds{seconds} + fraction;
}

// "Z", "+01:00", "-0500", " UTC".
std::optional<Duration> read_zone(Reader& reader) noexcept {
  Reader text = reader;
  const auto found = [&](Duration offset) {
    reader = text;
    return offset;
  };
  if (text.take('Z')) return found({});
  static_cast<void>(text.take(' '));
  if (text.rest().starts_with("UTC") || text.rest().starts_with("GMT")) {
    static_cast<void>(text.take_one_of("UG") && text.take_one_of("TM") && text.take_one_of("CT"));
    return found({});
  }
  const bool west = text.rest().starts_with('-');
  if (!text.take_one_of("+-")) return std::nullopt;
  const int hours = text.digits(2);
  static_cast<void>(text.take(':'));
  const int minutes = text.digits(2);
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return std::nullopt;
  const Duration offset = std::chrono::hours{hours} + std::chrono::minutes{minutes};
  return found(west ? -offset : offset);
}

std::optional<LogTime> read_date_and_time(Reader& reader) noexcept {
  Reader text = reader;
  const auto date = read_date(text);
  if (!date || !text.take_one_of(" T-_:")) return std::nullopt;
  while (text.take(' ')) {
  }
  const auto time = read_time_of_day(text, true);
  if (!time) return std::nullopt;
  const auto zone = read_zone(text);
  reader = text;
  return LogTime{UtcTime{*date} + *time - zone.value_or(Duration{}), zone.has_value()};
}

std::optional<LogTime> read_unix_time(std::string_view digits) noexcept {
  if (!digits.starts_with('1')) return std::nullopt;
  const std::int64_t unit = digits.size() == 13 ? 1'000'000 : digits.size() == 16 ? 1'000 : digits.size() == 19 ? 1 : 0;
  if (unit == 0) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return LogTime{UtcTime{Duration{number * unit}}, true};
}

}  // namespace

std::optional<LogTime> time_in(std::string_view text) {
  std::optional<LogTime> since_1970;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    Reader reader{text.substr(at)};
    if (const auto time = read_date_and_time(reader)) return time;
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (!since_1970) since_1970 = read_unix_time(text.substr(at, end - at));
    at = end;
  }
  return since_1970;
}

std::optional<TypedTime> read_typed_time(std::string_view text) {
  Reader reader{text};
  if (const auto time = read_date_and_time(reader)) {
    if (reader.at_end()) return TypedTime{time->time, false};
    return std::nullopt;
  }
  if (const auto date = read_date(reader)) {
    if (reader.at_end()) return TypedTime{UtcTime{*date}, false};
    return std::nullopt;
  }
  if (const auto time = read_time_of_day(reader, false); time && reader.at_end())
    return TypedTime{UtcTime{*time}, true};
  return std::nullopt;
}

}  // namespace nfx::app
