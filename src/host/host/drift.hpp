// What went off the plan between two samples of a host: a pure function, alerts by name.
// Thread: any. Cost: linear in threads, CPUs and interrupts; allocates. Errors: none, what a sample does not have is
// not checked. Bounds: DriftOptions::max_alerts, the rest is counted.
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

// One row per kind; the id is what scripts and documentation call it: "other-task-on-isolated-cpu".
struct DriftInfo {
  Drift drift;
  std::string_view id;
  std::string_view why;  // what it does to latency, in one sentence
  std::string_view fix;
};
[[nodiscard]] std::span<const DriftInfo> drift_table() noexcept;
[[nodiscard]] const DriftInfo& info_of(Drift drift) noexcept;
[[nodiscard]] std::string_view to_string(Drift drift) noexcept;

// More than this is an alert. Rates are per second; an interval shorter than a second counts as one, so that a single
// event in a short interval is not blown up.
struct DriftOptions {
  double involuntary_switches = 1;  // of a busy-polling thread
  double roaming_migrations = 10;   // of a thread that no plan names and that may run on several CPUs
  double stall_us = 100;            // a busy-polling thread could have run and did not
  double minor_faults = 10;         // of a busy-polling thread
  double major_faults = 0;          // of any watched thread
  double other_task_us = 0;         // another task ran on an isolated CPU
  double bound_task_us = 1000;      // and one of the kernel's that belongs there
  double device_interrupts = 0;     // of one device, on an isolated CPU
  double timer = 2000;              // timer interrupts on an isolated CPU
  double tickless_timer = 10;       // where the periodic tick is off
  double other_interrupts = 10;     // NMI, IRQ work, machine checks on an isolated CPU
  double softirqs = 100;            // of one kind on an isolated CPU, without those that come with the tick
  double ipis = 10;                 // of each kind, on an isolated CPU
  double steal_percent = 1;  // of a CPU that is isolated or has a busy-polling thread; without any of these, of all
  std::size_t max_alerts = 200;
};

struct Alert {
  Drift drift = Drift::thread_missing;
  std::string subject;  // "nfx-poll-0", "cpu3", "policy0"; "host"
  std::string text;     // what was seen
  double value = 0;     // the measured rate, where the alert is about one
  double limit = 0;
};

struct DriftInput {
  const WatchSample& before;
  const WatchSample& after;
  const PlacementPlan* plan = nullptr;  // null: threads are checked by their own masks
  CpuSet isolated_cpus;                 // to be free of other tasks and interrupts
  CpuSet tickless;                      // without the periodic tick
};

struct DriftReport {
  std::vector<Alert> alerts;  // by Drift, then subject
  std::size_t left_out = 0;
};

[[nodiscard]] DriftReport find_drift(const DriftInput& input, const DriftOptions& options = {});

// Between two samples; at least a nanosecond.
[[nodiscard]] double seconds_between(const WatchSample& before, const WatchSample& after) noexcept;
}  // namespace nfx
