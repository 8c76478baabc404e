// Where the steps of TLS handshakes are computed when the thread that polls does not compute them itself.
// Thread: see each. Cost: a few atomic operations per step; no lock. Lifetime: a task outlives its place in a list.
// Bounded: by those who post, see TlsTransport. Errors: none.
#pragma once

#include <atomic>

#include "nexusfix/base/memory.hpp"

namespace nfx {

class HandshakeTask {
 public:
  HandshakeTask(const HandshakeTask&) = delete;
  HandshakeTask& operator=(const HandshakeTask&) = delete;

  // Computes the step, and passes the task on: afterwards it may not exist.
  virtual void run() noexcept = 0;

  // The one after this in what HandshakeTasks::take_all() returned.
  [[nodiscard]] HandshakeTask* next() const noexcept { return next_; }

 protected:
  HandshakeTask() = default;
  ~HandshakeTask() = default;

 private:
  friend class HandshakeTasks;
  HandshakeTask* next_ = nullptr;
};

// Tasks on their way to another thread. Thread: add() from any, take_all() from one at a time.
class HandshakeTasks {
 public:
  HandshakeTasks() = default;
  HandshakeTasks(const HandshakeTasks&) = delete;
  HandshakeTasks& operator=(const HandshakeTasks&) = delete;

  // The task is in no list. Returns whether this one was empty.
  bool add(HandshakeTask& task) noexcept {
    HandshakeTask* newest = newest_.load(std::memory_order_relaxed);
    do {
      task.next_ = newest;
    } while (!newest_.compare_exchange_weak(newest, &task, std::memory_order_release, std::memory_order_relaxed));
    return newest == nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }

  // The oldest, with the others after it; null when there is none.
  [[nodiscard]] HandshakeTask* take_all() noexcept {
    HandshakeTask* task = newest_.exchange(nullptr, std::memory_order_acquire);
    HandshakeTask* oldest = nullptr;
    while (task != nullptr) {
      HandshakeTask* const older = task->next_;
      task->next_ = oldest;
      oldest = task;
      task = older;
    }
    return oldest;
  }

 private:
  alignas(cache_line) std::atomic<HandshakeTask*> newest_{nullptr};
};

// Thread: post() from any. Lifetime: outlives the transports that use it.
class HandshakeExecutor {
 public:
  HandshakeExecutor(const HandshakeExecutor&) = delete;
  HandshakeExecutor& operator=(const HandshakeExecutor&) = delete;

  // Calls task.run() once, on any thread, tasks in the order in which they were posted; never within post(). A task
  // whose transport has ended is run as well: it only releases its memory.
  virtual void post(HandshakeTask& task) noexcept = 0;

 protected:
  HandshakeExecutor() = default;
  ~HandshakeExecutor() = default;
};

}  // namespace nfx
