// Counters written by one thread and read by others. Cost: a plain load, add and store.
#pragma once

#include <atomic>
#include <cstdint>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx {

// Increments a counter that other threads may read. Only one thread may increment it.
inline void count_shared(std::uint64_t& counter) noexcept {
  const std::atomic_ref<std::uint64_t> shared{counter};
  shared.store(shared.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// A copy of counters that another thread increments with count_shared(). Each number is consistent, but they are not
// from one moment.
template <class Counters>
[[nodiscard]] Counters read_shared(const Counters& counted) noexcept {
  static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
  Counters copy;
  for (const CounterRow<Counters>& row : counter_rows<Counters>) {
    // Only reads; C++23 has no atomic_ref to const.
    auto& number = const_cast<std::uint64_t&>(counted.*row.member);
    copy.*row.member = std::atomic_ref<std::uint64_t>{number}.load(std::memory_order_relaxed);
  }
  return copy;
}

}  // namespace nfx
