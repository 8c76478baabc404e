// Compares two samples of a host with the plan and with each other, and returns alerts by name; a pure function.
// Thread: any. Cost: linear in threads, CPUs and interrupts; allocates. Errors: none; data that a sample lacks is not
// checked. Bounds: DriftOptions::max_alerts, the rest is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/plan.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx {

// In the order in which they are reported.
enum class Drift : std::uint8_t {
  thread_missing,
  thread_unplanned,
  moved_off_plan,
  mask_changed,
  priority_changed,
  migrated,
  involuntary_switches,
  stalled,
  page_faults,
  other_task_on_isolated_cpu,
  interrupts_on_isolated_cpu,
  ipis,
  steal,
  throttled,
  clocksource_changed,
  governor_changed,
  cpu_offline,
};

// One row per kind. Scripts and documentation use the id, such as "other-task-on-isolated-cpu".
struct DriftInfo {
  Drift drift;
  std::string_view id;
  std::string_view why;  // its effect on latency, in one sentence
  std::string_view fix;
};
[[nodiscard]] std::span<const DriftInfo> drift_table() noexcept;
[[nodiscard]] const DriftInfo& info_of(Drift drift) noexcept;
[[nodiscard]] std::string_view to_string(Drift drift) noexcept;

// Thresholds: a larger value is an alert. Rates are per second. An interval shorter than a second counts as one second,
// so that a single event does not look like a high rate.
struct DriftOptions {
  double involuntary_switches = 1;  // busy-polling threads
  double roaming_migrations = 10;   // threads that no plan names and that may run on several CPUs
  double stall_us = 100;            // busy-polling threads: time runnable but not running
  double minor_faults = 10;         // busy-polling threads
  double major_faults = 0;          // any watched thread
  double other_task_us = 0;         // run time of other tasks on an isolated CPU
  double bound_task_us = 1000;      // run time of kernel tasks that are bound to an isolated CPU
  double device_interrupts = 0;     // interrupts of one device on an isolated CPU
  double timer = 2000;              // timer interrupts on an isolated CPU
  double tickless_timer = 10;       // timer interrupts where the periodic tick is off
  double other_interrupts = 10;     // NMI, IRQ work, machine checks on an isolated CPU
  double softirqs = 100;            // one kind on an isolated CPU, except softirqs that come with the tick
  double ipis = 10;                 // each kind, on an isolated CPU
  double steal_percent = 1;         // a CPU that is isolated or runs a busy-polling thread; if there is none, any CPU
  std::size_t max_alerts = 200;
};

struct Alert {
  Drift drift = Drift::thread_missing;
  std::string subject;  // "nfx-poll-0", "cpu3", "policy0"; "host"
  std::string text;     // the observation
  double value = 0;     // the measured rate, if the alert is about one
  double limit = 0;
};

struct DriftInput {
  const WatchSample& before;
  const WatchSample& after;
  const PlacementPlan* plan = nullptr;  // null: threads are checked by their own masks
  CpuSet isolated_cpus;                 // CPUs that should have no other tasks and interrupts
  CpuSet tickless;                      // CPUs without the periodic tick
};

struct DriftReport {
  std::vector<Alert> alerts;  // by Drift, then subject
  std::size_t left_out = 0;
};

[[nodiscard]] DriftReport find_drift(const DriftInput& input, const DriftOptions& options = {});

// The time between two samples, at least a nanosecond.
[[nodiscard]] double seconds_between(const WatchSample& before, const WatchSample& after) noexcept;
}  // namespace nfx
