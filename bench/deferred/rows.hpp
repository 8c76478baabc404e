// What the groups of bench_deferred share: their options, and results as medians of interleaved repeats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "harness/measure.hpp"
#include "nexusfix/observe/latency_histogram.hpp"

namespace nfx::bench {

struct Options {
  std::uint32_t repeats = 5;
  std::uint32_t messages = 100'000;  // of each repeat
  std::uint64_t seed = 1;
  unsigned core = 0;   // of the submitting or producing thread
  unsigned other = 1;  // of the worker or consumer
};

// Confines the calling thread; throws std::runtime_error when it cannot be.
void pin(unsigned core);

void run_defer(const Options& options, const CycleClock& clock, double own_cost);
void run_queues(const Options& options, const CycleClock& clock);
void run_lookups(const Options& options, const CycleClock& clock);

}  // namespace nfx::bench
