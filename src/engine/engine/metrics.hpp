// Metrics in Prometheus' text format, for the node exporter's textfile collector or any other reader of files.
// Thread: one owner, a worker's; it gets metrics of other threads by SnapshotBox or as atomics. Cost: allocates and
// writes a file; no part of a hot path. Lifetime: MetricsFile holds the function it is given. Errors: in MetricsPage,
// invalid names and two kinds for one name are programming errors (NFX_REQUIRE). MetricsFile counts a file that cannot
// be written, reports it once per outage, and tries again a period later.
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

// Collects samples in any order, and groups them by name, as the format requires.
class MetricsPage {
 public:
  using Labels = std::span<const MetricLabel>;

  // Only grows; by convention its name ends in _total.
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
  // The same in OpenMetrics 1.0: counter families without _total, and an end marker.
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

  // Throws std::runtime_error if the path's folder does not exist, or if the period is not above zero.
  MetricsFile(MetricsFileOptions options, Collect collect);

  // Writes the file if a period has passed since the last time, and returns whether it did. The file is replaced
  // atomically.
  bool step(MonotonicTime now);
  // Writes regardless of the time; called at the end for the last values.
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
