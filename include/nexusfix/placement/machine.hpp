// A machine. Topology is its hardware: packages, NUMA nodes, shared caches, cores, and devices with their PCIe
// switches. HostFacts is what its kernel does with the CPUs: how it was booted, which CPUs are isolated, where
// interrupts go. Everything else in placement is a function of these values. They are read from this machine, from a
// file of hwloc, or from a folder that holds copies of another machine's /proc and /sys.
// Thread: values; HostFiles has no state but its root. Cost: reading makes system calls, takes milliseconds and
// allocates; reading another machine's topology starts a child process for that long. Bounds: a file is read up to
// 4 MiB, a directory up to 65,536 entries. Errors: HostFiles returns errno values, which tell a missing file (ENOENT)
// from one that may not be read (EACCES, EPERM). A TopologyError names the source and what is wrong. A fact that cannot
// be read is an empty optional and named in HostFacts::unreadable.
// Source: hwloc; /proc and /sys as Documentation/admin-guide/kernel-parameters.txt describes them.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {

// The files in which a Linux host describes itself, /proc and /sys, read below a root. The root is "/" for this host,
// or a folder with copies of another host's files, made by hand or by `nfx host collect`.
class HostFiles {
 public:
  explicit HostFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  // Whether this is the machine we run on.
  [[nodiscard]] bool live() const { return root_ == "/"; }
  // The real path of "/proc/cmdline".
  [[nodiscard]] std::filesystem::path path(std::string_view file) const;

  // The whole content; `text` without blanks and line ends after it.
  [[nodiscard]] std::expected<std::string, int> read(std::string_view file) const;
  [[nodiscard]] std::expected<std::string, int> text(std::string_view file) const;
  [[nodiscard]] std::expected<long long, int> integer(std::string_view file) const;  // EINVAL: not an integer

  [[nodiscard]] bool exists(std::string_view file) const;
  // Names in a directory, without "." and "..", sorted with numbers as numbers (cpu2 before cpu10); empty when none.
  [[nodiscard]] std::vector<std::string> list(std::string_view directory) const;
  // The target of a symbolic link, unchanged.
  [[nodiscard]] std::expected<std::string, int> link(std::string_view file) const;

 private:
  std::filesystem::path root_;
};

// cpu2 before cpu10.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b) noexcept;

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

// Devices that belong together: on one PCIe switch, M GPUs with N NICs, or on one NUMA node where there is no switch.
// Only usable devices. Each group has an even share of its node's cores, in order; what does not divide evenly is left
// over. Groups of unknown place share the cores of nodes without other groups.
struct DeviceGroup {
  std::string domain;  // the switch, "NUMA node 1", or "unknown" for devices that do not state where they are
  int numa_node = -1;
  std::vector<std::size_t> gpus;  // into Topology::devices
  std::vector<std::size_t> nics;
  std::vector<int> cpus;  // the first hardware thread of each of its cores, ascending
};

[[nodiscard]] std::vector<DeviceGroup> group_devices(const Topology& topology);

struct Interrupt {
  int number = 0;
  std::vector<std::string> actions;  // who handles it: "eth0-rx-0", "nvme0q1"; empty: no handler at the moment
  std::string device;                // PCI address of the device it comes from, empty when not known
  std::optional<CpuSet> allowed;     // smp_affinity_list
  std::optional<CpuSet> effective;   // where it really goes; follows `allowed` at the next interrupt
};

struct KernelVersion {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const KernelVersion&, const KernelVersion&) = default;
};

// isolcpus= of the kernel command line: "domain,managed_irq,2-15".
struct IsolCpus {
  std::vector<std::string> flags;
  CpuSet cpus;
};

struct HostFacts {
  std::string command_line;
  std::map<std::string, std::string, std::less<>> parameters;  // the last of each name; "" for those without a value
  std::string kernel_release;
  KernelVersion kernel;
  CpuSet online;
  CpuSet isolated;   // from the scheduler: isolcpus at boot, or isolated cpuset partitions now
  CpuSet shielded;   // isolated by `nfx host apply --runtime`; includes none of `isolated` by itself
  CpuSet nohz_full;  // without the periodic tick
  CpuSet rcu_nocbs;  // without RCU callbacks
  IsolCpus isolcpus;
  std::vector<Interrupt> interrupts;       // by number
  std::optional<long long> rt_runtime_us;  // -1: real-time threads are not throttled
  std::optional<long long> rt_period_us;
  std::optional<bool> fair_server;  // takes time from real-time threads for others; kernels from 6.12
  std::optional<bool> smt_active;
  std::vector<std::string> unreadable;  // files that exist but may not be read, with the reason

  // CPUs that no other task may run on unless it is pinned there.
  [[nodiscard]] CpuSet isolated_cpus() const { return isolated | shielded; }
};

[[nodiscard]] HostFacts read_host_facts(const HostFiles& files);

// What kernel.timer_migration should be. 1 lets timers move from sleeping CPUs to CPUs that are awake, such as a
// busy-polling thread's. From nohz_full CPUs they only move away.
[[nodiscard]] int wanted_timer_migration(const HostFacts& facts, const CpuSet& isolated_cpus);

// Words of a kernel command line, as the kernel splits them: blanks inside double quotes are part of the word.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> split_command_line(std::string_view text);
// CPU lists of the command line know "N" for the last CPU and "all". Error: a text.
[[nodiscard]] std::expected<CpuSet, std::string> parse_boot_cpus(std::string_view text, const CpuSet& present);

// Where the control groups that separate tasks are: cgroup v2, or the cpuset hierarchy of v1.
struct CpusetHierarchy {
  enum class Version : std::uint8_t { none, v1, v2 };
  Version version = Version::none;
  std::string mount;  // "/sys/fs/cgroup" or "/sys/fs/cgroup/cpuset"
};
[[nodiscard]] CpusetHierarchy find_cpusets(const HostFiles& files);

// The group that everything else is moved into, below CpusetHierarchy::mount.
inline constexpr std::string_view housekeeping_group = "nexusfix_housekeeping";

}  // namespace nfx
