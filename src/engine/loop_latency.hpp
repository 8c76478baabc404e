// Measures how long a poll loop takes to handle what it receives, and the time between two of its polls.
// Thread: the poll thread. Cost: some comparisons and stores for each iteration; the clock is not read for it where
// iterations follow each other immediately. Errors: none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/stage_notes.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

class LoopLatencyMeter {
 public:
  explicit LoopLatencyMeter(bool wanted) noexcept : wanted_(wanted) {}

  // At the latest reading. `same_ticks`: those of the iteration before, whose times are void otherwise. `waits`: the
  // iteration may wait for the network, so the time until the next one is not a gap. One that was `idle` from its
  // beginning, and received nothing, is time that the host took.
  [[gnu::always_inline]] void turn_began(bool same_ticks, bool waits, bool idle, StageNotes& notes) noexcept {
    if (!wanted_) return;
    const StageTicks at = notes.ticks_read();
    if (!same_ticks) [[unlikely]]
      last_turn_ = first_received_ = never;
    if (notes.waits_for_time()) notes.left_at(at);
    if (first_received_ != never) {
      notes.busy_turn(latency_, last_turn_, first_received_, at);
    } else if (last_turn_ != never) {
      notes.turn(latency_, last_turn_, at, idle && !handled_);
    }
    first_received_ = never;
    handled_ = false;
    last_turn_ = waits ? never : at;
  }
  void received(StageTicks at) noexcept { first_received_ = std::min(first_received_, at); }
  // All that the iteration received is handled, and its answers are sent. To be called only where the next iteration
  // does not follow immediately.
  void turn_ended(StageTicks at, StageNotes& notes) noexcept {
    if (notes.waits_for_time()) notes.left_at(at);
    if (first_received_ == never) return;
    notes.busy_turn(latency_, never, first_received_, at);
    first_received_ = never;
    handled_ = true;
  }
  [[nodiscard]] bool waits_for_time() const noexcept { return wanted_ && first_received_ != never; }

  [[nodiscard]] const LoopLatency& latency() const noexcept { return latency_; }

 private:
  static constexpr StageTicks never = StageNotes::never;

  const bool wanted_;
  bool handled_ = false;  // the iteration has received something, which is noted
  StageTicks last_turn_ = never;
  StageTicks first_received_ = never;
  LoopLatency latency_;
};

}  // namespace nfx
