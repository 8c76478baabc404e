// The syntax of every FIX data type, in one place for validation and tools.
#include "nexusfix/dictionary/dictionary.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {
namespace {

struct OtherName {
  std::string_view name;
  FieldType type;
};

constexpr std::array other_names{
    OtherName{"DAY-OF-MONTH", FieldType::day_of_month},
    OtherName{"QUANTITY", FieldType::quantity},
    OtherName{"MULTIPLEVALUESTRING", FieldType::multiple_string_value},
    OtherName{"MONTH-YEAR", FieldType::month_year},
    OtherName{"TIME", FieldType::utc_timestamp},
    OtherName{"UTCDATE", FieldType::utc_date_only},
    OtherName{"DATE", FieldType::local_mkt_date},
    // Data types of FIX 5.0 SP2 and FIX Latest that have the values of another type.
    OtherName{"PATTERN", FieldType::string},
    OtherName{"TENOR", FieldType::string},
    OtherName{"RESERVED100PLUS", FieldType::integer},
    OtherName{"RESERVED1000PLUS", FieldType::integer},
    OtherName{"RESERVED4000PLUS", FieldType::integer},
};

constexpr bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') <= 9; }

bool only_digits(std::string_view text) noexcept { return std::ranges::all_of(text, is_digit); }

// FIX does not limit the number of digits; get_int() reports numbers that the program's type cannot hold.
bool is_unsigned(std::string_view text) noexcept { return !text.empty() && only_digits(text); }

bool is_integer(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  return is_unsigned(text);
}

// The value of the digits, or -1.
constexpr int number(std::string_view digits) noexcept {
  int result = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return -1;
    result = result * 10 + (c - '0');
  }
  return result;
}

bool is_between(std::string_view digits, int low, int high) noexcept {
  const int n = number(digits);
  return n >= low && n <= high;
}

bool is_day_of_month(std::string_view text) noexcept {
  return text.size() <= 2 && !text.empty() && is_between(text, 1, 31);
}

bool is_date(std::string_view text) noexcept {
  if (text.size() != 8) return false;
  const int year = number(text.substr(0, 4)), month = number(text.substr(4, 2)), day = number(text.substr(6, 2));
  if (year < 0 || month < 1 || month > 12 || day < 1) return false;
  if (day <= 28) return true;
  return std::chrono::year_month_day{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                     std::chrono::day{static_cast<unsigned>(day)}}
      .ok();
}

// YYYYMM, YYYYMMDD or YYYYMMwN.
bool is_month_year(std::string_view text) noexcept {
  if (text.size() == 8 && text[6] == 'w') {
    if (text[7] < '1' || text[7] > '5') return false;
    text = text.substr(0, 6);
  }
  if (text.size() == 8) return is_date(text);
  return text.size() == 6 && only_digits(text) && is_between(text.substr(4), 1, 12);
}

bool is_fraction(std::string_view text) noexcept {
  return text.size() >= 2 && text.size() <= 13 && text[0] == '.' && only_digits(text.substr(1));
}

// HH:MM:SS with an optional fraction; second 60 is a leap second.
bool is_time(std::string_view text, bool fraction_allowed) noexcept {
  if (text.size() < 8 || text[2] != ':' || text[5] != ':') return false;
  if (!is_between(text.substr(0, 2), 0, 23) || !is_between(text.substr(3, 2), 0, 59) ||
      !is_between(text.substr(6, 2), 0, 60)) {
    return false;
  }
  return text.size() == 8 || (fraction_allowed && is_fraction(text.substr(8)));
}

// Years beyond the range of 64-bit nanoseconds are valid too: "99991231-23:59:59" means never.
bool is_timestamp(std::string_view text) noexcept {
  if (UtcTime time; read_utc_time(text, time)) return true;
  return text.size() >= 17 && text[8] == '-' && is_date(text.substr(0, 8)) && is_time(text.substr(9), true);
}

// HH:MM[:SS[.f]] with an optional zone: Z, +HH[:MM] or -HH[:MM]. Without a zone the time is local.
bool is_zoned_time(std::string_view text) noexcept {
  const std::size_t zone_at = text.find_first_of("Z+-");
  const std::string_view time = text.substr(0, zone_at);
  const bool time_ok =
      time.size() == 5 ? time[2] == ':' && is_between(time.substr(0, 2), 0, 23) && is_between(time.substr(3, 2), 0, 59)
                       : is_time(time, true);
  if (!time_ok || zone_at == std::string_view::npos) return time_ok;
  const std::string_view zone = text.substr(zone_at);
  if (zone == "Z") return true;
  if (zone.size() != 3 && zone.size() != 6) return false;
  if (zone[0] == 'Z' || !is_between(zone.substr(1, 2), 0, 14)) return false;
  return zone.size() == 3 || (zone[3] == ':' && is_between(zone.substr(4), 0, 59));
}

bool is_zoned_timestamp(std::string_view text) noexcept {
  return text.size() > 9 && text[8] == '-' && is_date(text.substr(0, 8)) && is_zoned_time(text.substr(9));
}

// Values separated by single spaces; single characters only if the type requires it.
bool is_list(std::string_view text, bool of_characters) noexcept {
  std::size_t size = 0;
  for (const char c : text) {
    if (c == ' ') {
      if (size == 0) return false;
      size = 0;
    } else if (++size > 1 && of_characters) {
      return false;
    }
  }
  return size > 0;
}

}  // namespace

std::optional<FieldType> parse_field_type(std::string_view name) noexcept {
  const auto* const row = std::ranges::find(field_type_rows, name, &FieldTypeRow::name);
  if (row != field_type_rows.end()) return row->type;
  const auto* const other = std::ranges::find(other_names, name, &OtherName::name);
  if (other != other_names.end()) return other->type;
  return std::nullopt;
}

std::optional<FieldType> parse_field_type_in_any_case(std::string_view name) noexcept {
  constexpr std::size_t longest = 24;
  std::array<char, longest> capitals{};
  if (name.size() > longest) return std::nullopt;
  std::ranges::transform(name, capitals.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return parse_field_type({capitals.data(), name.size()});
}

bool has_format(std::string_view text, FieldType type) noexcept {
  switch (format_of(type)) {
    case ValueFormat::integer: return is_integer(text);
    case ValueFormat::number:
    case ValueFormat::sequence_number: return is_unsigned(text);
    case ValueFormat::day_of_month: return is_day_of_month(text);
    case ValueFormat::decimal: return Decimal::parse(text).has_value() || is_decimal_text(text);
    case ValueFormat::character: return text.size() == 1;
    case ValueFormat::boolean: return text.size() == 1 && (text[0] == 'Y' || text[0] == 'N');
    case ValueFormat::text:
    case ValueFormat::data: return !text.empty();
    case ValueFormat::character_list: return is_list(text, true);
    case ValueFormat::text_list: return is_list(text, false);
    case ValueFormat::month_year: return is_month_year(text);
    case ValueFormat::timestamp: return is_timestamp(text);
    case ValueFormat::time: return is_time(text, true);
    case ValueFormat::local_time: return is_time(text, false);
    case ValueFormat::date: return is_date(text);
    case ValueFormat::zoned_time: return is_zoned_time(text);
    case ValueFormat::zoned_timestamp: return is_zoned_timestamp(text);
  }
  return false;
}

}  // namespace nfx
