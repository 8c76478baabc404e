// The text for an operator about a message whose length is wrong, or beyond the limit.
// Thread: any; one owner. Cost: formats, for a message that is refused. Lifetime: the text is in this object.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/framer.hpp"

namespace nfx {

class LengthText {
 public:
  struct Limit {
    const char* key = "max_message_size";  // of [engine]
    std::size_t bytes = 0;
  };

  // Empty where the announced length is right: another error has another text.
  [[nodiscard]] std::string_view of(WireError error, std::string_view message, Limit limit) noexcept {
    const std::string_view value = announced(message);
    std::uint64_t length = 0;
    for (const char c : value) length = c >= '0' && c <= '9' ? 10 * length + static_cast<std::uint64_t>(c - '0') : 0;
    // BodyLength does not count the header and trailer around the body.
    const bool beyond = length >= limit.bytes || error == WireError::too_large;
    const bool wrong = error == WireError::bad_body_length || error == WireError::body_length_mismatch;
    if (!wrong && !beyond) return {};
    const std::string_view what = to_string(error);
    const int size = beyond
                         ? std::snprintf(text_.data(), text_.size(),
                                         "%.*s: BodyLength(9)=%.*s, [engine] %s = %zu: raise it, or tell the peer",
                                         width(what), what.data(), width(value), value.data(), limit.key, limit.bytes)
                         : std::snprintf(text_.data(), text_.size(), "%.*s: BodyLength(9)=%.*s: tell the peer",
                                         width(what), what.data(), width(value), value.data());
    return {text_.data(), std::min(static_cast<std::size_t>(size), text_.size() - 1)};
  }

 private:
  static constexpr std::size_t longest_value = 18;

  static int width(std::string_view text) noexcept { return static_cast<int>(text.size()); }

  // The value of BodyLength, the second field, as far as it was received and can be printed.
  static std::string_view announced(std::string_view message) noexcept {
    constexpr std::string_view field = "9=";
    const std::size_t first_end = message.substr(0, 64).find(soh);
    if (first_end == std::string_view::npos || !message.substr(first_end + 1).starts_with(field)) return {};
    const std::string_view value = message.substr(first_end + 1 + field.size(), longest_value);
    const auto end = std::ranges::find_if(value, [](char c) { return c < ' ' || c > '~'; });
    return {value.begin(), end};
  }

  std::array<char, 160> text_;
};

}  // namespace nfx
