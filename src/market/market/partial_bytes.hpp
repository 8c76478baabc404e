// The beginning of a record that the next chunk of an input continues, kept in `store`, which has space for the longest
// record. For readers of records in chunks of any size.
// Thread: the reader's. Cost: a copy of the bytes at the edge of two chunks. Errors: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {

// Keeps the rest of a chunk, less than a record. Returns its size.
[[nodiscard]] inline std::size_t keep_partial(std::span<std::byte> store, const std::byte* bytes,
                                              const std::byte* end) noexcept {
  const auto size = static_cast<std::size_t>(end - bytes);
  NFX_ASSERT(size < store.size());
  if (size != 0) std::memcpy(store.data(), bytes, size);
  return size;
}

// Takes bytes of [bytes, end) until `size` bytes of `wanted` are complete. False: the next chunk continues it.
[[nodiscard]] inline bool complete_partial(std::span<std::byte> store, std::size_t& size, const std::byte*& bytes,
                                           const std::byte* end, std::size_t wanted) noexcept {
  NFX_ASSERT(wanted <= store.size());
  if (size >= wanted) return true;
  const std::size_t count = std::min(wanted - size, static_cast<std::size_t>(end - bytes));
  if (count != 0) std::memcpy(store.data() + size, bytes, count);
  size += count;
  bytes += count;
  return size == wanted;
}

}  // namespace nfx::market
