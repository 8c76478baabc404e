// The outputs of `nfx host watch`: two samples become rates per CPU and thread, and these become a frame of text, a
// line of JSON, Prometheus metrics, or the data of a report.
// Thread: any; pure, but for WatchHistory, which has one owner. Cost: linear in CPUs and threads; allocates. Errors:
// none; values that the kernel does not report are "-" and null.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/drift.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx {

enum class CpuRole : std::uint8_t { isolated, housekeeping, other };

[[nodiscard]] std::string_view to_string(CpuRole role) noexcept;

// Per second unless stated otherwise.
struct CpuActivity {
  int cpu = 0;
  CpuRole role = CpuRole::other;
  std::vector<std::size_t> threads;  // into WatchInterval::threads: threads that are or were last on it; sums follow
  double busy_percent = 0;           // share of time not idle, including the hypervisor's share
  double steal_percent = 0;
  double stall_us = 0;
  double migrations = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;
  double faults = 0;
  double timer = 0;
  double devices = 0;
  double rescheduling = 0;
  double function_calls = 0;
  double tlb_shootdowns = 0;
  double other_interrupts = 0;
  double softirqs = 0;

  [[nodiscard]] double ipis() const noexcept { return rescheduling + function_calls; }
  [[nodiscard]] double interrupts() const noexcept {
    return timer + devices + ipis() + tlb_shootdowns + other_interrupts;
  }
};

struct ThreadActivity {
  ThreadSample now;
  bool planned = false;
  bool measured = false;  // also in the earlier sample; otherwise all values below are 0
  double run_percent = 0;
  double stall_us = 0;
  double migrations = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;
  double minor_faults = 0;
  double major_faults = 0;
};

struct WatchInterval {
  std::chrono::nanoseconds time{};  // end of the interval
  std::string utc;                  // the same as UTC, shown if set; the caller sets it
  double seconds = 0;
  std::vector<CpuActivity> cpus;
  std::vector<ThreadActivity> threads;
  DriftReport drift;
  std::vector<std::string> notes;  // data that was not available
};

[[nodiscard]] WatchInterval summarize(const DriftInput& input, const DriftOptions& options = {});

// Escape sequences that start a colour, all empty by default; `plain` ends one.
struct WatchColours {
  std::string_view plain, bold, dim, red, green, yellow, cyan;
};

struct WatchViewOptions {
  std::string title{};       // printed after the program's name: the watched host
  std::size_t width = 80;    // lines are cut here; alert lines only if there is a height
  std::size_t height = 0;    // lines; 0: as many as needed
  bool alerts_only = false;  // prints only one line per alert
  WatchColours colours{};
};

// A frame: head, a row per CPU, a row per thread, alerts. If the height is too small, CPUs that are neither isolated
// nor run threads are left out first; the frame shows how many.
[[nodiscard]] std::string to_text(const WatchInterval& interval, const WatchViewOptions& options);
// One JSON object and a newline.
[[nodiscard]] std::string to_json(const WatchInterval& interval, bool alerts_only = false);
// Prometheus exposition format, version 0.0.4. Counters are the kernel's own, from the later sample.
[[nodiscard]] std::string to_prometheus(const WatchSample& sample, const WatchInterval& interval);

// The watched period for a report. Bounded: at max_points, neighbouring points are merged and the worse value of both
// is kept.
class WatchHistory {
 public:
  static constexpr std::size_t max_points = 1000;
  static constexpr std::size_t max_alert_kinds = 200;

  void add(const WatchInterval& interval);
  [[nodiscard]] std::size_t points() const noexcept { return times_.size(); }
  [[nodiscard]] bool alerted() const noexcept { return alerts_ != 0; }
  // One JSON object: alerts, and for each CPU its values over time.
  [[nodiscard]] std::string json() const;

 private:
  struct Point {
    float interrupts = -1, involuntary = -1, steal = -1;  // -1: the CPU was absent
  };
  struct AlertCount {
    std::uint64_t intervals = 0;
    double first_s = 0, last_s = 0;
    std::string text;  // the latest
  };
  void merge();

  std::optional<std::chrono::nanoseconds> begin_;
  std::vector<double> times_;  // seconds since the beginning, end of each interval
  std::map<int, std::vector<Point>> cpus_;
  std::map<int, CpuRole> roles_;
  std::map<std::pair<Drift, std::string>, AlertCount> alert_kinds_;
  std::string begin_utc_, end_utc_;
  std::uint64_t intervals_ = 0;
  std::uint64_t alerts_ = 0;
  std::size_t merged_ = 1;   // intervals per point
  std::size_t pending_ = 0;  // in the last point
};

}  // namespace nfx
