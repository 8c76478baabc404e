// The topology indexed by CPU number, and texts that all parts of the planner use.
#include <algorithm>
#include <utility>

#include "placement/planner.hpp"

namespace nfx::planning {
namespace {

int network_node_of(const Machine& machine) {
  int found = -1;
  for (const Device& device : machine.topology.devices) {
    if (device.kind != DeviceKind::network || !device.usable || device.name == "lo") continue;
    if (device.numa_node < 0 || machine.node_cpus(device.numa_node).empty()) continue;
    if (found >= 0 && found != device.numa_node) return -1;
    found = device.numa_node;
  }
  return found;
}

}  // namespace

Machine::Machine(const Topology& from)
    : topology(from),
      online(from.online),
      available(from.allowed.empty() ? from.online : from.online & from.allowed),
      cpus(static_cast<std::size_t>(from.online.last() + 1)) {
  const auto place = [this](int cpu) -> CpuPlace& { return cpus[static_cast<std::size_t>(cpu)]; };
  std::vector<std::pair<CpuSet, const Core*>> units;
  CpuSet seen;
  for (const Core& core : from.cores) {
    CpuSet threads = (core.cpus & online) - seen;
    seen |= threads;
    if (!threads.empty()) units.emplace_back(std::move(threads), &core);
  }
  // A CPU without a core in the topology counts as a core of its own.
  for (const int cpu : (online - seen).members()) units.emplace_back(CpuSet{cpu}, nullptr);
  std::ranges::sort(units, {}, [](const auto& unit) { return unit.first.first(); });
  for (const auto& [threads, core] : units) {
    const int first = (threads & available).first();
    for (const int cpu : threads.members()) {
      place(cpu).core = static_cast<int>(cores.size());
      place(cpu).first = cpu == first;
      if (core == nullptr) continue;
      place(cpu).node = core->numa_node;
      place(cpu).cache = core->cache;
      place(cpu).kind = core->kind;
      fastest_kind = std::max(fastest_kind, core->kind);
    }
    cores.push_back(threads);
  }
  for (const NumaNode& node : from.nodes) {
    for (const int cpu : (node.cpus & online).members()) {
      if (place(cpu).node < 0) place(cpu).node = node.number;
    }
  }
  network_node = network_node_of(*this);
}

const CpuPlace& Machine::at(int cpu) const noexcept {
  static constexpr CpuPlace nowhere;
  return cpu >= 0 && static_cast<std::size_t>(cpu) < cpus.size() ? cpus[static_cast<std::size_t>(cpu)] : nowhere;
}

CpuSet Machine::core_of(int cpu) const {
  const int core = at(cpu).core;
  return core < 0 ? CpuSet{} : cores[static_cast<std::size_t>(core)];
}

CpuSet Machine::siblings(int cpu) const {
  CpuSet others = core_of(cpu);
  others.erase(cpu);
  return others;
}

CpuSet Machine::node_cpus(int node) const {
  CpuSet found;
  if (node < 0) return found;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
    if (cpus[cpu].node == node) found.insert(static_cast<int>(cpu));
  }
  return found;
}

int Machine::node_of(const CpuSet& set) const {
  int node = -1;
  for (const int cpu : set.members()) {
    if (node >= 0 && at(cpu).node != node) return -1;
    node = at(cpu).node;
    if (node < 0) return -1;
  }
  return node;
}

CpuSet arrival(const Interrupt& interrupt) {
  if (interrupt.actions.empty()) return {};
  if (interrupt.effective) return *interrupt.effective;
  if (interrupt.allowed && interrupt.allowed->size() == 1) return *interrupt.allowed;
  return {};
}

std::string join(const std::vector<std::string>& names, std::size_t at_most) {
  std::string text;
  const std::size_t shown = names.size() <= at_most + 1 ? names.size() : at_most;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

std::string cpus_text(const CpuSet& cpus) {
  if (cpus.empty()) return "no CPU";
  return (cpus.size() == 1 ? "CPU " : "CPUs ") + cpus.to_list();
}

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string{what} + (count == 1 ? "" : "s");
}

std::string role_key(ThreadRole role, std::string_view key) {
  if (role == ThreadRole::poll && key == "threads") return "[engine] poll_threads";
  return "[placement." + std::string{to_string(role)} + "] " + std::string{key};
}

bool host_seen(const HostFacts& host) noexcept { return !host.command_line.empty() || !host.kernel_release.empty(); }

void add(PlacementPlan& plan, Severity severity, std::string_view id, std::string subject, std::string text,
         std::string fix) {
  plan.findings.push_back({severity, std::string{id}, std::move(subject), std::move(text), std::move(fix)});
}

}  // namespace nfx::planning
