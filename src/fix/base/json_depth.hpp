// Whether a JSON document from outside is shallow enough to be parsed into values, whose copying and destruction take
// stack for each level.
// Thread: any. Cost: one pass. The parser decides whether it is JSON at all.
#pragma once

#include <cstddef>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

inline constexpr int json_depth_max = 64;

[[nodiscard]] inline bool is_shallow_json(std::string_view text) noexcept {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if ((c == '{' || c == '[') && ++depth > json_depth_max) return false;
    if (c == '}' || c == ']') --depth;
  }
  return true;
}

}  // namespace nfx
