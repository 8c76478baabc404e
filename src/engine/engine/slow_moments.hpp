// The slowest hundred moments of each window, and why each was slow: a function of what a poll thread offered and of
// samples of what the kernel counted.
// Thread: add() and add_sample() from one, slowest() from any. Cost: some microseconds for each moment. Bounds: a
// hundred moments for each window under way and each complete one, 64 samples of each thread. Errors: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/slow_ring.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

// What the kernel has counted of one thread, and of the CPUs while it was on them, since any beginning.
struct HostSample {
  MonotonicTime at{};
  HostEvidence counted;
};

// Between the last sample before `began` and the first one after `ended`; the nearest ones where there are none.
[[nodiscard]] HostEvidence evidence_between(const std::deque<HostSample>& samples, MonotonicTime began,
                                            MonotonicTime ended) noexcept;

// `in_callback`: how much of it an on_message of the same thread took.
[[nodiscard]] SlowCause cause_of(const SlowRecord& record, const HostEvidence& host, Duration in_callback) noexcept;

// How much of `record` was within on_message of the same thread.
[[nodiscard]] Duration callback_time(const SlowRecord& record, std::span<const SlowRecord> records) noexcept;

// The waits for the CPU that moments of one batch account for, which ended between the same two samples: of two
// moments, a wait that is as long as one of them is the cause of one. Moments at the same time, as stages of one
// message are, have the same wait. add() is called with the longest first.
class WaitsFound {
 public:
  // What is left of `waited`, which the kernel counted around the moment, for it.
  [[nodiscard]] Duration left_for(const SlowRecord& record, Duration waited) const noexcept;
  // Its cause is `scheduler`.
  void add(const SlowRecord& record);
  void clear() noexcept { found_.clear(); }

 private:
  [[nodiscard]] bool has_one_at(const SlowRecord& record) const noexcept;

  std::vector<SlowRecord> found_;  // none at the same time as another
};

// The limit above which a poll thread offers a moment: that of the slowest hundred of a second, so that a shorter list
// of an idle second is followed by a longer one.
class SlowLimit {
 public:
  // Of one batch of records; `now` is when it was taken. Returns the limit from now on.
  [[nodiscard]] Duration next(std::span<const SlowRecord> records, Duration limit, MonotonicTime now);

 private:
  MonotonicTime second_began_{};
  std::vector<Duration> second_;  // what was offered in it, the longest hundred
};

class SlowMoments {
 public:
  static constexpr std::size_t most = 100;
  static constexpr std::size_t most_samples = 64;

  void add(SlowMoment moment, MonotonicTime now);
  // Ends the windows that are over.
  void turn(MonotonicTime now);
  [[nodiscard]] std::vector<SlowMoment> slowest(LatencyWindow window) const;

 private:
  struct Window {
    MonotonicTime began{};
    bool complete = false;
    std::vector<SlowMoment> now, last;
  };

  mutable std::mutex mutex_;
  std::array<Window, timed_window_count + 1> windows_;  // the last one does not end
};

}  // namespace nfx
