// Macros for the rows of the key tables, one per kind of value. Included only by files that contain a table; keys.hpp
// describes a row.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/keys.hpp"
#include "nexusfix/base/enum_values.hpp"

namespace nfx::config {

[[nodiscard]] inline std::string in_quotes(std::string_view text) { return "\"" + std::string{text} + "\""; }
[[nodiscard]] inline std::string shown(bool value) { return value ? "true" : "false"; }
template <class Int>
[[nodiscard]] std::string shown(Int value) {
  return std::to_string(value);
}

inline constexpr std::int64_t day_s = 86400;
inline constexpr std::int64_t max_seq_num = 999'999'999'999;
inline constexpr std::int64_t gib = 1024 * 1024 * 1024;

// Finds the enumerator, from `first` on, with this name.
template <class Enum>
[[nodiscard]] Enum named(const Value& value, Enum first = Enum{}) {
  const std::string text = value.text();
  if (const auto found = parse_enum(text, first)) return *found;
  throw BadValue("expected " + enum_names(first));
}

template <class Enum>
void read_name(const Value& value, Enum& into) {
  into = named<Enum>(value);
}

// The names that read_name accepts for a value of this type.
template <class Enum>
[[nodiscard]] std::string choices_of(const Enum& /*of_this_type*/) {
  return enum_names<Enum>();
}

// Concatenates parts of a table.
template <class Row, std::size_t... count>
[[nodiscard]] constexpr std::array<Row, (count + ...)> joined(const std::array<Row, count>&... parts) {
  std::array<Row, (count + ...)> result{};
  auto at = result.begin();
  ((at = std::ranges::copy(parts, at).out), ...);
  return result;
}

// Rows for members that are plain integers, flags and durations.
#define NFX_INTEGER(name, member, least, most, meaning)                                                 \
  {name,                                                                                                \
   "integer",                                                                                           \
   [](auto& t, const Value& v) { t.member = static_cast<decltype(t.member)>(v.integer(least, most)); }, \
   [](const auto& t) { return shown(t.member); },                                                       \
   meaning,                                                                                             \
   least,                                                                                               \
   most}
#define NFX_FLAG(name, member, meaning)                                      \
  {name, "boolean", [](auto& t, const Value& v) { t.member = v.boolean(); }, \
   [](const auto& t) { return shown(t.member); }, meaning}
#define NFX_DURATION(name, member, unit, least, most, meaning)                              \
  {name,                                                                                    \
   "integer",                                                                               \
   [](auto& t, const Value& v) { t.member = unit{v.integer(least, most)}; },                \
   [](const auto& t) { return shown(std::chrono::duration_cast<unit>(t.member).count()); }, \
   meaning,                                                                                 \
   least,                                                                                   \
   most}
#define NFX_SEQ_NUM(name, member, meaning)                                                                    \
  {name,                                                                                                      \
   "integer",                                                                                                 \
   [](auto& t, const Value& v) { t.member = SeqNum{static_cast<std::uint64_t>(v.integer(1, max_seq_num))}; }, \
   [](const auto& t) { return shown(nfx::value(t.member)); },                                                 \
   meaning,                                                                                                   \
   1,                                                                                                         \
   max_seq_num}
#define NFX_TEXT(name, member, meaning)                                \
  {name, "text", [](auto& t, const Value& v) { t.member = v.text(); }, \
   [](const auto& t) { return in_quotes(t.member); }, meaning}

// A text that is never logged.
#define NFX_SECRET(name, member, meaning)                                \
  {name, "text", [](auto& t, const Value& v) { t.member = v.secret(); }, \
   [](const auto&) { return std::string{"\"\""}; }, meaning}

#define NFX_LIST(name, member, meaning)                                         \
  {name, "text or list", [](auto& t, const Value& v) { t.member = v.texts(); }, \
   [](const auto&) { return std::string{"[]"}; }, meaning}
// An enumerator, by name.
#define NFX_ENUM(name, member, meaning)                          \
  {name,                                                         \
   "text",                                                       \
   [](auto& t, const Value& v) { read_name(v, t.member); },      \
   [](const auto& t) { return in_quotes(to_string(t.member)); }, \
   meaning,                                                      \
   0,                                                            \
   0,                                                            \
   [](const auto& t) { return choices_of(t.member); }}
#define NFX_PATH(name, member, meaning)                                \
  {name, "text", [](auto& t, const Value& v) { t.member = v.text(); }, \
   [](const auto& t) { return in_quotes(t.member); }, meaning}

}  // namespace nfx::config
