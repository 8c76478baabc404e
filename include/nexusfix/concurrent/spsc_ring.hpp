// A bounded ring of values of one type between one producer thread and one consumer thread: SpscQueue without lengths.
// For values larger than one word, each slot has a ready flag: the flag is transferred together with the value, so that
// a consumer that keeps up takes one cache miss, not two. Smaller values share cache lines, which polling each slot
// would take away from the producer every time; for them the producer publishes its position.
// Thread: the producer calls try_claim, publish and try_push, the consumer front, pop and try_pop; none ever waits.
// Cost: writing the value into the slot; no allocation after construction.
// Lifetime: slots are constructed with the ring and reused, so a value stays unchanged until it is written again.
// When full: try_claim returns null, try_push returns false, and both count it; nothing is overwritten.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/concurrent/spsc_indexes.hpp"

namespace nfx {

template <class T, std::size_t Capacity>
class SpscRing {
  static_assert(std::has_single_bit(Capacity), "the capacity of a ring is a power of two");

 public:
  // The slots are initialised here, so that the first values cause no page faults.
  SpscRing() : slots_(std::make_unique<Slot[]>(Capacity)) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Producer: the slot to fill before publish(), or null when the ring is full. Claiming again gives the same slot.
  [[nodiscard]] T* try_claim() noexcept {
    if (!indexes_.has_room(1, Capacity)) {
      indexes_.count_full();
      return nullptr;
    }
    return &slots_[indexes_.written() & mask].value;
  }
  void publish() noexcept {
    NFX_ASSERT(indexes_.seems_filled() < Capacity);
    if constexpr (slots_have_flags) {
      const std::size_t at = indexes_.written();
      // The slot holds the value of the round before.
      NFX_ASSERT(slots_[at & mask].filled.load(std::memory_order_relaxed) == (at < Capacity ? 0 : at + 1 - Capacity));
      indexes_.advance(1);  // first: a thread that sees a value taken also sees that it was there, see size()
      slots_[at & mask].filled.store(at + 1, std::memory_order_release);
    } else {
      indexes_.publish(1);
    }
  }
  [[nodiscard]] bool try_push(const T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    T* const slot = try_claim();
    if (slot == nullptr) return false;
    *slot = value;
    publish();
    return true;
  }

  // Consumer: the oldest value, or null; pop() frees its slot.
  [[nodiscard]] T* front() noexcept {
    NFX_ASSERT(indexes_.is_consumer());
    Slot& slot = slots_[indexes_.read() & mask];
    if constexpr (slots_have_flags) {
      if (slot.filled.load(std::memory_order_acquire) != indexes_.read() + 1) return nullptr;
      // The other lines are prefetched while the first is processed.
      for (std::size_t at = line; at < std::min(sizeof(Slot), fetched_ahead); at += line)
        __builtin_prefetch(reinterpret_cast<const char*>(&slot) + at);
      return &slot.value;
    } else {
      return indexes_.readable() ? &slot.value : nullptr;
    }
  }
  void pop() noexcept {
    if constexpr (slots_have_flags) {
      NFX_ASSERT(slots_[indexes_.read() & mask].filled.load(std::memory_order_relaxed) == indexes_.read() + 1);
    }
    indexes_.release(1);
  }
  [[nodiscard]] bool try_pop(T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    const T* const slot = front();
    if (slot == nullptr) return false;
    value = *slot;
    pop();
    return true;
  }

  [[nodiscard]] static constexpr std::size_t slot_count() noexcept { return Capacity; }
  [[nodiscard]] std::uint64_t full_count() const noexcept { return indexes_.full_count(); }
  [[nodiscard]] std::size_t size() const noexcept {
    return slots_have_flags ? indexes_.filled_by_advance() : indexes_.filled();
  }

  // See SpscIndexes.
  void hand_over_producer() noexcept { indexes_.hand_over_producer(); }
  void hand_over_consumer() noexcept { indexes_.hand_over_consumer(); }

 private:
  static constexpr bool slots_have_flags = sizeof(T) > sizeof(std::size_t);
  static constexpr std::size_t mask = Capacity - 1;
  static constexpr std::size_t line = 64;  // bytes that are transferred between cores together
  static constexpr std::size_t fetched_ahead = 8 * line;

  // A slot of a line or more shares no line with its neighbours: one side writes it while the other reads the one
  // before.
  static constexpr std::size_t bytes_of_slot = sizeof(T) + sizeof(std::size_t);
  struct alignas(std::max(alignof(T), std::min(line, std::bit_ceil(bytes_of_slot)))) FlaggedSlot {
    std::atomic<std::size_t> filled{0};  // position after the value's, counted from 0; marks the slot as filled
    T value;
  };
  struct PlainSlot {
    T value;
  };
  using Slot = std::conditional_t<slots_have_flags, FlaggedSlot, PlainSlot>;

  const std::unique_ptr<Slot[]> slots_;
  SpscIndexes indexes_;
};

}  // namespace nfx
