// A bounded ring of values of one type between one producer thread and one consumer thread: SpscQueue without lengths.
// Thread: one calls try_claim, publish and try_push, one front, pop and try_pop; none ever waits. Cost: none but what
// the producer writes into the slot; no allocation after construction.
// Lifetime: slots are made with the ring and reused, so a value stays what it was until it is written again.
// When full: try_claim and try_push say so and count it; nothing is overwritten.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "nexusfix/concurrent/spsc_indexes.hpp"

namespace nfx {

template <class T, std::size_t Capacity>
class SpscRing {
  static_assert(std::has_single_bit(Capacity), "the capacity of a ring is a power of two");

 public:
  // The slots are touched here, so that no page of theirs is missing when the first values come.
  SpscRing() : slots_(std::make_unique<T[]>(Capacity)) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Producer: the slot to fill before publish(), or null when the ring is full. Claiming again gives the same slot.
  [[nodiscard]] T* try_claim() noexcept {
    if (!indexes_.has_room(1, Capacity)) {
      indexes_.count_full();
      return nullptr;
    }
    return &slots_[indexes_.written() & mask];
  }
  void publish() noexcept { indexes_.publish(1); }
  [[nodiscard]] bool try_push(const T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    T* const slot = try_claim();
    if (slot == nullptr) return false;
    *slot = value;
    publish();
    return true;
  }

  // Consumer: the oldest value, or null; pop() gives its slot back.
  [[nodiscard]] T* front() noexcept { return indexes_.readable() ? &slots_[indexes_.read() & mask] : nullptr; }
  void pop() noexcept { indexes_.release(1); }
  [[nodiscard]] bool try_pop(T& value) noexcept(std::is_nothrow_copy_assignable_v<T>) {
    const T* const slot = front();
    if (slot == nullptr) return false;
    value = *slot;
    pop();
    return true;
  }

  [[nodiscard]] static constexpr std::size_t slot_count() noexcept { return Capacity; }
  [[nodiscard]] std::uint64_t full_count() const noexcept { return indexes_.full_count(); }
  [[nodiscard]] std::size_t size() const noexcept { return indexes_.filled(); }

 private:
  static constexpr std::size_t mask = Capacity - 1;

  const std::unique_ptr<T[]> slots_;
  SpscIndexes indexes_;
};

}  // namespace nfx
