// Measures how long a poll loop takes to handle what it receives, and the time between two of its polls.
// Thread: the poll thread. Cost: a comparison and some stores for a quick iteration, that is one which follows the one
// before it immediately and within `quick`; no reading of the clock there. Errors: none.
//
// Of quick iterations one in `quick_sample` is counted, for all of them: a busy-polling thread makes millions each
// second. Of those before the thread may wait one in `every` is counted for all, and for itself each that took long or
// came after a pause.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "engine/read_sampler.hpp"
#include "engine/sample_interval.hpp"
#include "engine/slow_ring.hpp"
#include "engine/stage_notes.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

class LoopLatencyMeter {
 public:
  static constexpr Duration quick = SlowRing::least_limit;  // nothing in such an iteration is a slow moment
  static constexpr std::uint32_t quick_sample = 1024;
  static constexpr Duration long_handling = std::chrono::microseconds{20};

  // 1: each iteration is counted, quick ones too.
  LoopLatencyMeter(bool wanted, std::uint32_t every) noexcept
      : wanted_(wanted), interval_(every == 1 ? 1 : quick_sample), waiting_interval_(every) {}

  // At the latest reading. `waits`: the iteration may wait for the network, so the time until the next one is not a
  // gap. One that was `idle` from its beginning, and received nothing, is time that the host took.
  [[gnu::always_inline]] void turn_began(MonotonicTime now, bool waits, bool idle, StageNotes& notes) noexcept {
    if (!wanted_) return;
    if (last_turn_ == none) {
      notes.follow_counter();
      turn_ended(now, notes);
    } else if (now - last_turn_ > quick || --quick_left_ == 0 || notes.has_open()) [[unlikely]] {
      last_turn_ended(now, idle, notes);
    } else {
      notes.read_was_quick();
    }
    first_received_ = none;
    last_turn_ = waits ? none : now;
  }
  void received(MonotonicTime now) noexcept {
    if (first_received_ != none) return;
    first_received_ = now;
    ++busy_;
  }
  // All that the iteration received is handled, and its answers are sent. Where the next one follows immediately, its
  // beginning does this.
  [[gnu::always_inline]] void turn_ended(MonotonicTime now, StageNotes& notes) noexcept {
    notes.ended();
    if (!waits_for_time()) return;
    const Duration handling = now - first_received_;
    const bool paused = first_received_ - std::exchange(last_end_, now) > ReadSampler::pause;
    first_received_ = noted;
    const bool chosen = --waiting_left_ == 0, for_itself = paused || handling > long_handling;
    if (!chosen && !for_itself) [[likely]]
      return;
    if (chosen) waiting_left_ = waiting_interval_.next();
    const std::uint32_t counted = for_itself ? 1 : busy_;
    busy_ -= counted;
    notes.turn(latency_, {.handling = handling, .busy = counted, .ended = now});
  }
  [[nodiscard]] bool waits_for_time() const noexcept {
    return wanted_ && first_received_ != none && first_received_ != noted;
  }

  [[nodiscard]] const LoopLatency& latency() const noexcept { return latency_; }

 private:
  static constexpr MonotonicTime none{Duration::min() / 2};
  static constexpr MonotonicTime noted{Duration::max()};  // by turn_ended()

  [[gnu::noinline]] void last_turn_ended(MonotonicTime now, bool idle, StageNotes& notes) noexcept {
    notes.follow_counter();
    notes.ended();
    NFX_ASSERT(last_turn_ != none);
    const bool was_quick = now - last_turn_ <= quick;
    if (was_quick && quick_left_ != 0) return;
    TurnNote note{.gap = now - last_turn_, .turns = was_quick ? drawn_ : 1, .ended = now};
    if (was_quick) quick_left_ = drawn_ = interval_.next();
    note.is_moment = idle && first_received_ == none;
    if (waits_for_time()) {
      note.handling = now - first_received_;
      note.busy = was_quick ? busy_ : 1;
      busy_ -= note.busy;
    }
    notes.turn(latency_, note);
  }

  const bool wanted_;
  std::uint32_t quick_left_ = 1;  // until one is counted
  std::uint32_t drawn_ = 1;       // quick_left_ at first, and the count of that one
  std::uint32_t busy_ = 0;        // iterations that have received something, and are not counted
  MonotonicTime last_turn_ = none;
  MonotonicTime first_received_ = none;
  std::uint32_t waiting_left_ = 1;  // until one that ends before the thread may wait is counted
  MonotonicTime last_end_ = none;   // of these
  SampleInterval interval_, waiting_interval_;
  LoopLatency latency_;
};

}  // namespace nfx
