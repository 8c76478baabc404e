// Encoded messages on their way to one connection: filled at the back, drained at the front, bounded.
// Thread: one owner. Cost: bytes move only when the free space at the end is too small; memory is touched as used.
// Lifetime: the memory is the caller's and outlives the buffer. A value: a copy of an empty buffer starts over.
//
//   memory  | sent already | pending .......... | free ........ |
//           0              head                 tail            capacity
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/secret.hpp"

namespace nfx {

class OutputBuffer {
 public:
  explicit OutputBuffer(std::span<char> memory) noexcept : bytes_(memory.data()), capacity_(memory.size()) {}

  // Free space in one piece. Pending bytes move to the front first if less than `wanted` is free after them and the
  // move is worth its cost: it never moves more than twice the bytes that it gains.
  [[nodiscard]] std::span<char> room(std::size_t wanted) noexcept {
    if (capacity_ - tail_ < wanted && head_ >= (tail_ - head_) / 2 && head_ != 0) {
      std::memmove(bytes_, bytes_ + head_, tail_ - head_);
      tail_ -= head_;
      head_ = 0;
    }
    NFX_ASSERT(head_ <= tail_ && tail_ <= capacity_);
    return {bytes_ + tail_, capacity_ - tail_};
  }
  // The first `size` bytes of `room()` have been written.
  void append(std::size_t size) noexcept {
    NFX_ASSERT(size <= capacity_ - tail_);
    tail_ += size;
  }

  [[nodiscard]] std::span<const char> pending() const noexcept { return {bytes_ + head_, tail_ - head_}; }
  void consume(std::size_t size) noexcept {
    NFX_ASSERT(size <= tail_ - head_);
    head_ += size;
    if (head_ == tail_) head_ = tail_ = 0;
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  // The end of what is pending, from the beginning of the memory on.
  [[nodiscard]] std::size_t end() const noexcept { return tail_; }
  // Overwrites sent bytes in the first `size` bytes of the memory. Pending bytes stay.
  void clear_sent(std::size_t size) noexcept {
    NFX_ASSERT(size <= capacity_);
    clear_bytes({bytes_, std::min(size, head_)});
    if (size > tail_) clear_bytes({bytes_ + tail_, size - tail_});
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  char* bytes_;
  std::size_t capacity_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace nfx
