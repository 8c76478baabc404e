// Patterns for CompIDs in session templates.
// Thread: any. Cost: linear in the text for each "*"; no allocation.
#pragma once

#include <algorithm>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// A valid CompID: 1 to 64 printable characters without spaces.
[[nodiscard]] inline bool usable_comp_id(std::string_view id) noexcept {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

// "*" in the pattern matches any text, also an empty one; any other character matches itself.
[[nodiscard]] constexpr bool matches_wildcard(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0, t = 0, star = std::string_view::npos, behind_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind_star = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      // The last star matches one more character.
      p = star + 1;
      t = ++behind_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace nfx
