// Checks of virtual machines, containers, and the kernel's mitigations of processor vulnerabilities.
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

std::string hypervisor_name(const Examination& e) {
  for (const char* file : {"/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"}) {
    const auto text = e.files.text(file);
    if (text && !text->empty()) return *text;
  }
  return "kind not known";
}

}  // namespace

void hypervisor(const Examination& e, Report& report) {
  if (!e.has_cpus) return report.not_here("no CPUs are described");
  if (!e.virtual_machine) return report.good("none is seen");
  report.info("virtual machine, " + hypervisor_name(e) + ", " + std::to_string(e.facts.online.size()) +
              " CPUs online: what the host does cannot be seen from here");
}

void vcpu_pinning(const Examination& e, Report& report) {
  if (!e.virtual_machine) return report.not_here("not a virtual machine");
  report.info("a guest cannot see where its CPUs run: each must have a host CPU of its own");
}

namespace {

struct Ticks {
  std::uint64_t all = 0;
  std::uint64_t steal = 0;
};

// "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"; user includes guest time.
Ticks ticks_of(const std::string& line) {
  const std::vector<std::string> words = split(line, ' ');
  Ticks ticks;
  for (std::size_t i = 1; i < words.size() && i <= 8; ++i) {
    const auto value = static_cast<std::uint64_t>(number(words[i]).value_or(0));
    ticks.all += value;
    if (i == 8) ticks.steal = value;
  }
  return ticks;
}

}  // namespace

void steal(const Examination& e, Report& report) {
  const auto text = report.text(e, "/proc/stat");
  if (!text) return;
  const CpuSet checked = e.isolated_cpus.empty() ? e.facts.online : e.isolated_cpus;
  Ticks worst;
  std::string where;
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    const std::string name = line.substr(0, line.find(' '));
    const Ticks ticks = ticks_of(line);
    if (ticks.all == 0 || !checked.contains(static_cast<int>(number(name.substr(3)).value_or(-1)))) continue;
    // In millionths, so that counters that ran for years do not overflow.
    const auto share = [](const Ticks& t) { return t.steal * 1000000 / t.all; };
    if (where.empty() || share(ticks) > share(worst)) {
      worst = ticks;
      where = name;
    }
  }
  if (where.empty()) return report.not_here("no counters for these CPUs");
  const std::string seen = "at most " + percent(worst.steal, worst.all) + " since the start, on " + where;
  if (worst.steal * 1000 <= worst.all) return report.good(seen);
  report.add(worst.steal * 100 > worst.all ? CheckResult::failure : CheckResult::warning, seen, "none");
}

void container(const Examination& e, Report& report) {
  if (!e.has_cpus) return report.not_here("no CPUs are described");
  for (const char* file : {"/.dockerenv", "/run/.containerenv"}) {
    if (e.files.exists(file))
      return report.info(std::string{file} + " is there: a container, which sees part of the host");
  }
  const auto group = e.files.text("/proc/1/cgroup");
  for (const char* word : {"docker", "kubepods", "lxc", "containerd"}) {
    if (group && group->contains(word)) return report.info("PID 1 is in a group of " + std::string{word});
  }
  report.good("none is seen");
}

void mitigations(const Examination& e, Report& report) {
  const std::string base = "/sys/devices/system/cpu/vulnerabilities/";
  std::vector<std::string> on;
  std::size_t all = 0;
  for (const std::string& name : e.files.list(base)) {
    const auto text = e.files.text(base + name);
    if (!text) continue;
    ++all;
    if (text->starts_with("Mitigation")) on.push_back(name);
  }
  if (all == 0) return report.not_here("no " + base);
  const std::string parameter = e.parameter("mitigations") ? "; mitigations=" + *e.parameter("mitigations") : "";
  report.info((on.empty() ? "none is active" : "active: " + join(on, 24)) + parameter);
}

}  // namespace nfx::doctor::look
