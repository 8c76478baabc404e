// The positions of the producer and the consumer of a ring: the base of SpscQueue and SpscRing.
// Thread: has_room() and publish() are for the producer, readable() and release() for the consumer; none ever waits.
// Cost: a few cycles; each side reads the other's position only when its last copy of it means full or empty, so that
// the cache line of the other side is transferred once for many records. Each side reads its own position from a line
// that the other never touches; the published line is only stored to, which does not stall.
// Positions count units from 0 and only grow; a ring of `capacity` units, a power of two, uses them modulo capacity.
// 64 bits do not overflow in centuries.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/cache_line.hpp"
#include "nexusfix/concurrent/thread_owner.hpp"

namespace nfx {

class SpscIndexes {
 public:
  // Producer: whether `units` more fit, in a ring of `capacity`.
  [[nodiscard]] bool has_room(std::size_t units, std::size_t capacity) noexcept {
    NFX_ASSERT(producer_.is_mine());
    NFX_ASSERT(units - 1 < capacity && (capacity & (capacity - 1)) == 0);
    NFX_ASSERT(seems_filled() <= capacity);
    const std::size_t tail = written();
    if (capacity - (tail - head_seen_) >= units) [[likely]]
      return true;
    head_seen_ = head_.load(std::memory_order_acquire);  // the consumer no longer reads what it released
    return capacity - (tail - head_seen_) >= units;
  }
  // Producer: the next position to write.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }
  void publish(std::size_t units) noexcept {
    NFX_ASSERT(producer_.is_mine() && units != 0);
    written_ += units;
    tail_.store(written_, std::memory_order_release);
  }
  // Producer: publish() for a ring whose slots have a ready flag. readable() does not see it; filled_by_advance() does,
  // and counts a unit before the consumer can take it.
  void advance(std::size_t units) noexcept {
    NFX_ASSERT(producer_.is_mine() && units != 0);
    written_ += units;
    advanced_.store(written_, std::memory_order_relaxed);
  }
  // Producer: an upper bound of the filled units; exact when the ring last seemed full.
  [[nodiscard]] std::size_t seems_filled() const noexcept { return written() - head_seen_; }
  void look_again() noexcept {
    NFX_ASSERT(producer_.is_mine());
    head_seen_ = head_.load(std::memory_order_acquire);
    NFX_ASSERT(head_seen_ <= written_);
  }

  // Consumer: whether the position read() is filled.
  [[nodiscard]] bool readable() noexcept {
    NFX_ASSERT(consumer_.is_mine());
    const std::size_t head = read();
    NFX_ASSERT(head <= tail_seen_);
    if (head != tail_seen_) return true;
    tail_seen_ = tail_.load(std::memory_order_acquire);  // the producer's bytes are visible with it
    NFX_ASSERT(head <= tail_seen_);
    return head != tail_seen_;
  }
  [[nodiscard]] std::size_t read() const noexcept { return read_; }
  void release(std::size_t units) noexcept {
    NFX_ASSERT(consumer_.is_mine() && units != 0);
    read_ += units;
    // Only what the producer has published can be released.
    NFX_ASSERT(read_ <= tail_.load(std::memory_order_relaxed) || read_ <= advanced_.load(std::memory_order_relaxed));
    head_.store(read_, std::memory_order_release);
  }

  // For assertions: whether the calling thread is the consumer.
  [[nodiscard]] bool is_consumer() noexcept { return consumer_.is_mine(); }
  // The next thread that produces, or consumes, is the producer or consumer: for programs that move a role from one
  // running thread to another and order their memory themselves. Without effect where assertions are off.
  void hand_over_producer() noexcept {
#ifndef NDEBUG
    producer_.hand_over();
#endif
  }
  void hand_over_consumer() noexcept {
#ifndef NDEBUG
    consumer_.hand_over();
#endif
  }

  // Any thread: out of date when it returns; exact while neither side works.
  [[nodiscard]] std::size_t filled() const noexcept {
    const std::size_t head = head_.load(std::memory_order_acquire);  // first, so that the tail is not smaller
    return tail_.load(std::memory_order_acquire) - head;
  }

  // The same for a ring whose producer calls advance() instead of publish().
  [[nodiscard]] std::size_t filled_by_advance() const noexcept {
    // First: what is released was written before, so the later load sees at least that.
    const std::size_t head = head_.load(std::memory_order_acquire);
    return advanced_.load(std::memory_order_relaxed) - head;
  }

  // Counted by the producer, read by any thread.
  void count_full() noexcept { full_.store(full_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t full_count() const noexcept { return full_.load(std::memory_order_relaxed); }

 private:
  alignas(cache_line) std::atomic<std::size_t> tail_{0};  // producer writes, consumer reads
  alignas(cache_line) std::size_t written_ = 0;           // producer's own copy of tail
  std::size_t head_seen_ = 0;                             // producer's last copy of head
  std::atomic<std::uint64_t> full_{0};
  std::atomic<std::size_t> advanced_{0};  // written_, where tail_ is not used
  ThreadOwner producer_;
  alignas(cache_line) std::atomic<std::size_t> head_{0};  // consumer writes, producer reads
  alignas(cache_line) std::size_t read_ = 0;              // consumer's own copy of head
  std::size_t tail_seen_ = 0;                             // consumer's last copy of tail
  ThreadOwner consumer_;
};
static_assert(sizeof(SpscIndexes) == 4 * cache_line);

}  // namespace nfx
