// Messages that arrived ahead of a gap, kept until their turn.
// Thread: that of the session. Cost: a copy in, none out; memory is reserved once and touched as used.
// Bounds: messages and bytes; push says no when full (the resend will bring the message again).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"

namespace nfx {

class GapQueue {
 public:
  GapQueue(std::uint32_t max_messages, std::uint32_t max_bytes);

  // Keeps a copy. True when kept or already there, false when full.
  [[nodiscard]] bool push(SeqNum seq, std::string_view message) noexcept;

  // The message with this number, taken out; everything below it is dropped. The bytes stay valid until the next push.
  [[nodiscard]] std::optional<std::string_view> take(SeqNum seq) noexcept;

  // The lowest number waiting that is not below `seq`; what is below it is dropped.
  [[nodiscard]] std::optional<SeqNum> first_from(SeqNum seq) noexcept;

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
  std::unique_ptr<Entry[]> entries_;  // [first_, last_) ascending by number
  std::unique_ptr<char[]> bytes_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  std::uint32_t used_bytes_ = 0;  // high-water mark of bytes_
};

}  // namespace nfx
