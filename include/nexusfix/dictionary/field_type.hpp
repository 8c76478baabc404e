// The data types of FIX 4.0 to 5.0 SP2, and the check whether a text is a value of a type.
// Thread: any, no state. Cost: one pass over the value, no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class FieldType : std::uint8_t {
  integer,
  length,
  seq_num,
  num_in_group,
  tag_num,
  day_of_month,
  float_number,
  quantity,
  price,
  price_offset,
  amount,
  percentage,
  character,
  boolean,
  string,
  multiple_char_value,
  multiple_string_value,
  country,
  currency,
  exchange,
  language,
  month_year,
  utc_timestamp,
  utc_time_only,
  utc_date_only,
  local_mkt_date,
  local_mkt_time,
  tz_time_only,
  tz_timestamp,
  data,
  xml_data,
  xid,
  xid_ref,
};

// The name in dictionary files, for example "UTCTIMESTAMP".
[[nodiscard]] std::string_view to_string(FieldType type) noexcept;

// The type with this name; older names of the same type (TIME, UTCDATE, MULTIPLEVALUESTRING) are accepted too.
[[nodiscard]] std::optional<FieldType> parse_field_type(std::string_view name) noexcept;

// Any text that is not empty is a value of these.
[[nodiscard]] constexpr bool takes_any_text(FieldType type) noexcept {
  switch (type) {
    case FieldType::string:
    case FieldType::country:
    case FieldType::currency:
    case FieldType::exchange:
    case FieldType::language:
    case FieldType::data:
    case FieldType::xml_data:
    case FieldType::xid:
    case FieldType::xid_ref: return true;
    case FieldType::integer:
    case FieldType::length:
    case FieldType::seq_num:
    case FieldType::num_in_group:
    case FieldType::tag_num:
    case FieldType::day_of_month:
    case FieldType::float_number:
    case FieldType::quantity:
    case FieldType::price:
    case FieldType::price_offset:
    case FieldType::amount:
    case FieldType::percentage:
    case FieldType::character:
    case FieldType::boolean:
    case FieldType::multiple_char_value:
    case FieldType::multiple_string_value:
    case FieldType::month_year:
    case FieldType::utc_timestamp:
    case FieldType::utc_time_only:
    case FieldType::utc_date_only:
    case FieldType::local_mkt_date:
    case FieldType::local_mkt_time:
    case FieldType::tz_time_only:
    case FieldType::tz_timestamp: return false;
  }
  return false;
}

// Numbers are those that the typed getters of MessageView read: 18 significant digits, no plus sign, no exponent.
// Fractions of seconds have 1 to 12 digits. Text types accept any text: the lists of currencies, exchanges
// and countries change outside FIX. An empty text is not a value of any type.
[[nodiscard]] bool has_format(std::string_view text, FieldType type) noexcept;

}  // namespace nfx
