// A request of another thread that its poll thread carries out between two events, and whose end the other waits for.
// Thread: run() on the poll thread, the rest on the one that waits. Cost: a mutex on both sides; the poll thread wakes
// a thread that waits. Bounds: LoopCommands takes max_waiting_calls. One that is withdrawn is never begun.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace nfx {

class OperatorRequests;

class LoopCall {
 public:
  using Work = std::function<void(OperatorRequests&)>;

  explicit LoopCall(Work work) : work_(std::move(work)) {}
  LoopCall(const LoopCall&) = delete;
  LoopCall& operator=(const LoopCall&) = delete;

  // `work` borrows from the thread that waits, so it runs only while that does.
  void run(OperatorRequests& requests) {
    {
      const std::lock_guard lock{mutex_};
      if (state_ != State::waiting) return;
      state_ = State::begun;
    }
    work_(requests);
    {
      const std::lock_guard lock{mutex_};
      state_ = State::ended;
    }
    ended_.notify_one();
  }

  // False: the poll thread has not begun it within `timeout`, and never will. One that has begun is waited for.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) {
    std::unique_lock lock{mutex_};
    if (ended_.wait_for(lock, timeout, [this] { return state_ == State::ended; })) return true;
    if (state_ == State::waiting) {
      state_ = State::withdrawn;
      return false;
    }
    ended_.wait(lock, [this] { return state_ == State::ended; });
    return true;
  }

 private:
  enum class State : std::uint8_t { waiting, begun, ended, withdrawn };

  const Work work_;
  std::mutex mutex_;
  std::condition_variable ended_;
  State state_ = State::waiting;
};

}  // namespace nfx
