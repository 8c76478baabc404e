// Threads share one list that they have taken from the poll threads, so that steps begin in the order of posting.
#include "engine/handshake_queue.hpp"

#include "engine/clock.hpp"

namespace nfx {

HandshakeQueue::~HandshakeQueue() {
  while (HandshakeTask* task = take()) task->run();
}

void HandshakeQueue::post(HandshakeTask& task) noexcept {
  static_cast<void>(posted_.add(task));
  changes_.fetch_add(1, std::memory_order_release);
  changes_.notify_one();
}

HandshakeTask* HandshakeQueue::take() noexcept {
  const std::lock_guard lock{mutex_};
  if (oldest_ == nullptr) oldest_ = posted_.take_all();
  HandshakeTask* const task = oldest_;
  if (task != nullptr) oldest_ = task->next();
  return task;
}

void HandshakeQueue::run(IdleMode idle, HelperWatch& watch) {
  const IdleStrategy waiting{idle};
  const SystemClock clock;
  for (;;) {
    // Read before the list: what is posted later changes it, and the thread does not sleep.
    const std::uint32_t seen = changes_.load(std::memory_order_acquire);
    const bool ended = ended_.load(std::memory_order_acquire);
    if (HandshakeTask* const task = take()) {
      watch.turn_began(clock.monotonic());
      task->run();
      watch.turn_ended(clock.monotonic(), false);
      continue;
    }
    if (ended) return;
    if (idle == IdleMode::block) {
      changes_.wait(seen, std::memory_order_acquire);
      continue;
    }
    const MonotonicTime now = clock.monotonic();
    watch.turn_began(now);
    watch.turn_ended(now, true);
    waiting.idle(0);
  }
}

void HandshakeQueue::end() noexcept {
  ended_.store(true, std::memory_order_release);
  changes_.fetch_add(1, std::memory_order_release);
  changes_.notify_all();
}

}  // namespace nfx
