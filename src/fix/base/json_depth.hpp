// Whether a document of JSON that somebody else wrote may be parsed into values: those are copied and destroyed level
// by level, which takes stack for each. Thread: any. Cost: one pass. Whether it is JSON at all is for the parser.
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
