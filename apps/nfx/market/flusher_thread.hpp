// Writes the files of a recording on a thread of its own, and what else a command has to do away from its feed.
// Thread: made and destroyed by one; `also` runs on its own. Lifetime: the flusher outlives it.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "market/clock_now.hpp"
#include "nexusfix/store/journal_flusher.hpp"

namespace nfx::app::market {

class FlusherThread {
 public:
  // `also` is called about as often as the files are synced.
  explicit FlusherThread(JournalFlusher& flusher, std::function<void(Instant)> also = {})
      : flusher_(flusher), also_(std::move(also)), thread_([this] { run(); }) {}
  ~FlusherThread() {
    stop_.store(true);
    flusher_.wake();
    thread_.join();
  }
  FlusherThread(const FlusherThread&) = delete;
  FlusherThread& operator=(const FlusherThread&) = delete;

 private:
  static constexpr Duration longest_wait = std::chrono::milliseconds{200};

  void run() {
    while (!stop_.load()) {
      const Duration wait = flusher_.turn(clock_now());
      if (also_) also_(clock_now());
      flusher_.wait(also_ ? std::min(wait, longest_wait) : wait);
    }
  }
  JournalFlusher& flusher_;
  std::function<void(Instant)> also_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nfx::app::market
