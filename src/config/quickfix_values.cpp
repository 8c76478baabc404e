// The value formats of the engines, separate from the keys, because many keys have the same format.
#include "config/quickfix_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace nfx::quickfix {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<bool> read_flag(std::string_view text) noexcept {
  if (text == "Y" || text == "y") return true;
  if (text == "N" || text == "n") return false;
  return std::nullopt;
}

std::optional<std::int64_t> read_count(std::string_view text) noexcept {
  if (text.empty() || text.size() > 18 || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<std::int64_t> read_milliseconds(std::string_view text) noexcept {
  constexpr std::size_t max_digits = 9;  // no overflow, and more than thirty years of seconds
  if (const auto seconds = read_count(text)) {
    return text.size() <= max_digits ? std::optional{*seconds * 1000} : std::nullopt;
  }
  constexpr std::int64_t max_milliseconds = 1'000'000'000'000;
  struct Unit {
    std::string_view name;
    std::int64_t milliseconds;
  };
  constexpr std::array<Unit, 4> units{{{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
  std::int64_t total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    const auto end = static_cast<std::size_t>(std::ranges::find_if(text.substr(digits), is_digit) - text.begin());
    const auto unit = std::ranges::find(units, text.substr(digits, end - digits), &Unit::name);
    const auto number = read_count(text.substr(0, digits));
    if (!number || digits > max_digits || unit == units.end()) return std::nullopt;
    total += *number * unit->milliseconds;
    if (total > max_milliseconds) return std::nullopt;
    text.remove_prefix(end);
  }
  return total;
}

std::optional<std::int64_t> read_percent(std::string_view text) noexcept {
  const std::size_t point = std::min(text.find('.'), text.size());
  const bool fraction_only = point == 0 && text.size() > 1;
  const auto whole = fraction_only ? std::optional<std::int64_t>{0} : read_count(text.substr(0, point));
  if (!whole || *whole > 1000) return std::nullopt;
  if (point == text.size()) return *whole * 100;
  std::string_view fraction = text.substr(point + 1);
  if (fraction.empty() || !std::ranges::all_of(fraction, is_digit)) return std::nullopt;
  const auto digit = [fraction](std::size_t i) { return i < fraction.size() ? std::int64_t{fraction[i] - '0'} : 0; };
  return *whole * 100 + digit(0) * 10 + digit(1) + (digit(2) >= 5 ? 1 : 0);
}

std::optional<std::string_view> read_day(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 7> days{"monday", "tuesday",  "wednesday", "thursday",
                                                 "friday", "saturday", "sunday"};
  if (text.size() < 2) return std::nullopt;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const std::string_view day : days) {
    if (lower(text[0]) == day[0] && lower(text[1]) == day[1]) return day;
  }
  return std::nullopt;
}

std::optional<LocalTime> read_time(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view time = text.substr(0, end);
  if (time.size() != 8 || time[2] != ':' || time[5] != ':') return std::nullopt;
  const auto hour = read_count(time.substr(0, 2)), minute = read_count(time.substr(3, 2)),
             second = read_count(time.substr(6, 2));
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return LocalTime{std::string{time}, std::string{without_blanks(text.substr(end))}};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view part = without_blanks(text.substr(0, end)); !part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string endpoint_text(std::string_view host, std::string_view port) {
  const bool bare_ipv6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
  std::string text;
  if (bare_ipv6) text += '[';
  text += host;
  if (bare_ipv6) text += ']';
  text += ':';
  text += port;
  return text;
}

std::string toml_text(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& each : texts) {
    if (out.size() > 1) out += ", ";
    out += toml_text(each);
  }
  out += ']';
  return out;
}

}  // namespace nfx::quickfix
