// Calibrates the cycle counter against the kernel's clock, and finds the counter's smallest step.
#include "harness/cycle_clock.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace nfx::bench {
namespace {

#if defined(__x86_64__)
constexpr const char* source_name = "tsc";
#elif defined(__aarch64__)
constexpr const char* source_name = "cntvct";
#else
constexpr const char* source_name = "steady_clock";
#endif

// Not slewed by NTP, so that a correction during the run does not change the scale.
double kernel_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Pair {
  double ticks;
  double ns;
};

// Both clocks at the same moment: the least disturbed of several readings.
Pair read_both() noexcept {
  Pair best{};
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t before = ticks_before();
    const double ns = kernel_ns();
    const std::uint64_t after = ticks_after();
    if (after - before >= least) continue;
    least = after - before;
    best = {static_cast<double>(before) + static_cast<double>(after - before) / 2, ns};
  }
  return best;
}

double rate_over(double wanted_ns) noexcept {
  const Pair begin = read_both();
  while (kernel_ns() - begin.ns < wanted_ns) {
  }
  const Pair end = read_both();
  return (end.ticks - begin.ticks) / (end.ns - begin.ns);
}

// The unit of all differences. The counter may count at some hundred MHz and be scaled up. Two consecutive readings
// never show that, because the reading itself takes longer than a step.
std::uint64_t step_of_counter() noexcept {
  std::uint64_t step = 0;
  std::uint64_t last = ticks_before();
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t now = ticks_before();
    step = std::gcd(step, now - last);
    last = now;
  }
  return step;
}

}  // namespace

CycleClock calibrate_clock() noexcept {
  // The median tolerates one interruption by another process.
  std::array<double, 5> rates{};
  for (double& rate : rates) rate = rate_over(20e6);
  std::ranges::sort(rates);
  CycleClock clock{source_name, rates[rates.size() / 2], 0};
  clock.step_ns = clock.to_ns(static_cast<double>(step_of_counter()));
  return clock;
}

double stamp_cost_ticks() noexcept {
  std::array<double, 20'001> costs;
  for (double& cost : costs) {
    const std::uint64_t begin = ticks_before();
    cost = static_cast<double>(ticks_after() - begin);
  }
  return undisturbed_mean(costs);
}

double undisturbed_mean(std::span<double> costs) noexcept {
  if (costs.empty()) return 0;
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
  std::ranges::nth_element(costs, middle);
  const double limit = 2 * *middle;
  double sum = 0;
  std::size_t count = 0;
  for (const double cost : costs) {
    if (cost > limit) continue;
    sum += cost;
    ++count;
  }
  return sum / static_cast<double>(count);
}

}  // namespace nfx::bench
