// Compares two texts for equality, without a call for the short ones in messages.
// Thread: any, no state. Cost: two loads of each text up to 16 characters; a call of memcmp for longer ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

[[nodiscard, gnu::always_inline]] inline bool same_text(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  // The first and the last bytes, which overlap unless the text is as long as both.
  const auto same_ends = [&]<class Word>(Word) {
    const auto load = [](const char* p) {
      Word word;
      std::memcpy(&word, p, sizeof word);
      return word;
    };
    const std::size_t last = a.size() - sizeof(Word);
    return ((load(a.data()) ^ load(b.data())) | (load(a.data() + last) ^ load(b.data() + last))) == 0;
  };
  if (a.size() > 16) return std::memcmp(a.data(), b.data(), a.size()) == 0;
  if (a.size() >= 8) return same_ends(std::uint64_t{});
  if (a.size() >= 4) return same_ends(std::uint32_t{});
  if (a.size() >= 2) return same_ends(std::uint16_t{});
  return a.empty() || a[0] == b[0];
}

}  // namespace nfx
