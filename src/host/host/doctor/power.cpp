// Checks of frequencies, idle states and clocks.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

const std::string cpu_base = "/sys/devices/system/cpu/";
const std::string policy_base = "/sys/devices/system/cpu/cpufreq/";

std::vector<std::string> policies(const Examination& e) {
  std::vector<std::string> names = e.files.list(policy_base);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("policy"); });
  return names;
}

CpuSet policy_cpus(const Examination& e, const std::string& policy) {
  const auto text = e.files.text(policy_base + policy + "/affected_cpus");
  CpuSet set;
  if (text) {
    for (const std::string& word : split(*text, ' ')) set.insert(static_cast<int>(number(word).value_or(-1)));
  }
  if (set.empty()) set.insert(static_cast<int>(number(std::string_view{policy}.substr(6)).value_or(-1)));
  return set;
}

// Checks one setting of every policy; all must be "performance".
void every_policy(const Examination& e, Report& report, const char* file, CheckResult on_isolated) {
  std::vector<std::string> differ;
  bool seen = false, isolated = false;
  for (const std::string& policy : policies(e)) {
    const auto value = e.files.text(policy_base + policy + file);
    if (!value) continue;
    seen = true;
    if (*value == "performance") continue;
    const CpuSet cpus = policy_cpus(e, policy);
    differ.push_back(policy + ' ' + *value + " (CPUs " + cpus.to_list() + ')');
    isolated = isolated || cpus.intersects(e.isolated_cpus);
  }
  if (!seen) return report.not_here("no policy in " + policy_base + " has it");
  if (differ.empty()) return report.good("performance on every policy");
  report.add(isolated ? on_isolated : CheckResult::warning, join(differ, 16), "performance on every policy");
}

}  // namespace

void governor(const Examination& e, Report& report) {
  every_policy(e, report, "/scaling_governor", CheckResult::failure);
}

void energy_preference(const Examination& e, Report& report) {
  every_policy(e, report, "/energy_performance_preference", CheckResult::warning);
}

void idle_states(const Examination& e, Report& report) {
  constexpr long long enough_us = 10;
  std::map<std::string, CpuSet> deep;
  bool seen = false;
  const CpuSet checked = e.isolated_cpus.empty() ? e.facts.online : e.isolated_cpus & e.facts.online;
  for (const int cpu : checked.members()) {
    const std::string base = cpu_base + "cpu" + std::to_string(cpu) + "/cpuidle/";
    for (const std::string& state : e.files.list(base)) {
      const auto latency = e.files.integer(base + state + "/latency");
      if (!latency) continue;
      seen = true;
      if (*latency <= enough_us || e.files.integer(base + state + "/disable").value_or(0) != 0) continue;
      deep[e.files.text(base + state + "/name").value_or(state) + ' ' + std::to_string(*latency) + " us"].insert(cpu);
    }
  }
  if (!seen) return report.not_here("no idle states are described");
  if (deep.empty()) return report.good("none takes more than 10 us to leave");
  std::vector<std::string> words;
  for (const auto& [state, cpus] : deep) words.push_back(state + " on " + cpus.to_list());
  const auto limit = e.files.files().read("/dev/cpu_dma_latency");
  std::int32_t held = -1;
  if (limit && limit->size() == sizeof held) std::memcpy(&held, limit->data(), sizeof held);
  if (held >= 0 && held <= enough_us)
    return report.good(join(words) + "; held off by a request for " + std::to_string(held) + " us");
  report.warning(join(words), "idle states that take more than 10 us disabled");
}

void cpu_dma_latency(const Examination& e, Report& report) {
  const auto readable = e.files.text("/dev/cpu_dma_latency");
  if (!readable) return report.missing("/dev/cpu_dma_latency", readable.error());
  const auto raw = e.files.files().read("/dev/cpu_dma_latency");
  std::int32_t held = 0;
  if (!raw || raw->size() != sizeof held) return report.cannot_tell("/dev/cpu_dma_latency does not hold four bytes");
  std::memcpy(&held, raw->data(), sizeof held);
  if (held >= 2000000000) return report.info("no program requests a limit");
  report.info("a program requests at most " + std::to_string(held) + " us to leave idle");
}

void max_cstate(const Examination& e, Report& report) {
  if (e.facts.command_line.empty()) return report.not_here("no kernel command line");
  std::vector<std::string> seen;
  for (const char* name :
       {"intel_idle.max_cstate", "processor.max_cstate", "idle", "cpuidle.off", "intel_pstate", "amd_pstate"}) {
    if (const auto value = e.parameter(name)) seen.push_back(std::string{name} + '=' + *value);
  }
  if (const auto driver = e.files.text(cpu_base + "cpuidle/current_driver")) seen.push_back("driver " + *driver);
  report.info(seen.empty() ? "nothing about idle on the kernel command line" : join(seen));
}

void turbo(const Examination& e, Report& report) {
  if (const auto off = e.files.integer(cpu_base + "intel_pstate/no_turbo"))
    return report.info(*off == 0 ? "on" : "off");
  if (const auto boost = e.files.integer(cpu_base + "cpufreq/boost")) return report.info(*boost != 0 ? "on" : "off");
  report.not_here("the kernel does not show it");
}

void smt(const Examination& e, Report& report) {
  const auto control = e.files.text(cpu_base + "smt/control");
  if (!e.facts.smt_active) return report.not_here("the kernel does not show it");
  if (!*e.facts.smt_active) return report.good("off" + (control ? ", control " + *control : ""));
  report.info("on: see isolation.smt_siblings");
}

void clocksource(const Examination& e, Report& report) {
  const auto now = report.text(e, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!now) return;
  constexpr std::array fast{
      "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "riscv_clocksource", "tod"};
  if (*now == "tsc" || *now == "arch_sys_counter") return report.good(*now);
  if (std::ranges::find(fast, *now) != fast.end())
    return report.info(*now + ": read without a system call, but through a page of the hypervisor's");
  const auto others = e.files.text("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  report.failure(*now + (others ? "; available: " + *others : ""), "tsc");
}

void tsc(const Examination& e, Report& report) {
  const auto cpus = report.text(e, "/proc/cpuinfo");
  if (!cpus) return;
  const auto flags = line_value(*cpus, "flags");
  if (!flags) return report.not_here("a processor without these flags");
  const auto has = [&](std::string_view flag) { return (' ' + *flags + ' ').contains(' ' + std::string{flag} + ' '); };
  std::vector<std::string> missing;
  for (const char* flag : {"constant_tsc", "nonstop_tsc"}) {
    if (!has(flag)) missing.emplace_back(flag);
  }
  if (missing.empty()) return report.good("constant_tsc, nonstop_tsc");
  report.warning("without " + join(missing), "constant_tsc, nonstop_tsc");
}

void tsc_watchdog(const Examination& e, Report& report) {
  const auto cpus = e.files.text("/proc/cpuinfo");
  const auto flags = cpus ? line_value(*cpus, "flags") : std::nullopt;
  if (!flags) return report.not_here("a processor without a TSC");
  const std::string value = e.parameter("tsc").value_or("");
  if (value == "reliable" || value == "nowatchdog") return report.good("tsc=" + value);
  if ((' ' + *flags + ' ').contains(" tsc_reliable ")) return report.good("tsc_reliable");
  report.info("the kernel may compare the TSC with another clock twice a second, on one CPU after the other");
}

void clock_sync(const Examination& e, Report& report) {
  if (e.tasks.empty()) return report.not_here("no tasks are described");
  std::vector<std::string> running;
  for (const char* name : {"chronyd", "ntpd", "ptp4l", "phc2sys", "timemaster", "sfptpd", "openntpd", "ptpd"}) {
    if (e.process(name) != nullptr) running.emplace_back(name);
  }
  if (!running.empty()) return report.good(join(running));
  // The kernel limits a task's name to 15 characters.
  if (e.process("systemd-timesyn") != nullptr)
    return report.info("systemd-timesyncd: right to some milliseconds, no more");
  report.warning("nothing that disciplines the clock runs here", "chronyd, or ptp4l with phc2sys");
}

}  // namespace nfx::doctor::look
