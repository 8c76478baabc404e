// Computes the steps of TLS handshakes outside of the polling thread.
// Thread: see each. Cost: a few atomic operations per step; no lock. Lifetime: a task outlives its place in a list.
// Bounded: by the posting transports, see TlsTransport. Errors: none.
#pragma once

#include <atomic>

#include "nexusfix/base/memory.hpp"

namespace nfx {

class HandshakeTask {
 public:
  HandshakeTask(const HandshakeTask&) = delete;
  HandshakeTask& operator=(const HandshakeTask&) = delete;

  // Computes the step and passes the task on. The task may not exist afterwards.
  virtual void run() noexcept = 0;

  // The task after this one in the result of HandshakeTasks::take_all().
  [[nodiscard]] HandshakeTask* next() const noexcept { return next_; }

 protected:
  HandshakeTask() = default;
  ~HandshakeTask() = default;

 private:
  friend class HandshakeTasks;
  HandshakeTask* next_ = nullptr;
};

// A list of tasks for another thread. Thread: add() from any, take_all() from one at a time.
class HandshakeTasks {
 public:
  HandshakeTasks() = default;
  HandshakeTasks(const HandshakeTasks&) = delete;
  HandshakeTasks& operator=(const HandshakeTasks&) = delete;

  // Requires that the task is in no list. Returns whether this list was empty.
  bool add(HandshakeTask& task) noexcept {
    HandshakeTask* newest = newest_.load(std::memory_order_relaxed);
    do {
      task.next_ = newest;
    } while (!newest_.compare_exchange_weak(newest, &task, std::memory_order_release, std::memory_order_relaxed));
    return newest == nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }

  // The oldest task, linked to the others; null if there is none.
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

  // Calls task.run() once, on any thread, in the order of posting; never within post(). A task whose transport has
  // ended is also run, and only releases its memory.
  virtual void post(HandshakeTask& task) noexcept = 0;

 protected:
  HandshakeExecutor() = default;
  ~HandshakeExecutor() = default;
};

}  // namespace nfx
