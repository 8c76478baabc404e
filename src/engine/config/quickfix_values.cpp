// The value formats of the engines, separate from the keys, because many keys have the same format.
#include "config/quickfix_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "config/quickfix_keys.hpp"

namespace nfx::quickfix {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::string_view without_blanks(std::string_view text) { return trimmed(text, " \t"); }

}  // namespace

std::optional<bool> read_flag(std::string_view text) noexcept {
  for (const std::string_view yes : {"Y", "yes", "true", "on", "1"}) {
    if (same_key(text, yes)) return true;
  }
  for (const std::string_view no : {"N", "no", "false", "off", "0"}) {
    if (same_key(text, no)) return false;
  }
  return std::nullopt;
}

bool is_plain_flag(std::string_view text) noexcept { return same_key(text, "Y") || same_key(text, "N"); }

bool same_value(std::string_view a, std::string_view b) noexcept {
  return same_key(a, b) || (is_plain_flag(b) && read_flag(a) == read_flag(b));
}

std::optional<std::int64_t> read_count(std::string_view text) noexcept {
  if (text.empty() || text.size() > 18 || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<std::int64_t> read_milliseconds(std::string_view text) noexcept {
  constexpr std::size_t max_digits = 9;  // avoids overflow, and allows more than thirty years of seconds
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
  for (const std::string_view day : days) {
    if (lower(text[0]) == day[0] && lower(text[1]) == day[1]) return day;
  }
  return std::nullopt;
}

std::optional<LocalTime> read_time(std::string_view text) {
  // One or two digits, then ":MM", and optionally ":SS" and zeros as a fraction.
  const auto number = [&text](std::size_t least, std::int64_t below) -> std::optional<std::int64_t> {
    const std::size_t digits = text.size() > 1 && is_digit(text[1]) ? 2 : 1;
    const auto value = read_count(text.substr(0, digits));
    if (digits < least || !value || *value >= below) return std::nullopt;
    text.remove_prefix(digits);
    return value;
  };
  const auto colon = [&text] {
    const bool found = text.starts_with(':');
    if (found) text.remove_prefix(1);
    return found;
  };
  const auto hour = number(1, 24);
  if (!hour || !colon()) return std::nullopt;
  const auto minute = number(2, 60);
  const auto second = minute && colon() ? number(2, 60) : std::optional<std::int64_t>{0};
  if (!minute || !second) return std::nullopt;
  if (text.starts_with('.')) {
    const std::size_t end = std::min(text.find_first_not_of('0', 1), text.size());
    if (end == 1) return std::nullopt;
    text.remove_prefix(end);
  }
  // A zone begins with a letter, so "09:30:00:5" and "09:30:000" have none.
  const std::string_view zone = without_blanks(text);
  if (!zone.empty() && !is_letter(zone.front())) return std::nullopt;
  const auto two_digits = [](std::int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  return LocalTime{two_digits(*hour) + ':' + two_digits(*minute) + ':' + two_digits(*second), std::string{zone}};
}

std::string unix_path(std::string_view path) {
  if (path.size() >= 2 && path[1] == ':' && is_letter(path[0])) path.remove_prefix(2);
  const bool of_windows = path.contains('\\');
  if (of_windows) path.remove_prefix(std::min(path.find_first_not_of("\\/"), path.size()));
  std::string out{path};
  if (of_windows) std::ranges::replace(out, '\\', '/');
  return out;
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

std::string host_problem(std::string_view host, std::string_view host_key, std::string_view port_key) {
  const auto write = [&](std::string_view name, std::string_view port) {
    return "a host is a name or an address: write " + std::string{host_key} + '=' + std::string{name} +
           (port.empty() ? "" : " and " + std::string{port_key} + '=' + std::string{port});
  };
  const std::size_t scheme = host.find("://");
  std::string_view name = scheme == std::string_view::npos ? host : host.substr(scheme + 3);
  name = name.substr(0, name.find('/'));
  if (name.starts_with('[')) {
    const std::size_t end = name.find(']');
    const std::string_view rest = end == std::string_view::npos ? std::string_view{} : name.substr(end + 1);
    if (rest.empty() && name.size() == host.size()) return {};
    return write(name.substr(0, name.size() - rest.size()), rest.starts_with(':') ? rest.substr(1) : rest);
  }
  const std::size_t colon = name.find(':');
  if (colon != std::string_view::npos && name.find(':', colon + 1) == std::string_view::npos)
    return write(name.substr(0, colon), name.substr(colon + 1));
  if (name.size() != host.size()) return write(name, {});
  if (host.find_first_of(" \t,;") != std::string_view::npos)
    return "expected one name or address: further ones have other keys, such as " + std::string{host_key} + '1';
  return {};
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
