// Threads for jobs that wait for disks: writing, comparing and opening journals, while other sessions are served.
// Thread: add() and run_ends() from one thread, on which the ends of jobs run. Jobs begin in the order of add(),
// `threads` of them at the same time, because each session of a takeover waits for a disk. Bounds: a session has one
// job at a time. Errors: a job and its end throw nothing.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "nexusfix/base/time.hpp"

namespace nfx::gateway {

class JournalJobs {
 public:
  using End = std::function<void(MonotonicTime now)>;
  static constexpr std::size_t threads = 4;

  // Runs `work` on the calling thread, in its place: Engine::run_on_housekeeping.
  using InPlace = std::function<void(std::string_view name, const std::function<void()>& work)>;

  // `ended` is called on the job threads when run_ends() has something to do.
  JournalJobs(std::function<void()> ended, const InPlace& in_place) : ended_(std::move(ended)) {
    try {
      for (std::jthread& thread : threads_)
        thread = std::jthread{[this, in_place] { in_place("nfx-cluster-io", [this] { run(); }); }};
    } catch (...) {
      end();
      throw;
    }
  }
  ~JournalJobs() { end(); }
  JournalJobs(const JournalJobs&) = delete;
  JournalJobs& operator=(const JournalJobs&) = delete;
  void add(std::function<void()> job, End end) {
    {
      const std::lock_guard lock{mutex_};
      jobs_.push_back({std::move(job), std::move(end)});
    }
    changed_.notify_one();
  }
  [[nodiscard]] bool has_ends() const noexcept { return has_ends_.load(std::memory_order_acquire); }
  void run_ends(MonotonicTime now) {
    if (!has_ends_.exchange(false, std::memory_order_acq_rel)) return;
    std::vector<End> ends;
    {
      const std::lock_guard lock{mutex_};
      ends.swap(ends_);
    }
    for (const End& end : ends) end(now);
  }

 private:
  struct Job {
    std::function<void()> run;
    End end;
  };

  // The threads end when no job is left.
  void end() noexcept {
    {
      const std::lock_guard lock{mutex_};
      ending_ = true;
    }
    changed_.notify_all();
  }

  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job.run();
      lock.lock();
      ends_.push_back(std::move(job.end));
      has_ends_.store(true, std::memory_order_release);
      ended_();
    }
  }

  const std::function<void()> ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<End> ends_;
  std::atomic<bool> has_ends_{false};
  bool ending_ = false;
  std::array<std::jthread, threads> threads_;
};

}  // namespace nfx::gateway
