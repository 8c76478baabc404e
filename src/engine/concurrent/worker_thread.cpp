// Starts and stops a worker thread. Errors at start reach the constructor, and no submitted work is lost at the end.
#include "nexusfix/concurrent/worker_thread.hpp"

#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx {

WorkerThread::WorkerThread(WakeSignal& signal, Work work, WorkerOptions options)
    : signal_(signal), work_(std::move(work)), options_(std::move(options)) {
  NFX_ASSERT(work_.step);
  std::promise<void> started;
  std::future<void> outcome = started.get_future();
  thread_ = std::thread([this, promise = std::move(started)]() mutable { run(std::move(promise)); });
  try {
    outcome.get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

std::size_t WorkerThread::step() noexcept {
  try {
    return work_.step();
  } catch (...) {
    return 0;
  }
}

void WorkerThread::run(std::promise<void> started) {
  try {
    if (options_.on_start) options_.on_start();
  } catch (...) {
    started.set_exception(std::current_exception());
    return;
  }
  started.set_value();
  const IdleStrategy idle{options_.idle};
  while (!stop_.load(std::memory_order_acquire)) {
    const std::size_t done = step();
    if (done != 0) continue;
    if (options_.idle != IdleMode::block) {
      idle.idle(0);
      continue;
    }
    signal_.sleep(options_.longest_sleep,
                  [&] { return stop_.load(std::memory_order_acquire) || (work_.has_work && work_.has_work()); });
  }
  while (step() != 0) {
  }
}

void WorkerThread::stop() noexcept {
  if (!thread_.joinable()) return;
  NFX_ASSERT(thread_.get_id() != std::this_thread::get_id());  // a thread cannot join itself
  stop_.store(true, std::memory_order_seq_cst);
  signal_.wake();
  thread_.join();
}

}  // namespace nfx
