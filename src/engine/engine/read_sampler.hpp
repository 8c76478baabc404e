// Chooses the messages of a session that are timed stage by stage: a busy session does not pay for each one.
// Thread: the poll thread. Cost: some comparisons for each read, an addition for a message that is not timed. Errors:
// none.
//
// One read in `every` is timed, at random, and in it the first message and one in `every` of the others. After a pause
// all messages of the read are: a session with few messages has all of them timed. So has one whose callbacks are slow,
// until a read has quick ones only. What is timed counts for what was left out before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/sample_interval.hpp"
#include "engine/slow_ring.hpp"
#include "engine/untimed_read.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

// Which messages that were not timed are counted.
class LeftOut {
 public:
  // How many these messages count for where so many were not timed until now: at most those that one in `every` of a
  // read in `every` stands for.
  [[nodiscard]] std::uint32_t counted_with(std::uint32_t messages, std::uint32_t not_timed,
                                           std::uint32_t every) noexcept {
    const std::uint64_t most = (std::uint64_t{every} * every - 1) * messages;
    const auto more = static_cast<std::uint32_t>(std::min<std::uint64_t>(not_timed - counted_, most));
    counted_ += more;
    return messages + more;
  }

 private:
  std::uint32_t counted_ = 0;  // may wrap, as what was not timed
};

class ReadSampler {
 public:
  static constexpr Duration pause = std::chrono::milliseconds{1};
  static constexpr Duration quick = SlowRing::least_limit;

  // Nothing is timed before.
  void begin(const SessionBook& book, std::uint32_t every) noexcept {
    untimed_.book = &book;
    every_ = every;
    interval_ = SampleInterval{every, book.serial};
    times_ = true;
  }
  // Messages of a read at this time follow, until read_ended(). Outside of it each is timed.
  void read_began(MonotonicTime now) noexcept {
    const Duration passed = now - untimed_.at;
    // Another part of a read belongs to it.
    if (passed != Duration::zero()) [[likely]] {
      untimed_.at = now;
      untimed_.messages_before = untimed_.messages;
      untimed_.sent_before = untimed_.sent;
    }
    if (passed > pause || --reads_left_ == 0) [[unlikely]]
      return time_read(passed > pause);
    times_ = false;
  }
  void read_ended() noexcept {
    times_ = times_all_ = true;
    next_timed_ = untimed_.messages;
  }

  // Whether the next message is timed. Then timed() follows, otherwise not_timed().
  [[nodiscard]] bool times() const noexcept { return times_; }
  void not_timed() noexcept {
    // In a read of which nothing is timed it has passed.
    if (++untimed_.messages == next_timed_) times_ = true;
  }
  // After its callback: for how many messages it counts.
  [[nodiscard]] std::uint32_t timed(Duration callback) noexcept {
    if (callback > quick) {
      reads_left_ = 1;
      times_all_ = true;
    }
    next_timed_ = untimed_.messages + interval_.next() - 1;
    times_ = times_all_ || next_timed_ == untimed_.messages;
    return left_out_.counted_with(1, untimed_.messages, every_);
  }

  // Where the members end that a read uses of which nothing is timed.
  [[nodiscard]] static constexpr std::size_t untimed_size() noexcept {
    return offsetof(ReadSampler, untimed_) + offsetof(UntimedRead, book);
  }

  [[nodiscard]] UntimedRead& untimed() noexcept { return untimed_; }
  [[nodiscard]] const UntimedRead& untimed() const noexcept { return untimed_; }

 private:
  [[gnu::noinline]] void time_read(bool paused) noexcept {
    reads_left_ = interval_.next();
    times_all_ = paused || every_ == 1;
  }

  bool times_ = false;
  std::uint32_t reads_left_ = 1;  // until one is timed
  std::uint32_t next_timed_ = 0;  // when so many were not timed, the next one is
  UntimedRead untimed_;
  bool times_all_ = true;  // of this read
  std::uint32_t every_ = 1;
  LeftOut left_out_;
  SampleInterval interval_;
};

}  // namespace nfx
