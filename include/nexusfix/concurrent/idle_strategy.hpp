// What a poll loop does between two polls: busy-poll, yield or sleep in the poll itself.
// Thread: one owner. Cost: a switch per iteration, and a pause instruction or a yield when there was nothing to do.
#pragma once

#include <cstddef>
#include <thread>

#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_mode.hpp"

namespace nfx {

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

}  // namespace nfx
