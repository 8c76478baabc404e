// A bounded ring of values of one type between one producer thread and one consumer thread: SpscQueue without lengths.
// Values of more than a word say themselves, in their slot, whether they are there: they cross cores together with the
// news of it, and a consumer that keeps up waits for one line and not for two. Of smaller ones many share a line, which
// a consumer that looks at every slot would take from the producer each time; they are counted as a whole.
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

#include "nexusfix/base/assert.hpp"
#include "nexusfix/concurrent/spsc_indexes.hpp"

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
    if (!indexes_.has_room(1, Capacity)) {
      indexes_.count_full();
      return nullptr;
    }
    return &slots_[indexes_.written() & mask].value;
  }
  void publish() noexcept {
    NFX_ASSERT(indexes_.seems_filled() < Capacity);
    if constexpr (slots_tell) {
      const std::size_t at = indexes_.written();
      // The slot holds what it was filled with one round before.
      NFX_ASSERT(slots_[at & mask].filled.load(std::memory_order_relaxed) == (at < Capacity ? 0 : at + 1 - Capacity));
      indexes_.advance(1);  // first: whoever sees a value taken also sees that it was there, see size()
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

  // Consumer: the oldest value, or null; pop() gives its slot back.
  [[nodiscard]] T* front() noexcept {
    NFX_ASSERT(indexes_.is_consumer());
    Slot& slot = slots_[indexes_.read() & mask];
    if constexpr (slots_tell) {
      if (slot.filled.load(std::memory_order_acquire) != indexes_.read() + 1) return nullptr;
      // The further lines are on their way before the first is done with.
      for (std::size_t at = line; at < std::min(sizeof(Slot), fetched_ahead); at += line)
        __builtin_prefetch(reinterpret_cast<const char*>(&slot) + at);
      return &slot.value;
    } else {
      return indexes_.readable() ? &slot.value : nullptr;
    }
  }
  void pop() noexcept {
    if constexpr (slots_tell) {
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
    return slots_tell ? indexes_.filled_by_advance() : indexes_.filled();
  }

  // See SpscIndexes.
  void hand_over_producer() noexcept { indexes_.hand_over_producer(); }
  void hand_over_consumer() noexcept { indexes_.hand_over_consumer(); }

 private:
  static constexpr bool slots_tell = sizeof(T) > sizeof(std::size_t);
  static constexpr std::size_t mask = Capacity - 1;
  static constexpr std::size_t line = 64;  // bytes that one core takes from another at once
  static constexpr std::size_t fetched_ahead = 8 * line;

  // A slot of a line or more shares none with its neighbours: one side writes it while the other reads the one before.
  static constexpr std::size_t bytes_of_slot = sizeof(T) + sizeof(std::size_t);
  struct alignas(std::max(alignof(T), std::min(line, std::bit_ceil(bytes_of_slot)))) TellingSlot {
    std::atomic<std::size_t> filled{0};  // which filling the value is from, counted over all slots
    T value;
  };
  struct PlainSlot {
    T value;
  };
  using Slot = std::conditional_t<slots_tell, TellingSlot, PlainSlot>;

  const std::unique_ptr<Slot[]> slots_;
  SpscIndexes indexes_;
};

}  // namespace nfx
