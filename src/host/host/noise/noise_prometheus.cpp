// The noise report as metrics for the node exporter's textfile collector.
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "host/noise/report_parts.hpp"

namespace nfx {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}
std::string seconds(std::uint64_t ns) { return number(static_cast<double>(ns) / 1e9); }

// Quotes a label's value.
std::string in_quotes(std::string_view value) {
  std::string out = "\"";
  for (const char c : printable_text(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Writer {
 public:
  explicit Writer(const NoiseReport& report) : report_(report) {}

  void head(std::string_view name, std::string_view type, std::string_view help) {
    name_ = "nexusfix_noise_";
    name_ += name;
    out_ += "# HELP " + name_ + ' ';
    out_ += help;
    out_ += "\n# TYPE " + name_ + ' ';
    out_ += type;
    out_ += '\n';
  }
  void value(std::string_view suffix, const std::string& labels, const std::string& value) {
    out_ += name_;
    out_ += suffix;
    if (!labels.empty()) out_ += '{' + labels + '}';
    out_ += ' ' + value + '\n';
  }
  // Calls `write` for each CPU that was measured.
  void each(const std::function<void(const CpuNoise&, const std::string&)>& write) const {
    for (const CpuNoise& cpu : report_.cpus) {
      if (cpu.hiccups.error.empty())
        write(cpu, (report_.pinned ? "cpu=" : "thread=") + in_quotes(std::to_string(cpu.hiccups.cpu)));
    }
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  const NoiseReport& report_;
  std::string name_;
  std::string out_;
};

void write_histogram(Writer& writer) {
  writer.head("stall_seconds", "histogram", "Stalls longer than 1 us between two readings of the clock.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    const auto& over = cpu.summary.over;
    for (std::size_t i = 1; i < over.size(); ++i)
      writer.value("_bucket", labels + ",le=" + in_quotes(seconds(hiccup_limits_ns[i])),
                   std::to_string(over[0] - over[i]));
    writer.value("_bucket", labels + ",le=\"+Inf\"", std::to_string(over[0]));
    writer.value("_sum", labels, seconds(cpu.hiccups.lost_ns));
    writer.value("_count", labels, std::to_string(over[0]));
  });
}

void write_causes(Writer& writer, const NoiseReport& report) {
  if (!report.attributed) return;
  const auto cause_labels = [](const std::string& labels, const CauseTotal& total) {
    return labels + ",kind=" + in_quotes(to_string(total.kind)) + ",name=" + in_quotes(total.name);
  };
  writer.head("cause_stalls", "gauge", "Stalls above the threshold by cause.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    for (const CauseTotal& total : cause_totals({&cpu, 1}))
      writer.value("", cause_labels(labels, total), std::to_string(total.gaps));
  });
  writer.head("cause_seconds", "gauge", "Time in stalls above the threshold by cause.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    for (const CauseTotal& total : cause_totals({&cpu, 1}))
      writer.value("", cause_labels(labels, total), seconds(total.total_ns));
  });
}

}  // namespace

std::string to_prometheus(const NoiseReport& report) {
  Writer writer{report};
  writer.head("attributed", "gauge", "1 when stalls were attributed to causes through tracefs.");
  writer.value("", "", report.attributed ? "1" : "0");
  writer.head("measured_seconds", "gauge", "How long each CPU was measured.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    writer.value("", labels, seconds(cpu.hiccups.duration_ns));
  });
  writer.head("window_worst_stall_seconds", "gauge",
              "Percentiles of the worst stall per window; 100 is the worst of all.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    const NoiseSummary& s = cpu.summary;
    // Prometheus allows the label "quantile" only for summaries.
    const std::pair<const char*, std::uint64_t> percentiles[]{
        {"50", s.p50_ns}, {"90", s.p90_ns}, {"99", s.p99_ns}, {"99.9", s.p999_ns}, {"100", s.max_ns}};
    for (const auto& [percentile, ns] : percentiles)
      writer.value("", labels + ",percentile=" + in_quotes(percentile), seconds(ns));
  });
  writer.head("lost_ratio", "gauge", "Share of the time spent in stalls longer than 1 us.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    writer.value("", labels, number(cpu.summary.lost_percent / 100));
  });
  write_histogram(writer);
  write_causes(writer, report);
  writer.head("cpu_hops", "gauge", "How often the measuring thread was moved to another CPU.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    writer.value("", labels, std::to_string(cpu.hiccups.hops));
  });
  writer.head("involuntary_switches", "gauge", "How often the measuring thread was taken off its CPU.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    writer.value("", labels, std::to_string(cpu.hiccups.involuntary_switches));
  });
  writer.head("kernel_counts", "gauge", "What the kernel counted on the CPU meanwhile.");
  writer.each([&](const CpuNoise& cpu, const std::string& labels) {
    for (const Count& count : counts_of(cpu.counters))
      writer.value("", labels + ",kind=" + in_quotes(count.name), std::to_string(count.value));
  });
  return writer.take();
}

}  // namespace nfx
