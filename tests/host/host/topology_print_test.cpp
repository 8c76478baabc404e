// A topology as text, JSON and SVG, with and without a plan.
#include "host/topology_print.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace nfx {
namespace {

namespace fs = std::filesystem;

Topology fixture(const std::string& name) {
  return load_topology(fs::path{NFX_SOURCE_DIR} / "tests/engine/placement/topologies" / name);
}

PlacementPlan two_threads() {
  PlacementPlan plan;
  ThreadPlacement poll;
  poll.name = "nfx-poll-0";
  poll.wait = ThreadWait::spin;
  poll.cpus = {1};
  ThreadPlacement log;
  log.name = "nfx-log-0";
  log.role = ThreadRole::log;
  log.cpus = {0, 2};
  plan.threads = {poll, log};
  plan.isolated_cpus = {1, 13};
  plan.housekeeping = {0, 2};
  plan.hash = "0123456789abcdef";
  return plan;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t number = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++number;
  return number;
}

TEST(TopologyPrint, groups_are_a_table_of_gpus_nodes_cpus_and_cards) {
  EXPECT_EQ(groups_to_text(fixture("gpu_groups.xml")),
            "PCIe Topology:\n"
            "  cuda:0(16:00.0) NUMA0 CPU 0-3 rdmap19s0 (13:00.0) rdmap20s0 (14:00.0)\n"
            "  cuda:1(36:00.0) NUMA1 CPU 4-7 rdmap51s0 (33:00.0) rdmap52s0 (34:00.0)\n");
}

TEST(TopologyPrint, a_machine_without_devices_gets_a_sentence) {
  EXPECT_TRUE(has(groups_to_text(fixture("hybrid.xml")), "no groups"));
  EXPECT_EQ(groups_to_json(fixture("hybrid.xml")), "[]\n");
}

TEST(TopologyPrint, the_groups_of_a_captured_machine_are_the_published_ones) {
  const fs::path folder = fs::path{NFX_SOURCE_DIR}.parent_path() / "shared/topologies";
  if (!fs::exists(folder / "p5.48xlarge.xml")) GTEST_SKIP() << folder << " is not there: it is not in the repository";
  std::ifstream in{folder / "p5.48xlarge.groups.txt"};
  const std::string published{std::istreambuf_iterator<char>{in}, {}};
  EXPECT_EQ(groups_to_text(load_topology(folder / "p5.48xlarge.xml")), published);
}

TEST(TopologyPrint, text_names_caches_siblings_and_left_over_cores) {
  const std::string text = to_text(fixture("core_complexes.xml"));
  EXPECT_TRUE(has(text, "24 CPUs in 12 cores, 1 package, 1 NUMA node\n")) << text;
  EXPECT_TRUE(has(text, "    L3 32 MiB: 3 cores on CPU 3-5, siblings 15-17\n")) << text;
  Topology odd = fixture("core_complexes.xml");
  for (const char* bridge : {"0000:10:00.0", "0000:20:00.0", "0000:30:00.0", "0000:40:00.0", "0000:50:00.0"}) {
    Device nic{.kind = DeviceKind::network};
    nic.name = "nic";
    nic.numa_node = 0;
    nic.pci_switch = bridge;
    odd.devices.push_back(nic);
  }
  EXPECT_TRUE(has(to_text(odd), "  in no group: CPU 10-11,22-23\n")) << to_text(odd);
}

TEST(TopologyPrint, text_shows_the_plan) {
  const PlacementPlan plan = two_threads();
  const std::string text = to_text(fixture("core_complexes.xml"), &plan);
  EXPECT_TRUE(has(text, "Plan 0123456789abcdef\n  isolated: CPU 1,13\n  housekeeping: CPU 0,2\n")) << text;
  EXPECT_TRUE(has(text, "  nfx-poll-0  busy-polls on CPU 1\n  nfx-log-0   blocks on CPU 0,2\n")) << text;
}

TEST(TopologyPrint, json_has_every_core_device_and_group) {
  const PlacementPlan plan = two_threads();
  const auto json = nlohmann::json::parse(to_json(fixture("two_sockets.xml"), &plan));
  EXPECT_EQ(json["cores"].size(), 8U);
  EXPECT_EQ(json["cores"][0]["cpus"], (std::vector{0, 8}));
  EXPECT_EQ(json["devices"].size(), 6U);
  EXPECT_EQ(json["groups"][1]["nics"][0]["name"], "eth2");
  EXPECT_EQ(json["plan"]["threads"][0]["cpus"], "1");
  EXPECT_EQ(json["online"], "0-15");
}

TEST(TopologyPrint, json_survives_names_that_are_no_text) {
  Topology topology = fixture("hybrid.xml");
  topology.machine = "\xff\"\n";
  EXPECT_TRUE(nlohmann::json::accept(to_json(topology)));
}

TEST(TopologyPrint, svg_shows_each_cpu_once_and_who_is_pinned_there) {
  const PlacementPlan plan = two_threads();
  const std::string svg = to_svg(fixture("core_complexes.xml"), &plan);
  for (int cpu = 0; cpu < 24; ++cpu) {
    const std::string tip = "<title>CPU " + std::to_string(cpu);
    EXPECT_EQ(count(svg, tip + '<') + count(svg, tip + ','), 1U) << cpu;
  }
  EXPECT_TRUE(has(svg, ">1  nfx-poll-0</text>"));
  EXPECT_TRUE(has(svg, "nfx-log-0: any of CPU 0,2"));
  EXPECT_EQ(count(svg, "class=\"isolated\""), 2U);  // CPU 13 and the legend
}

TEST(TopologyPrint, svg_loads_nothing_from_elsewhere) {
  const std::string svg = to_svg(fixture("gpu_groups.xml"));
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "http"), 1U);
  EXPECT_EQ(count(svg, "href"), 0U);
  EXPECT_EQ(count(svg, "url("), 0U);
}

TEST(TopologyPrint, svg_escapes_names) {
  Topology topology = fixture("hybrid.xml");
  topology.machine = "<script>&\"\x01\xff";
  const std::string svg = to_svg(topology);
  EXPECT_TRUE(has(svg, "&lt;script&gt;&amp;&quot;??"));
  EXPECT_FALSE(has(svg, "<script"));
}

}  // namespace
}  // namespace nfx
