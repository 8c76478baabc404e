// Finds dotted keys with so many parts that the TOML parser, which recurses once per part, would overflow its stack.
// Thread: any. Cost: one pass. Errors: none; the parser reports invalid TOML.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace nfx::config {

inline constexpr std::size_t max_key_parts = 8;

struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

// The end of the string that begins at this quote; the end of the line if the string is not closed there.
[[nodiscard]] std::size_t end_of_text(std::string_view toml, std::size_t at) noexcept;

// The first key with more parts.
[[nodiscard]] std::optional<TextPlace> find_deep_key(std::string_view toml) noexcept;

}  // namespace nfx::config
