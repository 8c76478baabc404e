// What the groups of bench_techniques share: their options, and how single operations are timed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/report.hpp"
#include "observe/latency_histogram.hpp"

namespace nfx::bench {

struct TechniqueOptions {
  std::uint32_t repeats = 5;
  std::uint32_t operations = 100'000;  // of each row and repeat, after a tenth of that to warm up
  std::uint64_t seed = 1;
  std::uint64_t largest = 10'000'000;  // messages of the largest store
  unsigned core = 0;                   // of the thread that is measured
  unsigned other = 0;                  // another one; the same where there is one alone
};

struct TechniqueTools {
  CycleClock clock;
  double stamp_cost = 0;  // ticks of a pair of readings, subtracted from single operations
  const PerfCounters& counters;

  [[nodiscard]] std::uint64_t to_ps(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(clock.to_ns(std::max(0.0, static_cast<double>(ticks) - stamp_cost)) * 1000);
  }
};

// The percentiles of single operations, in nanoseconds.
class Timings {
 public:
  explicit Timings(const TechniqueTools& tools) : tools_(tools) {}

  template <class Operation>
  [[gnu::always_inline]] void time(Operation&& operation) {
    const std::uint64_t begin = ticks_before();
    operation();
    const std::uint64_t end = ticks_after();
    ps_.record(tools_.to_ps(end - begin));
  }
  [[nodiscard]] Figures figures() const { return figures_of(ps_, 1000); }

 private:
  const TechniqueTools& tools_;
  LatencyHistogram ps_;
};

// "1,000,000"
[[nodiscard]] inline std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

[[nodiscard]] std::vector<RepeatedGroup> message_index_groups(const TechniqueOptions& options,
                                                              const TechniqueTools& tools);
[[nodiscard]] std::vector<RepeatedGroup> ring_groups(const TechniqueOptions& options, const TechniqueTools& tools);
[[nodiscard]] std::vector<RepeatedGroup> scan_groups(const TechniqueOptions& options, const TechniqueTools& tools);
[[nodiscard]] std::vector<RepeatedGroup> cost_groups(const TechniqueOptions& options, const TechniqueTools& tools);
[[nodiscard]] std::vector<RepeatedGroup> path_groups(const TechniqueOptions& options, const TechniqueTools& tools);

}  // namespace nfx::bench
