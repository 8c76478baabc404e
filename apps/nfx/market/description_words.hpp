// Splits a recording's description into words.
// Thread: any, no state. Cost: no allocation.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace nfx::app::market {

// Removes the first word, and the space after it, from `text`.
[[nodiscard]] inline std::string_view word_of(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

// False if the whole text is not a number.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace nfx::app::market
