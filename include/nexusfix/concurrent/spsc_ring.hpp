// A bounded ring of values of one type between one producer thread and one consumer thread: SpscQueue without lengths.
// Each slot says itself whether its value is there, so a value crosses cores together with the news of it: a consumer
// that keeps up waits for one line and not for two.
// Thread: one calls try_claim, publish and try_push, one front, pop and try_pop; none ever waits. Cost: none but what
// the producer writes into the slot; no allocation after construction.
// Lifetime: slots are made with the ring and reused, so a value stays what it was until it is written again.
// When full: try_claim and try_push say so and count it; nothing is overwritten.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "nexusfix/base/cache_line.hpp"

namespace nfx {

template <class T, std::size_t Capacity>
class SpscRing {
  static_assert(std::has_single_bit(Capacity), "the capacity of a ring is a power of two");

 public:
  // The slots are touched here, so that no page of theirs is missing when the first values come.
  SpscRing() : slots_(std::make_unique<Slot[]>(Capacity)) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Producer: the slot to fill before publish(), or null when the ring is full. Claiming again gives the same slot.
  [[nodiscard]] T* try_claim() noexcept {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    if (at - released_seen_ == Capacity) [[unlikely]] {
      released_seen_ = released_.load(std::memory_order_acquire);  // the consumer is done with what it released
      if (at - released_seen_ == Capacity) {
        full_.store(full_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return nullptr;
      }
    }
    return &slots_[at & mask].value;
  }
  void publish() noexcept {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    written_.store(at + 1, std::memory_order_relaxed);
    slots_[at & mask].filled.store(at + 1, std::memory_order_release);
  }
  [[nodiscard]] bool try_push(const T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    T* const slot = try_claim();
    if (slot == nullptr) return false;
    *slot = value;
    publish();
    return true;
  }

  // Consumer: the oldest value, or null; pop() gives its slot back.
  [[nodiscard]] T* front() noexcept {
    Slot& slot = slots_[read_ & mask];
    if (slot.filled.load(std::memory_order_acquire) != read_ + 1) return nullptr;  // else the value is there with it
    // The further lines are on their way before the first is done with.
    for (std::size_t at = line; at < std::min(sizeof(Slot), fetched_ahead); at += line)
      __builtin_prefetch(reinterpret_cast<const char*>(&slot) + at);
    return &slot.value;
  }
  void pop() noexcept { released_.store(++read_, std::memory_order_release); }
  [[nodiscard]] bool try_pop(T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    const T* const slot = front();
    if (slot == nullptr) return false;
    value = *slot;
    pop();
    return true;
  }

  [[nodiscard]] static constexpr std::size_t slot_count() noexcept { return Capacity; }
  // Any thread: how often the ring was found full.
  [[nodiscard]] std::uint64_t full_count() const noexcept { return full_.load(std::memory_order_relaxed); }
  // Any thread: a guess that is out of date when it returns; exact while the other side rests.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::size_t released = released_.load(std::memory_order_acquire);  // first: what is written is not behind it
    return written_.load(std::memory_order_relaxed) - released;
  }

 private:
  static constexpr std::size_t mask = Capacity - 1;
  static constexpr std::size_t line = 64;  // bytes that one core takes from another at once
  static constexpr std::size_t fetched_ahead = 8 * line;

  // One of a line or more shares none with its neighbours: one side writes a slot while the other reads the one before.
  static constexpr std::size_t bytes_of_slot = sizeof(T) + sizeof(std::size_t);
  struct alignas(std::max(alignof(T), std::min(line, std::bit_ceil(bytes_of_slot)))) Slot {
    std::atomic<std::size_t> filled{0};  // which filling the value is from, counted over all slots
    T value;
  };

  const std::unique_ptr<Slot[]> slots_;
  // Positions count from 0 on and are never reduced; 64 bits of them do not overflow in centuries.
  alignas(cache_line) std::atomic<std::size_t> written_{0};  // the producer's
  std::size_t released_seen_ = 0;                            // its last view of released_
  std::atomic<std::uint64_t> full_{0};
  alignas(cache_line) std::atomic<std::size_t> released_{0};  // by the consumer, read by the producer when full
  alignas(cache_line) std::size_t read_ = 0;                  // the consumer's own copy
};

}  // namespace nfx
