// How long the iterations of an engine thread take.
// Thread: written by the one it is about, read by any. Cost: a compare and two stores per iteration.
#pragma once

#include <atomic>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

// Times of one iteration.
struct TurnTimes {
  MonotonicTime began{};
  MonotonicTime idle_from{};  // when the work before the poll was done, which found nothing if the iteration is idle
};

// The longest that a busy-polling thread took from a poll that found nothing to its next iteration: time that the host
// took from it.
class IdleGap {
 public:
  void turn_began(MonotonicTime at) noexcept {
    if (!idle_) return;
    NFX_ASSERT(at >= idle_from_);
    const Duration gap = at - idle_from_;
    if (gap > worst_.load(std::memory_order_relaxed)) worst_.store(gap, std::memory_order_relaxed);
  }
  // `idle`: the thread busy-polls, and found nothing to do.
  void turn_ended(MonotonicTime idle_from, bool idle) noexcept {
    idle_from_ = idle_from;
    idle_ = idle;
  }
  [[nodiscard]] Duration worst() const noexcept { return worst_.load(std::memory_order_relaxed); }

 private:
  MonotonicTime idle_from_{};
  bool idle_ = false;
  std::atomic<Duration> worst_{Duration::zero()};
};
static_assert(std::atomic<Duration>::is_always_lock_free);

// For a helper, whose iterations are long: also the longest.
class HelperWatch {
 public:
  void turn_began(MonotonicTime at) noexcept {
    gap_.turn_began(at);
    began_ = at;
  }
  // `spins`: it busy-polls, and found nothing to do.
  void turn_ended(MonotonicTime at, bool spins) noexcept {
    gap_.turn_ended(began_, spins);
    const Duration took = at - began_;
    if (took > longest_turn_.load(std::memory_order_relaxed)) longest_turn_.store(took, std::memory_order_relaxed);
  }
  [[nodiscard]] Duration worst_gap() const noexcept { return gap_.worst(); }
  [[nodiscard]] Duration longest_turn() const noexcept { return longest_turn_.load(std::memory_order_relaxed); }

 private:
  IdleGap gap_;
  MonotonicTime began_{};
  std::atomic<Duration> longest_turn_{Duration::zero()};
};

}  // namespace nfx
