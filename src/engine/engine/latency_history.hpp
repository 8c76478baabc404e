// Windows of time as differences to copies of what was recorded since the start.
// Thread: add() from one, window() from any. Cost: a copy keeps what is not zero, some 2 KiB for a session that was
// active since the last one and a pointer for one that was not; there are at most some 20. Errors: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

// One value for each fifth of a window's length, as far back as the window goes: the first one begins before it.
template <class Value>
class WindowSteps {
 public:
  struct Step {
    MonotonicTime began{};
    Value value{};
  };
  // The step of this time, which is not before the last one. A length of zero: one step only.
  [[nodiscard]] Value& at(MonotonicTime now, Duration length) {
    if (steps_.empty() || (length != Duration::zero() && now - steps_.back().began >= length / 5))
      steps_.push_back({now, {}});
    while (steps_.size() > 1 && now - steps_[1].began >= length) steps_.pop_front();
    return steps_.back().value;
  }
  [[nodiscard]] const std::deque<Step>& steps() const noexcept { return steps_; }

 private:
  std::deque<Step> steps_;
};

class LatencyHistory {
 public:
  // A copy of everything since the start, made at `now`; some second after the last one.
  void add(const LatencyReport& since_start, Instant now);
  // The difference between `report`, which covers everything since the start, and the youngest copy that is as old as
  // the window.
  [[nodiscard]] LatencyReport window(LatencyWindow of, LatencyReport report, MonotonicTime now) const;

 private:
  // The buckets that are not empty.
  struct Counts {
    struct Bucket {
      std::uint32_t bucket;
      std::uint64_t count;
      friend bool operator==(const Bucket&, const Bucket&) = default;
    };
    explicit Counts(const LatencyCounts& counts);
    void take_from(LatencyCounts& counts) const;
    friend bool operator==(const Counts&, const Counts&) = default;

    std::vector<Bucket> buckets;
    std::uint64_t sum_ns = 0;
  };
  using Stages = std::vector<Counts>;  // one for each
  struct Thread {
    Counts handling, poll_gap;
    Stages stages;
  };
  struct Copy {
    UtcTime at{};
    std::map<std::uint64_t, std::shared_ptr<const Stages>> sessions;  // by serial
    std::map<std::uint32_t, Thread> threads;
  };

  [[nodiscard]] static Stages kept(const LatencySet& set);
  static void take(const Stages& earlier, LatencySet& from);

  mutable std::mutex mutex_;
  std::array<WindowSteps<std::shared_ptr<const Copy>>, timed_window_count> windows_;
  std::shared_ptr<const Copy> latest_;
};

}  // namespace nfx
