// Chooses the messages of a session that are timed stage by stage: a busy session does not pay for each one.
// Thread: the poll thread. Cost: some comparisons for each read, an addition for a message that is not timed. Errors:
// none.
//
// One read in `every` is timed, and in it the first message and each `every`-th after it. After a pause all messages of
// the read are: a session with few messages has all of them timed. So has one whose callbacks are slow, until a read
// has quick ones only. What is timed counts for what was left out before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/slow_ring.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

// Messages that were not timed, and those that count for them.
class LeftOut {
 public:
  void add(std::uint32_t messages) noexcept { waiting_ += messages; }
  // How many these messages count for: at most those that one in `every` of a read in `every` stands for.
  [[nodiscard]] std::uint32_t counted_with(std::uint32_t messages, std::uint32_t every) noexcept {
    const std::uint64_t most = (std::uint64_t{every} * every - 1) * messages;
    const auto more = static_cast<std::uint32_t>(std::min<std::uint64_t>(waiting_, most));
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
    const bool paused = now - read_at_ > pause;
    times_ = paused || reads_left_ == 0;
    reads_left_ = (times_ ? every_ : reads_left_) - 1;
    messages_left_ = 0;
    times_all_ = paused || every_ == 1;
    read_at_ = now;
  }
  // Whether messages of it were not timed.
  bool read_ended() noexcept {
    times_ = times_all_ = true;
    return std::exchange(left_some_out_, false);
  }

  // Whether the next message is timed. Then timed() follows, otherwise not_timed().
  [[nodiscard]] bool times() const noexcept { return times_; }
  void not_timed() noexcept {
    left_some_out_ = true;
    left_out_.add(1);
    // In a read of which nothing is timed it is 0.
    if (--messages_left_ == 0) times_ = true;
  }
  // After its callback: for how many messages it counts.
  [[nodiscard]] std::uint32_t timed(Duration callback) noexcept {
    if (callback > quick) {
      reads_left_ = 0;
      times_all_ = true;
    }
    times_ = times_all_;
    messages_left_ = every_ - 1;
    return left_out_.counted_with(1, every_);
  }

 private:
  std::uint32_t every_ = 1;
  std::uint32_t reads_left_ = 0;     // until one is timed
  std::uint32_t messages_left_ = 0;  // of this read, until one is timed
  bool times_ = true;
  bool times_all_ = true;  // of this read
  bool left_some_out_ = false;
  MonotonicTime read_at_{};
  LeftOut left_out_;
};

}  // namespace nfx
