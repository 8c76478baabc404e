// The parts of a machine: packages, NUMA nodes, shared caches, cores, and the devices with the PCIe switch of each. A
// plain value: everything else in placement is a function of it.
// Thread: a value. Cost of loading: milliseconds, allocates; reading another machine starts a child process for that
// long. Errors: TopologyError names the source and the error. Source: hwloc; the state of drivers and links from sysfs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/cpu_set.hpp"

namespace nfx {

// Indexes into Topology's vectors; -1 where the machine does not state it.
struct Core {
  CpuSet cpus;       // its hardware threads; the lowest is the one to use, the others are its SMT siblings
  int package = -1;  // operating system numbers
  int numa_node = -1;
  int cache = -1;  // into Topology::caches
  int kind = -1;   // hybrid machines: 0 for the slowest kind of core, rising; -1 when all are alike
};

struct NumaNode {
  int number = -1;  // the operating system's
  CpuSet cpus;      // empty: memory without CPUs
  std::uint64_t memory_bytes = 0;
};

// A last-level cache and who shares it; a CCX on AMD.
struct CacheDomain {
  CpuSet cpus;
  std::uint64_t size_bytes = 0;
  int level = 0;
};

enum class DeviceKind : std::uint8_t { network, gpu, storage, other };

[[nodiscard]] std::string_view to_string(DeviceKind kind) noexcept;

struct Device {
  DeviceKind kind = DeviceKind::other;
  std::string name;  // "eth0", "rdmap79s0", "cuda0"; the PCI address when the system has no name for it
  std::vector<std::string> other_names;  // of the same function: an RDMA device and its net device, for example
  std::string pci_address;               // "0000:4f:00.0"; empty for devices that are not on PCI
  std::string pci_switch;  // names the highest bridge below the host bridge that it shares with others; empty: none
  std::uint16_t pci_class = 0;
  std::string description;  // vendor and model where known
  int numa_node = -1;
  CpuSet local_cpus;                        // empty when numa_node is -1 and nothing else determines it
  std::uint64_t link_megabits_per_s = 0;    // 0: not known, also in the next two
  std::uint64_t slot_megabits_per_s = 0;    // of its own PCIe link, one direction, without what the encoding takes
  std::uint64_t switch_megabits_per_s = 0;  // of the PCIe link that `pci_switch` shares among its devices
  bool usable = true;  // false: no driver, no link, or a name without a device; `why_not` has the reason
  std::string why_not;
};

struct Topology {
  std::string source;   // "this machine", or the file
  std::string machine;  // product or host name, where known
  std::string cpu_model;
  CpuSet online;
  CpuSet offline;  // present but not online
  CpuSet allowed;  // what this process's control groups let it use; all online ones for other machines. Its own mask
                   // does not limit this: it can be widened, and isolcpus= makes it narrow.
  std::vector<Core> cores;  // by their lowest CPU
  std::vector<NumaNode> nodes;
  std::vector<CacheDomain> caches;
  std::vector<Device> devices;     // by PCI address, then name
  std::vector<std::string> notes;  // what was odd and how it was understood; one sentence each

  // All null or -1 when there is none.
  [[nodiscard]] const Core* core_of(int cpu) const noexcept;
  [[nodiscard]] const NumaNode* node(int number) const noexcept;
  [[nodiscard]] const Device* device(std::string_view name_or_address) const noexcept;
  [[nodiscard]] int numa_node_of(int cpu) const noexcept;
  [[nodiscard]] int cache_of(int cpu) const noexcept;
  [[nodiscard]] CpuSet siblings_of(int cpu) const;  // without the CPU itself
  [[nodiscard]] bool has_smt() const noexcept;
};

class TopologyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[nodiscard]] Topology load_this_machine();
[[nodiscard]] Topology load_topology_xml(const std::filesystem::path& file);
// A folder that holds sys/ and proc/ of a machine, such as `nfx host collect` writes. Only
// sys/devices/system/cpu/online has to be there; without the files of cpu0/topology each CPU is a core and no device is
// known.
[[nodiscard]] Topology load_topology_root(const std::filesystem::path& folder);
// A file is XML, a folder is a root, "" is this machine.
[[nodiscard]] Topology load_topology(const std::filesystem::path& from);

// Devices that belong together: M GPUs with N NICs on one PCIe switch, or without a switch on one NUMA node. Only
// usable devices. Each group has an even share of its node's cores, in order; cores that do not divide evenly are left
// over. Groups of unknown location share the cores of nodes without other groups.
struct DeviceGroup {
  std::string domain;  // the switch, "NUMA node 1", or "unknown" for devices that do not state where they are
  int numa_node = -1;
  std::vector<std::size_t> gpus;  // into Topology::devices
  std::vector<std::size_t> nics;
  std::vector<int> cpus;  // the first hardware thread of each of its cores, ascending
};

[[nodiscard]] std::vector<DeviceGroup> group_devices(const Topology& topology);

}  // namespace nfx
