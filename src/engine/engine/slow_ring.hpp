// Passes the slowest stages of a poll thread to the thread that looks for their causes.
// Thread: offer() from the poll thread; take(), set_limit() and lost() from one other. Cost: a load and a comparison
// per latency; a copy for one above the limit. When full: the latency is counted as lost and the limit doubles, so that
// the poll thread soon stops offering. Errors: none.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/spsc_queue.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

// The reason why a message waited, other than the engine.
enum class SendWait : std::uint8_t { nothing, disk, peer };

struct SlowRecord {
  MonotonicTime ended{};
  Duration took{};
  std::uint64_t session = 0;  // its serial; 0: none
  LatencyStage stage = LatencyStage::turn;
  SendWait wait = SendWait::nothing;

  [[nodiscard]] MonotonicTime began() const noexcept { return ended - took; }
};

class SlowRing {
 public:
  static constexpr std::size_t capacity = 1024;
  static constexpr Duration least_limit{std::chrono::microseconds{2}};

  void offer(const SlowRecord& record) noexcept {
    if (record.took > limit_.load(std::memory_order_relaxed)) [[unlikely]]
      push(record);
  }
  [[nodiscard]] Duration limit() const noexcept { return limit_.load(std::memory_order_relaxed); }

  void take(std::vector<SlowRecord>& into) {
    SlowRecord record;
    while (ring_.try_pop(record)) into.push_back(record);
  }
  void set_limit(Duration limit) noexcept { limit_.store(std::max(limit, least_limit), std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  [[gnu::cold, gnu::noinline]] void push(const SlowRecord& record) noexcept {
    if (ring_.try_push(record)) return;
    lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    limit_.store(2 * record.took, std::memory_order_relaxed);
  }

  alignas(cache_line) std::atomic<Duration> limit_{least_limit};
  std::atomic<std::uint64_t> lost_{0};
  SpscRing<SlowRecord, capacity> ring_;
};

}  // namespace nfx
