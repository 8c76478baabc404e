// The data types of FIX 4.0 to 5.0 SP2 and FIX Latest, and the check whether a text is a value of a type.
// Thread: any, no state. Cost: one pass over the value, no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

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

// How the values of a type are written.
enum class ValueFormat : std::uint8_t {
  integer,          // digits, with a minus sign if it is negative
  number,           // digits
  sequence_number,  // digits
  day_of_month,
  decimal,
  character,
  boolean,
  text,  // any
  data,  // any, SOH included
  character_list,
  text_list,
  month_year,
  timestamp,
  time,
  local_time,
  date,
  zoned_time,
  zoned_timestamp,
};

struct FieldTypeRow {
  FieldType type;
  std::string_view name;  // in dictionary files
  ValueFormat format;
};

// In the order of FieldType.
inline constexpr std::array<FieldTypeRow, 33> field_type_rows{{
    {FieldType::integer, "INT", ValueFormat::integer},
    {FieldType::length, "LENGTH", ValueFormat::number},
    {FieldType::seq_num, "SEQNUM", ValueFormat::sequence_number},
    {FieldType::num_in_group, "NUMINGROUP", ValueFormat::number},
    {FieldType::tag_num, "TAGNUM", ValueFormat::number},
    {FieldType::day_of_month, "DAYOFMONTH", ValueFormat::day_of_month},
    {FieldType::float_number, "FLOAT", ValueFormat::decimal},
    {FieldType::quantity, "QTY", ValueFormat::decimal},
    {FieldType::price, "PRICE", ValueFormat::decimal},
    {FieldType::price_offset, "PRICEOFFSET", ValueFormat::decimal},
    {FieldType::amount, "AMT", ValueFormat::decimal},
    {FieldType::percentage, "PERCENTAGE", ValueFormat::decimal},
    {FieldType::character, "CHAR", ValueFormat::character},
    {FieldType::boolean, "BOOLEAN", ValueFormat::boolean},
    {FieldType::string, "STRING", ValueFormat::text},
    {FieldType::multiple_char_value, "MULTIPLECHARVALUE", ValueFormat::character_list},
    {FieldType::multiple_string_value, "MULTIPLESTRINGVALUE", ValueFormat::text_list},
    {FieldType::country, "COUNTRY", ValueFormat::text},
    {FieldType::currency, "CURRENCY", ValueFormat::text},
    {FieldType::exchange, "EXCHANGE", ValueFormat::text},
    {FieldType::language, "LANGUAGE", ValueFormat::text},
    {FieldType::month_year, "MONTHYEAR", ValueFormat::month_year},
    {FieldType::utc_timestamp, "UTCTIMESTAMP", ValueFormat::timestamp},
    {FieldType::utc_time_only, "UTCTIMEONLY", ValueFormat::time},
    {FieldType::utc_date_only, "UTCDATEONLY", ValueFormat::date},
    {FieldType::local_mkt_date, "LOCALMKTDATE", ValueFormat::date},
    {FieldType::local_mkt_time, "LOCALMKTTIME", ValueFormat::local_time},
    {FieldType::tz_time_only, "TZTIMEONLY", ValueFormat::zoned_time},
    {FieldType::tz_timestamp, "TZTIMESTAMP", ValueFormat::zoned_timestamp},
    {FieldType::data, "DATA", ValueFormat::data},
    {FieldType::xml_data, "XMLDATA", ValueFormat::data},
    {FieldType::xid, "XID", ValueFormat::text},
    {FieldType::xid_ref, "XIDREF", ValueFormat::text},
}};
static_assert([] {
  for (std::size_t i = 0; i < field_type_rows.size(); ++i)
    if (std::to_underlying(field_type_rows[i].type) != i) return false;
  return field_type_rows.back().type == FieldType::xid_ref;
}());

[[nodiscard]] constexpr ValueFormat format_of(FieldType type) noexcept {
  return field_type_rows[std::to_underlying(type)].format;
}

[[nodiscard]] constexpr std::string_view to_string(FieldType type) noexcept {
  return field_type_rows[std::to_underlying(type)].name;
}

// The type with this name. Synonyms are known too: older names (TIME, UTCDATE, MULTIPLEVALUESTRING), and names of
// FIX Latest for texts and numbers of a certain form (TENOR, RESERVED100PLUS).
[[nodiscard]] std::optional<FieldType> parse_field_type(std::string_view name) noexcept;
// The same for "LocalMktDate", as FIX itself spells its types.
[[nodiscard]] std::optional<FieldType> parse_field_type_in_any_case(std::string_view name) noexcept;

// Any text that is not empty is a value of these.
[[nodiscard]] constexpr bool takes_any_text(FieldType type) noexcept {
  return format_of(type) == ValueFormat::text || format_of(type) == ValueFormat::data;
}

// A value of these is one or several of the listed ones, with spaces between them.
[[nodiscard]] constexpr bool takes_several(FieldType type) noexcept {
  return format_of(type) == ValueFormat::character_list || format_of(type) == ValueFormat::text_list;
}

// Numbers are as the typed getters of MessageView read them: 18 significant digits, no plus sign, no exponent.
// Fractions of seconds have 1 to 12 digits. Text types accept any text: the lists of currencies, exchanges
// and countries change outside FIX. An empty text is not a value of any type.
[[nodiscard]] bool has_format(std::string_view text, FieldType type) noexcept;

}  // namespace nfx
