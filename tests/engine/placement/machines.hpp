// Machines as values, for tests that must not depend on the machine they run on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nexusfix/placement/machine.hpp"

namespace nfx::machines {

struct Shape {
  int nodes = 1;
  int cores_per_node = 2;
  int threads_per_core = 1;
  int cores_per_cache = 0;         // 0: one cache per node
  bool siblings_adjacent = false;  // 0 and 1 are one core; otherwise siblings follow after all cores
};

// CPUs in the usual order: all cores' first hardware threads by node, then the second ones.
inline Topology make(const Shape& shape) {
  Topology t;
  t.source = "a test";
  const int cores = shape.nodes * shape.cores_per_node;
  const int per_cache = shape.cores_per_cache > 0 ? shape.cores_per_cache : shape.cores_per_node;
  t.online = t.allowed = CpuSet::range(0, cores * shape.threads_per_core - 1);
  for (int node = 0; node < shape.nodes; ++node) t.nodes.push_back({node, {}, std::uint64_t{64} << 30U});
  for (int i = 0; i < cores; ++i) {
    Core core;
    core.package = core.numa_node = i / shape.cores_per_node;
    const int in_node = i % shape.cores_per_node;
    const int caches_per_node = (shape.cores_per_node + per_cache - 1) / per_cache;
    core.cache = core.numa_node * caches_per_node + in_node / per_cache;
    for (int thread = 0; thread < shape.threads_per_core; ++thread) {
      core.cpus.insert(shape.siblings_adjacent ? i * shape.threads_per_core + thread : i + thread * cores);
    }
    while (static_cast<int>(t.caches.size()) <= core.cache) t.caches.push_back({{}, std::uint64_t{32} << 20U, 3});
    t.caches[static_cast<std::size_t>(core.cache)].cpus |= core.cpus;
    t.nodes[static_cast<std::size_t>(core.numa_node)].cpus |= core.cpus;
    t.cores.push_back(std::move(core));
  }
  return t;
}

inline Device nic(std::string name, std::string address, int node, const Topology& machine) {
  Device device;
  device.kind = DeviceKind::network;
  device.name = std::move(name);
  device.pci_address = std::move(address);
  device.numa_node = node;
  for (const NumaNode& each : machine.nodes) {
    if (each.number == node) device.local_cpus = each.cpus;
  }
  return device;
}

inline Topology one_cpu() { return make({.nodes = 1, .cores_per_node = 1}); }
inline Topology small_vm() { return make({.nodes = 1, .cores_per_node = 2}); }
inline Topology seed_28() { return make({.nodes = 1, .cores_per_node = 28}); }
inline Topology two_sockets() {
  Topology t = make({.nodes = 2, .cores_per_node = 8, .threads_per_core = 2});
  t.devices.push_back(nic("eth0", "0000:3b:00.0", 0, t));
  t.devices.push_back(nic("eth1", "0000:af:00.0", 1, t));
  return t;
}
// Chiplets: two sockets of 96 cores with two hardware threads, a last-level cache per eight cores.
inline Topology threads_384() {
  return make({.nodes = 2, .cores_per_node = 96, .threads_per_core = 2, .cores_per_cache = 8});
}
// Eight fast cores with SMT, eight slow ones without.
inline Topology hybrid() {
  Topology t = make({.nodes = 1, .cores_per_node = 24});
  t.cores.clear();
  for (int i = 0; i < 8; ++i) {
    t.cores.push_back({.cpus = {2 * i, 2 * i + 1}, .package = 0, .numa_node = 0, .cache = 0, .kind = 1});
  }
  for (int i = 16; i < 24; ++i) {
    t.cores.push_back({.cpus = {i}, .package = 0, .numa_node = 0, .cache = 0, .kind = 0});
  }
  return t;
}
// Like a p5.48xlarge: eight switches with one GPU and four NICs each, four switches per node, 96 cores with SMT.
inline Topology eight_groups() {
  Topology t = make({.nodes = 2, .cores_per_node = 48, .threads_per_core = 2});
  constexpr const char* bus[] = {"4f", "60", "71", "82", "93", "a4", "b5", "c6"};
  for (int group = 0; group < 8; ++group) {
    const int node = group / 4;
    const std::string on_bus = std::string{"0000:"} + bus[group];
    for (int i = 0; i < 5; ++i) {
      const bool gpu = i == 4;
      Device device = nic(gpu ? "cuda" + std::to_string(group) : "rdmap" + std::to_string(4 * group + i) + "s0",
                          on_bus + ":0" + std::to_string(i) + ".0", node, t);
      if (gpu) device.kind = DeviceKind::gpu;
      device.pci_switch = on_bus + ":00";
      t.devices.push_back(std::move(device));
    }
  }
  return t;
}

// A host with ordinary settings: nothing isolated, real-time threads throttled.
inline HostFacts plain_host(const Topology& topology) {
  HostFacts facts;
  facts.command_line = "root=/dev/vda1 ro";
  facts.kernel_release = "6.1.0-18-amd64";
  facts.kernel = {6, 1};
  facts.online = topology.online;
  facts.rt_runtime_us = 950'000;
  facts.rt_period_us = 1'000'000;
  return facts;
}

inline HostFacts isolating_host(const Topology& topology, const CpuSet& cpus) {
  HostFacts facts = plain_host(topology);
  facts.command_line = "isolcpus=" + cpus.to_list();
  facts.isolated = facts.isolcpus.cpus = facts.nohz_full = facts.rcu_nocbs = cpus;
  return facts;
}

inline Interrupt interrupt(int number, std::string action, int cpu) {
  return {.number = number,
          .actions = {std::move(action)},
          .device = "0000:3b:00.0",
          .allowed = {},
          .effective = CpuSet{cpu}};
}

// Anything that a broken or unusual machine may report.
inline Topology random_machine(std::mt19937_64& random) {
  const auto up_to = [&random](int most) { return static_cast<int>(random() % static_cast<std::uint64_t>(most + 1)); };
  Topology t = make({.nodes = 1 + up_to(3),
                     .cores_per_node = 1 + up_to(15),
                     .threads_per_core = 1 + up_to(1),
                     .cores_per_cache = up_to(4),
                     .siblings_adjacent = up_to(1) == 1});
  if (up_to(3) == 0) {
    for (const int cpu : t.online.members()) {
      if (up_to(5) != 0) continue;
      t.online.erase(cpu);
      t.offline.insert(cpu);
    }
    t.allowed = t.online;
  }
  if (up_to(3) == 0) {
    for (const int cpu : t.online.members()) {
      if (up_to(3) == 0) t.allowed.erase(cpu);
    }
  }
  if (up_to(7) == 0 && !t.cores.empty()) t.cores.erase(t.cores.begin() + up_to(static_cast<int>(t.cores.size()) - 1));
  if (up_to(7) == 0) t.nodes.clear();
  for (Core& core : t.cores) {
    if (up_to(15) == 0) core.cache = up_to(1) == 0 ? -1 : 999;
    if (up_to(15) == 0) core.numa_node = -1;
    if (up_to(3) == 0) core.kind = up_to(1);
  }
  const int devices = up_to(6);
  for (int i = 0; i < devices; ++i) {
    Device device = nic("eth" + std::to_string(i), "0000:0" + std::to_string(i) + ":00.0", up_to(4) - 1, t);
    if (up_to(2) == 0) device.kind = DeviceKind::gpu;
    if (up_to(1) == 0) device.pci_switch = "switch" + std::to_string(up_to(2));
    device.usable = up_to(3) != 0;
    t.devices.push_back(std::move(device));
  }
  return t;
}

}  // namespace nfx::machines
