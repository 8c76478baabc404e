// Topologies from hwloc's XML, from copied files and from this machine.
#include "nexusfix/placement/machine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

namespace nfx {
namespace {

namespace fs = std::filesystem;

// Each mutated file starts a process, which takes a tenth of a second with sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned mutations = 100;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr unsigned mutations = 100;
#else
constexpr unsigned mutations = 500;
#endif
#else
constexpr unsigned mutations = 500;
#endif

const fs::path fixtures = fs::path{NFX_SOURCE_DIR} / "tests/engine/placement/topologies";

Topology fixture(const std::string& name) { return load_topology(fixtures / name); }

std::string content(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// A folder of its own for each test, removed afterwards.
class Folder {
 public:
  Folder() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = fs::path{::testing::TempDir()} / ("topology_" + std::to_string(::getpid()) + '_' + name);
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << text;
    return file;
  }
  void link(const std::string& name, const std::string& target) const {
    fs::create_directories((path_ / name).parent_path());
    fs::create_symlink(target, path_ / name);
  }

 private:
  fs::path path_;
};

std::string refusal(const fs::path& file) {
  try {
    (void)load_topology(file);
  } catch (const TopologyError& error) {
    return error.what();
  }
  return "accepted";
}

bool mentions(const Topology& topology, std::string_view text) {
  return std::ranges::any_of(topology.notes,
                             [text](const std::string& note) { return note.find(text) != std::string::npos; });
}

std::string mask(const CpuSet& cpus) {
  unsigned bits = 0;
  for (const int cpu : cpus.members()) bits |= 1U << static_cast<unsigned>(cpu);
  std::ostringstream text;
  text << std::hex << bits << '\n';
  return text.str();
}

// Two packages, each with a node and two cores of two threads; CPU 8 is offline.
void add_two_packages(const Folder& root) {
  root.write("sys/devices/system/cpu/online", "0-7\n");
  root.write("sys/devices/system/cpu/present", "0-8\n");
  root.write("sys/devices/system/cpu/possible", "0-15\n");
  const std::array<CpuSet, 2> packages{CpuSet{0, 1, 4, 5}, CpuSet{2, 3, 6, 7}};
  for (int cpu = 0; cpu < 8; ++cpu) {
    const int core = cpu % 4, package = core / 2;
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    root.write(folder + "core_id", std::to_string(core % 2) + '\n');
    root.write(folder + "physical_package_id", std::to_string(package) + '\n');
    root.write(folder + "thread_siblings", mask({core, core + 4}));
    root.write(folder + "core_siblings", mask(packages[static_cast<std::size_t>(package)]));
  }
  root.write("sys/devices/system/node/node0/cpumap", mask(packages[0]));
  root.write("sys/devices/system/node/node1/cpumap", mask(packages[1]));
  root.write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       1048576 kB\nNode 0 MemFree: 1 kB\n");
}

// hwloc's XML.

TEST(Topology, smt_siblings_share_a_core_of_their_package_and_node) {
  const Topology topology = fixture("two_sockets.xml");
  EXPECT_EQ(topology.online, CpuSet::range(0, 15));
  EXPECT_EQ(topology.cores.size(), 8U);
  EXPECT_TRUE(topology.has_smt());
  EXPECT_EQ(topology.siblings_of(3), CpuSet{11});
  ASSERT_NE(topology.core_of(11), nullptr);
  EXPECT_EQ(topology.core_of(11)->package, 1);
  EXPECT_EQ(topology.numa_node_of(11), 1);
  EXPECT_EQ(topology.cpu_model, "Test CPU");
  EXPECT_EQ(topology.machine, "sockets");
}

TEST(Topology, what_is_not_there_is_null_or_minus_one) {
  const Topology topology = fixture("hybrid.xml");
  EXPECT_EQ(topology.core_of(99), nullptr);
  EXPECT_EQ(topology.node(-1), nullptr);
  EXPECT_EQ(topology.device("eth9"), nullptr);
  EXPECT_EQ(topology.device(""), nullptr);
  EXPECT_EQ(topology.numa_node_of(99), -1);
  EXPECT_EQ(topology.cache_of(-5), -1);
  EXPECT_TRUE(topology.siblings_of(99).empty());
}

TEST(Topology, kinds_of_hybrid_cores_rise_with_their_speed) {
  const Topology topology = fixture("hybrid.xml");
  ASSERT_EQ(topology.cores.size(), 6U);
  EXPECT_GT(topology.core_of(0)->kind, topology.core_of(4)->kind);
  EXPECT_EQ(topology.core_of(4)->kind, 0);
}

TEST(Topology, cores_that_are_alike_have_no_kind) {
  for (const Core& core : fixture("two_sockets.xml").cores) EXPECT_EQ(core.kind, -1);
}

TEST(Topology, each_core_complex_is_a_cache_domain) {
  const Topology topology = fixture("core_complexes.xml");
  ASSERT_EQ(topology.caches.size(), 4U);
  EXPECT_EQ(topology.caches[1].cpus, (CpuSet{3, 4, 5, 15, 16, 17}));
  EXPECT_EQ(topology.caches[1].size_bytes, 32U << 20U);
  EXPECT_EQ(topology.caches[1].level, 3);
  EXPECT_EQ(topology.core_of(16)->cache, 1);
}

TEST(Topology, offline_cpus_are_no_cores) {
  const Topology topology = fixture("offline_cpu.xml");
  EXPECT_EQ(topology.online, CpuSet::range(0, 2));
  EXPECT_EQ(topology.offline, CpuSet{3});
  EXPECT_EQ(topology.allowed, topology.online);
  EXPECT_EQ(topology.core_of(3), nullptr);
  EXPECT_TRUE(mentions(topology, "Offline CPUs: 3"));
}

TEST(Topology, memory_without_cpus_is_a_node_without_cpus) {
  const Topology topology = fixture("unknown_places.xml");
  ASSERT_NE(topology.node(2), nullptr);
  EXPECT_TRUE(topology.node(2)->cpus.empty());
  EXPECT_EQ(topology.node(2)->memory_bytes, std::uint64_t{64} << 30U);
  EXPECT_EQ(topology.node(1)->cpus, (CpuSet{2, 3}));
}

TEST(Topology, devices_that_do_not_say_where_they_are_survive) {
  const Topology topology = fixture("unknown_places.xml");
  ASSERT_NE(topology.device("eth0"), nullptr);
  EXPECT_EQ(topology.device("eth0")->numa_node, -1);
  EXPECT_TRUE(topology.device("eth0")->local_cpus.empty());
  EXPECT_TRUE(topology.device("eth0")->usable);
}

TEST(Topology, a_port_that_is_down_is_not_usable) {
  const Topology topology = fixture("unknown_places.xml");
  ASSERT_NE(topology.device("mlx5_0"), nullptr);
  EXPECT_FALSE(topology.device("mlx5_0")->usable);
  EXPECT_NE(topology.device("mlx5_0")->why_not.find("not active"), std::string::npos);
}

TEST(Topology, the_console_of_a_server_is_no_gpu) {
  const Topology topology = fixture("unknown_places.xml");
  ASSERT_NE(topology.device("00:04.0"), nullptr);
  EXPECT_EQ(topology.device("00:04.0")->kind, DeviceKind::other);
}

TEST(Topology, interface_and_rdma_device_of_a_function_are_one_device) {
  const Topology topology = fixture("two_sockets.xml");
  EXPECT_EQ(topology.devices.size(), 6U);
  const Device* device = topology.device("mlx5_1");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->name, "eth2");
  EXPECT_EQ(device, topology.device("0000:61:00.0"));
  EXPECT_EQ(device->numa_node, 1);
}

TEST(Topology, an_rdma_device_without_interface_gives_its_name) {
  const Device* device = fixture("gpu_groups.xml").device("rdmap19s0");
  ASSERT_NE(device, nullptr);
}

TEST(Topology, two_ports_of_one_card_do_not_make_their_bridge_a_switch) {
  EXPECT_EQ(fixture("two_sockets.xml").device("eth0")->pci_switch, "");
}

TEST(Topology, the_highest_bridge_that_devices_share_is_their_switch) {
  const Topology topology = fixture("gpu_groups.xml");
  EXPECT_EQ(topology.device("cuda1")->pci_switch, "0000:30:00.0");
  EXPECT_EQ(topology.device("rdmap51s0")->pci_switch, "0000:30:00.0");
}

TEST(Topology, a_card_without_interface_is_not_usable) {
  const Topology topology = fixture("gpu_groups.xml");
  ASSERT_NE(topology.device("15:00.0"), nullptr);
  EXPECT_FALSE(topology.device("15:00.0")->usable);
  EXPECT_TRUE(mentions(topology, "0000:15:00.0 and 1 more"));
}

TEST(Topology, xml_of_hwloc_1_is_read_too) {
  const Folder folder;
  const fs::path file = folder.write("old.xml", R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
<object type="Machine" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" online_cpuset="0x00000003" allowed_cpuset="0x00000003" local_memory="1073741824">
<object type="Socket" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" online_cpuset="0x00000003" allowed_cpuset="0x00000003">
<object type="Core" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" online_cpuset="0x00000001" allowed_cpuset="0x00000001">
<object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" online_cpuset="0x00000001" allowed_cpuset="0x00000001"/>
</object>
<object type="Core" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" online_cpuset="0x00000002" allowed_cpuset="0x00000002">
<object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" online_cpuset="0x00000002" allowed_cpuset="0x00000002"/>
</object>
</object>
</object>
</topology>
)");
  const Topology topology = load_topology(file);
  EXPECT_EQ(topology.online, CpuSet::range(0, 1));
  EXPECT_EQ(topology.cores.size(), 2U);
  EXPECT_EQ(topology.core_of(1)->package, 0);
}

// Files that do not contain a topology.

TEST(TopologyError, names_the_file_that_is_not_there) {
  EXPECT_NE(refusal("/nowhere/at/all.xml").find("cannot read /nowhere/at/all.xml: No such file"), std::string::npos);
}

TEST(TopologyError, says_that_a_file_is_empty) {
  const Folder folder;
  EXPECT_NE(refusal(folder.write("empty.xml", "")).find("it is empty"), std::string::npos);
}

TEST(TopologyError, says_that_xml_is_something_else) {
  const Folder folder;
  EXPECT_NE(refusal(folder.write("fix.xml", "<fix major='4'/>")).find("is not hwloc XML"), std::string::npos);
}

TEST(TopologyError, says_that_a_file_ends_in_the_middle) {
  const Folder folder;
  const std::string xml = content(fixtures / "hybrid.xml");
  EXPECT_NE(refusal(folder.write("half.xml", xml.substr(0, 1000))).find("ends in the middle"), std::string::npos);
}

TEST(TopologyError, names_the_file_whose_objects_are_none) {
  const Folder folder;
  std::string xml = content(fixtures / "hybrid.xml");
  xml.replace(xml.find("type=\"Package\""), 14, "type=\"Pickage\"");
  const std::string error = refusal(folder.write("pickage.xml", xml));
  EXPECT_NE(error.find("pickage.xml: is not a topology that hwloc can read"), std::string::npos) << error;
}

TEST(TopologyError, names_the_option_that_exports_the_format_that_is_read) {
  const Folder folder;
  std::string xml = content(fixtures / "hybrid.xml");
  const std::size_t at = xml.find("version=\"2");
  ASSERT_NE(at, std::string::npos);
  xml[at + 9] = '9';
  const std::string error = refusal(folder.write("newer.xml", xml));
  EXPECT_NE(error.find("has format 9 of hwloc's XML"), std::string::npos) << error;
  EXPECT_NE(error.find("lstopo --export-xml-flags v2 --of xml FILE"), std::string::npos) << error;
}

TEST(TopologyError, refuses_more_cpus_than_kernels_know) {
  const Folder folder;
  const std::string error = refusal(folder.write("many.xml", R"(<?xml version="1.0"?><topology version="2.0">
<object type="Machine" os_index="0" cpuset="0xf...f" complete_cpuset="0xf...f" allowed_cpuset="0xf...f" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0xf...f" complete_cpuset="0xf...f" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1"/>
<object type="PU" os_index="100000" cpuset="0xf...f" complete_cpuset="0xf...f" nodeset="0x1" complete_nodeset="0x1" gp_index="3"/>
</object></topology>)"));
  EXPECT_NE(error, "accepted");
}

TEST(TopologyError, refuses_what_is_larger_than_64_mib) {
  const Folder folder;
  const fs::path file = folder.write("huge.xml", "<topology>");
  fs::resize_file(file, (std::uintmax_t{64} << 20U) + 1);
  EXPECT_NE(refusal(file).find("larger than 64 MiB"), std::string::npos);
}

TEST(TopologyError, is_all_that_mutated_files_can_cause) {
  const Folder folder;
  std::size_t accepted = 0;
  for (unsigned seed = 0; seed < mutations; ++seed) {
    std::mt19937 random{seed};
    const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
    std::string xml = content(fixtures / (seed % 2 == 0 ? "gpu_groups.xml" : "hybrid.xml"));
    for (std::size_t i = 1 + below(4); i > 0; --i) {
      const std::size_t at = below(xml.size() - 1);
      switch (below(5)) {
        case 0: xml[at] = static_cast<char>(below(256)); break;
        case 1: xml.erase(at, 1 + below(40)); break;
        case 2: xml.insert(at, xml.substr(below(xml.size()), below(80))); break;
        case 3: xml[at] = "0123456789abcdefx,-<>\"/"[below(23)]; break;
        default: xml.resize(xml.find('>', at) == std::string::npos ? at + 1 : xml.find('>', at) + 1);
      }
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      const Topology topology = load_topology(folder.write("mutated.xml", xml));
      EXPECT_FALSE(topology.online.empty());
      (void)group_devices(topology);
      ++accepted;
    } catch (const TopologyError& error) {
      EXPECT_NE(std::string_view{error.what()}.find("mutated.xml"), std::string_view::npos) << error.what();
    }
  }
  EXPECT_GT(accepted, 0U);
  EXPECT_LT(accepted, mutations / 2);
}

// Roots.

TEST(TopologyRoot, four_files_per_cpu_are_enough) {
  const Folder root;
  add_two_packages(root);
  const Topology topology = load_topology(root.path());
  EXPECT_EQ(topology.source, root.path().string());
  EXPECT_EQ(topology.cores.size(), 4U);
  EXPECT_EQ(topology.siblings_of(2), CpuSet{6});
  EXPECT_EQ(topology.core_of(6)->package, 1);
  EXPECT_EQ(topology.core_of(6)->numa_node, 1);
  EXPECT_EQ(topology.offline, CpuSet{8});
  EXPECT_EQ(topology.node(0)->memory_bytes, std::uint64_t{1} << 30U);
}

TEST(TopologyRoot, cpus_alone_are_a_machine_with_notes) {
  const Folder root;
  root.write("sys/devices/system/cpu/online", "0-3\n");
  const Topology topology = load_topology(root.path());
  EXPECT_EQ(topology.cores.size(), 4U);
  EXPECT_EQ(topology.nodes.size(), 1U);
  EXPECT_TRUE(mentions(topology, "Which CPUs share a core is not there"));
}

TEST(TopologyRoot, without_cpus_it_is_refused_by_name) {
  const Folder root;
  const std::string error = refusal(root.path());
  EXPECT_NE(error.find(root.path().string()), std::string::npos);
  EXPECT_NE(error.find("sys/devices/system/cpu/online"), std::string::npos);
}

TEST(TopologyRoot, the_highest_data_cache_up_to_level_3_is_the_domain) {
  const Folder root;
  add_two_packages(root);
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index";
    root.write(folder + "0/level", "1\n");
    root.write(folder + "0/type", "Data\n");
    root.write(folder + "0/shared_cpu_map", mask({cpu}));
    root.write(folder + "3/level", "3\n");
    root.write(folder + "3/type", "Unified\n");
    root.write(folder + "3/size", "32768K\n");
    root.write(folder + "3/shared_cpu_map", mask(cpu % 4 < 2 ? CpuSet{0, 1, 4, 5} : CpuSet{2, 3, 6, 7}));
  }
  const Topology topology = load_topology(root.path());
  ASSERT_EQ(topology.caches.size(), 2U);
  EXPECT_EQ(topology.caches[0].size_bytes, 32U << 20U);
  EXPECT_EQ(topology.cache_of(7), 1);
}

TEST(TopologyRoot, hybrid_cores_are_told_by_their_frequencies) {
  const Folder root;
  add_two_packages(root);
  for (int cpu = 0; cpu < 8; ++cpu) {
    root.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/cpuinfo_max_freq",
               cpu % 4 < 2 ? "5000000\n" : "3800000\n");
  }
  root.write("proc/sys/kernel/hostname", "other\n");
  const Topology topology = load_topology(root.path());
  EXPECT_EQ(topology.core_of(0)->kind, 1);
  EXPECT_EQ(topology.core_of(7)->kind, 0);
  EXPECT_EQ(topology.machine, "other");
}

// The start of a bridge's configuration: its kind, and the buses above, directly below and last below it.
std::string bridge_config(unsigned char above, unsigned char below, unsigned char last) {
  std::string config(64, '\0');
  config[0x0e] = 1;
  config[0x18] = static_cast<char>(above);
  config[0x19] = static_cast<char>(below);
  config[0x1a] = static_cast<char>(last);
  return config;
}

// A switch with a GPU and a network card below one root port, and two single cards below two others.
void add_devices(const Folder& root) {
  const auto add = [&root](const std::string& address, const std::string& bridges, const std::string& pci_class,
                           const std::string& vendor) {
    const std::string below = "devices/pci0000:10/" + bridges + address;
    root.write("sys/" + below + "/class", pci_class);
    root.write("sys/" + below + "/vendor", vendor);
    root.write("sys/" + below + "/device", "0x1017\n");
    root.write("sys/" + below + "/local_cpus", mask({2, 3, 6, 7}));
    root.link("sys/bus/pci/devices/" + address, "../../../" + below);
    return "sys/" + below;
  };
  const auto add_bridge = [&](const std::string& address, const std::string& bridges, const std::string& config) {
    root.write(add(address, bridges, "0x060400\n", "0x1000\n") + "/config", config);
  };
  const std::string bridge = "0000:10:01.0/0000:11:00.0/";
  add_bridge("0000:10:01.0", "", bridge_config(0x10, 0x11, 0x14));
  add_bridge("0000:11:00.0", "0000:10:01.0/", bridge_config(0x11, 0x12, 0x14));
  add_bridge("0000:12:00.0", bridge, bridge_config(0x12, 0x13, 0x13));
  add_bridge("0000:12:01.0", bridge, bridge_config(0x12, 0x14, 0x14));
  add_bridge("0000:10:02.0", "", bridge_config(0x10, 0x15, 0x15));
  add_bridge("0000:10:03.0", "", bridge_config(0x10, 0x16, 0x16));
  const std::string gpu = add("0000:13:00.0", bridge + "0000:12:00.0/", "0x030200\n", "0x10de\n");
  // Copies of trees often omit the targets of links.
  root.link(gpu + "/driver", "../../../../../../bus/pci/drivers/nvidia");
  const std::string nic = add("0000:14:00.0", bridge + "0000:12:01.0/", "0x020000\n", "0x15b3\n");
  root.write(nic + "/net/eth0/operstate", "up\n");
  root.write(nic + "/net/eth0/carrier", "1\n");
  root.write(nic + "/net/eth0/speed", "25000\n");
  root.link(nic + "/net/eth0/device", "../../../0000:14:00.0");
  root.link("sys/class/net/eth0", "../../" + nic.substr(4) + "/net/eth0");
  root.write(nic + "/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  root.link("sys/class/infiniband/mlx5_0", "../../" + nic.substr(4) + "/infiniband/mlx5_0");
  const std::string down = add("0000:15:00.0", "0000:10:02.0/", "0x020000\n", "0x8086\n");
  root.write(down + "/virtio3/net/eth1/operstate", "down\n");
  root.write(down + "/virtio3/net/eth1/carrier", "0\n");
  root.write(down + "/virtio3/net/eth1/speed", "-1\n");
  root.link("sys/class/net/eth1", "../../" + down.substr(4) + "/virtio3/net/eth1");
  add("0000:16:00.0", "0000:10:03.0/", "0x020000\n", "0x8086\n");
  root.write("sys/devices/virtual/net/lo/operstate", "unknown\n");
  root.link("sys/class/net/lo", "../../devices/virtual/net/lo");
}

TEST(TopologyRoot, devices_know_their_switch_node_names_and_speed) {
  const Folder root;
  add_two_packages(root);
  add_devices(root);
  const Topology topology = load_topology(root.path());
  ASSERT_EQ(topology.devices.size(), 4U);
  const Device* nic = topology.device("eth0");
  ASSERT_NE(nic, nullptr);
  EXPECT_EQ(nic, topology.device("mlx5_0"));
  EXPECT_EQ(nic->pci_address, "0000:14:00.0");
  EXPECT_EQ(nic->pci_switch, "0000:10:01.0");
  EXPECT_EQ(nic->numa_node, 1);
  EXPECT_EQ(nic->local_cpus, (CpuSet{2, 3, 6, 7}));
  EXPECT_EQ(nic->link_megabits_per_s, 25000U);
  EXPECT_TRUE(nic->usable) << nic->why_not;
  ASSERT_NE(topology.device("cuda0"), nullptr);
  EXPECT_TRUE(topology.device("cuda0")->usable);
  EXPECT_EQ(topology.device("cuda0")->pci_switch, "0000:10:01.0");
}

TEST(TopologyRoot, devices_without_carrier_or_driver_are_not_usable) {
  const Folder root;
  add_two_packages(root);
  add_devices(root);
  const Topology topology = load_topology(root.path());
  ASSERT_NE(topology.device("eth1"), nullptr);
  EXPECT_EQ(topology.device("eth1")->pci_switch, "");
  EXPECT_EQ(topology.device("eth1")->why_not, "eth1 has no carrier");
  ASSERT_NE(topology.device("16:00.0"), nullptr);
  EXPECT_EQ(topology.device("16:00.0")->why_not, "no driver is bound to it");
}

// The machine that runs the test.

TEST(ThisMachine, has_a_core_for_every_cpu_that_is_online) {
  const Topology topology = load_topology("");
  EXPECT_EQ(topology.source, "this machine");
  EXPECT_FALSE(topology.allowed.empty());
  EXPECT_TRUE(topology.online.contains_all(topology.allowed));
  CpuSet all;
  for (const Core& core : topology.cores) all |= core.cpus;
  EXPECT_EQ(all, topology.online);
}

TEST(ThisMachine, looks_the_same_as_a_root) {
  // A root other than "/" is read as a copy.
  const Topology live = load_topology("");
  const Topology root = load_topology("/proc/self/root");
  EXPECT_EQ(live.online, root.online);
  ASSERT_EQ(live.cores.size(), root.cores.size());
  for (std::size_t i = 0; i < live.cores.size(); ++i) {
    EXPECT_EQ(live.cores[i].cpus, root.cores[i].cpus);
    EXPECT_EQ(live.cores[i].numa_node, root.cores[i].numa_node);
  }
  ASSERT_EQ(live.devices.size(), root.devices.size());
  for (std::size_t i = 0; i < live.devices.size(); ++i) {
    EXPECT_EQ(live.devices[i].name, root.devices[i].name);
    EXPECT_EQ(live.devices[i].pci_switch, root.devices[i].pci_switch);
    EXPECT_EQ(live.devices[i].slot_megabits_per_s, root.devices[i].slot_megabits_per_s);
  }
}

}  // namespace
}  // namespace nfx
