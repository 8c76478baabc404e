// The CPU settings of a host's kernel: boot parameters, isolated CPUs, the targets of interrupts.
// Thread: a value; reading it makes system calls and allocates. Errors: none; a value that cannot be read is an empty
// optional and named in `unreadable`. Source: /proc and /sys as described in
// Documentation/admin-guide/kernel-parameters.txt.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/placement/cpu_set.hpp"
#include "nexusfix/placement/host_files.hpp"

namespace nfx {

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

  // CPUs on which no other task may run unless it is pinned there.
  [[nodiscard]] CpuSet isolated_cpus() const { return isolated | shielded; }
};

[[nodiscard]] HostFacts read_host_facts(const HostFiles& files);

// The right value of kernel.timer_migration. With 1, timers move from sleeping CPUs to CPUs that are awake, as a
// busy-polling thread's CPU always is. From nohz_full CPUs, however, they move to the others, and none moves there.
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
