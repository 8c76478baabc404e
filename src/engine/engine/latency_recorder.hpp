// The latencies of one poll thread: stages of messages, and iterations of its loop.
// Thread: the poll thread; other threads read the counts. Cost: some stores while a message is handled; its latencies
// are counted at the loop's next reading of the clock, when its answer is with the kernel, in some 3 ns each.
// Lifetime: count() before a session's book goes. When full: pending latencies are counted immediately. Errors: none.
//
//   the read ── on_message is called ── it returns ── the kernel has the answer: the loop's next reading of its clock
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/latency_ledger.hpp"
#include "engine/loop_network.hpp"
#include "engine/slow_ring.hpp"
#include "engine/trace_sampler.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

// A message that was given to on_message.
struct DeliveredTimes {
  const SessionBook* book = nullptr;
  MonotonicTime read{}, called{}, back{};
};

// Messages that have left together, with the times of the oldest.
struct SentGroup {
  MonotonicTime committed{};
  MonotonicTime asked{};  // the request that was answered was read
  std::uint32_t messages = 0;
  std::uint32_t answers = 0;
  SendWait wait = SendWait::nothing;
};

class LatencyRecorder {
 public:
  static constexpr std::size_t capacity = 64;

  // `now` is the loop's latest reading of its clock, and `network` reads it again. All outlive the recorder.
  LatencyRecorder(LatencyLedger& ledger, bool wanted, const Instant& now, const LoopNetwork& network) noexcept
      : slow_(ledger.slow()), wanted_(wanted), now_(now), network_(network) {}

  [[nodiscard]] MonotonicTime last_reading() const noexcept { return now_.monotonic; }
  [[nodiscard]] MonotonicTime reading() const noexcept { return network_.monotonic(); }
  [[nodiscard]] TraceSampler& traces() noexcept { return traces_; }
  [[nodiscard]] const LoopLatency& loop() const noexcept { return loop_; }

  void record(const SessionBook& book, LatencyStage stage, Duration took, MonotonicTime ended) noexcept {
    book.pages.set()[stage].record(took);
    slow_.offer({.ended = ended, .took = took, .session = book.serial, .stage = stage});
  }
  // Prefetches the places of the next latencies.
  void warm() const noexcept {
    __builtin_prefetch(&delivered_[delivered_count_], 1);
    __builtin_prefetch(&left_[left_count_], 1);
  }
  void delivered(const DeliveredTimes& times) noexcept {
    if (delivered_count_ == capacity) [[unlikely]]
      count(reading());
    delivered_[delivered_count_++] = times;
  }
  // The kernel has taken them, until the next reading.
  void left(const SessionBook& book, const SentGroup& group) noexcept {
    if (left_count_ == capacity) [[unlikely]]
      count(reading());
    left_[left_count_++] = {&book, group, {}};
  }
  // Stamps the pending answers that the kernel has taken with this time.
  void left_by(MonotonicTime at) noexcept {
    for (; left_timed_ < left_count_; ++left_timed_) left_[left_timed_].at = at;
  }
  void count(MonotonicTime at) noexcept {
    left_by(at);
    if (delivered_count_ + left_count_ != 0) count_all();
  }

  // An iteration begins at the latest reading. `waits`: it may wait for the network, so the time until the next one is
  // not a gap. Where the last one was `idle` and received nothing, a long gap is time that the host took.
  void turn_began(bool waits, bool idle) noexcept {
    if (!wanted_) return;
    turn_ended();
    if (last_turn_ != none) {
      const Duration gap = now_.monotonic - last_turn_;
      loop_.poll_gap.record(gap);
      if (idle && !busy_) slow_.offer({.ended = now_.monotonic, .took = gap});
    }
    last_turn_ = waits ? none : now_.monotonic;
    busy_ = false;
  }
  // At the latest reading.
  void received() noexcept {
    if (!wanted_) return;
    count(now_.monotonic);
    busy_ = true;
    if (first_received_ == none) first_received_ = now_.monotonic;
  }
  // All that the iteration received is handled, and its answers are sent. Where the next one follows immediately, its
  // beginning does this.
  void turn_ended() noexcept {
    count(now_.monotonic);
    if (first_received_ == none) return;
    loop_.handling.record(now_.monotonic - first_received_);
    first_received_ = none;
  }
  [[nodiscard]] bool waits_for_time() const noexcept {
    return first_received_ != none || delivered_count_ + left_count_ != 0;
  }

 private:
  static constexpr MonotonicTime none{Duration::min() / 2};

  struct Left {
    const SessionBook* book;
    SentGroup group;
    MonotonicTime at;
  };

  [[gnu::noinline]] void count_all() noexcept {
    for (std::size_t i = 0; i < delivered_count_; ++i) {
      const DeliveredTimes& times = delivered_[i];
      record(*times.book, LatencyStage::read_to_application, times.called - times.read, times.called);
      record(*times.book, LatencyStage::in_application, times.back - times.called, times.back);
    }
    for (std::size_t i = 0; i < left_count_; ++i) {
      const auto& [book, group, at] = left_[i];
      LatencySet& set = book->pages.set();
      const Duration took = at - group.committed;
      set[LatencyStage::commit_to_socket].record(took, group.messages);
      slow_.offer({.ended = at,
                   .took = took,
                   .session = book->serial,
                   .stage = LatencyStage::commit_to_socket,
                   .wait = group.wait});
      if (group.answers == 0) continue;
      set[LatencyStage::request_to_answer].record(at - group.asked, group.answers);
      if (traces_.on()) [[unlikely]]
        traces_.left(book->serial, group.answers, at, group.wait);
    }
    delivered_count_ = left_count_ = left_timed_ = 0;
  }

  SlowRing& slow_;
  const bool wanted_;
  const Instant& now_;
  const LoopNetwork& network_;
  bool busy_ = false;  // the iteration has received something
  MonotonicTime last_turn_ = none;
  MonotonicTime first_received_ = none;
  LoopLatency loop_;
  TraceSampler traces_;
  std::size_t delivered_count_ = 0, left_count_ = 0;
  std::size_t left_timed_ = 0;  // how many of left_ have a time
  std::array<DeliveredTimes, capacity> delivered_;
  std::array<Left, capacity> left_{};
};

}  // namespace nfx
