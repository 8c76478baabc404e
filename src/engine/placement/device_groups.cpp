// Groups GPUs and network devices by locality, and assigns cores to each group.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "nexusfix/placement/machine.hpp"

namespace nfx {
namespace {

std::string domain_of(const Device& device) {
  if (!device.pci_switch.empty()) return device.pci_switch;
  if (device.numa_node >= 0) return "NUMA node " + std::to_string(device.numa_node);
  return "unknown";
}

// By NUMA node: the first hardware thread of each usable core, ascending.
std::map<int, std::vector<int>> cores_by_node(const Topology& topology) {
  std::map<int, std::vector<int>> cores;
  for (const Core& core : topology.cores) {
    const CpuSet usable = core.cpus & topology.allowed;
    if (!usable.empty()) cores[core.numa_node].push_back(usable.first());
  }
  for (auto& [node, cpus] : cores) std::ranges::sort(cpus);
  return cores;
}

// Divides the cores evenly among the groups, in order. If there are more groups than cores, the first groups get one
// each.
void share(const std::vector<int>& cores, const std::vector<DeviceGroup*>& groups) {
  const std::size_t each = cores.size() / groups.size();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (each == 0) {
      if (i < cores.size()) groups[i]->cpus = {cores[i]};
      continue;
    }
    const auto from = cores.begin() + static_cast<std::ptrdiff_t>(i * each);
    groups[i]->cpus.assign(from, from + static_cast<std::ptrdiff_t>(each));
  }
}

void share_cores(const Topology& topology, std::vector<DeviceGroup>& groups) {
  std::map<int, std::vector<int>> cores = cores_by_node(topology);
  std::map<int, std::vector<DeviceGroup*>> by_node;
  std::vector<DeviceGroup*> homeless;
  for (DeviceGroup& group : groups) {
    if (cores.contains(group.numa_node) && group.numa_node >= 0) {
      by_node[group.numa_node].push_back(&group);
    } else {
      homeless.push_back(&group);
    }
  }
  for (const auto& [node, members] : by_node) {
    share(cores[node], members);
    cores.erase(node);
  }
  if (homeless.empty()) return;
  // The location of these groups is unknown, or their node has no core. They share the nodes that no other group uses.
  std::vector<int> rest;
  for (const auto& [node, cpus] : cores) rest.insert(rest.end(), cpus.begin(), cpus.end());
  std::ranges::sort(rest);
  share(rest, homeless);
}

std::size_t first_device(const DeviceGroup& group) {
  return group.gpus.empty() ? group.nics.front() : group.gpus.front();
}

}  // namespace

std::vector<DeviceGroup> group_devices(const Topology& topology) {
  std::vector<DeviceGroup> groups;
  std::map<std::string, std::size_t> by_domain;
  for (std::size_t i = 0; i < topology.devices.size(); ++i) {
    const Device& device = topology.devices[i];
    const bool gpu = device.kind == DeviceKind::gpu, nic = device.kind == DeviceKind::network;
    if (!device.usable || (!gpu && !nic)) continue;
    const auto [at, first] = by_domain.try_emplace(domain_of(device), groups.size());
    if (first) groups.push_back({.domain = at->first, .numa_node = -1, .gpus = {}, .nics = {}, .cpus = {}});
    DeviceGroup& group = groups[at->second];
    if (group.numa_node < 0) group.numa_node = device.numa_node;
    (gpu ? group.gpus : group.nics).push_back(i);
  }
  std::ranges::sort(groups, {}, [](const DeviceGroup& group) {
    return std::tuple{group.numa_node < 0, group.numa_node, first_device(group)};
  });
  share_cores(topology, groups);
  return groups;
}

}  // namespace nfx
