// The percentiles that summarise a latency, and their medians over several repeats.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "harness/measure.hpp"
#include "nexusfix/base/latency_histogram.hpp"

namespace nfx::bench {

struct Figures {
  double mean = 0, p50 = 0, p99 = 0, p999 = 0, max = 0;
};

// Divided by `unit`, which is in the histogram's unit.
[[nodiscard]] inline Figures figures_of(const LatencyHistogram& histogram, double unit) {
  const auto at = [&](double percent) { return static_cast<double>(histogram.percentile(percent)) / unit; };
  return {histogram.mean() / unit, at(50), at(99), at(99.9), static_cast<double>(histogram.max()) / unit};
}

// The median over the repeats of `pick`, a member or a function.
template <class Repeat, class Pick>
[[nodiscard]] double middle(const std::vector<Repeat>& repeats, const Pick& pick) {
  std::vector<double> values;
  for (const Repeat& each : repeats) values.push_back(std::invoke(pick, each));
  return median(std::move(values));
}

// The median of combine(own, baseline) over the repeats, because a slow phase of the machine slows all rows of a
// repeat.
template <class Repeat, class Pick, class Combine>
[[nodiscard]] double middle_of_pairs(const std::vector<Repeat>& own, const std::vector<Repeat>& baseline,
                                     const Pick& pick, const Combine& combine) {
  std::vector<double> values;
  for (std::size_t i = 0; i < own.size() && i < baseline.size(); ++i)
    values.push_back(combine(std::invoke(pick, own[i]), std::invoke(pick, baseline[i])));
  return median(std::move(values));
}
template <class Repeat, class Pick>
[[nodiscard]] double middle_ratio(const std::vector<Repeat>& own, const std::vector<Repeat>& baseline,
                                  const Pick& pick) {
  return middle_of_pairs(own, baseline, pick, [](double one, double below) { return below > 0 ? one / below : 0; });
}
template <class Repeat, class Pick>
[[nodiscard]] double middle_difference(const std::vector<Repeat>& own, const std::vector<Repeat>& baseline,
                                       const Pick& pick) {
  return middle_of_pairs(own, baseline, pick, std::minus<>{});
}

}  // namespace nfx::bench
