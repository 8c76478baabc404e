// Calls a JournalFlusher's turn() on a thread of its own: for programs that record, or have journals without an engine,
// which brings its own thread for this.
// Thread: made and destroyed by one; the options' functions are called on the thread made. Cost: no wait of the
// destructor is longer than what the thread is at. Lifetime: the flusher outlives it. Errors: std::system_error when
// the host refuses a thread; what the options' functions throw ends the program.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_flusher.hpp"

namespace nfx {

struct FlusherThreadOptions {
  std::function<void()> begin{};        // first, for example to place the thread on its CPUs
  std::function<void(Instant)> also{};  // after each iteration: what else belongs away from the feed or the sessions
  Duration longest_wait = std::chrono::milliseconds{200};  // between two iterations
};

class FlusherThread {
 public:
  explicit FlusherThread(JournalFlusher& flusher, FlusherThreadOptions options = {});
  ~FlusherThread();
  FlusherThread(const FlusherThread&) = delete;
  FlusherThread& operator=(const FlusherThread&) = delete;

 private:
  void run();

  JournalFlusher& flusher_;
  FlusherThreadOptions options_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nfx
