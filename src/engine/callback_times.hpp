// Chooses the messages of a read whose callbacks are timed, so that a long read of quick callbacks does not pay for two
// readings of the counter with each message.
// Thread: the poll thread. Cost: some comparisons for each message; for a timed one the caller's two readings. Errors:
// none.
//
// The first `timed_first` messages of a read are timed. Of those after them one in `one_in` is, while callbacks are
// quick; the others form runs between two readings. What a run took, less the engine's own part as it was between two
// timed messages of this read, is what its callbacks took together, and counts as that of each in equal parts. Where
// the longest timed one does not explain it, one of them is counted as slow. Counts and sums are those of all messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/stage_notes.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

class CallbackTimes {
 public:
  static constexpr std::uint32_t timed_first = 4;
  static constexpr std::uint32_t one_in = 8;
  static constexpr Duration quick = SlowRing::least_limit;
  static_assert(timed_first >= 2, "the engine's own part is measured between two");

  // The notes outlive it.
  explicit CallbackTimes(StageNotes& notes) noexcept : notes_(notes) {}

  // Messages of one session follow, until read_ended(); outside of it every message is timed.
  void read_began() noexcept {
    NFX_ASSERT(untimed_ == 0);
    timed_ = 0;
    engine_ = never;
    longest_ = 0;
    in_read_ = true;
  }
  void read_ended() noexcept {
    if (untimed_ != 0) end_run(notes_.ticks(), untimed_);
    in_read_ = false;
  }

  // Whether the next callback is not timed.
  [[nodiscard]] bool skips_next() noexcept {
    if (timed_ < timed_first || untimed_ == one_in - 1 || !in_read_ || !quick_ || notes_.waits_for_time()) return false;
    ++untimed_;
    return true;
  }
  void timed(const SessionBook* book, StageTicks read, StageTicks called, StageTicks back, SeqNum seq,
             std::uint32_t outstanding) noexcept {
    if (untimed_ != 0) {
      end_run(called, untimed_ + 1);
    } else if (timed_ != 0) {
      engine_ = std::min(engine_, called > back_ ? called - back_ : 0);
    }
    notes_.delivered(book, read, called, back, seq, outstanding);
    if (!in_read_) return;
    ++timed_;
    book_ = book;
    read_ = read;
    back_ = back;
    usual_ = back > called ? back - called : 0;
    quick_ = !notes_.traces() && notes_.between(called, back) <= quick;
    if (quick_) longest_ = std::max(longest_, usual_);
  }

 private:
  static constexpr StageTicks never = UINT64_MAX;

  // `parts`: so many times the engine's own part is in what the run took.
  [[gnu::noinline]] void end_run(StageTicks at, std::uint32_t parts) noexcept {
    // A run comes after `timed_first` messages, and after a quick one.
    NFX_ASSERT(untimed_ != 0 && engine_ != never && usual_ <= longest_);
    const StageTicks took = at > back_ ? at - back_ : 0;
    const StageTicks own = engine_ * parts;
    const StageTicks callbacks = took > own ? took - own : 0;
    std::uint32_t left = std::exchange(untimed_, 0);
    if (notes_.between(longest_ * left, callbacks) > quick) {
      const StageTicks slow = callbacks - usual_ * (left - 1);
      notes_.delivered(book_, read_, at - slow, at, SeqNum{}, 0);
      if (--left == 0) return;
      notes_.delivered(book_, read_, at, at + usual_, SeqNum{}, 0, left);
    } else {
      notes_.delivered(book_, read_, at, at + callbacks / left, SeqNum{}, 0, left);
    }
  }

  StageNotes& notes_;
  std::uint32_t timed_ = 0;
  std::uint32_t untimed_ = 0;  // since the last timed one
  bool in_read_ = false;
  bool quick_ = false;
  StageTicks engine_ = never;  // the shortest time between two timed callbacks
  StageTicks longest_ = 0;     // of the quick callbacks that were timed
  const SessionBook* book_ = nullptr;
  StageTicks read_ = 0, back_ = 0, usual_ = 0;  // of the last timed one, and what its callback took
};

}  // namespace nfx
