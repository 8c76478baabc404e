// The first part of a message whose end has not been received yet.
// Thread: one owner. Cost: copies only the bytes of a message that spans two reads. Lifetime: the memory is the
// caller's. A value: `partial = PartialMessage{memory}` forgets its contents. Bounds: one message of the memory's size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "nexusfix/base/assert.hpp"

namespace nfx {

class PartialMessage {
 public:
  explicit PartialMessage(std::span<char> memory) noexcept : memory_(memory) {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return {memory_.data(), size_}; }

  // Keeps what is left of a read: less than one message, of which the first `wanted` bytes are needed.
  void keep(std::string_view bytes, std::size_t wanted) noexcept {
    NFX_ASSERT(size_ == 0);
    NFX_ASSERT(bytes.size() <= memory_.size());
    std::memcpy(memory_.data(), bytes.data(), bytes.size());
    size_ = bytes.size();
    wanted_ = wanted;
  }
  // Moves the missing bytes from the front of `bytes`, returns everything collected, and is empty afterwards. Bytes
  // that cannot be used yet are returned with keep_rest() before the next call.
  [[nodiscard]] std::string_view complete(std::string_view& bytes) noexcept {
    NFX_ASSERT(size_ != 0);
    const std::size_t wanted = std::min(wanted_, memory_.size());
    NFX_ASSERT(size_ <= wanted);
    const std::size_t taken = std::min(bytes.size(), wanted - size_);
    std::memcpy(memory_.data() + size_, bytes.data(), taken);
    bytes.remove_prefix(taken);
    const std::string_view all{memory_.data(), size_ + taken};
    size_ = 0;
    return all;
  }
  // Keeps all bytes that complete() returned but the first `used`.
  void keep_rest(std::string_view all, std::size_t used, std::size_t wanted) noexcept {
    NFX_ASSERT(size_ == 0);
    NFX_ASSERT(all.data() == memory_.data());
    NFX_ASSERT(used <= all.size());
    std::memmove(memory_.data(), memory_.data() + used, all.size() - used);
    size_ = all.size() - used;
    wanted_ = wanted;
  }

 private:
  std::span<char> memory_;
  std::size_t size_ = 0;
  std::size_t wanted_ = 0;
};

}  // namespace nfx
