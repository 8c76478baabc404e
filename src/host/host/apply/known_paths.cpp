// The paths of runtime_changes() and boot_artefacts(), as patterns: * matches a name without /, except . and ..
#include "host/apply/known_paths.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "nexusfix/placement/machine.hpp"

namespace nfx::host {
namespace {

constexpr std::array<std::string_view, 14> kernel_files{"/proc/irq/*/smp_affinity_list",
                                                        "/proc/irq/default_smp_affinity",
                                                        "/proc/sys/kernel/sched_rt_runtime_us",
                                                        "/proc/sys/kernel/timer_migration",
                                                        "/proc/sys/kernel/numa_balancing",
                                                        "/proc/sys/kernel/watchdog_cpumask",
                                                        "/proc/sys/vm/stat_interval",
                                                        "/sys/devices/virtual/workqueue/cpumask",
                                                        "/sys/devices/virtual/workqueue/*/cpumask",
                                                        "/sys/kernel/debug/sched/fair_server/*/runtime",
                                                        "/sys/class/net/*/queues/*/rps_cpus",
                                                        "/sys/devices/system/cpu/cpufreq/*/scaling_governor",
                                                        "/sys/devices/system/cpu/*/cpufreq/scaling_governor",
                                                        "/sys/kernel/mm/transparent_hugepage/enabled"};

constexpr std::array<std::string_view, 15> installed_files{"/etc/default/grub.d/50-nexusfix.cfg",
                                                           "/etc/nexusfix/boot-entry.conf",
                                                           "/etc/nexusfix/irqbalance.env",
                                                           "/etc/nexusfix/kubelet.yaml",
                                                           "/etc/sysctl.d/50-nexusfix.conf",
                                                           "/etc/systemd/system.conf.d/50-nexusfix.conf",
                                                           "/etc/systemd/system/*.d/50-nexusfix.conf",
                                                           "/etc/systemd/system/nexusfix.slice",
                                                           "/etc/systemd/system/nexusfix-*.service",
                                                           "/etc/tuned/nexusfix/tuned.conf",
                                                           "/etc/tuned/profiles/nexusfix/tuned.conf",
                                                           "/etc/udev/rules.d/50-nexusfix.rules",
                                                           "/usr/local/lib/nexusfix/boot-entries",
                                                           "/usr/local/lib/nexusfix/steer-interrupts",
                                                           "/usr/local/lib/nexusfix/tune-nics"};

// Matches one name of a path against a pattern with at most one *.
bool fits_name(std::string_view name, std::string_view pattern) noexcept {
  if (name.empty() || name == "." || name == "..") return false;
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  return name.size() > before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

std::string_view take_name(std::string_view& path) noexcept {
  path.remove_prefix(1);  // skips the slash
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(end);
  return name;
}

// With `folders`, a parent folder of such a path matches too.
bool fits(std::string_view path, std::string_view pattern, bool folders = false) noexcept {
  while (path.starts_with('/') && pattern.starts_with('/')) {
    if (!fits_name(take_name(path), take_name(pattern))) return false;
  }
  return path.empty() && (pattern.empty() || folders);
}

bool is_below(std::string_view path, std::string_view folder) noexcept {
  if (folder.empty() || !path.starts_with(folder)) return false;
  path.remove_prefix(folder.size());
  if (!path.starts_with('/')) return false;
  while (path.starts_with('/')) {
    if (!fits_name(take_name(path), "*")) return false;
  }
  return path.empty();
}

class Known {
 public:
  explicit Known(const HostFiles& files) : mount_(find_cpusets(files).mount) {}

  [[nodiscard]] bool has(const Change& change) const {
    const std::string_view path = change.path;
    switch (change.kind) {
      case ChangeKind::write_file:
        return std::ranges::any_of(kernel_files, [path](std::string_view file) { return fits(path, file); }) ||
               is_of_groups(path, {"cpuset.cpus", "cpuset.mems", "cgroup.subtree_control"});
      case ChangeKind::make_group: return in_groups(path) && name_of(path) == housekeeping_group;
      case ChangeKind::move_tasks:
        return is_of_groups(path, {"tasks", "cgroup.procs"}) && is_of_groups(change.from, {"tasks", "cgroup.procs"});
      case ChangeKind::set_affinities: return path == "/proc";
      case ChangeKind::install_file: return is_installed_path(path);
      case ChangeKind::make_directory:
        return std::ranges::any_of(installed_files, [path](std::string_view file) { return fits(path, file, true); });
    }
    return false;
  }

 private:
  static std::string_view name_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

  [[nodiscard]] bool in_groups(std::string_view path) const noexcept {
    return is_below(path, "/sys/fs/cgroup") || is_below(path, mount_);
  }
  [[nodiscard]] bool is_of_groups(std::string_view path, std::initializer_list<std::string_view> names) const {
    return in_groups(path) && std::ranges::find(names, name_of(path)) != names.end();
  }

  const std::string mount_;
};

}  // namespace

bool is_installed_path(std::string_view path) noexcept {
  return std::ranges::any_of(installed_files, [path](std::string_view file) { return fits(path, file); });
}

std::optional<std::string> foreign_path(const HostFiles& files, const RecordContent& record) {
  const Known known{files};
  const auto foreign = std::ranges::find_if_not(record.changes, [&](const Change& each) { return known.has(each); });
  if (foreign == record.changes.end()) return std::nullopt;
  return foreign->path;
}

}  // namespace nfx::host
