// Follows every n-th message through the engine, for traces of its way.
// Thread: the poll thread, while it counts its latencies; take() and lost() from one other. Cost: off, one comparison
// per counted latency, none per message; on, some stores for each latency, and a copy per trace. When the ring is full:
// the trace is lost and counted. Errors: none.
//
// A message is followed from its delivery until the kernel has its answer, if its callback sent one. Answers of a
// session are sent in order, so the answers before it are counted. A message whose answer is never sent (the connection
// has ended) is recorded without it when the next one is due.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/slow_ring.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"

namespace nfx {

struct TraceRecord {
  MonotonicTime read{};       // when the bytes that completed the message were read
  Duration before_read{};     // with the kernel, where it stamps; 0: not known
  Duration called{}, back{};  // since the read: the call of on_message, and its return
  Duration left{};            // since the read: the kernel has the answer; 0: none was sent
  std::uint64_t session = 0;  // its serial
  SeqNum seq_num{};           // of the message
  SendWait wait = SendWait::nothing;
};

class TraceRing {
 public:
  static constexpr std::size_t capacity = 256;

  void push(const TraceRecord& record) noexcept {
    if (!ring_.try_push(record)) lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void take(std::vector<TraceRecord>& into) {
    TraceRecord record;
    while (ring_.try_pop(record)) into.push_back(record);
  }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  alignas(cache_line) std::atomic<std::uint64_t> lost_{0};
  SpscRing<TraceRecord, capacity> ring_;
};

class TraceSampler {
 public:
  // From now on one delivered message in `every` is followed. The ring outlives the sampler.
  void begin(TraceRing& ring, std::uint32_t every) noexcept {
    NFX_ASSERT(every > 0);
    ring_ = &ring;
    every_ = every;
    until_next_ = every;
  }
  [[nodiscard]] bool on() const noexcept { return ring_ != nullptr; }

  // Whether the message that is delivered now is to be followed.
  [[nodiscard]] bool is_due() noexcept {
    NFX_ASSERT(on());
    if (--until_next_ != 0) return false;
    until_next_ = every_;
    return true;
  }
  // `outstanding`: the session's answers that the kernel does not have, this message's included; 0: it was not
  // answered.
  void follow(const TraceRecord& record, std::uint32_t outstanding) noexcept {
    finish();
    if (outstanding == 0) return ring_->push(record);
    open_ = record;
    outstanding_ = outstanding;
  }
  // The kernel has taken this number of answers of the session.
  void left(std::uint64_t session, std::uint32_t answers, MonotonicTime at, SendWait wait) noexcept {
    if (outstanding_ == 0 || session != open_.session) return;
    outstanding_ -= answers < outstanding_ ? answers : outstanding_;
    if (outstanding_ != 0) return;
    open_.left = at - open_.read;
    open_.wait = wait;
    ring_->push(open_);
  }
  // The current trace ends here, without its answer.
  void finish() noexcept {
    if (outstanding_ == 0) return;
    outstanding_ = 0;
    ring_->push(open_);
  }

 private:
  TraceRing* ring_ = nullptr;
  std::uint32_t every_ = 0;
  std::uint32_t until_next_ = 0;
  std::uint32_t outstanding_ = 0;  // 0: none is followed
  TraceRecord open_;
};

}  // namespace nfx
