// Groups of devices and their cores.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "nexusfix/placement/machine.hpp"

namespace nfx {
namespace {

// `nodes` nodes with `cores` cores each, counted through.
Topology machine(int nodes, int cores) {
  Topology topology;
  topology.online = topology.allowed = CpuSet::range(0, nodes * cores - 1);
  for (int node = 0; node < nodes; ++node) {
    topology.nodes.push_back(
        {.number = node, .cpus = CpuSet::range(node * cores, (node + 1) * cores - 1), .memory_bytes = 1});
    for (int i = 0; i < cores; ++i) {
      topology.cores.push_back(
          {.cpus = {node * cores + i}, .package = node, .numa_node = node, .cache = -1, .kind = -1});
    }
  }
  return topology;
}

void add(Topology& topology, DeviceKind kind, const std::string& name, int node, const std::string& bridge = {}) {
  Device device;
  device.kind = kind;
  device.name = name;
  device.numa_node = node;
  device.pci_switch = bridge;
  topology.devices.push_back(std::move(device));
}

TEST(DeviceGroups, gpus_and_cards_behind_one_switch_are_a_group_with_a_share_of_their_node) {
  Topology topology = machine(2, 8);
  for (const char* bridge : {"0000:10:00.0", "0000:20:00.0"}) {
    add(topology, DeviceKind::gpu, "gpu", 1, bridge);
    add(topology, DeviceKind::gpu, "gpu", 1, bridge);
    for (int i = 0; i < 3; ++i) add(topology, DeviceKind::network, "nic", 1, bridge);
  }
  const auto groups = group_devices(topology);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].domain, "0000:10:00.0");
  EXPECT_EQ(groups[0].gpus.size(), 2U);
  EXPECT_EQ(groups[0].nics.size(), 3U);
  EXPECT_EQ(groups[0].cpus, (std::vector{8, 9, 10, 11}));
  EXPECT_EQ(groups[1].cpus, (std::vector{12, 13, 14, 15}));
}

TEST(DeviceGroups, what_does_not_divide_evenly_is_left_over) {
  Topology topology = machine(1, 8);
  for (const char* bridge : {"a", "b", "c"}) add(topology, DeviceKind::network, "nic", 0, bridge);
  const auto groups = group_devices(topology);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[2].cpus, (std::vector{4, 5}));
}

TEST(DeviceGroups, cards_without_switch_are_grouped_by_node) {
  Topology topology = machine(2, 2);
  add(topology, DeviceKind::network, "eth0", 0);
  add(topology, DeviceKind::network, "eth1", 1);
  add(topology, DeviceKind::network, "eth2", 0);
  const auto groups = group_devices(topology);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].domain, "NUMA node 0");
  EXPECT_EQ(groups[0].nics, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(groups[1].cpus, (std::vector{2, 3}));
}

TEST(DeviceGroups, devices_of_unknown_place_come_last_and_take_no_cores_of_others) {
  Topology topology = machine(2, 2);
  add(topology, DeviceKind::network, "eth0", -1);
  add(topology, DeviceKind::network, "eth1", 0);
  const auto groups = group_devices(topology);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].domain, "unknown");
  EXPECT_EQ(groups[1].numa_node, -1);
  EXPECT_EQ(groups[1].cpus, (std::vector{2, 3}));
}

TEST(DeviceGroups, a_node_without_cores_lends_from_nodes_without_devices) {
  Topology topology = machine(1, 2);
  topology.nodes.push_back({.number = 5, .cpus = {}, .memory_bytes = 1});
  add(topology, DeviceKind::network, "eth0", 5);
  const auto groups = group_devices(topology);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].numa_node, 5);
  EXPECT_EQ(groups[0].cpus, (std::vector{0, 1}));
}

TEST(DeviceGroups, more_groups_than_cores_never_share_a_core) {
  Topology topology = machine(1, 2);
  for (const char* bridge : {"a", "b", "c"}) add(topology, DeviceKind::network, "nic", 0, bridge);
  const auto groups = group_devices(topology);
  std::set<int> taken;
  for (const DeviceGroup& group : groups) {
    for (const int cpu : group.cpus) EXPECT_TRUE(taken.insert(cpu).second);
  }
  EXPECT_EQ(taken.size(), 2U);
}

TEST(DeviceGroups, dead_devices_and_disks_are_in_no_group) {
  Topology topology = machine(1, 2);
  add(topology, DeviceKind::network, "eth0", 0);
  topology.devices.back().usable = false;
  add(topology, DeviceKind::storage, "nvme0n1", 0);
  EXPECT_TRUE(group_devices(topology).empty());
}

TEST(DeviceGroups, cores_that_are_not_allowed_are_in_no_group) {
  Topology topology = machine(1, 4);
  topology.allowed = {1, 3};
  add(topology, DeviceKind::network, "eth0", 0);
  EXPECT_EQ(group_devices(topology).front().cpus, (std::vector{1, 3}));
}

}  // namespace
}  // namespace nfx
