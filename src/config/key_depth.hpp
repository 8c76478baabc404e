// Finds dotted keys with so many parts that a TOML parser, which goes down one call per part, would overflow its stack.
// Thread: any. Cost: one pass. Errors: none: what is not TOML is left to the parser.
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

// Where the first key of more parts begins.
[[nodiscard]] std::optional<TextPlace> find_deep_key(std::string_view toml) noexcept;

}  // namespace nfx::config
