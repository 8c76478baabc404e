// The text of an enumeration whose texts are the names of its enumerators, as the compiler prints them: for a to_string
// that would repeat each name. Values are below 64.
// Thread: any. Cost: a look-up in a table that the compiler makes. Errors: "unknown" for a value without a name.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace nfx {

namespace detail {

// "bid" of "... [with auto Value = nfx::market::Side::bid; ...]"; of a number, which is "(nfx::market::Side)7",
// nothing.
template <auto Value>
consteval std::string_view enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "Value = ";
  text.remove_prefix(text.find(before) + before.size());
  text = text.substr(0, text.find_first_of(";]"));
  text.remove_prefix(text.rfind(':') + 1);
  return text.contains(')') ? std::string_view{} : text;
}

template <auto Value, char Separator>
inline constexpr auto enumerator_text = [] {
  std::array<char, enumerator<Value>().size() + 1> text{};
  std::ranges::replace_copy(enumerator<Value>(), text.begin(), '_', Separator);
  return text;
}();

template <class Enum, char Separator>
inline constexpr auto enumerator_names = []<std::size_t... Index>(std::index_sequence<Index...>) {
  return std::array{std::string_view{enumerator_text<static_cast<Enum>(Index), Separator>.data()}...};
}(std::make_index_sequence<64>{});

}  // namespace detail

// "late_writes_land"; with '-' as the separator "late-writes-land".
template <char Separator = '_', class Enum>
[[nodiscard]] constexpr std::string_view enumerator_name(Enum value) noexcept {
  constexpr auto& names = detail::enumerator_names<Enum, Separator>;
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() && !names[index].empty() ? names[index] : "unknown";
}

}  // namespace nfx
