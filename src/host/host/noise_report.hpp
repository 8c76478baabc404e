// The noise of a host's CPUs: measured, attributed, and reported as text, JSON and Prometheus text format.
// Thread: any. Cost: measure_noise() takes its duration and the measured CPUs; reports allocate. Errors:
// std::invalid_argument before anything is measured; later failures are in the report, with the reason. Source:
// Prometheus exposition formats, text format 0.0.4.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/hiccup_meter.hpp"
#include "host/trace_reader.hpp"
#include "nexusfix/placement/machine.hpp"
#include "placement/cpu_counters.hpp"

namespace nfx {

// Statistics of the worst stalls per window.
struct NoiseSummary {
  std::uint64_t windows = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p90_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  std::uint64_t max_ns = 0;
  double lost_percent = 0;
  std::array<std::uint64_t, hiccup_limits_ns.size()> over{};  // stalls, by hiccup_limits_ns
};

struct CauseTotal {
  NoiseKind kind = NoiseKind::unexplained;
  std::string name;
  std::uint64_t gaps = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t worst_ns = 0;
};

struct CpuNoise {
  CpuHiccups hiccups;
  NoiseSummary summary;
  std::vector<NoiseCause> causes;  // one per stall of hiccups.stalls; empty: not attributed
  CpuCounters counters;            // the kernel's counters of the CPU during the measurement
};

struct NoiseReport {
  std::string kernel;
  std::string clock;
  double seconds = 0;  // requested
  double window_us = 1000;
  double threshold_us = 5;
  bool pinned = true;
  int fifo_priority = 0;
  bool interrupted = false;
  bool attributed = false;
  std::string why_not_attributed;
  std::string trace_clock;
  bool osnoise = false;  // the tracer was osnoise; false: events of the scheduler and of interrupts
  std::uint64_t trace_events = 0;
  std::uint64_t trace_events_lost = 0;
  std::vector<std::string> notes;
  std::vector<CpuNoise> cpus;
};

[[nodiscard]] NoiseSummary summarise(const CpuHiccups& hiccups);
// Summarises the windows of all CPUs together.
[[nodiscard]] NoiseSummary summarise(std::span<const CpuNoise> cpus);
// Sorted by total, largest first.
[[nodiscard]] std::vector<CauseTotal> cause_totals(std::span<const CpuNoise> cpus);

struct NoiseOptions {
  HiccupOptions hiccups;
  bool trace = true;
  bool mount_tracefs = false;  // mounts it if necessary
};

// Throws std::invalid_argument if there is no CPU to measure, if SCHED_FIFO would leave no CPU for the host, or if more
// than a GiB of memory would be needed.
[[nodiscard]] NoiseReport measure_noise(const HostFiles& files, const HostFacts& facts, const NoiseOptions& options,
                                        const std::atomic<bool>& stop);

[[nodiscard]] std::string to_text(const NoiseReport& report);
// `with_curves` adds, for each CPU, the worst stall over time and the worst stall by share of windows.
[[nodiscard]] std::string to_json(const NoiseReport& report, bool with_curves = false);
[[nodiscard]] std::string to_prometheus(const NoiseReport& report);

// The ratios to an earlier report written by to_json(), first for CPUs that are in both reports, then for all together.
// Returns a text on error.
[[nodiscard]] std::expected<std::string, std::string> compare(const NoiseReport& report, std::string_view earlier_json);

}  // namespace nfx
