// Metrics in Prometheus' text format, for the node exporter's textfile collector or whatever else reads files.
// Thread: one owner, a worker's; metrics of other threads come to it by SnapshotBox or as atomics. Cost: allocates and
// writes a file; no part of a hot path. Lifetime: MetricsFile holds the function it is given.
// Errors: MetricsPage's are programming errors (NFX_REQUIRE: names as Prometheus has them, one kind per name);
// MetricsFile reports a file that cannot be written once per outage and counts, and tries again a period later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

struct MetricLabel {
  std::string_view name, value;
};

struct MetricName {
  std::string_view name;  // "nfx_messages_total"
  std::string_view help;  // one line
};

// Collects samples in any order and puts those of one name together, as the format wants it.
class MetricsPage {
 public:
  using Labels = std::span<const MetricLabel>;

  // Grows only; by convention its name ends in _total.
  void counter(MetricName name, Labels labels, std::uint64_t value);
  void gauge(MetricName name, Labels labels, double value);
  // In seconds, so its name ends in _seconds. Bounds ascend.
  void histogram(MetricName name, Labels labels, const LatencyCounts& latencies);
  void histogram(MetricName name, Labels labels, const LatencyHistogram& latencies,
                 std::span<const std::uint64_t> bounds_ns = latency_bounds_ns);

  void counter(MetricName name, std::uint64_t value, std::initializer_list<MetricLabel> labels = {}) {
    counter(name, Labels{labels.begin(), labels.size()}, value);
  }
  void gauge(MetricName name, double value, std::initializer_list<MetricLabel> labels = {}) {
    gauge(name, Labels{labels.begin(), labels.size()}, value);
  }

  [[nodiscard]] std::string text() const;
  // The same as OpenMetrics 1.0 has it: families of counters without _total, and an end.
  [[nodiscard]] std::string open_metrics() const;

 private:
  enum class Kind : std::uint8_t { counter, gauge, histogram };
  struct Family {
    std::string name, help;
    Kind kind;
    std::string samples;
  };

  std::string& samples_of(MetricName name, Kind kind);

  std::vector<Family> families_;
};

struct MetricsFileOptions {
  std::filesystem::path path;  // "/var/lib/node_exporter/textfile/nexusfix.prom"
  Duration period{std::chrono::seconds{10}};
  std::function<void(std::string_view)> on_failure;
};

class MetricsFile {
 public:
  using Collect = std::function<void(MetricsPage&)>;

  // Throws std::runtime_error when the path has no folder that exists, or the period is not above zero.
  MetricsFile(MetricsFileOptions options, Collect collect);

  // Writes the file when a period has passed since the last time. Readers see the old one or the new one, whole.
  // Returns whether it was written.
  bool step(MonotonicTime now);
  // Whatever the time: at the end, so that the last values are there.
  bool write();

  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

 private:
  const MetricsFileOptions options_;
  const Collect collect_;
  MonotonicTime next_ = MonotonicTime::min();
  std::uint64_t failures_ = 0;
  bool failing_ = false;
};

}  // namespace nfx
