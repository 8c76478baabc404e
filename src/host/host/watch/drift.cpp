// Compares two samples with the plan and with each other. One table names the kinds of alerts; the rest are limits.
#include "host/drift.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

constexpr std::array table{
    DriftInfo{Drift::thread_missing, "thread-missing", "a planned thread does not run, so its sessions and tasks stop",
              "read the engine's log; restart it"},
    DriftInfo{Drift::thread_unplanned, "thread-unplanned",
              "a thread that the plan does not know may run on isolated CPUs and delay their thread",
              "give it a role in [placement], or set its mask to the housekeeping CPUs"},
    DriftInfo{
        Drift::moved_off_plan, "moved-off-plan", "the thread is not on the CPU of the plan",
        "find what set the mask (cpuset, taskset, an orchestrator); 'nfx host apply --runtime', restart the engine"},
    DriftInfo{Drift::mask_changed, "mask-changed", "another program sets affinities on this host",
              "find what set the mask: cpuset changes, taskset, an orchestrator's CPU manager"},
    DriftInfo{Drift::priority_changed, "priority-changed", "which thread runs first on a CPU is not as planned",
              "find what changed it (chrt, a service manager), restart the engine"},
    DriftInfo{Drift::migrated, "migrated", "caches are cold after a move to another CPU, some ten microseconds",
              "pin the thread: [placement] enabled = true"},
    DriftInfo{Drift::involuntary_switches, "involuntary-switches",
              "something else ran on the thread's CPU, milliseconds each time",
              "'nfx host apply --runtime' moves other tasks away; 'nfx host doctor' shows what may come back"},
    DriftInfo{Drift::stalled, "stalled", "the thread could run and waited while another task had its CPU",
              "'nfx host apply --runtime' moves other tasks away"},
    DriftInfo{Drift::page_faults, "page-faults", "a minor fault costs about a microsecond, a major one a disk access",
              "lock memory and touch it before trading; check swap and transparent huge pages"},
    DriftInfo{Drift::other_task_on_isolated_cpu, "other-task-on-isolated-cpu",
              "each time it takes the CPU from the engine's thread, up to milliseconds",
              "'nfx host apply --runtime'; for kernel threads the workqueue masks, isolcpus and nohz_full at boot"},
    DriftInfo{Drift::interrupts_on_isolated_cpu, "interrupts-on-isolated-cpu",
              "each costs microseconds, and softirq work may follow on the same CPU",
              "steer it: 'nfx host apply --runtime'; managed interrupts need isolcpus=managed_irq at boot"},
    DriftInfo{Drift::ipis, "ipis", "another CPU interrupted this one: wake-ups, calls, TLB shootdowns",
              "keep threads that share memory with isolated CPUs from unmapping it; nohz_full and rcu_nocbs at boot"},
    DriftInfo{Drift::steal, "steal", "the hypervisor ran something else while the CPU was wanted",
              "a host without shared CPUs: dedicated, or bare metal"},
    DriftInfo{Drift::throttled, "throttled",
              "the control group used up its quota, its threads stop until the period ends",
              "take the limit off: cpu.max = max, no CPU limit in the container"},
    DriftInfo{Drift::clocksource_changed, "clocksource-changed", "reading the time becomes a slow access to a device",
              "the kernel log has the reason why the TSC was given up; tsc=reliable only when that is wrong"},
    DriftInfo{Drift::governor_changed, "governor-changed",
              "a lowered frequency takes tens of microseconds to come up again",
              "set it to performance; stop power managers such as power-profiles-daemon"},
    DriftInfo{Drift::cpu_offline, "cpu-offline", "the threads of a CPU that goes offline are moved to others",
              "switch it on: echo 1 > /sys/devices/system/cpu/cpuN/online"},
};
static_assert(
    [] {
      for (std::size_t i = 0; i < table.size(); ++i) {
        if (std::to_underlying(table[i].drift) != i) return false;
      }
      return true;
    }(),
    "a row is found by its value");

double grown(std::uint64_t before, std::uint64_t after) noexcept {
  return before < after ? static_cast<double>(after - before) : 0.0;
}
double grown(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& after) noexcept {
  return before && after ? grown(*before, *after) : 0.0;
}

std::string cpu_name(int cpu) { return "cpu" + std::to_string(cpu); }
std::string list(const CpuSet& cpus) { return cpus.empty() ? "none" : cpus.to_list(); }

class Finder {
 public:
  Finder(const DriftInput& input, const DriftOptions& options, DriftReport& report)
      : input_(input),
        options_(options),
        report_(report),
        seconds_(seconds_between(input.before, input.after)),
        counted_seconds_(std::max(seconds_, 1.0)) {
    for (const ThreadSample& thread : input.before.threads) earlier_.emplace(thread.key(), &thread);
    for (const ThreadSample& thread : input.after.threads) {
      if (spins(thread)) busy_ |= thread.allowed;
    }
  }

  void threads() {
    for (const ThreadSample& thread : input_.after.threads) {
      planned(thread);
      const auto found = earlier_.find(thread.key());
      if (found != earlier_.end()) compare(*found->second, thread);
    }
    missing();
  }

  void other_tasks() {
    std::map<TaskKey, const OtherTask*> known;
    for (const OtherTask& task : input_.before.others) known.emplace(task.key(), &task);
    for (const OtherTask& task : input_.after.others) {
      if (!input_.isolated_cpus.contains(task.cpu)) continue;
      const auto found = known.find(task.key());
      const std::string what =
          task.name + " (" + (task.kernel ? "kernel thread " : "tid ") + std::to_string(task.tid) + ')';
      if (found == known.end()) {
        // The task started on this CPU or came from another one; its run time here is unknown.
        const bool ran = !task.run_ns || *task.run_ns > 0;
        if (ran && !task.bound) add(Drift::other_task_on_isolated_cpu, cpu_name(task.cpu), what + " came and ran");
        continue;
      }
      const double us = grown(found->second->run_ns, task.run_ns) / 1000;
      check_limit(Drift::other_task_on_isolated_cpu, cpu_name(task.cpu), us,
                  task.bound ? options_.bound_task_us : options_.other_task_us, what + " ran", " us/s");
    }
  }

  void counters() {
    const CounterSample d = difference(input_.before.counters, input_.after.counters);
    const CpuSet relevant = input_.isolated_cpus | busy_;
    for (std::size_t i = 0; i < d.cpus.size(); ++i) {
      const CpuCounters& c = d.cpus[i];
      if (relevant.empty() || relevant.contains(c.cpu)) steal(c);
      if (!input_.isolated_cpus.contains(c.cpu)) continue;
      interrupts(c);
      for (const InterruptCounter& interrupt : d.interrupts) {
        if (i >= interrupt.per_cpu.size()) continue;
        check_limit(Drift::interrupts_on_isolated_cpu, cpu_name(c.cpu), static_cast<double>(interrupt.per_cpu[i]),
                    options_.device_interrupts,
                    "interrupt " + std::to_string(interrupt.number) + ", " + printable_text(interrupt.name) + ',',
                    "/s");
      }
    }
  }

  void host() {
    std::map<std::string_view, const GroupThrottling*> groups;
    for (const GroupThrottling& group : input_.before.groups) groups.emplace(group.group, &group);
    for (const GroupThrottling& group : input_.after.groups) {
      const auto found = groups.find(group.group);
      if (found == groups.end()) continue;
      const double periods = grown(found->second->throttled_periods, group.throttled_periods);
      if (periods <= 0) continue;
      const double us = grown(found->second->throttled_us, group.throttled_us);
      add(Drift::throttled, group.group,
          "stopped in " + rate_text(periods) + " periods, for " + rate_text(us / 1000) + " ms in all",
          periods / seconds_, 0);
    }
    const WatchSample &before = input_.before, &after = input_.after;
    if (!before.clocksource.empty() && !after.clocksource.empty() && before.clocksource != after.clocksource)
      add(Drift::clocksource_changed, "host", before.clocksource + " became " + after.clocksource);
    for (const auto& [policy, governor] : after.governors) {
      const auto found = before.governors.find(policy);
      if (found != before.governors.end() && found->second != governor)
        add(Drift::governor_changed, policy, found->second + " became " + governor);
    }
    if (after.online.empty()) return;
    CpuSet wanted = before.online;
    if (input_.plan != nullptr) wanted |= input_.plan->isolated_cpus | input_.plan->housekeeping;
    for (const int cpu : (wanted - after.online).members())
      add(Drift::cpu_offline, cpu_name(cpu),
          before.online.contains(cpu) ? "went offline" : "is offline and planned for");
  }

 private:
  const ThreadPlacement* placement(const ThreadSample& thread) const {
    return input_.plan == nullptr ? nullptr : input_.plan->thread(thread.name);
  }

  // Whether the thread owns its CPU, by the plan or because it is pinned to a single CPU.
  bool spins(const ThreadSample& thread) const {
    const ThreadPlacement* place = placement(thread);
    if (place != nullptr && place->wait == ThreadWait::spin) return true;
    const bool may_roam = place != nullptr && place->cpus.size() != 1;
    return !may_roam && thread.allowed.size() == 1 && input_.after.online.size() != 1;
  }

  void planned(const ThreadSample& thread) {
    if (input_.plan == nullptr) return;
    const ThreadPlacement* place = placement(thread);
    if (place == nullptr) {
      const CpuSet isolated_cpus = thread.allowed & input_.isolated_cpus;
      // Helper threads on the housekeeping CPUs raise no alert.
      if (!isolated_cpus.empty())
        add(Drift::thread_unplanned, label(thread),
            "is not in the plan and may run on the isolated CPUs " + isolated_cpus.to_list());
      return;
    }
    if (place->cpus.empty()) return;  // the plan leaves this thread to the scheduler
    if (!thread.allowed.empty() && thread.allowed != place->cpus) {
      add(Drift::moved_off_plan, label(thread),
          "may run on CPUs " + list(thread.allowed) + ", planned are " + place->cpus.to_list());
    } else if (thread.allowed.empty() && thread.cpu >= 0 && !place->cpus.contains(thread.cpu)) {
      // A known mask decides, because a sleeping thread still reports the CPU it used before it was pinned.
      add(Drift::moved_off_plan, label(thread),
          "runs on CPU " + std::to_string(thread.cpu) + ", planned are " + place->cpus.to_list());
    }
    if (place->priority != thread.priority)
      add(Drift::priority_changed, label(thread),
          "runs with " + scheduling(thread.policy, thread.priority) + "; planned: " +
              (place->priority == 0 ? std::string{"no real-time priority"} : scheduling(1, place->priority)));
  }

  void compare(const ThreadSample& before, const ThreadSample& after) {
    const std::string name = label(after);
    if (before.allowed != after.allowed)
      add(Drift::mask_changed, name, "CPUs " + list(before.allowed) + " became " + list(after.allowed));
    if (before.policy != after.policy || before.priority != after.priority)
      add(Drift::priority_changed, name,
          scheduling(before.policy, before.priority) + " became " + scheduling(after.policy, after.priority));
    const bool spinning = spins(after);
    // If the kernel does not count migrations, a move between two samples shows as a change of the CPU.
    const double moves = std::max(grown(before.migrations, after.migrations), before.cpu != after.cpu ? 1.0 : 0.0);
    if (spinning) {
      check_limit(Drift::migrated, name, moves, 0, "moved to other CPUs", "/s");
      check_limit(Drift::involuntary_switches, name, grown(before.involuntary_switches, after.involuntary_switches),
                  options_.involuntary_switches, "was preempted", "/s");
      check_limit(Drift::stalled, name, grown(before.wait_ns, after.wait_ns) / 1000, options_.stall_us,
                  "waited for its CPU", " us/s");
      check_limit(Drift::page_faults, name, grown(before.minor_faults, after.minor_faults), options_.minor_faults,
                  "minor faults", "/s");
    } else if (placement(after) == nullptr) {
      check_limit(Drift::migrated, name, moves, options_.roaming_migrations, "moved to other CPUs", "/s");
    }
    check_limit(Drift::page_faults, name, grown(before.major_faults, after.major_faults), options_.major_faults,
                "major faults", "/s");
  }

  void missing() {
    std::set<std::string_view> here;
    std::set<int> processes;
    for (const ThreadSample& thread : input_.after.threads) {
      here.insert(thread.name);
      processes.insert(thread.pid);
    }
    std::set<std::string_view> reported;
    if (input_.plan != nullptr) {
      for (const ThreadPlacement& place : input_.plan->threads) {
        if (!here.contains(place.name) && reported.insert(place.name).second)
          add(Drift::thread_missing, place.name, "is planned and does not run");
      }
    }
    std::set<int> ended;
    for (const ThreadSample& thread : input_.before.threads) {
      const bool process_ended = !processes.contains(thread.pid);
      if (process_ended && ended.insert(thread.pid).second)
        add(Drift::thread_missing, "process " + std::to_string(thread.pid), "has ended");
      const bool engine = thread.name.starts_with(engine_thread_prefix);
      if (engine && !process_ended && !here.contains(thread.name) && reported.insert(thread.name).second)
        add(Drift::thread_missing, label(thread), "has ended");
    }
  }

  void steal(const CpuCounters& c) {
    const double ticks = static_cast<double>(c.steal);
    const double all = ticks + static_cast<double>(c.user + c.system + c.idle + c.interrupt + c.softirq);
    if (all <= 0 || ticks <= options_.steal_percent * counted_seconds_) return;  // a tick is 10 ms
    const double percent = 100 * ticks / all;
    if (percent > options_.steal_percent)
      add(Drift::steal, cpu_name(c.cpu), rate_text(percent) + "% of the time", percent, options_.steal_percent);
  }

  void interrupts(const CpuCounters& c) {
    const std::string cpu = cpu_name(c.cpu);
    const auto kind = [&](Drift drift, std::uint64_t count, double limit, std::string_view what) {
      check_limit(drift, cpu, static_cast<double>(count), limit, what, "/s");
    };
    const bool tickless = input_.tickless.contains(c.cpu);
    kind(Drift::interrupts_on_isolated_cpu, c.timer, tickless ? options_.tickless_timer : options_.timer,
         tickless ? "timer interrupts, although the tick should be off," : "timer interrupts");
    kind(Drift::interrupts_on_isolated_cpu, c.other, options_.other_interrupts, "interrupts of other kinds");
    for (const auto& [name, count] : c.softirqs) {
      const bool with_tick = name == "TIMER" || name == "SCHED" || name == "RCU" || name == "HRTIMER";
      if (!with_tick)
        kind(Drift::interrupts_on_isolated_cpu, count, options_.softirqs, "softirq " + printable_text(name));
    }
    kind(Drift::ipis, c.rescheduling, options_.ipis, "rescheduling interrupts");
    kind(Drift::ipis, c.function_calls, options_.ipis, "function calls");
    kind(Drift::ipis, c.tlb_shootdowns, options_.ipis, "TLB shootdowns");
  }

  static std::string label(const ThreadSample& thread) {
    return thread.name.starts_with(engine_thread_prefix) ? thread.name
                                                         : thread.name + " (" + std::to_string(thread.tid) + ')';
  }

  void check_limit(Drift drift, const std::string& subject, double count, double limit, std::string_view what,
                   std::string_view unit) {
    if (count <= 0 || count <= limit * counted_seconds_) return;
    NFX_ASSERT(seconds_ > 0 && counted_seconds_ >= 1);
    const double rate = count / seconds_;
    add(drift, subject, std::string{what} + ' ' + rate_text(rate) + std::string{unit}, rate, limit);
  }

  void add(Drift drift, std::string subject, std::string text, double value = 0, double limit = 0) {
    report_.alerts.push_back({drift, std::move(subject), std::move(text), value, limit});
  }

  const DriftInput& input_;
  const DriftOptions& options_;
  DriftReport& report_;
  double seconds_;
  double counted_seconds_;
  std::map<TaskKey, const ThreadSample*> earlier_;
  CpuSet busy_;
};

// By kind and subject, otherwise in the order of detection.
void sort(std::vector<Alert>& alerts) {
  std::vector<std::size_t> order(alerts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) {
    const Alert &a = alerts[i], &b = alerts[j];
    if (a.drift != b.drift) return a.drift < b.drift;
    return a.subject != b.subject ? natural_less(a.subject, b.subject) : i < j;
  });
  std::vector<Alert> sorted;
  sorted.reserve(alerts.size());
  for (const std::size_t i : order) sorted.push_back(std::move(alerts[i]));
  alerts = std::move(sorted);
}

}  // namespace

std::span<const DriftInfo> drift_table() noexcept { return table; }

const DriftInfo& info_of(Drift drift) noexcept {
  NFX_ASSERT(std::to_underlying(drift) < table.size());
  return table[std::to_underlying(drift)];
}

std::string_view to_string(Drift drift) noexcept { return info_of(drift).id; }

double seconds_between(const WatchSample& before, const WatchSample& after) noexcept {
  return std::max(std::chrono::duration<double>(after.time - before.time).count(), 1e-9);
}

DriftReport find_drift(const DriftInput& input, const DriftOptions& options) {
  DriftReport report;
  Finder finder{input, options, report};
  finder.threads();
  finder.other_tasks();
  finder.counters();
  finder.host();
  sort(report.alerts);
  if (report.alerts.size() > options.max_alerts) {
    report.left_out = report.alerts.size() - options.max_alerts;
    report.alerts.resize(options.max_alerts);
  }
  return report;
}

}  // namespace nfx
