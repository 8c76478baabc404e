// Rows of market data: each processes a whole day, in turn (A B A B), and its objects are created again for every
// repeat. Also single operations of one row, timed individually.
// Thread: the calling one, which should be pinned.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::bench {

struct MarketOptions {
  std::string dbn;  // files; empty: generated
  std::string itch;
  std::string only;  // dbn, itch or json; empty: all
  std::string save;  // a folder in which to save the generated days
  std::uint32_t repeats = 5;
  std::uint32_t records = 1'000'000;
  std::uint64_t messages = 20'000'000;
  std::uint32_t frames = 200'000;
  std::uint64_t seed = 1;
  CpuSet other_cores;  // without the measured CPU, unless it is the only one
};

using Work = std::function<void()>;

struct MarketRow {
  std::string name;
  std::function<std::unique_ptr<Work>()> prepare;  // creates the timed object
  std::vector<double> ns;                          // per item, of each repeat
};

template <class Callable>
[[nodiscard]] std::unique_ptr<Work> timed(Callable work) {
  return std::make_unique<Work>(std::move(work));
}

// The first round warms up and is left out.
void measure_rows(std::vector<MarketRow>& rows, std::uint32_t repeats, std::uint64_t items);
void print_rows(const std::vector<MarketRow>& rows, const char* item);

// Times between calls of lap(), minus the cost of reading the counter, in picoseconds.
class Laps {
 public:
  Laps(const CycleClock& clock, double reading_ticks) : clock_(clock), reading_(reading_ticks) {}

  void begin() noexcept { last_ = ticks_after(); }
  void lap() noexcept {
    const std::uint64_t now = ticks_after();
    histogram_.record(clock_.ps_between(last_, now, reading_));
    last_ = ticks_after();
  }
  [[nodiscard]] const LatencyHistogram& histogram() const noexcept { return histogram_; }

 private:
  const CycleClock& clock_;
  double reading_;
  std::uint64_t last_ = 0;
  LatencyHistogram histogram_;
};

// The cost of an empty lap.
[[nodiscard]] double lap_cost_ticks();

// Medians of the repeats, each a histogram of picoseconds.
void print_latencies(const char* what, const std::vector<LatencyHistogram>& repeats);

void bench_dbn(const MarketOptions& options, const CycleClock& clock);
void bench_itch(const MarketOptions& options, const CycleClock& clock);
void bench_json(const MarketOptions& options, const CycleClock& clock);

}  // namespace nfx::bench
