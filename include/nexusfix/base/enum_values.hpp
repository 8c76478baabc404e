// The values of an enumeration by name. Its to_string is the only list: a switch whose missing case the compiler
// reports. Values start at 0 without holes; beyond the last one to_string returns "?", "unknown" or nothing.
// Thread: any. Cost: compares texts; no part of a hot path.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

// In the order of declaration, from `first` on.
template <class Enum>
[[nodiscard]] std::vector<Enum> enum_values(Enum first = Enum{}) {
  constexpr std::size_t bound = 64;  // more than any enumeration here has
  std::vector<Enum> values;
  for (auto i = static_cast<std::size_t>(first); i < bound; ++i) {
    const auto value = static_cast<Enum>(i);
    const std::string_view name = to_string(value);
    if (name.empty() || name == "?" || name == "unknown") break;
    values.push_back(value);
  }
  return values;
}

// The value of this name. Empty: there is none.
template <class Enum>
[[nodiscard]] std::optional<Enum> parse_enum(std::string_view name, Enum first = Enum{}) {
  for (const Enum each : enum_values(first)) {
    if (name == to_string(each)) return each;
  }
  return std::nullopt;
}

// "\"hash\" or \"balanced\"", for help and error texts.
template <class Enum>
[[nodiscard]] std::string enum_names(Enum first = Enum{}) {
  const std::vector<Enum> values = enum_values(first);
  std::string text;
  for (const Enum& each : values) {
    if (!text.empty()) text += &each == &values.back() ? " or " : ", ";
    text += '"' + std::string{to_string(each)} + '"';
  }
  return text;
}

}  // namespace nfx
