// The noise report as metrics for the node exporter's textfile collector.
#include <cstdio>
#include <string>
#include <utility>

#include "host/exposition.hpp"
#include "host/noise/report_parts.hpp"

namespace nfx {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}
std::string seconds(std::uint64_t ns) { return number(static_cast<double>(ns) / 1e9); }

// Calls `write` for each CPU that was measured, with its label.
template <class Write>
void for_each_cpu(const NoiseReport& report, const Write& write) {
  for (const CpuNoise& cpu : report.cpus)
    if (cpu.hiccups.error.empty()) write(cpu, label(report.pinned ? "cpu" : "thread", std::to_string(cpu.hiccups.cpu)));
}

void write_histogram(Exposition& out, const NoiseReport& report) {
  out.metric("nexusfix_noise_stall_seconds", "histogram", "Stalls longer than 1 us between two readings of the clock.");
  for_each_cpu(report, [&](const CpuNoise& cpu, const std::string& labels) {
    const auto& over = cpu.summary.over;
    for (std::size_t i = 1; i < over.size(); ++i)
      out.value(labels + ',' + label("le", seconds(hiccup_limits_ns[i])), over[0] - over[i], "_bucket");
    out.value(labels + ',' + label("le", "+Inf"), over[0], "_bucket");
    out.value(labels, seconds(cpu.hiccups.lost_ns), "_sum");
    out.value(labels, over[0], "_count");
  });
}

void write_causes(Exposition& out, const NoiseReport& report) {
  if (!report.attributed) return;
  const auto for_each_cause = [&](const auto& write) {
    for_each_cpu(report, [&](const CpuNoise& cpu, const std::string& labels) {
      for (const CauseTotal& total : cause_totals({&cpu, 1}))
        write(labels + ',' + label("kind", to_string(total.kind)) + ',' + label("name", total.name), total);
    });
  };
  out.metric("nexusfix_noise_cause_stalls", "gauge", "Stalls above the threshold by cause.");
  for_each_cause([&](const std::string& labels, const CauseTotal& total) { out.value(labels, total.gaps); });
  out.metric("nexusfix_noise_cause_seconds", "gauge", "Time in stalls above the threshold by cause.");
  for_each_cause(
      [&](const std::string& labels, const CauseTotal& total) { out.value(labels, seconds(total.total_ns)); });
}

}  // namespace

std::string to_prometheus(const NoiseReport& report) {
  Exposition out;
  // A metric with one value of each CPU.
  const auto gauge = [&](std::string_view name, std::string_view help, const auto& value_of) {
    out.metric(name, "gauge", help);
    for_each_cpu(report, [&](const CpuNoise& cpu, const std::string& labels) { out.value(labels, value_of(cpu)); });
  };
  out.metric("nexusfix_noise_attributed", "gauge", "1 when stalls were attributed to causes through tracefs.");
  out.value("", std::uint64_t{report.attributed});
  gauge("nexusfix_noise_measured_seconds", "How long each CPU was measured.",
        [](const CpuNoise& cpu) { return seconds(cpu.hiccups.duration_ns); });
  out.metric("nexusfix_noise_window_worst_stall_seconds", "gauge",
             "Percentiles of the worst stall per window; 100 is the worst of all.");
  for_each_cpu(report, [&](const CpuNoise& cpu, const std::string& labels) {
    const NoiseSummary& s = cpu.summary;
    // Prometheus allows the label "quantile" only for summaries.
    const std::pair<const char*, std::uint64_t> percentiles[]{
        {"50", s.p50_ns}, {"90", s.p90_ns}, {"99", s.p99_ns}, {"99.9", s.p999_ns}, {"100", s.max_ns}};
    for (const auto& [percentile, ns] : percentiles)
      out.value(labels + ',' + label("percentile", percentile), seconds(ns));
  });
  gauge("nexusfix_noise_lost_ratio", "Share of the time spent in stalls longer than 1 us.",
        [](const CpuNoise& cpu) { return number(cpu.summary.lost_percent / 100); });
  write_histogram(out, report);
  write_causes(out, report);
  gauge("nexusfix_noise_cpu_hops", "How often the measuring thread was moved to another CPU.",
        [](const CpuNoise& cpu) { return std::to_string(cpu.hiccups.hops); });
  gauge("nexusfix_noise_involuntary_switches", "How often the measuring thread was taken off its CPU.",
        [](const CpuNoise& cpu) { return std::to_string(cpu.hiccups.involuntary_switches); });
  out.metric("nexusfix_noise_kernel_counts", "gauge",
             "Events that the kernel counted on the CPU during the measurement.");
  for_each_cpu(report, [&](const CpuNoise& cpu, const std::string& labels) {
    for (const Count& count : counts_of(cpu.counters)) out.value(labels + ',' + label("kind", count.name), count.value);
  });
  return out.take();
}

}  // namespace nfx
