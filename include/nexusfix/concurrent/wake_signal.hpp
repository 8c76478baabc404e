// Sleep and wake-up for a thread that waits for work in queues.
// Thread: sleep() from the waiting thread, notify() and wake() from any. Cost: notify() is one load of a line that
// rarely changes, without a fence, and without a system call unless the other thread sleeps. The sleeping thread pays
// instead: it has the kernel run a barrier on all CPUs of the process (membarrier) before it checks its queues for the
// last time. Errors: none; on a kernel without that barrier a sleep lasts at most fallback_sleep, since a notify may be
// missed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>

#include "nexusfix/base/cache_line.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

class WakeSignal {
 public:
  static constexpr Duration fallback_sleep{std::chrono::milliseconds{1}};

  WakeSignal() noexcept;
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  // Sleeps until a notify() or until `longest` has passed. Does not sleep when has_work() returns true after sleeping_
  // is visible to all threads that notify.
  template <class HasWork>
    requires std::is_invocable_r_v<bool, HasWork>
  void sleep(Duration longest, HasWork&& has_work) {
    announce();
    if (!has_work()) wait(longest);
    sleeping_.store(0, std::memory_order_relaxed);
  }

  // Call after publishing the work. The compiler must not reorder the two; the processor may, see above.
  void notify() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake();
  }
  void wake() noexcept;

 private:
  void announce() noexcept;
  void wait(Duration longest) noexcept;

  alignas(cache_line) std::atomic<std::uint32_t> sleeping_{0};
  const bool has_barrier_;
};

}  // namespace nfx
