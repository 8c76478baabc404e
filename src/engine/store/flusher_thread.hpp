// Calls a JournalFlusher's turn() on a separate thread, for programs that record, or that have journals without an
// engine; an engine has its own thread for this.
// Thread: created and destroyed by one; the options' functions are called on the new thread. Cost: the destructor waits
// at most for the operation in progress. Lifetime: the flusher outlives it. Errors: std::system_error if the host
// refuses a thread; an exception from the options' functions ends the program.
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
  std::function<void()> begin{};        // called first, for example to place the thread on its CPUs
  std::function<void(Instant)> also{};  // after each iteration: other work kept off the feed's or sessions' threads
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
