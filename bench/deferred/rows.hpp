// What the groups of bench_deferred share: their options, the clock, and how a thread is confined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/measure.hpp"
#include "harness/report.hpp"
#include "observe/latency_histogram.hpp"

namespace nfx::bench {

struct Options {
  std::uint32_t repeats = 5;
  std::uint32_t messages = 100'000;  // of each repeat
  std::uint64_t seed = 1;
  unsigned core = 0;       // of the submitting or producing thread
  unsigned other = 1;      // of the worker or consumer
  std::uint32_t size = 0;  // of a record; 0: all sizes
};

struct Tools {
  CycleClock clock;
  double stamp_cost = 0;  // ticks of a pair of readings, subtracted from what is timed
  const PerfCounters& counters;

  [[nodiscard]] double to_ns(std::uint64_t ticks) const noexcept {
    return clock.to_ns(std::max(0.0, static_cast<double>(ticks) - stamp_cost));
  }
};

// Confines the calling thread; throws std::runtime_error when it cannot be.
void pin(unsigned core);

// What the submitting thread spends on each message, at rates that the worker can follow.
[[nodiscard]] RepeatedGroup defer_group(const Options& options, const Tools& tools);
// The same by size, compared with the queue and the copy alone.
[[nodiscard]] RepeatedGroup size_group(const Options& options, const Tools& tools);
// The same by offered rate, up to more than the worker can do, and with a worker that has stopped.
[[nodiscard]] RepeatedGroup rate_group(const Options& options, const Tools& tools);
[[nodiscard]] RepeatedGroup queue_group(const Options& options, const Tools& tools);
[[nodiscard]] RepeatedGroup lookup_group(const Options& options, const Tools& tools);

// One number for a whole repeat.
[[nodiscard]] inline Figures same_figures(double value) noexcept { return {value, value, value, value, value}; }

}  // namespace nfx::bench
