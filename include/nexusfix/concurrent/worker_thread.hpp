// A thread that calls a step function repeatedly: it runs deferred work on a housekeeping CPU.
// Thread: constructor, stop() and destructor from the owner. Cost: one call through a std::function per step, so a step
// should handle many items. Lifetime: what the functions refer to outlives the thread. Errors: the constructor throws
// std::system_error when no thread can be created, and what on_start throws; an exception ends its step alone, and the
// next one follows: a step that can fail counts and reports that itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <thread>

#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/concurrent/wake_signal.hpp"

namespace nfx {

struct WorkerOptions {
  IdleMode idle = IdleMode::block;
  Duration longest_sleep{std::chrono::milliseconds{10}};  // with IdleMode::block: a step at least once in this time
  std::function<void()> on_start;                         // on the thread, before its first step: to name and pin it
};

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
