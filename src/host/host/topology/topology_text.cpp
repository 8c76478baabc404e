// A topology for a terminal.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "host/topology_print.hpp"
#include "placement/numbers.hpp"

namespace nfx {
namespace {

std::string count(std::size_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + ' ' + std::string{number == 1 ? one : many};
}

// "53:00.0": omits the domain 0000, as lspci does.
std::string short_address(const Device& device) {
  const std::string& address = device.pci_address;
  return address.starts_with("0000:") ? address.substr(5) : address;
}

CpuSet set_of(const std::vector<int>& cpus) {
  CpuSet set;
  for (const int cpu : cpus) set.insert(cpu);
  return set;
}

// "CPU 0-11", with the first number padded to two characters, as in AWS's published table of p5.48xlarge.
std::string cpu_range(const std::vector<int>& cpus) {
  if (cpus.empty()) return "CPU none";
  const bool whole = cpus.back() - cpus.front() + 1 == static_cast<int>(cpus.size());
  if (!whole) return "CPU " + set_of(cpus).to_list();
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "CPU%2d-%d", cpus.front(), cpus.back());
  return text.data();
}

std::string with_address(std::string name, const Device& device, std::size_t width) {
  if (device.pci_address.empty()) return name;
  if (name.size() < width) name.resize(width, ' ');
  return name + '(' + short_address(device) + ')';
}

class Groups {
 public:
  explicit Groups(const Topology& topology) : topology_(topology), groups_(group_devices(topology)) {
    for (const DeviceGroup& group : groups_) {
      for (const std::size_t nic : group.nics) width_ = std::max(width_, topology.devices[nic].name.size());
    }
    int next = 0;
    for (std::size_t i = 0; i < topology.devices.size(); ++i) {
      if (topology.devices[i].kind == DeviceKind::gpu) gpu_numbers_[i] = next++;
    }
  }

  [[nodiscard]] bool empty() const { return groups_.empty(); }

  [[nodiscard]] std::string table() const {
    std::string out = "PCIe Topology:\n";
    for (const DeviceGroup& group : groups_) out += line(group) + '\n';
    return out;
  }

  // Cores that belong to no group.
  [[nodiscard]] CpuSet left_over() const {
    CpuSet left;
    for (const Core& core : topology_.cores) left |= core.cpus & topology_.allowed;
    for (const DeviceGroup& group : groups_) {
      for (const int cpu : group.cpus) left -= topology_.core_of(cpu)->cpus;
    }
    return left;
  }

 private:
  [[nodiscard]] std::string line(const DeviceGroup& group) const {
    std::string out = " ";
    for (const std::size_t gpu : group.gpus) {
      const Device& device = topology_.devices[gpu];
      const std::string_view what = device.name.starts_with("cuda") ? "cuda:" : "gpu:";
      out += ' ' + with_address(std::string{what} + std::to_string(gpu_numbers_.at(gpu)), device, 0);
    }
    if (group.gpus.empty() && group.domain.find(':') != std::string::npos) out += " switch(" + group.domain + ')';
    out += group.numa_node < 0 ? " NUMA?" : " NUMA" + std::to_string(group.numa_node);
    out += ' ' + cpu_range(group.cpus);
    for (const std::size_t nic : group.nics) {
      out += ' ' + with_address(topology_.devices[nic].name, topology_.devices[nic], width_);
    }
    return out;
  }

  const Topology& topology_;
  std::vector<DeviceGroup> groups_;
  std::map<std::size_t, int> gpu_numbers_;
  std::size_t width_ = 10;
};

std::string bytes(std::uint64_t size) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(size);
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), value < 10 && unit > 0 && size % 1024 != 0 ? "%.1f %s" : "%.0f %s", value,
                units[unit]);
  return text.data();
}

// "0,2,...,190" for every second CPU, because many machines number sockets or siblings alternately.
std::string short_list(const CpuSet& cpus) {
  const std::vector<int> members = cpus.members();
  if (members.size() < 5) return cpus.to_list();
  const int step = members[1] - members[0];
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (step < 2 || members[i] - members[i - 1] != step) return cpus.to_list();
  }
  return std::to_string(members[0]) + ',' + std::to_string(members[1]) + ",...," + std::to_string(members.back());
}

// The first threads of cores and their siblings: "cores on CPUs 0-7, siblings 96-103".
std::string describe_cores(const Topology& topology, const CpuSet& cpus) {
  CpuSet first, siblings;
  std::map<int, CpuSet> kinds;
  std::size_t cores = 0;
  for (const Core& core : topology.cores) {
    if (!cpus.contains(core.cpus.first())) continue;
    ++cores;
    first.insert(core.cpus.first());
    siblings |= core.cpus - CpuSet{core.cpus.first()};
    if (core.kind >= 0) kinds[core.kind] |= core.cpus;
  }
  std::string out = count(cores, "core", "cores") + " on CPU " + short_list(first);
  if (!siblings.empty()) out += ", siblings " + short_list(siblings);
  if (kinds.size() > 1) {
    for (const auto& [kind, members] : kinds) out += ", kind " + std::to_string(kind) + ": " + short_list(members);
  } else if (kinds.size() == 1) {
    out += ", kind " + std::to_string(kinds.begin()->first);
  }
  return out;
}

// The cores of one package and one node, which are printed together.
struct Block {
  int package = -1;
  int node = -1;
  CpuSet cpus;
};

std::vector<Block> blocks_of(const Topology& topology) {
  std::map<std::pair<int, int>, CpuSet> cpus;
  for (const Core& core : topology.cores) cpus[{core.package, core.numa_node}] |= core.cpus;
  std::vector<Block> blocks;
  for (const auto& [key, set] : cpus) blocks.push_back({.package = key.first, .node = key.second, .cpus = set});
  return blocks;
}

void print_caches(std::string& out, const Topology& topology, const CpuSet& cpus) {
  std::map<std::pair<int, std::uint64_t>, std::size_t> alone;  // caches used by a single core
  for (const CacheDomain& cache : topology.caches) {
    if (!cache.cpus.intersects(cpus)) continue;
    const Core* core = topology.core_of(cache.cpus.first());
    if (core != nullptr && core->cpus.contains_all(cache.cpus)) {
      ++alone[{cache.level, cache.size_bytes}];
      continue;
    }
    out += "    L" + std::to_string(cache.level) + ' ' + bytes(cache.size_bytes) + ": " +
           describe_cores(topology, cache.cpus & cpus) + '\n';
  }
  for (const auto& [key, number] : alone) {
    out += "    L" + std::to_string(key.first) + ' ' + bytes(key.second) + ": one for each of " +
           count(number, "core", "cores") + '\n';
  }
}

void print_cores(std::string& out, const Topology& topology) {
  int package = -2;
  for (const Block& block : blocks_of(topology)) {
    if (block.package != package) {
      out += block.package < 0 ? "Package not known\n" : "Package " + std::to_string(block.package) + '\n';
    }
    package = block.package;
    const NumaNode* node = topology.node(block.node);
    out += block.node < 0 ? std::string{"  NUMA node not known"} : "  NUMA node " + std::to_string(block.node);
    if (node != nullptr && node->memory_bytes > 0) out += ", " + bytes(node->memory_bytes);
    out += ": " + describe_cores(topology, block.cpus) + '\n';
    print_caches(out, topology, block.cpus);
  }
  for (const NumaNode& node : topology.nodes) {
    if (node.cpus.empty()) {
      out += "NUMA node " + std::to_string(node.number) + ", " + bytes(node.memory_bytes) + ": memory only\n";
    }
  }
}

// "rdmap79s0 (4f:00.0, 100 Gb/s)"
std::string describe_device(const Device& device) {
  std::string out = device.name;
  std::string inside = device.name == device.pci_address ? std::string{} : short_address(device);
  for (const std::string& name : device.other_names) inside += (inside.empty() ? "" : ", ") + name;
  if (device.link_megabits_per_s > 0) {
    const std::uint64_t speed = device.link_megabits_per_s;
    const bool giga = speed % 1000 == 0;
    inside += (inside.empty() ? "" : ", ") + std::to_string(giga ? speed / 1000 : speed) + (giga ? " Gb/s" : " Mb/s");
  }
  return inside.empty() ? out : out + " (" + inside + ')';
}

void print_devices(std::string& out, const Topology& topology) {
  if (topology.devices.empty()) {
    out += "Devices: none are known\n";
    return;
  }
  out += "Devices by PCIe switch or NUMA node\n";
  std::map<std::tuple<bool, int, std::string>, std::vector<const Device*>> domains;
  for (const Device& device : topology.devices) {
    domains[{device.numa_node < 0, device.numa_node, device.pci_switch}].push_back(&device);
  }
  for (const auto& [key, devices] : domains) {
    const auto& [homeless, node, bridge] = key;
    out += homeless ? std::string{"  NUMA node not known"} : "  NUMA node " + std::to_string(node);
    out += bridge.empty() ? "\n" : ", switch " + bridge + '\n';
    for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::network, DeviceKind::storage, DeviceKind::other}) {
      std::string names;
      std::size_t dead = 0;
      for (const Device* device : devices) {
        if (device->kind != kind) continue;
        if (!device->usable) ++dead;
        if (device->usable) names += (names.empty() ? "" : ", ") + describe_device(*device);
      }
      if (dead > 0) names += (names.empty() ? "" : ", ") + std::to_string(dead) + " not usable";
      if (!names.empty()) out += "    " + std::string{to_string(kind)} + ": " + one_line(names) + '\n';
    }
  }
}

void print_groups(std::string& out, const Topology& topology) {
  const Groups groups{topology};
  out += "Groups\n";
  if (groups.empty()) {
    out += "  none: " + groups_to_text(topology);
    return;
  }
  const std::string table = groups.table();
  out += table.substr(table.find('\n') + 1);
  if (const CpuSet left = groups.left_over(); !left.empty()) out += "  in no group: CPU " + left.to_list() + '\n';
}

void print_plan(std::string& out, const PlacementPlan& plan) {
  out += "Plan " + plan.hash + '\n';
  out += "  isolated: CPU " + (plan.isolated_cpus.empty() ? "none" : plan.isolated_cpus.to_list()) + '\n';
  out += "  housekeeping: CPU " + (plan.housekeeping.empty() ? "none" : plan.housekeeping.to_list()) + '\n';
  std::size_t width = 0;
  for (const ThreadPlacement& thread : plan.threads) width = std::max(width, thread.name.size());
  for (const ThreadPlacement& thread : plan.threads) {
    std::string name = thread.name;
    name.resize(width, ' ');
    out += "  " + name + "  " + (thread.wait == ThreadWait::spin ? "busy-polls" : "blocks") + " on CPU " +
           thread.cpus.to_list();
    if (thread.priority > 0) out += ", SCHED_FIFO " + std::to_string(thread.priority);
    out += '\n';
  }
  for (const PlanFinding& finding : plan.findings) {
    out += finding.severity == Severity::refusal ? "  refused, " : "  ";
    out += finding.id + ": " + finding.text + '\n';
  }
}

}  // namespace

std::string groups_to_text(const Topology& topology) {
  const Groups groups{topology};
  if (groups.empty()) return "This machine has no GPU and no network device that is usable, so there are no groups.\n";
  return groups.table();
}

std::string to_text(const Topology& topology, const PlacementPlan* plan) {
  std::string out = topology.source;
  if (!topology.machine.empty()) out += ": " + topology.machine;
  out += '\n';
  if (!topology.cpu_model.empty()) out += one_line(topology.cpu_model) + '\n';
  CpuSet packages;
  for (const Core& core : topology.cores) packages.insert(core.package);
  out += count(topology.online.size(), "CPU", "CPUs") + " in " + count(topology.cores.size(), "core", "cores") + ", " +
         count(packages.size(), "package", "packages") + ", " + count(topology.nodes.size(), "NUMA node", "NUMA nodes");
  if (!topology.offline.empty()) out += ", offline: " + topology.offline.to_list();
  if (topology.allowed != topology.online) out += ", allowed: " + topology.allowed.to_list();
  out += '\n';
  print_cores(out, topology);
  print_devices(out, topology);
  print_groups(out, topology);
  if (plan != nullptr) print_plan(out, *plan);
  if (!topology.notes.empty()) out += "Notes\n";
  for (const std::string& note : topology.notes) out += "  " + note + '\n';
  return out;
}

}  // namespace nfx
