// The thread that turns a poll loop, so that calls from any other one can be refused.
// Thread: enter() and leave() from that thread, is_this() from any. Cost: a load and a compare.
#pragma once

#include <pthread.h>

#include <atomic>

namespace nfx {

class LoopThread {
 public:
  void enter() noexcept { thread_.store(pthread_self(), std::memory_order_relaxed); }
  // The loop has ended: what it had may be used by any thread.
  void leave() noexcept { thread_.store({}, std::memory_order_relaxed); }
  // Also before the first enter().
  [[nodiscard]] bool is_this() const noexcept {
    const pthread_t thread = thread_.load(std::memory_order_relaxed);
    return thread == pthread_t{} || thread == pthread_self();
  }

 private:
  std::atomic<pthread_t> thread_{};
};

}  // namespace nfx
