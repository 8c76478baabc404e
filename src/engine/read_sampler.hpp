// Chooses the reads of a session whose messages are timed stage by stage: a busy session does not pay for each message.
// Thread: the poll thread. Cost: some comparisons for each read. Errors: none.
//
// One read in `every` is timed, and each after a pause: a session with few messages has all of its messages timed. So
// has one whose callbacks are slow, until a read has quick ones only. What is timed counts for what was left out
// before.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/slow_ring.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

// Messages that were not timed, and those that count for them.
class LeftOut {
 public:
  void add(std::uint32_t messages) noexcept { waiting_ += messages; }
  // How many these messages count for, at most `every` each.
  [[nodiscard]] std::uint32_t counted_with(std::uint32_t messages, std::uint32_t every) noexcept {
    const std::uint32_t more = std::min(waiting_, messages * (every - 1));
    waiting_ -= more;
    return messages + more;
  }

 private:
  std::uint32_t waiting_ = 0;
};

class ReadSampler {
 public:
  static constexpr Duration pause = std::chrono::milliseconds{1};
  static constexpr Duration quick = SlowRing::least_limit;

  void begin(std::uint32_t every) noexcept { every_ = every; }
  // Messages of a read at this time follow, until read_ended(). Outside of it each is timed.
  void read_began(MonotonicTime now) noexcept {
    times_ = skips_ == 0 || now - read_at_ > pause;
    skips_ = (times_ ? every_ : skips_) - 1;
    read_at_ = now;
  }
  // Whether messages of it were not timed.
  bool read_ended() noexcept {
    const bool all = times_ || !delivered_;
    times_ = true;
    delivered_ = false;
    return !all;
  }

  [[nodiscard]] bool times() const noexcept { return times_; }
  void not_timed() noexcept {
    delivered_ = true;
    left_out_.add(1);
  }
  // After a callback that was timed: for how many messages it counts.
  [[nodiscard]] std::uint32_t timed(Duration callback) noexcept {
    if (callback > quick) skips_ = 0;
    return left_out_.counted_with(1, every_);
  }

 private:
  std::uint32_t every_ = 1;
  std::uint32_t skips_ = 0;  // reads, until one is timed
  bool times_ = true;
  bool delivered_ = false;
  MonotonicTime read_at_{};
  LeftOut left_out_;
};

}  // namespace nfx
