// A journal's flusher on a thread of its own, as an engine has one.
// Thread: made and ended by one, which also adds and removes stores.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/store/journal_flusher.hpp"

namespace nfx::bench {

[[nodiscard]] inline Instant read_clocks() {
  return {std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()),
          std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now())};
}

class FlusherThread {
 public:
  explicit FlusherThread(const CpuSet& cores)
      : thread_([this, cores] {
          // Where it may not, it runs on the CPUs of the thread that made it: results are worse, but correct.
          static_cast<void>(CpuAffinity::set(cores));
          while (!stop_.load(std::memory_order_relaxed)) {
            const Duration next = flusher_.turn(read_clocks());
            flusher_.wait(std::min<Duration>(next, std::chrono::milliseconds{10}));
          }
        }) {}
  ~FlusherThread() {
    stop_ = true;
    flusher_.wake();
    thread_.join();
  }
  FlusherThread(const FlusherThread&) = delete;
  FlusherThread& operator=(const FlusherThread&) = delete;

  [[nodiscard]] JournalFlusher& flusher() noexcept { return flusher_; }
  void add(JournalStore& store) { flusher_.add(store); }
  void remove(JournalStore& store) noexcept { flusher_.remove(store); }

 private:
  JournalFlusher flusher_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nfx::bench
