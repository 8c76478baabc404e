// Has the lines of the next messages fetched while other work is done: a store to a line that is not in the cache keeps
// later loads at the same offset of another page waiting until the line has come. Cost: some cycles. Writes nothing.
#pragma once

#include <algorithm>
#include <cstddef>

namespace nfx {

// Of the `left` bytes at the end of what is stored.
inline void prefetch_next(const char* end, std::size_t left) noexcept {
  constexpr std::size_t most = 768, line = 64;
  for (std::size_t offset = 0; offset < std::min(most, left); offset += line) __builtin_prefetch(end + offset, 1);
}

}  // namespace nfx
