// Counters of the processor and of the scheduler for the calling thread, by perf_event_open: instructions, cycles,
// branch and cache misses, context switches and migrations. A hypervisor often hides the processor's counters; then
// only the scheduler's are read, and the reason is given.
// Thread: the one that constructs it. Cost: a system call to read. Errors: none; missing counters are empty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace nfx::bench {

// Per operation, except the scheduler's two, which are totals of a row.
struct CounterRates {
  std::optional<double> instructions, cycles, branch_misses, cache_misses;
  std::uint64_t switches = 0;
  std::uint64_t migrations = 0;
};

class PerfCounters {
 public:
  static constexpr std::size_t hardware_count = 4;
  static constexpr std::size_t count = hardware_count + 2;
  using Totals = std::array<std::uint64_t, count>;

  PerfCounters();
  ~PerfCounters();
  PerfCounters(const PerfCounters&) = delete;
  PerfCounters& operator=(const PerfCounters&) = delete;

  // The current counts, for computing differences. A missing counter stays 0.
  [[nodiscard]] Totals read() const noexcept;
  // The counts divided by `operations`.
  [[nodiscard]] CounterRates rates(const Totals& counted, std::uint64_t operations) const noexcept;
  // "instructions, cycles, branch misses, cache misses", or why there are none.
  [[nodiscard]] const std::string& describe() const noexcept { return text_; }

 private:
  [[nodiscard]] std::optional<double> rate(std::size_t which, const Totals& counted,
                                           std::uint64_t operations) const noexcept;

  std::array<int, count> fds_{};
  std::string text_;
};

// The counts between two readings.
[[nodiscard]] PerfCounters::Totals difference(const PerfCounters::Totals& end,
                                              const PerfCounters::Totals& begin) noexcept;

}  // namespace nfx::bench
