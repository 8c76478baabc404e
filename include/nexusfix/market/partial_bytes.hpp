// The beginning of a record that the next chunk of an input continues. For readers of records in chunks of any size.
// Thread: one owner. Cost: a copy of the bytes that are at the edge of two chunks. Lifetime: a value. Errors: none.
// Bounds: `capacity` bytes, which is the longest record.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "nexusfix/base/assert.hpp"

namespace nfx::market {

template <std::size_t capacity>
class PartialBytes {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data(); }
  void clear() noexcept { size_ = 0; }

  // What remains of a chunk, less than a record.
  void keep(const std::byte* bytes, const std::byte* end) noexcept {
    size_ = static_cast<std::size_t>(end - bytes);
    NFX_ASSERT(size_ < capacity);
    if (size_ != 0) std::memcpy(bytes_.data(), bytes, size_);
  }

  // Takes what it needs of [bytes, end) until it has `size` bytes. False: the next chunk continues it.
  [[nodiscard]] bool complete(const std::byte*& bytes, const std::byte* end, std::size_t size) noexcept {
    NFX_ASSERT(size <= capacity);
    if (size_ >= size) return true;
    const std::size_t count = std::min(size - size_, static_cast<std::size_t>(end - bytes));
    if (count != 0) std::memcpy(bytes_.data() + size_, bytes, count);
    size_ += count;
    bytes += count;
    return size_ == size;
  }

 private:
  std::size_t size_ = 0;
  std::array<std::byte, capacity> bytes_;
};

}  // namespace nfx::market
