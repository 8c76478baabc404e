// What a host's threads are doing at one instant: where those of the engine may run and do run, how often they were
// interrupted, and which other tasks were on the CPUs that are to be isolated. Two samples are what drift.hpp and
// watch_view.hpp work on. Thread: any; no state. Cost: four small files per watched thread, and one per other thread of
// the host when all are read; allocates. Errors: a thread that ends meanwhile is left out; what may not be read is
// named in `unreadable`. Bounds: 65,536 threads, the rest is counted. Source: Documentation/filesystems/proc.rst,
// scheduler/sched-stats.rst.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/machine.hpp"
#include "placement/cpu_counters.hpp"

namespace nfx {

// How the engine names its threads.
inline constexpr std::string_view engine_thread_prefix = "nfx-";
inline constexpr std::size_t max_sampled_threads = 65536;

// Process, thread, and when it began: numbers are used again.
using TaskKey = std::tuple<int, int, std::uint64_t>;

// Counters are since the thread began.
struct ThreadSample {
  int pid = 0;
  int tid = 0;
  std::uint64_t start_ticks = 0;
  std::string name;  // printable: what is not ASCII is a question mark
  char state = '?';  // as /proc has it: R, S, D, T, ...
  CpuSet allowed;    // its mask
  int cpu = -1;      // where it runs, or ran last
  int policy = 0;    // SCHED_OTHER 0, SCHED_FIFO 1, SCHED_RR 2, ...
  int priority = 0;  // real-time priority, 0 for the ordinary scheduler
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::optional<std::uint64_t> migrations;  // kernels without CONFIG_SCHED_DEBUG do not report it
  std::optional<std::uint64_t> run_ns;      // on a CPU
  std::optional<std::uint64_t> wait_ns;     // could have run, but another task did

  [[nodiscard]] TaskKey key() const noexcept { return {pid, tid, start_ticks}; }
};

// A thread that is not watched and was last on an isolated CPU.
struct OtherTask {
  int pid = 0;
  int tid = 0;
  std::uint64_t start_ticks = 0;
  std::string name;
  int cpu = -1;
  bool kernel = false;  // a kernel thread
  bool bound = false;   // a kernel thread that belongs to this CPU and cannot be moved
  std::optional<std::uint64_t> run_ns;

  [[nodiscard]] TaskKey key() const noexcept { return {pid, tid, start_ticks}; }
};

// A control group that holds watched threads, or one above it.
struct GroupThrottling {
  std::string group;  // its folder
  std::uint64_t throttled_periods = 0;
  std::uint64_t throttled_us = 0;
};

struct WatchSample {
  std::chrono::nanoseconds time{};  // of a clock that only goes forward
  CounterSample counters;
  std::vector<ThreadSample> threads;  // by process, then thread
  std::vector<OtherTask> others;
  std::vector<GroupThrottling> groups;
  CpuSet online;
  std::string clocksource;                                    // empty: not known
  std::map<std::string, std::string, std::less<>> governors;  // by policy: "policy0" to "performance"
  std::vector<std::string> unreadable;                        // the first few
  std::size_t threads_left_out = 0;                           // beyond max_sampled_threads
};

struct WatchTarget {
  int pid = 0;           // this process; 0: every thread of the host that is named like the engine's
  CpuSet isolated_cpus;  // the CPUs of which other tasks are sampled; empty: none
};

[[nodiscard]] WatchSample sample_host(const HostFiles& files, const WatchTarget& target, std::chrono::nanoseconds now);

// One thread; empty: it is gone, or may not be read.
[[nodiscard]] std::optional<ThreadSample> sample_thread(const HostFiles& files, int pid, int tid);

// "SCHED_FIFO 80"; "SCHED_OTHER".
[[nodiscard]] std::string scheduling(int policy, int priority);

}  // namespace nfx
