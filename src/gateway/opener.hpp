// A thread for jobs that wait for disks: opening and comparing journals, while other sessions are served.
// Thread: add() from one; jobs run one after the other. Bounds: a session has one job at a time. Errors: a job throws
// nothing.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::gateway {

class Opener {
 public:
  Opener() : thread_([this] { run(); }) {}
  ~Opener() {
    {
      const std::lock_guard lock{mutex_};
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Opener(const Opener&) = delete;
  Opener& operator=(const Opener&) = delete;
  void add(std::function<void()> job) {
    {
      const std::lock_guard lock{mutex_};
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

 private:
  void run() {
    CpuAffinity::name_thread("nfx-cluster-io");
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace nfx::gateway
