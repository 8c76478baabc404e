// The noise of a host's CPUs: measured, attributed, and reported as text, JSON and Prometheus text format.
// Thread: any. Cost: measure_noise() takes its duration and the measured CPUs; reports allocate. Errors:
// std::invalid_argument before anything is measured; afterwards what could not be had is in the report, with the
// reason. Source: Prometheus exposition formats, text format 0.0.4.
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

// Of the worst stalls per window.
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
  std::vector<NoiseCause> causes;  // per stall of hiccups.stalls; empty: not attributed
  CpuCounters counters;            // what the kernel counted on the CPU meanwhile
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
  std::uint64_t trace_events = 0;
  std::uint64_t trace_events_lost = 0;
  std::vector<std::string> notes;
  std::vector<CpuNoise> cpus;
};

[[nodiscard]] NoiseSummary summarise(const CpuHiccups& hiccups);
// Of all CPUs' windows together.
[[nodiscard]] NoiseSummary summarise(std::span<const CpuNoise> cpus);
// Largest total first.
[[nodiscard]] std::vector<CauseTotal> cause_totals(std::span<const CpuNoise> cpus);

// How far apart most of these moments are: 1 s, or the period of a tick at 100, 250 or 1,000 Hz; 0: nothing regular.
[[nodiscard]] std::uint64_t recurring_period_ns(std::span<const std::uint64_t> moments_ns);

struct NoiseOptions {
  HiccupOptions hiccups;
  bool trace = true;
  bool mount_tracefs = false;  // when it is not mounted
};

// Throws std::invalid_argument when there is no CPU to measure, none would be left for the host under SCHED_FIFO, or
// more than a GiB of memory would be needed.
[[nodiscard]] NoiseReport measure_noise(const HostFiles& files, const HostFacts& facts, const NoiseOptions& options,
                                        const std::atomic<bool>& stop);

[[nodiscard]] std::string to_text(const NoiseReport& report);
// `with_curves`: for each CPU also the worst stall over time, and of each share of the windows.
[[nodiscard]] std::string to_json(const NoiseReport& report, bool with_curves = false);
[[nodiscard]] std::string to_prometheus(const NoiseReport& report);

// The ratios to an earlier report, which to_json() wrote; CPUs that are in both, then all together. Error: a text.
[[nodiscard]] std::expected<std::string, std::string> compare(const NoiseReport& report, std::string_view earlier_json);

}  // namespace nfx
