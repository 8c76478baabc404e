// Prefetches the lines of the next messages while other work is done. A store to an uncached line delays later loads at
// the same offset of another page until the line arrives. Cost: some cycles. Writes nothing.
#pragma once

#include <algorithm>
#include <cstddef>

namespace nfx {

// Prefetches within the `left` bytes after the stored ones.
inline void prefetch_next(const char* end, std::size_t left) noexcept {
  constexpr std::size_t most = 768, line = 64;
  for (std::size_t offset = 0; offset < std::min(most, left); offset += line) __builtin_prefetch(end + offset, 1);
}

// Prefetches all lines of an object that is used next.
inline void prefetch_lines(const void* object, std::size_t size) noexcept {
  constexpr std::size_t line = 64;
  for (std::size_t offset = 0; offset < size; offset += line)
    __builtin_prefetch(static_cast<const char*>(object) + offset);
}

// The same for an object of this thread whose pages are in use. A processor may drop prefetches when many come at once.
inline void load_lines(const void* object, std::size_t size) noexcept {
  constexpr std::size_t line = 64;
  const auto* const bytes = static_cast<const volatile char*>(object);
  for (std::size_t offset = 0; offset < size; offset += line) static_cast<void>(bytes[offset]);
}

}  // namespace nfx
