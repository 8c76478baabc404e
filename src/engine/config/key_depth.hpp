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

// Where a text ends that begins here, at its quote: past its end, or past the line where it has none there.
[[nodiscard]] std::size_t end_of_text(std::string_view toml, std::size_t at) noexcept;

// Where the first key of more parts begins.
[[nodiscard]] std::optional<TextPlace> find_deep_key(std::string_view toml) noexcept;

}  // namespace nfx::config
