// What the scheduler, its watchdogs and its accounting do on all CPUs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "host/doctor/check.hpp"

namespace nfx::doctor {
namespace {

constexpr std::string_view sysctl_boot = "the same setting in a file of /etc/sysctl.d";
constexpr std::string_view runtime = "nfx host apply --runtime CONFIG";

std::string assigned(std::string_view name, long long value) {
  return std::string{name} + " = " + std::to_string(value);
}

void rt_throttling(const Examination& e, Report& report) {
  const auto limit = report.integer(e, "/proc/sys/kernel/sched_rt_runtime_us");
  if (!limit) return;
  const std::string seen = assigned("sched_rt_runtime_us", *limit);
  if (*limit == -1) return report.good(seen);
  if (e.plan != nullptr && e.real_time_priority == 0) return report.good(seen + "; no thread of the plan is real-time");
  report.add(e.real_time_priority > 0 ? CheckResult::failure : CheckResult::warning, seen, "sched_rt_runtime_us = -1");
}

void fair_server(const Examination& e, Report& report) {
  if (e.facts.kernel < KernelVersion{6, 12})
    return report.not_here(e.facts.kernel_release.empty() ? "no kernel release is given"
                                                          : "kernel " + e.facts.kernel_release + " has none");
  const std::string base = "/sys/kernel/debug/sched/fair_server";
  if (!e.facts.fair_server) {
    const int error = e.files.directory_error(base);
    if (error == ENOENT && e.files.directory_error("/sys/kernel/debug/sched") == 0)
      return report.not_here("this kernel has none");
    return report.cannot_tell(error == ENOENT ? base + " is not there: debugfs is not mounted"
                                              : base + " may not be read, only root may");
  }
  if (!*e.facts.fair_server) return report.good("takes no time from real-time threads");
  const std::string seen = "takes time from real-time threads";
  if (e.plan != nullptr && e.real_time_priority == 0) return report.good(seen + "; no thread of the plan is one");
  report.add(e.real_time_priority > 0 ? CheckResult::failure : CheckResult::warning, seen, "runtime 0 on every CPU");
}

void rt_group(const Examination& e, Report& report) {
  const OwnGroup group = own_group(e.files.files(), "cpu");
  if (group.folders.empty() || group.v2) return report.not_here("real-time time is not shared out to control groups");
  const std::string file = group.folders.front() + "/cpu.rt_runtime_us";
  const auto time = report.integer(e, file);
  if (!time) return;
  const std::string seen = assigned(file, *time);
  if (*time != 0) return report.good(seen);
  report.add(e.real_time_priority > 0 ? CheckResult::failure : CheckResult::warning, seen,
             "time for real-time threads in this group, or another group");
}

void cgroup_quota(const Examination& e, Report& report) {
  const OwnGroup group = own_group(e.files.files(), "cpu");
  if (group.folders.empty()) return report.not_here("no control group for CPU time");
  bool seen = false;
  for (const std::string& folder : group.folders) {
    std::string quota, period;
    if (group.v2) {
      const auto text = e.files.text(folder + "/cpu.max");
      if (!text) continue;
      const std::vector<std::string> words = split(*text, ' ');
      quota = words.empty() ? "max" : words[0];
      if (words.size() > 1) period = words[1];
    } else {
      const auto text = e.files.text(folder + "/cpu.cfs_quota_us");
      if (!text) continue;
      quota = *text == "-1" ? "max" : *text;
      period = e.files.text(folder + "/cpu.cfs_period_us").value_or("");
    }
    seen = true;
    if (quota != "max")
      return report.failure(folder + " may use " + quota + " us in " + period + " us", "no quota around the engine");
  }
  if (!seen) return report.not_here("no file about a quota in " + group.folders.front());
  report.good("no quota");
}

void autogroup(const Examination& e, Report& report) {
  const auto on = report.integer(e, "/proc/sys/kernel/sched_autogroup_enabled");
  if (!on) return;
  if (*on == 0) return report.good("off");
  report.info("on: time is shared by login terminal first, which counts only where threads share a CPU");
}

void granularity(const Examination& e, Report& report) {
  for (const char* file : {"/sys/kernel/debug/sched/base_slice_ns", "/sys/kernel/debug/sched/min_granularity_ns",
                           "/proc/sys/kernel/sched_min_granularity_ns"}) {
    const auto value = e.files.integer(file);
    if (value) return report.info(std::string{file} + ": " + std::to_string(*value) + " ns");
  }
  const int error = e.files.directory_error("/sys/kernel/debug/sched");
  if (error == EACCES || error == EPERM) return report.cannot_tell("/sys/kernel/debug/sched may not be read");
  report.not_here("the kernel does not show it: debugfs is not mounted");
}

void preemption(const Examination& e, Report& report) {
  if (e.files.text("/sys/kernel/realtime").value_or("") == "1") return report.good("PREEMPT_RT");
  if (const auto model = e.files.text("/sys/kernel/debug/sched/preempt")) {
    const auto open = model->find('('), close = model->find(')');
    if (open != std::string::npos && close != std::string::npos)
      return report.info(model->substr(open + 1, close - open - 1) + ", chosen at boot or run time");
  }
  const auto version = report.text(e, "/proc/sys/kernel/version");
  if (!version) return;
  for (const char* model : {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT"}) {
    if (version->contains(model)) return report.info(model);
  }
  report.info("no preemption in the kernel's name: none, or voluntary");
}

void timer_migration(const Examination& e, Report& report) {
  const auto on = report.integer(e, "/proc/sys/kernel/timer_migration");
  if (!on) return;
  const std::string seen =
      *on != 0 ? "timers leave sleeping CPUs for those that are awake" : "timers stay on the CPU that set them";
  if (e.isolated_cpus.empty()) return report.info(seen);
  const int wanted = wanted_timer_migration(e.facts, e.isolated_cpus);
  if ((*on != 0) == (wanted != 0)) return report.good(seen);
  report.warning(seen, "kernel.timer_migration = " + std::to_string(wanted));
}

void skew_tick(const Examination& e, Report& report) {
  if (e.facts.command_line.empty()) return report.not_here("no kernel command line");
  const std::string value = e.parameter("skew_tick").value_or("0");
  if (value == "1") return report.good("skew_tick=1");
  report.info("all CPUs tick at the same moment");
}

void watchdog(const Examination& e, Report& report) {
  auto on = e.files.integer("/proc/sys/kernel/soft_watchdog");
  const std::string file = on ? "/proc/sys/kernel/soft_watchdog" : "/proc/sys/kernel/watchdog";
  const auto value = report.integer(e, file);
  if (!value) return;
  if (*value == 0) return report.good(file + " is 0");
  const auto text = e.files.text("/proc/sys/kernel/watchdog_cpumask");
  const auto watched = text ? CpuSet::parse_list(*text) : std::unexpected{std::string{}};
  const CpuSet where = watched ? *watched & e.facts.online : e.facts.online;
  const CpuSet shared = e.isolated_cpus.empty() ? where : where & e.isolated_cpus;
  if (shared.empty()) return report.good("watches " + where.to_list() + " only");
  const std::string seen = "wakes a thread of highest priority every few seconds on " + shared.to_list();
  if (e.isolated_cpus.empty()) return report.info(seen);
  report.warning(seen,
                 "kernel.watchdog_cpumask without " + e.isolated_cpus.to_list() + ", or kernel.soft_watchdog = 0");
}

void nmi_watchdog(const Examination& e, Report& report) {
  const auto on = report.integer(e, "/proc/sys/kernel/nmi_watchdog");
  if (!on) return;
  if (*on == 0) return report.good("off");
  report.warning("on: non-maskable interrupts on every watched CPU", "kernel.nmi_watchdog = 0");
}

void stat_interval(const Examination& e, Report& report) {
  const auto seconds = report.integer(e, "/proc/sys/vm/stat_interval");
  if (!seconds) return;
  const std::string seen = assigned("vm.stat_interval", *seconds) + " s";
  if (*seconds >= 10) return report.good(seen);
  report.warning(seen, "vm.stat_interval = 120");
}

void tracing(const Examination& e, Report& report) {
  const std::string file = "/sys/kernel/tracing/current_tracer";
  const auto tracer = report.text(e, file);
  if (!tracer) return;
  if (*tracer != "nop") return report.warning("tracer \"" + *tracer + "\" is set", "nop");
  const auto events = e.files.text("/sys/kernel/tracing/set_event");
  if (events && !events->empty() && e.files.text("/sys/kernel/tracing/tracing_on").value_or("0") == "1")
    return report.warning("events are traced: " + join(split(*events, '\n'), 4), "none");
  report.good("no tracer and no event is on");
}

void audit(const Examination& e, Report& report) {
  if (!e.has_cpus) return report.not_here("no tasks are described");
  const std::string value = e.parameter("audit").value_or("");
  if (value == "0" || value == "off") return report.good("audit=" + value);
  const Task* daemon = e.process("auditd");
  if (daemon != nullptr)
    return report.warning("auditd runs: rules may cost each system call", "no rules for the engine, or audit=0");
  report.info(e.process("kauditd") != nullptr ? "auditing is in the kernel, but no auditd runs" : "no auditd runs");
}

void perf_events(const Examination& e, Report& report) {
  const auto level = report.integer(e, "/proc/sys/kernel/perf_event_paranoid");
  if (!level) return;
  report.info(assigned("kernel.perf_event_paranoid", *level) +
              (*level <= 1 ? "" : ": kernel counters need CAP_PERFMON, 'nfx host noise' sees less"));
}

constexpr std::array realtime_table{
    Check{{.id = "scheduler.rt_throttling",
           .title = "Real-time threads that busy-poll are not throttled",
           .source = "/proc/sys/kernel/sched_rt_runtime_us",
           .why = "By default real-time threads may use 950 ms of each second: sched_rt_runtime_us=950000, "
                  "sched_rt_period_us=1000000. A busy-polling thread with real-time priority is stopped for the rest.",
           .fix_runtime = "nfx host apply --runtime CONFIG, or sysctl kernel.sched_rt_runtime_us=-1",
           .fix_boot = sysctl_boot,
           .risk = "A real-time thread that never sleeps starves everything else on its CPU, kernel threads too: only "
                   "with CPUs that are isolated."},
          rt_throttling},
    Check{
        {.id = "scheduler.fair_server",
         .title = "The fair server takes no time from real-time threads",
         .source = "/sys/kernel/debug/sched/fair_server/cpu*/runtime",
         .why = "Kernels from 6.12 reserve CPU time for ordinary tasks (fair_server/cpu*/runtime, 50 ms of each second "
                "by default), which a busy-polling thread with real-time priority loses when such a task waits.",
         .fix_runtime = "nfx host apply --runtime CONFIG, or echo 0 into every runtime file",
         .fix_boot = "",
         .risk = "Ordinary tasks on that CPU may starve."},
        fair_server},
    Check{{.id = "scheduler.rt_group",
           .title = "Our control group may run real-time threads",
           .source = "/proc/self/cgroup, cpu.rt_runtime_us (cgroup v1 with CONFIG_RT_GROUP_SCHED)",
           .why = "In a group with cpu.rt_runtime_us 0 sched_setscheduler fails with EPERM, for root too.",
           .fix_runtime = "move the engine into the root group, or give the group time",
           .fix_boot = "",
           .risk = "Time given to one group is not there for others."},
          rt_group},
    Check{{.id = "scheduler.cgroup_quota",
           .title = "No control group limits our CPU time",
           .source = "/proc/self/cgroup, cpu.max or cpu.cfs_quota_us of the group and those around it",
           .why = "A thread that busy-polls uses up any quota and then stops until the end of the period, 100 ms by "
                  "default. Not measured here.",
           .fix_runtime = "echo max > cpu.max; in Kubernetes: whole CPUs in a Guaranteed pod with the static policy",
           .fix_boot = "",
           .risk = "The group may use all CPU time that its masks allow."},
          cgroup_quota},
    Check{{.id = "scheduler.autogroup",
           .title = "Grouping of tasks by terminal",
           .source = "/proc/sys/kernel/sched_autogroup_enabled",
           .why = "sched_autogroup_enabled groups tasks by terminal before nice values apply. No effect on a thread "
                  "that has its CPU alone.",
           .fix_runtime = "sysctl kernel.sched_autogroup_enabled=0",
           .fix_boot = sysctl_boot,
           .risk = "Interactive work may feel slower under load."},
          autogroup},
    Check{
        {.id = "scheduler.granularity",
         .title = "The slice of a task of the ordinary scheduler",
         .source = "/sys/kernel/debug/sched/base_slice_ns or min_granularity_ns",
         .why = "base_slice_ns is the slice of an ordinary task: a thread that shares its CPU waits at least as long.",
         .fix_runtime = "isolate the CPUs instead",
         .fix_boot = "",
         .risk = "Short slices cost context switches everywhere."},
        granularity},
    Check{{.id = "scheduler.preemption",
           .title = "The kernel's preemption model",
           .source = "/sys/kernel/realtime, /sys/kernel/debug/sched/preempt, /proc/sys/kernel/version",
           .why = "Decides how long the kernel may work on one thing before a thread that is woken can run; it "
                  "matters for threads that block. Not measured here.",
           .fix_runtime = "",
           .fix_boot = "preempt=full",
           .risk = "Less throughput."},
          preemption},
};

constexpr std::array background_table{
    Check{{.id = "scheduler.timer_migration",
           .title = "The timers of other CPUs stay away from those that are isolated",
           .source = "/proc/sys/kernel/timer_migration",
           .why = "While timers may move they leave sleeping CPUs for those that are awake, and a busy-polling "
                  "thread's always "
                  "is. CPUs with nohz_full are spared, and give their own timers away: there, and only there, 1 is "
                  "right. Not measured here.",
           .fix_runtime = "sysctl kernel.timer_migration=0, or 1 where all of them are nohz_full",
           .fix_boot = sysctl_boot,
           .risk = "None known."},
          timer_migration},
    Check{{.id = "scheduler.skew_tick",
           .title = "CPUs tick one after the other",
           .source = "/proc/cmdline",
           .why = "Offsets the tick of each CPU, so that they do not wait for the same locks (kernel-parameters.txt). "
                  "Of no effect where there is no tick. Not measured here.",
           .fix_runtime = "",
           .fix_boot = "skew_tick=1",
           .risk = "More power: CPUs are awake at different times."},
          skew_tick},
    Check{{.id = "scheduler.watchdog",
           .title = "The soft-lockup watchdog leaves the CPUs alone",
           .source = "/proc/sys/kernel/soft_watchdog, watchdog, watchdog_cpumask",
           .why = "A timer and a thread of the highest priority on each watched CPU every 4 s with the default "
                  "threshold of 10 s (lockup-watchdogs.rst). Not measured here.",
           .fix_runtime = runtime,
           .fix_boot = "nosoftlockup, or watchdog_cpumask in a file of /etc/sysctl.d; nohz_full= does it by itself",
           .risk = "A CPU that hangs in the kernel is not reported."},
          watchdog},
    Check{{.id = "scheduler.nmi_watchdog",
           .title = "The hard-lockup watchdog is off",
           .source = "/proc/sys/kernel/nmi_watchdog",
           .why = "Non-maskable interrupts on each watched CPU, and one hardware counter less for profiling "
                  "(lockup-watchdogs.rst). Not measured here.",
           .fix_runtime = "sysctl kernel.nmi_watchdog=0",
           .fix_boot = "nmi_watchdog=0",
           .risk = "A CPU that hangs with interrupts off is not reported."},
          nmi_watchdog},
    Check{{.id = "scheduler.stat_interval",
           .title = "Memory statistics are gathered rarely",
           .source = "/proc/sys/vm/stat_interval",
           .why = "Each CPU adds up its counters by bound work at this interval, 1 s by default (sysctl/vm.rst). Not "
                  "measured here.",
           .fix_runtime = "nfx host apply --runtime CONFIG, or sysctl vm.stat_interval=120",
           .fix_boot = sysctl_boot,
           .risk = "Counters in /proc/vmstat are older."},
          stat_interval},
    Check{{.id = "scheduler.tracing",
           .title = "Nothing is traced in the kernel",
           .source = "/sys/kernel/tracing/current_tracer, set_event",
           .why = "Function tracers run at every function of the kernel, and each traced event costs time when it "
                  "happens. Not measured here.",
           .fix_runtime = "echo nop > /sys/kernel/tracing/current_tracer; echo > /sys/kernel/tracing/set_event",
           .fix_boot = "",
           .risk = "A trace that is being taken is lost."},
          tracing},
    Check{{.id = "scheduler.audit",
           .title = "System calls are not audited",
           .source = "/proc/cmdline, /proc/*/status",
           .why = "With rules loaded each system call is checked on entry and exit. Not measured here.",
           .fix_runtime = "auditctl -D, where your policy allows it",
           .fix_boot = "audit=0",
           .risk = "An audit trail may be an obligation: consult those responsible for it first."},
          audit},
    Check{{.id = "scheduler.perf_events",
           .title = "Whether kernel events can be counted",
           .source = "/proc/sys/kernel/perf_event_paranoid",
           .why = "perf_event_paranoid has no effect on latency; with a high value 'nfx host noise' cannot attribute "
                  "stalls to causes.",
           .fix_runtime = "sysctl kernel.perf_event_paranoid=1",
           .fix_boot = sysctl_boot,
           .risk = "Local users see more of what the kernel does."},
          perf_events},
};

constexpr auto files = std::to_array<std::string_view>({
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/kernel/sched_autogroup_enabled",
    "/proc/sys/kernel/sched_min_granularity_ns",
    "/proc/sys/kernel/soft_watchdog",
    "/proc/sys/kernel/timer_migration",
    "/proc/sys/kernel/version",
    "/proc/sys/kernel/watchdog",
    "/proc/sys/kernel/watchdog_cpumask",
    "/proc/sys/vm/stat_interval",
    "/sys/kernel/debug/sched/*_ns",
    "/sys/kernel/debug/sched/preempt",
    "/sys/kernel/realtime",
    "/sys/kernel/tracing/current_tracer",
    "/sys/kernel/tracing/set_event",
    "/sys/kernel/tracing/tracing_on",
});

}  // namespace

Area scheduler_area() noexcept {
  static constexpr auto table = [] {
    std::array<Check, realtime_table.size() + background_table.size()> all{};
    std::ranges::copy(realtime_table, all.begin());
    std::ranges::copy(background_table, all.begin() + realtime_table.size());
    return all;
  }();
  return {table, files};
}

}  // namespace nfx::doctor
