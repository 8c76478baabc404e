// A thread that does deferred work, and how it sleeps while its queues are empty.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <thread>
#include <type_traits>

#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"

namespace nfx {

// Sleep and wake-up for a thread that waits for work in queues.
// Thread: sleep() from the waiting thread, notify() and wake() from any. Cost: notify() is one load of a line that
// rarely changes, without a fence, and without a system call unless the other thread sleeps. The sleeping thread pays
// instead: it has the kernel run a barrier on all CPUs of the process (membarrier) before it checks its queues for the
// last time. Errors: none; on a kernel without that barrier a sleep lasts at most fallback_sleep, since a notify may be
// missed.
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

struct WorkerOptions {
  IdleMode idle = IdleMode::block;
  Duration longest_sleep{std::chrono::milliseconds{10}};  // with IdleMode::block: a step at least once in this time
  std::function<void()> on_start;                         // on the thread, before its first step: to name and pin it
};

// A thread that calls a step function repeatedly: it runs deferred work on a housekeeping CPU.
// Thread: constructor, stop() and destructor from the owner. Cost: one call through a std::function per step, so a step
// should handle many items. Lifetime: what the functions refer to outlives the thread. Errors: the constructor throws
// std::system_error when no thread can be created, and what on_start throws. An exception ends only its step, and the
// next step follows. A step that can fail counts and reports its failures.
class WorkerThread {
 public:
  struct Work {
    std::function<std::size_t()> step;  // returns the number of items handled; after 0 the thread idles
    std::function<bool()> has_work;     // may be empty: then a blocking thread sleeps until notified or longest_sleep
  };

  WorkerThread(WakeSignal& signal, Work work, WorkerOptions options = {});
  ~WorkerThread() { stop(); }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Runs steps until one has nothing to do, and ends the thread: everything submitted before is handled. Submitting
  // threads must have ended. Calling it again does nothing.
  void stop() noexcept;

 private:
  void run(std::promise<void> started);
  std::size_t step() noexcept;

  WakeSignal& signal_;
  const Work work_;
  const WorkerOptions options_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nfx
