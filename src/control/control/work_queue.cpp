// One thread's work, what changes something first.
#include "control/work_queue.hpp"

#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::control {

void WorkQueue::put(Work work, Done done) {
  {
    const std::lock_guard lock{mutex_};
    NFX_ASSERT(changes_.size() + reads_.size() < Api::most_work);
    (work.changes ? changes_ : reads_).push_back({std::move(work), std::move(done)});
  }
  changed_.notify_one();
}

void WorkQueue::run() {
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

void WorkQueue::stop() noexcept {
  {
    const std::lock_guard lock{mutex_};
    stops_ = true;
  }
  changed_.notify_one();
}

}  // namespace nfx::control
