// The slowest hundred moments of each window, with the host's counters of their time: a function of what a poll thread
// offered and of samples of what the kernel counted.
// Thread: add() from one, slowest() from any. Cost: some microseconds for each moment. Bounds: a hundred moments for
// each step of a window. Errors: none.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "engine/latency_history.hpp"
#include "engine/slow_ring.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/latency.hpp"

namespace nfx {

// The kernel's counts for one thread, and for the CPUs while it was on them, since any starting point.
struct HostSample {
  MonotonicTime at{};
  HostEvidence counted;
};

// Between the last sample before `began` and the first one after `ended`; the nearest ones where there are none.
[[nodiscard]] HostEvidence evidence_between(const std::deque<HostSample>& samples, MonotonicTime began,
                                            MonotonicTime ended) noexcept;

// See SlowCause.
[[nodiscard]] SlowCause cause_of(const SlowRecord& record, const HostEvidence& host) noexcept;

// The limit above which a poll thread offers a moment, after one batch of them: the lowest of the batch's slowest
// hundred, or an eighth less if there were fewer.
[[nodiscard]] Duration next_limit(std::span<const SlowRecord> records, Duration limit);

class SlowMoments {
 public:
  static constexpr std::size_t most = 100;

  void add(const SlowMoment& moment, MonotonicTime now);
  [[nodiscard]] std::vector<SlowMoment> slowest(LatencyWindow window, UtcTime now) const;

 private:
  mutable std::mutex mutex_;
  std::array<WindowSteps<std::vector<SlowMoment>>, timed_window_count + 1> windows_;
};

}  // namespace nfx
