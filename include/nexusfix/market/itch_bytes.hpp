// Unsigned big-endian numbers at places of a byte string, as exchanges' binary protocols write them.
// Thread: any, no state. Cost: one load and one byte swap. The caller has checked the length.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nexusfix/base/language.hpp"

namespace nfx::market {

template <class Word>
[[nodiscard, gnu::always_inline]] inline Word load_big_endian(const std::byte* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = std::byteswap(word);
  return word;
}

template <class Word>
[[gnu::always_inline]] inline void store_big_endian(std::byte* at, Word word) noexcept {
  if constexpr (std::endian::native == std::endian::little) word = std::byteswap(word);
  std::memcpy(at, &word, sizeof word);
}

}  // namespace nfx::market
