// Runs work of requests on a separate thread, so that the control plane's thread can answer others meanwhile.
// Thread: put() from one; run() is the worker's; stop() from any. Bounds: the Api submits at most Api::most_work of
// them. Order: changes before reads, and each kind in the order of its requests. Errors: work that remains at stop() is
// not done and has no answer.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "control/api.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::control {

class WorkQueue {
 public:
  // Called on the worker's thread.
  using Done = std::function<void(Answer)>;

  void put(Work work, Done done) {
    {
      const std::lock_guard lock{mutex_};
      NFX_ASSERT(changes_.size() + reads_.size() < Api::most_work);
      (work.changes ? changes_ : reads_).push_back({std::move(work), std::move(done)});
    }
    changed_.notify_one();
  }
  // Runs until stop(); work in progress is completed.
  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return stops_ || !changes_.empty() || !reads_.empty(); });
      if (stops_) return;
      std::deque<Job>& jobs = changes_.empty() ? reads_ : changes_;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job.done(job.work.run());
      job = {};
      lock.lock();
    }
  }
  void stop() noexcept {
    {
      const std::lock_guard lock{mutex_};
      stops_ = true;
    }
    changed_.notify_one();
  }

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
