// Runs rows in turn, and prints them.
#include "rows.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "harness/figures.hpp"
#include "harness/measure.hpp"

namespace nfx::bench {

void measure_rows(std::vector<MarketRow>& rows, std::uint32_t repeats, std::uint64_t items) {
  for (std::uint32_t repeat = 0; repeat <= repeats; ++repeat) {
    for (MarketRow& row : rows) {
      const auto work = row.prepare();
      const auto begin = std::chrono::steady_clock::now();
      (*work)();
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
      if (repeat != 0) row.ns.push_back(time.count() / static_cast<double>(items));
    }
  }
}

void print_rows(const std::vector<MarketRow>& rows, const char* item) {
  const std::string per = std::string{"ns/"} + item, rate = std::string{"M "} + item + "s/s";
  std::printf("\n%-44s %11s %16s %17s\n", "row", per.c_str(), rate.c_str(), "best to worst");
  for (const MarketRow& row : rows) {
    const double ns = median(row.ns);
    const auto [best, worst] = std::ranges::minmax(row.ns);
    std::printf("%-44s %11.1f %16.2f %8.1f to %5.1f\n", row.name.c_str(), ns, 1000 / ns, best, worst);
  }
}

double lap_cost_ticks() {
  std::vector<double> costs;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t begin = ticks_after();
    costs.push_back(static_cast<double>(ticks_after() - begin));
  }
  return undisturbed_mean(costs);
}

void print_latencies(const char* what, const std::vector<LatencyHistogram>& repeats) {
  std::vector<Figures> figures;
  for (const LatencyHistogram& repeat : repeats) figures.push_back(figures_of(repeat, 1000));
  std::printf("%s, each timed alone, ns: mean %.1f  p50 %.1f  p99 %.1f  p99.9 %.1f  max %.0f\n", what,
              middle(figures, &Figures::mean), middle(figures, &Figures::p50), middle(figures, &Figures::p99),
              middle(figures, &Figures::p999), middle(figures, &Figures::max));
}

}  // namespace nfx::bench
