// Shared functions of the noise report's formats.
// Thread: any, no state. Cost: allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/noise_report.hpp"
#include "placement/numbers.hpp"

namespace nfx {

[[nodiscard]] constexpr double us(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }
// "0.04", "12.3", "4150": microseconds with three digits or all before the point.
[[nodiscard]] std::string us_text(std::uint64_t ns);
// "0.05 s", "10 s".
[[nodiscard]] std::string seconds_text(double seconds);

// "CPU 1", or "thread 0" if threads were not pinned.
[[nodiscard]] std::string place_name(const NoiseReport& report, const CpuNoise& cpu);

struct WorstGap {
  const CpuNoise* cpu = nullptr;
  const HiccupGap* gap = nullptr;
  const NoiseCause* cause = nullptr;  // null: not attributed
};
// The longest stalls of all CPUs, longest first.
[[nodiscard]] std::vector<WorstGap> worst_gaps(const NoiseReport& report, std::size_t count);

struct Count {
  std::string name;
  std::uint64_t value = 0;
};
// The kernel's counters, without zeros.
[[nodiscard]] std::vector<Count> counts_of(const CpuCounters& counters);

// "2 CPUs".
[[nodiscard]] std::string measured_text(const NoiseReport& report);
[[nodiscard]] std::uint64_t measured_cpus(const NoiseReport& report);

}  // namespace nfx
