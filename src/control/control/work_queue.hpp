// Work that requests leave to a thread of its own, so that the control plane's thread answers others meanwhile.
// Thread: put() from one; run() is the worker's; stop() from any. Bounds: the Api leaves at most Api::most_work of
// them. Order: what changes something before what reads, and each in the order of its requests. Errors: what is left at
// stop() is not carried out and has no answer.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "control/api.hpp"

namespace nfx::control {

class WorkQueue {
 public:
  // Called on the worker's thread.
  using Done = std::function<void(Answer)>;

  void put(Work work, Done done);
  // Until stop(): what has begun ends first.
  void run();
  void stop() noexcept;

 private:
  struct Job {
    Work work;
    Done done;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> changes_;
  std::deque<Job> reads_;
  bool stops_ = false;
};

}  // namespace nfx::control
