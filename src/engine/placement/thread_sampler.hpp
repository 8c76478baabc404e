// A snapshot of a host's threads: where the engine's threads may run and do run, how often they were interrupted, and
// which other tasks ran on isolated CPUs. drift.hpp and watch_view.hpp compare two samples.
// Thread: any; no state. Cost: four small files per watched thread, and one per other thread of the host if all are
// read; allocates. Errors: a thread that ends meanwhile is left out; `unreadable` names files that are not readable.
// Bounds: 65,536 threads, the rest is counted. Source: Documentation/filesystems/proc.rst, scheduler/sched-stats.rst.
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

// The prefix of the engine's thread names.
inline constexpr std::string_view engine_thread_prefix = "nfx-";
inline constexpr std::size_t max_sampled_threads = 65536;

// Process, thread, and start time, because ids are reused.
using TaskKey = std::tuple<int, int, std::uint64_t>;

// Counters since the thread started.
struct ThreadSample {
  int pid = 0;
  int tid = 0;
  std::uint64_t start_ticks = 0;
  std::string name;  // printable: other characters are question marks
  char state = '?';  // as in /proc: R, S, D, T, ...
  CpuSet allowed;    // affinity mask
  int cpu = -1;      // current or last CPU
  int policy = 0;    // SCHED_OTHER 0, SCHED_FIFO 1, SCHED_RR 2, ...
  int priority = 0;  // real-time priority, 0 for the default policy
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::optional<std::uint64_t> migrations;  // kernels without CONFIG_SCHED_DEBUG do not report it
  std::optional<std::uint64_t> run_ns;      // time on a CPU
  std::optional<std::uint64_t> wait_ns;     // time runnable while another task ran

  [[nodiscard]] TaskKey key() const noexcept { return {pid, tid, start_ticks}; }
};

// A thread that is not watched and last ran on an isolated CPU.
struct OtherTask {
  int pid = 0;
  int tid = 0;
  std::uint64_t start_ticks = 0;
  std::string name;
  int cpu = -1;
  bool kernel = false;  // a kernel thread
  bool bound = false;   // a kernel thread that is bound to this CPU and cannot be moved
  std::optional<std::uint64_t> run_ns;

  [[nodiscard]] TaskKey key() const noexcept { return {pid, tid, start_ticks}; }
};

// A control group with watched threads, or an ancestor of one.
struct GroupThrottling {
  std::string group;  // its folder
  std::uint64_t throttled_periods = 0;
  std::uint64_t throttled_us = 0;
};

struct WatchSample {
  std::chrono::nanoseconds time{};  // of a monotonic clock
  CounterSample counters;
  std::vector<ThreadSample> threads;  // by process, then thread
  std::vector<OtherTask> others;
  std::vector<GroupThrottling> groups;
  CpuSet online;
  std::string clocksource;                                    // empty: unknown
  std::map<std::string, std::string, std::less<>> governors;  // by policy: "policy0" to "performance"
  std::vector<std::string> unreadable;                        // the first few
  std::size_t threads_left_out = 0;                           // beyond max_sampled_threads
};

struct WatchTarget {
  int pid = 0;           // process id; 0: every thread of the host with an engine thread's name
  CpuSet isolated_cpus;  // CPUs whose other tasks are sampled; empty: none
};

[[nodiscard]] WatchSample sample_host(const HostFiles& files, const WatchTarget& target, std::chrono::nanoseconds now);

// One thread; empty if it has ended or is not readable.
[[nodiscard]] std::optional<ThreadSample> sample_thread(const HostFiles& files, int pid, int tid);

// Counters of the calling thread since it started; empty if the kernel does not report them.
struct ThreadStats {
  std::optional<std::uint32_t> core;  // its current CPU
  std::optional<std::uint64_t> migrations;
  std::optional<std::uint64_t> voluntary_switches;
  std::optional<std::uint64_t> involuntary_switches;
};
[[nodiscard]] ThreadStats read_thread_stats();

// "SCHED_FIFO 80"; "SCHED_OTHER".
[[nodiscard]] std::string scheduling(int policy, int priority);

}  // namespace nfx
