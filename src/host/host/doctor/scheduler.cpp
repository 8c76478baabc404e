// Checks of the scheduler, its watchdogs and its accounting.
#include <cerrno>
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

std::string assigned(std::string_view name, long long value) {
  return std::string{name} + " = " + std::to_string(value);
}

}  // namespace

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

}  // namespace nfx::doctor::look
