// How a thread waits: while it has nothing to do it busy-polls, yields, or sleeps in the poll itself; and what happens
// to a record for whose queue there is no space.
// Thread: one owner; options are values. Cost: a switch per iteration, and a pause instruction or a yield when there
// was nothing to do. Errors: none; a queue counts what it drops.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

enum class IdleMode : std::uint8_t {
  spin,       // busy-polling, never leaves the CPU: lowest latency. For a thread with a CPU of its own
  yield,      // lets other threads run when there is nothing to do
  block,      // sleeps until the kernel wakes the thread. For threads that share CPUs
  automatic,  // of a configuration: "spin" where the placement plan gives the thread a CPU of its own, otherwise block
};

[[nodiscard]] constexpr std::string_view to_string(IdleMode mode) noexcept {
  switch (mode) {
    case IdleMode::spin: return "spin";
    case IdleMode::yield: return "yield";
    case IdleMode::block: return "block";
    case IdleMode::automatic: return "auto";
  }
  return "unknown";
}

// Marks a busy-polling loop for the processor: the sibling hyperthread and the exit from the loop are faster.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class IdleStrategy {
 public:
  constexpr explicit IdleStrategy(IdleMode mode) noexcept : mode_(mode) {}

  [[nodiscard]] constexpr IdleMode mode() const noexcept { return mode_; }

  // How long the poll may wait for events.
  [[nodiscard]] constexpr Duration max_wait(Duration until_next_timer) const noexcept {
    switch (mode_) {
      case IdleMode::spin:
      case IdleMode::yield: return Duration::zero();
      case IdleMode::automatic:  // which the engine replaces by one of the others
      case IdleMode::block: return until_next_timer > Duration::zero() ? until_next_timer : Duration::zero();
    }
    return Duration::zero();
  }

  // Called after each iteration with the amount of work that it did.
  void idle(std::size_t work_done) const noexcept {
    if (work_done > 0) return;
    switch (mode_) {
      case IdleMode::spin: cpu_pause(); break;
      case IdleMode::yield: std::this_thread::yield(); break;
      case IdleMode::automatic:
      case IdleMode::block: break;  // the poll has waited already
    }
  }

 private:
  IdleMode mode_;
};

enum class WhenFull : std::uint8_t {
  drop,   // immediately
  block,  // after waiting for space, at most block_limit: for producers that may be delayed
  spill,  // only when a second ring with records of variable length, in order, is full too
};

[[nodiscard]] constexpr std::string_view to_string(WhenFull policy) noexcept {
  switch (policy) {
    case WhenFull::drop: return "drop";
    case WhenFull::block: return "block";
    case WhenFull::spill: return "spill";
  }
  return "unknown";
}

struct DeferredOptions {
  WhenFull when_full = WhenFull::drop;
  Duration block_limit{std::chrono::milliseconds{1}};
  std::size_t spill_bytes = std::size_t{1} << 20;  // with WhenFull::spill; rounded up to a power of two
};

}  // namespace nfx
