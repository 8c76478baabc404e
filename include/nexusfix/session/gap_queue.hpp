// Messages received out of order, beyond a sequence gap, stored until the gap is filled.
// Thread: that of the session. Cost: one copy per push, none per take; memory is mapped once and takes pages when it is
// used. Bounds: messages and bytes; push() returns false when full (the resend delivers the message again).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/page_array.hpp"
#include "nexusfix/base/seq_num.hpp"

namespace nfx {

class GapQueue {
 public:
  GapQueue(std::uint32_t max_messages, std::uint32_t max_bytes);

  // Stores a copy. True when it is stored, or was already; false when full.
  [[nodiscard]] bool push(SeqNum seq, std::string_view message) noexcept;

  // Removes and returns the message with this sequence number; everything below it is dropped. The bytes are valid
  // until the next push().
  [[nodiscard]] std::optional<std::string_view> take(SeqNum seq) noexcept;

  // The lowest stored sequence number that is not below `seq`; everything below is dropped.
  [[nodiscard]] std::optional<SeqNum> first_from(SeqNum seq) noexcept {
    while (first_ != last_ && entries_[first_].seq < seq) ++first_;
    if (first_ == last_) return std::nullopt;
    NFX_ASSERT(first_ < last_ && entries_[first_].seq >= seq);
    return entries_[first_].seq;
  }

  void clear() noexcept;
  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return last_ - first_; }

 private:
  struct Entry {
    SeqNum seq;
    std::uint32_t offset;
    std::uint32_t size;
  };

  std::uint32_t max_messages_;
  std::uint32_t max_bytes_;
  PageArray<Entry> entries_;  // [first_, last_) ascending by sequence number
  PageArray<char> bytes_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  std::uint32_t used_bytes_ = 0;  // high-water mark of bytes_
};

}  // namespace nfx
