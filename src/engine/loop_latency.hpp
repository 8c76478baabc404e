// Measures how long a poll loop takes to handle what it receives, and the time between two of its polls.
// Thread: the poll thread. Cost: for each iteration a comparison; when wanted, one record(), and another one with a
// reading of the clock where it received something. Errors: none.
#pragma once

#include <algorithm>

#include "nexusfix/base/latency_counts.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

struct LoopLatency {
  LatencyCounts handling;  // from the first bytes of an iteration until its answers are sent
  LatencyCounts poll_gap;  // between two iterations, of which the first did not wait for the network
};

class LoopLatencyMeter {
 public:
  explicit LoopLatencyMeter(bool wanted) noexcept : wanted_(wanted) {}

  // `waits`: the iteration may wait for the network, so the time until the next one is not a gap.
  void turn_began(MonotonicTime at, bool waits) noexcept {
    if (!wanted_) return;
    first_received_ = never;
    if (last_turn_ != never) latency_.poll_gap.record(at - last_turn_);
    last_turn_ = waits ? never : at;
  }
  void received(MonotonicTime at) noexcept { first_received_ = std::min(first_received_, at); }
  // All that the iteration received is handled, and its answers are sent. The clock is read only when it is needed.
  template <class ReadClock>
  void turn_ended(ReadClock&& read_clock) noexcept {
    if (wanted_ && first_received_ != never) latency_.handling.record(read_clock() - first_received_);
  }

  [[nodiscard]] const LoopLatency& latency() const noexcept { return latency_; }

 private:
  static constexpr MonotonicTime never = MonotonicTime::max();

  const bool wanted_;
  MonotonicTime last_turn_ = never;
  MonotonicTime first_received_ = never;
  LoopLatency latency_;
};

}  // namespace nfx
