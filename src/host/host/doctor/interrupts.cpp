// Checks of interrupt affinities and of the services that change them.
#include <algorithm>
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

std::string name_of(const Interrupt& interrupt) {
  std::string name = std::to_string(interrupt.number);
  if (!interrupt.actions.empty()) name += " (" + join(interrupt.actions, 2) + ')';
  return name;
}

}  // namespace

void default_affinity(const Examination& e, Report& report) {
  const auto mask = report.mask(e, "/proc/irq/default_smp_affinity");
  if (!mask || !report.set_apart(e)) return;
  const CpuSet shared = *mask & e.isolated_cpus & e.facts.online;
  if (shared.empty()) return report.good("interrupts that come later go to " + mask->to_list());
  report.warning("interrupts that come later may go to " + shared.to_list(),
                 "a mask without " + e.isolated_cpus.to_list());
}

namespace {

// The kernel does not show the masks of managed interrupts; see managed().
bool handled(const Interrupt& interrupt) { return !interrupt.actions.empty(); }

}  // namespace

void affinity(const Examination& e, Report& report) {
  if (e.facts.interrupts.empty()) return report.not_here("no interrupts are described");
  if (!report.set_apart(e)) return;
  std::vector<std::string> near;
  for (const Interrupt& interrupt : e.facts.interrupts) {
    if (handled(interrupt) && interrupt.allowed && (*interrupt.allowed & e.facts.online).intersects(e.isolated_cpus))
      near.push_back(name_of(interrupt));
  }
  if (near.empty()) return report.good("no interrupt may go to " + e.isolated_cpus.to_list());
  report.warning(std::to_string(near.size()) + " may go to " + e.isolated_cpus.to_list() + ": " + join(near),
                 "masks without " + e.isolated_cpus.to_list());
}

void effective_affinity(const Examination& e, Report& report) {
  bool known = false;
  std::vector<std::string> there;
  for (const Interrupt& interrupt : e.facts.interrupts) {
    if (!interrupt.effective) continue;
    known = true;
    // `pending` reports an interrupt that will move when it next fires.
    const bool leaving = interrupt.allowed && !interrupt.allowed->intersects(e.isolated_cpus);
    if (handled(interrupt) && !leaving && interrupt.effective->intersects(e.isolated_cpus))
      there.push_back(name_of(interrupt) + " on " + interrupt.effective->to_list());
  }
  if (!known) return report.not_here("the kernel does not show where interrupts go");
  if (!report.set_apart(e)) return;
  if (there.empty()) return report.good("no interrupt goes to " + e.isolated_cpus.to_list());
  report.failure(std::to_string(there.size()) + " go to " + e.isolated_cpus.to_list() + ": " + join(there),
                 "all of them elsewhere");
}

void pending(const Examination& e, Report& report) {
  if (e.facts.interrupts.empty()) return report.not_here("no interrupts are described");
  std::vector<std::string> late;
  for (const Interrupt& interrupt : e.facts.interrupts) {
    if (!handled(interrupt) || !interrupt.allowed || !interrupt.effective || interrupt.effective->empty()) continue;
    if (!interrupt.allowed->contains_all(*interrupt.effective))
      late.push_back(name_of(interrupt) + " from " + interrupt.effective->to_list() + " to " +
                     interrupt.allowed->to_list());
  }
  if (late.empty()) return report.good("every interrupt goes to a CPU of its mask");
  report.info("to move with their next interrupt: " + join(late));
}

void managed(const Examination& e, Report& report) {
  if (e.facts.interrupts.empty()) return report.not_here("no interrupts are described");
  if (!report.set_apart(e)) return;
  const auto& flags = e.facts.isolcpus.flags;
  const bool kept_off =
      std::ranges::find(flags, "managed_irq") != flags.end() && e.facts.isolcpus.cpus.contains_all(e.isolated_cpus);
  std::vector<std::string> there, perhaps;
  bool looked = false;
  for (const Interrupt& interrupt : e.facts.interrupts) {
    const CpuSet where = interrupt.effective && !interrupt.effective->empty() ? *interrupt.effective
                                                                              : interrupt.allowed.value_or(CpuSet{});
    const auto text = e.files.text("/sys/kernel/debug/irq/irqs/" + std::to_string(interrupt.number));
    looked = looked || text.has_value();
    const bool close = where.intersects(e.isolated_cpus);
    if (text && text->contains("IRQD_AFFINITY_MANAGED") && close) there.push_back(name_of(interrupt));
    const bool queue = std::ranges::any_of(interrupt.actions, [](const std::string& action) {
      return action.starts_with("nvme") && action.contains('q');
    });
    // The first queue of a controller is its admin queue, which is not managed.
    const bool first = std::ranges::any_of(interrupt.actions, [](const std::string& a) { return a.ends_with("q0"); });
    if (!text && queue && !first && close) perhaps.push_back(name_of(interrupt));
  }
  if (!there.empty()) {
    const std::string seen = join(there) + " on " + e.isolated_cpus.to_list() + ", and refuse to be moved";
    return kept_off ? report.info(seen + "; managed_irq keeps them there only for work from these CPUs")
                    : report.warning(seen, "isolcpus=managed_irq,... at boot");
  }
  if (!perhaps.empty()) {
    return kept_off ? report.info(join(perhaps) + ": storage queues on " + e.isolated_cpus.to_list() +
                                  " despite managed_irq")
                    : report.warning(join(perhaps) + " by their names; they refuse to be moved",
                                     "isolcpus=managed_irq,... at boot");
  }
  if (looked) return report.good("no managed interrupt on " + e.isolated_cpus.to_list());
  if (kept_off) return report.good("isolcpus=managed_irq keeps them off " + e.isolated_cpus.to_list());
  report.cannot_tell("cannot read /sys/kernel/debug/irq, the only place that shows the managed interrupts");
}

namespace {

// irqbalance's settings: the distribution's file, with lines "NAME=value", with or without quotes and export.
std::optional<std::string> irqbalance_setting(const Examination& e, std::string_view name) {
  for (const char* file : {"/etc/default/irqbalance", "/etc/sysconfig/irqbalance"}) {
    const auto text = e.files.text(file);
    if (!text) continue;
    for (const std::string& line : split(*text, '\n')) {
      std::string_view rest = line;
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      if (rest.starts_with("export ")) rest.remove_prefix(7);
      if (!rest.starts_with(name) || rest.size() <= name.size() || rest[name.size()] != '=') continue;
      std::string value{rest.substr(name.size() + 1)};
      std::erase(value, '"');
      return value;
    }
  }
  return std::nullopt;
}

std::string irqbalance_arguments(const Examination& e) {
  return irqbalance_setting(e, "IRQBALANCE_ARGS").value_or("") + ' ' + irqbalance_setting(e, "OPTIONS").value_or("");
}

}  // namespace

void irqbalance(const Examination& e, Report& report) {
  if (e.tasks.empty()) return report.not_here("no tasks are described");
  if (e.process("irqbalance") == nullptr) return report.good("does not run");
  if (!report.set_apart(e)) return;
  const auto list = irqbalance_setting(e, "IRQBALANCE_BANNED_CPULIST");
  const auto mask = irqbalance_setting(e, "IRQBALANCE_BANNED_CPUS");
  CpuSet banned;
  std::string seen;
  if (list && !list->empty()) {
    banned = CpuSet::parse_list(*list).value_or(CpuSet{});
    seen = "runs, banned from " + *list;
  } else if (mask && !mask->empty()) {
    banned = CpuSet::parse_mask(*mask).value_or(CpuSet{});
    seen = "runs, banned from " + banned.to_list();
  } else {
    banned = e.facts.isolated | e.facts.nohz_full;
    seen = "runs, and leaves out isolated and tickless CPUs by itself: " + (banned.empty() ? "none" : banned.to_list());
  }
  const CpuSet open = e.isolated_cpus - banned;
  if (open.empty()) return report.good(seen);
  report.failure(seen, "IRQBALANCE_BANNED_CPULIST=" + e.isolated_cpus.to_list());
}

void irqbalance_by_number(const Examination& e, Report& report) {
  const bool configured = e.files.exists("/etc/default/irqbalance") || e.files.exists("/etc/sysconfig/irqbalance");
  if (!configured) return report.not_here("no settings of irqbalance");
  const std::string arguments = irqbalance_arguments(e);
  if (arguments.contains("--banirq") || (' ' + arguments).contains(" -i "))
    return report.warning("interrupts are banned by number:" + arguments, "IRQBALANCE_BANNED_CPULIST instead");
  report.good("no interrupt is named by its number");
}

void machine_check_poll(const Examination& e, Report& report) {
  const std::string base = "/sys/devices/system/machinecheck/";
  CpuSet polled;
  bool seen = false;
  for (const std::string& cpu : e.files.list(base)) {
    const auto interval = e.files.integer(base + cpu + "/check_interval");
    if (!interval || !cpu.starts_with("machinecheck")) continue;
    seen = true;
    if (*interval != 0) polled.insert(static_cast<int>(number(cpu.substr(12)).value_or(-1)));
  }
  if (!seen) return report.not_here("no " + base);
  const CpuSet shared = e.isolated_cpus.empty() ? polled : polled & e.isolated_cpus;
  if (shared.empty()) return report.good("corrected errors are not polled for");
  if (e.isolated_cpus.empty()) return report.info("corrected errors are polled for on " + shared.to_list());
  report.warning("corrected errors are polled for on " + shared.to_list(), "check_interval 0");
}

void nic_node(const Examination& e, const NetworkDevice& device, Report& report) {
  if (device.numa_node < 0) {
    report.info("does not state its NUMA node", device.name);
    return;
  }
  const NumaNode* const local = e.input.topology.node(device.numa_node);
  if (local == nullptr) {
    report.not_here("the CPUs of node " + std::to_string(device.numa_node) + " are not described", device.name);
    return;
  }
  std::vector<std::string> far;
  for (const Interrupt& interrupt : e.facts.interrupts) {
    if (interrupt.device.empty() || interrupt.device != device.pci_address || !interrupt.effective) continue;
    if (!interrupt.effective->empty() && !local->cpus.intersects(*interrupt.effective))
      far.push_back(name_of(interrupt) + " on " + interrupt.effective->to_list());
  }
  const std::string node = "node " + std::to_string(device.numa_node);
  if (far.empty()) {
    report.good("interrupts stay on " + node, device.name);
  } else {
    report.warning("on " + node + ", but its interrupts go to other nodes: " + join(far), "CPUs of " + node,
                   device.name);
  }
}

}  // namespace nfx::doctor::look
