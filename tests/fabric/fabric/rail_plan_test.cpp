// Plans of rails: the published machine, every captured and generated one, and the refusals and warnings for each kind
// of machine.
#include "fabric/rail_plan.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "placement/machines.hpp"

namespace nfx::fabric {
namespace {

namespace fs = std::filesystem;

const fs::path fixtures = fs::path{NFX_SOURCE_DIR} / "tests/engine/placement/topologies";
const fs::path captured = fs::path{NFX_SOURCE_DIR}.parent_path() / "shared/topologies/p5.48xlarge.xml";

std::vector<std::string> found(const RailPlan& plan, Severity severity) {
  std::vector<std::string> ids;
  for (const PlanFinding& finding : plan.findings) {
    if (finding.severity == severity) ids.push_back(finding.id);
  }
  return ids;
}

using Names = std::vector<std::string>;

// Properties of plans for every machine.
void expect_sound(const Topology& topology, const RailPlan& plan) {
  std::set<int> cpus;
  std::set<std::size_t> devices;
  bool every_group_has_a_cpu = true;
  for (const PlannedGroup& group : plan.groups) {
    ASSERT_FALSE(group.rails.empty());
    every_group_has_a_cpu = every_group_has_a_cpu && group.cpu >= 0;
    if (group.cpu >= 0) {
      EXPECT_TRUE(cpus.insert(group.cpu).second) << "two threads on CPU " << group.cpu;
      EXPECT_TRUE(topology.allowed.contains(group.cpu));
    }
    EXPECT_EQ(group.memory_bytes % (huge_page_bytes * group.rails.size()), 0U);
    std::uint64_t links = 0;
    for (const PlannedRail& rail : group.rails) {
      EXPECT_TRUE(devices.insert(rail.device).second) << "a card of two groups";
      EXPECT_TRUE(topology.devices[rail.device].usable);
      EXPECT_EQ(rail.share_of_link.has_value(), group.reach_megabits_per_s.has_value());
      EXPECT_LE(rail.share_of_link.value_or(0), 1.0);
      links += rail.link ? rail.link->megabits_per_s : 0;
    }
    EXPECT_LE(group.reach_megabits_per_s.value_or(0), links);
    EXPECT_LE(group.share_of_switch.value_or(0), 1.0);
    EXPECT_EQ(group.limit == RateLimit::unknown, !group.reach_megabits_per_s.has_value());
  }
  for (std::size_t i = 0; i < topology.devices.size(); ++i) {
    const Device& device = topology.devices[i];
    EXPECT_EQ(devices.contains(i), device.kind == DeviceKind::network && device.usable) << device.name;
  }
  const Names refusals = found(plan, Severity::refusal);
  EXPECT_EQ(std::ranges::count(refusals, "no-card"), plan.groups.empty() ? 1 : 0);
  EXPECT_EQ(std::ranges::count(refusals, "group-without-cpu"), every_group_has_a_cpu ? 0 : 1);
  EXPECT_EQ(plan.refused(), !refusals.empty());
}

RailPlan planned(const Topology& topology, const RailPlanRequest& request = {}) {
  RailPlan plan = plan_rails(topology, request);
  expect_sound(topology, plan);
  return plan;
}

Topology cards(const std::vector<std::size_t>& per_switch, std::uint64_t link, std::uint64_t switch_rate) {
  Topology topology = machines::make({.nodes = 1, .cores_per_node = 16});
  for (std::size_t i = 0; i < per_switch.size(); ++i) {
    for (std::size_t k = 0; k < per_switch[i]; ++k) {
      const std::string bus = "0000:" + std::to_string(10 + i);
      Device card =
          machines::nic("card" + std::to_string(10 * i + k), bus + ":0" + std::to_string(k) + ".0", 0, topology);
      card.pci_switch = bus + ":00.0";
      card.link_megabits_per_s = link;
      card.switch_megabits_per_s = switch_rate;
      topology.devices.push_back(std::move(card));
    }
  }
  return topology;
}

TEST(RailPlan, published_machine_has_eight_groups_of_four_with_threads_on_the_published_cpus) {
  if (!fs::exists(captured)) GTEST_SKIP() << captured << " is not there: it is not in the repository";
  const Topology topology = load_topology(captured);
  const RailPlan plan = planned(topology);
  ASSERT_EQ(plan.groups.size(), 8U);
  std::vector<int> cpus;
  for (const PlannedGroup& group : plan.groups) {
    EXPECT_EQ(group.rails.size(), 4U);
    EXPECT_EQ(group.gpus, 1U);
    EXPECT_EQ(group.numa_node, cpus.size() < 4 ? 0 : 1);
    EXPECT_EQ(topology.numa_node_of(group.cpu), group.numa_node);
    cpus.push_back(group.cpu);
  }
  EXPECT_EQ(cpus, (std::vector{6, 18, 30, 42, 54, 66, 78, 90}));
  EXPECT_EQ(topology.devices[plan.groups[0].rails[0].device].name, "rdmap79s0");
  EXPECT_EQ(found(plan, Severity::warning), Names{"dead-card"});  // cards of the hypervisor that show no interface
}

// Its XML has no link speeds, so a share would be a guess.
TEST(RailPlan, shares_of_the_published_machine_are_unknown_until_rates_are_given) {
  if (!fs::exists(captured)) GTEST_SKIP() << captured << " is not there: it is not in the repository";
  const Topology topology = load_topology(captured);
  const RailPlan plan = planned(topology);
  EXPECT_FALSE(plan.groups[0].reach_megabits_per_s);
  EXPECT_EQ(found(plan, Severity::note), (Names{"unknown-card-rate", "unknown-switch-rate"}));
  const RailPlan given = planned(topology, {.card_megabits_per_s = 100'000, .switch_megabits_per_s = 504'000});
  EXPECT_EQ(given.groups[7].reach_megabits_per_s, 400'000U);
  EXPECT_TRUE(given.groups[7].rails[0].link->assumed);
  EXPECT_EQ(found(given, Severity::note), Names{});
}

TEST(RailPlan, generated_copy_of_the_published_machine_has_the_same_groups) {
  const RailPlan plan = planned(machines::eight_groups());
  ASSERT_EQ(plan.groups.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(plan.groups[i].cpu, 6 + 12 * static_cast<int>(i));
}

TEST(RailPlan, every_captured_topology_has_a_plan_or_a_named_refusal) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator{fixtures}) {
    SCOPED_TRACE(entry.path().filename());
    const RailPlan plan = planned(load_topology(entry.path()));
    const std::string name = entry.path().stem();
    const bool has_cards = name == "gpu_groups" || name == "two_sockets";
    EXPECT_EQ(plan.refused(), !has_cards && name != "unknown_places");
    ++files;
  }
  EXPECT_GE(files, 6U);
}

TEST(RailPlan, every_generated_machine_is_planned_soundly) {
  for (const Topology& topology : {machines::one_cpu(), machines::small_vm(), machines::seed_28(),
                                   machines::two_sockets(), machines::threads_384(), machines::hybrid()}) {
    (void)planned(topology);
  }
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random{seed};
    Topology topology = machines::random_machine(random);
    for (Device& device : topology.devices) {
      const auto rate = [&](unsigned most) { return random() % 3 == 0 ? 0 : 1 + random() % most; };
      device.link_megabits_per_s = rate(400'000);
      device.slot_megabits_per_s = rate(500'000);
      device.switch_megabits_per_s = rate(600'000);
    }
    (void)planned(topology, {.region_bytes_per_rail = 1 + random() % (std::uint64_t{40} << 30U)});
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RailPlan, a_switch_slower_than_its_cards_gives_each_the_same_part) {
  const RailPlan plan = planned(cards({4}, 100'000, 250'000));
  const PlannedGroup& group = plan.groups.at(0);
  EXPECT_EQ(group.reach_megabits_per_s, 250'000U);
  EXPECT_EQ(group.limit, RateLimit::pcie_switch);
  EXPECT_DOUBLE_EQ(*group.rails[0].share_of_link, 0.625);
  EXPECT_DOUBLE_EQ(*group.share_of_switch, 1.0);
  EXPECT_EQ(found(plan, Severity::warning), Names{"switch-limit"});
}

TEST(RailPlan, a_slot_slower_than_its_link_limits_that_card) {
  Topology topology = cards({2}, 100'000, 0);
  topology.devices[1].slot_megabits_per_s = 64'000;
  const RailPlan plan = planned(topology);
  EXPECT_EQ(plan.groups[0].reach_megabits_per_s, 164'000U);
  EXPECT_DOUBLE_EQ(*plan.groups[0].rails[0].share_of_link, 1.0);
  EXPECT_DOUBLE_EQ(*plan.groups[0].rails[1].share_of_link, 0.64);
  EXPECT_FALSE(plan.groups[0].share_of_switch);
  EXPECT_EQ(found(plan, Severity::warning), Names{"slot-limit"});
}

TEST(RailPlan, uneven_groups_and_mixed_links_are_warned_of) {
  Topology topology = cards({4, 1}, 100'000, 0);
  topology.devices[0].link_megabits_per_s = 25'000;
  EXPECT_EQ(found(planned(topology), Severity::warning), (Names{"uneven-groups", "mixed-rates"}));
}

TEST(RailPlan, dead_cards_are_in_no_group_and_are_named) {
  Topology topology = cards({4}, 0, 0);
  topology.devices[2].usable = false;
  topology.devices[2].why_not = "card2 has no carrier";
  const RailPlan plan = planned(topology);
  EXPECT_EQ(plan.rail_count(), 3U);
  ASSERT_EQ(found(plan, Severity::warning), Names{"dead-card"});
  EXPECT_NE(plan.findings[0].text.find("card2 has no carrier"), std::string::npos);
  for (Device& device : topology.devices) device.usable = false;
  EXPECT_EQ(found(planned(topology), Severity::refusal), Names{"no-card"});
}

TEST(RailPlan, more_groups_than_cores_are_refused) {
  Topology topology = cards({1, 1, 1}, 0, 0);
  topology.cores.resize(2);
  topology.allowed = {0, 1};
  const RailPlan plan = planned(topology);
  EXPECT_EQ(found(plan, Severity::refusal), Names{"group-without-cpu"});
  EXPECT_EQ(found(plan, Severity::warning), Names{"no-core-left"});
}

TEST(RailPlan, cards_that_do_not_state_their_node_are_warned_of_where_there_are_several) {
  Topology topology = machines::make({.nodes = 2, .cores_per_node = 4});
  topology.devices.push_back(machines::nic("eth0", "0000:01:00.0", -1, topology));
  EXPECT_EQ(found(planned(topology), Severity::warning), Names{"unknown-node"});
  topology.nodes.resize(1);
  EXPECT_EQ(found(planned(topology), Severity::warning), Names{});
}

TEST(RailPlan, a_node_whose_cpus_the_process_may_not_use_is_polled_from_afar) {
  Topology topology = machines::two_sockets();
  topology.allowed = CpuSet::range(0, 7);
  EXPECT_EQ(found(planned(topology), Severity::refusal), Names{"group-without-cpu"});
  topology.devices.erase(topology.devices.begin());
  EXPECT_EQ(found(planned(topology), Severity::warning), Names{"far-cpu"});
}

TEST(RailPlan, regions_beyond_a_nodes_memory_are_refused_and_beyond_half_of_it_warned_of) {
  const Topology topology = cards({4}, 0, 0);  // 64 GiB
  EXPECT_EQ(found(planned(topology, {.region_bytes_per_rail = std::uint64_t{17} << 30U}), Severity::refusal),
            Names{"memory"});
  EXPECT_EQ(found(planned(topology, {.region_bytes_per_rail = std::uint64_t{9} << 30U}), Severity::warning),
            Names{"memory"});
  EXPECT_EQ(planned(topology, {.region_bytes_per_rail = 1}).groups[0].memory_bytes, 4 * huge_page_bytes);
}

// A copied sysfs has generation and width of each link, and the cards' rates.
TEST(RailPlan, rates_are_read_from_a_copied_sysfs) {
  const fs::path root = fs::path{::testing::TempDir()} / ("rail_plan_" + std::to_string(::getpid()));
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories((root / name).parent_path());
    std::ofstream{root / name} << text << '\n';
  };
  const std::string bridge = "sys/devices/pci0000:00/0000:00:01.0";
  write("sys/devices/system/cpu/online", "0-3");
  for (const std::string cpu : {"0", "1", "2", "3"}) {
    write("sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings", std::to_string(1 << std::stoi(cpu)));
  }
  fs::create_directories(root / "sys/bus/pci/devices");
  const auto link = [&](const std::string& folder, const std::string& address) {
    fs::create_symlink("../../../../" + folder, root / "sys/bus/pci/devices" / address);
  };
  write(bridge + "/current_link_speed", "16.0 GT/s PCIe");
  write(bridge + "/current_link_width", "8");
  write(bridge + "/class", "0x060400");
  std::string config(63, '\0');  // of a bridge, with buses 1 and 2 below it
  config[0x0e] = config[0x19] = 1;
  config[0x1a] = 2;
  write(bridge + "/config", config);
  link(bridge, "0000:00:01.0");
  for (const std::string number : {"1", "2"}) {
    const std::string address = "0000:0" + number + ":00.0", folder = bridge + '/' + address;
    write(folder + "/class", "0x020000");
    write(folder + "/vendor", "0x15b3");
    write(folder + "/current_link_speed", "8.0 GT/s PCIe");
    write(folder + "/current_link_width", "16");
    write(folder + "/net/eth" + number + "/speed", "100000");
    link(folder, address);
    fs::create_directories(root / "sys/class/net");
    fs::create_symlink("../../../" + folder + "/net/eth" + number, root / "sys/class/net" / ("eth" + number));
  }
  const RailPlan plan = planned(load_topology(root));
  fs::remove_all(root);
  ASSERT_EQ(plan.groups.size(), 1U);
  const PlannedGroup& group = plan.groups[0];
  EXPECT_EQ(group.domain, "0000:00:01.0");
  ASSERT_EQ(group.rails.size(), 2U);
  EXPECT_EQ(group.rails[0].link->megabits_per_s, 100'000U);
  EXPECT_EQ(group.rails[0].slot->megabits_per_s, 126'030U);  // 8 GT/s, 128 bits in 130, x16
  EXPECT_EQ(group.pcie_switch->megabits_per_s, 126'030U);    // 16 GT/s, x8
  EXPECT_EQ(group.reach_megabits_per_s, 126'030U);
  EXPECT_EQ(group.limit, RateLimit::pcie_switch);
}

// hwloc's XML has gigabytes a second.
TEST(RailPlan, pcie_rates_are_read_from_xml_that_states_them) {
  std::ifstream in{fixtures / "gpu_groups.xml"};
  std::string xml{std::istreambuf_iterator<char>{in}, {}};
  const std::string none = "pci_link_speed=\"0.000000\"";
  for (std::size_t at = xml.find(none); at != std::string::npos; at = xml.find(none, at)) {
    xml.replace(at, none.size(), "pci_link_speed=\"31.500000\"");
  }
  const fs::path file = fs::path{::testing::TempDir()} / ("rail_plan_" + std::to_string(::getpid()) + ".xml");
  std::ofstream{file} << xml;
  const RailPlan plan = planned(load_topology(file), {.card_megabits_per_s = 200'000});
  fs::remove(file);
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.groups[0].rails[0].slot->megabits_per_s, 252'000U);
  EXPECT_EQ(plan.groups[0].pcie_switch->megabits_per_s, 252'000U);
  EXPECT_EQ(plan.groups[0].limit, RateLimit::pcie_switch);
}

}  // namespace
}  // namespace nfx::fabric
