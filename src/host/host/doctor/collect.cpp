// Copies the files that the doctor and the topology read, so that the host can be examined on another machine.
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <stdexcept>
#include <system_error>

#include "base/error_text.hpp"
#include "host/doctor/check.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_files = 100000;
constexpr std::size_t max_bytes = 128U << 20;

// Files that the topology, the host's facts and the checks with code of their own read; the table of checks names the
// others. For a name that ends in "/", only the existence of the folder or link is copied.
constexpr auto files_to_copy = std::to_array<std::string_view>({
    "/.dockerenv",
    "/dev/cpu_dma_latency",
    "/etc/default/irqbalance",
    "/etc/sysconfig/irqbalance",
    "/proc/1/cgroup",
    "/proc/[0-9]*/status",
    "/proc/[0-9]*/task/[0-9]*/status",
    "/proc/cmdline",
    "/proc/cpuinfo",
    "/proc/interrupts",
    "/proc/irq/[0-9]*/*/",
    "/proc/irq/[0-9]*/effective_affinity_list",
    "/proc/irq/[0-9]*/node",
    "/proc/irq/[0-9]*/smp_affinity_list",
    "/proc/irq/default_smp_affinity",
    "/proc/meminfo",
    "/proc/self/cgroup",
    "/proc/self/limits",
    "/proc/self/mounts",
    "/proc/self/status",
    "/proc/softirqs",
    "/proc/stat",
    "/proc/swaps",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/sched_min_granularity_ns",
    "/proc/sys/kernel/sched_rt_period_us",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/proc/sys/kernel/soft_watchdog",
    "/proc/sys/kernel/timer_migration",
    "/proc/sys/kernel/version",
    "/proc/sys/kernel/watchdog",
    "/proc/sys/kernel/watchdog_cpumask",
    "/proc/sys/net/core/busy_poll",
    "/proc/sys/net/core/busy_read",
    "/proc/sys/net/core/flow_limit_cpu_bitmap",
    "/proc/sys/net/core/rps_default_mask",
    "/proc/sys/vm/dirty_background_ratio",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/dirty_writeback_centisecs",
    "/run/.containerenv",
    "/sys/bus/pci/devices/*/class",
    "/sys/bus/pci/devices/*/config",
    "/sys/bus/pci/devices/*/current_link_speed",
    "/sys/bus/pci/devices/*/current_link_width",
    "/sys/bus/pci/devices/*/device",
    "/sys/bus/pci/devices/*/driver/",
    "/sys/bus/pci/devices/*/irq",
    "/sys/bus/pci/devices/*/label",
    "/sys/bus/pci/devices/*/local_cpulist",
    "/sys/bus/pci/devices/*/local_cpus",
    "/sys/bus/pci/devices/*/max_link_speed",
    "/sys/bus/pci/devices/*/max_link_width",
    "/sys/bus/pci/devices/*/msi_irqs/*",
    "/sys/bus/pci/devices/*/numa_node",
    "/sys/bus/pci/devices/*/revision",
    "/sys/bus/pci/devices/*/subsystem_device",
    "/sys/bus/pci/devices/*/subsystem_vendor",
    "/sys/bus/pci/devices/*/uevent",
    "/sys/bus/pci/devices/*/vendor",
    "/sys/class/block/*/device/",
    "/sys/class/block/*/size",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/drm/*/device/",
    "/sys/class/infiniband/*/device/",
    "/sys/class/infiniband/*/node_type",
    "/sys/class/infiniband/*/ports/*/state",
    "/sys/class/net/*/carrier",
    "/sys/class/net/*/dev_id",
    "/sys/class/net/*/dev_port",
    "/sys/class/net/*/device/",
    "/sys/class/net/*/device/numa_node",
    "/sys/class/net/*/device/uevent",
    "/sys/class/net/*/gro_flush_timeout",
    "/sys/class/net/*/napi_defer_hard_irqs",
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/queues/rx-*/rps_cpus",
    "/sys/class/net/*/queues/rx-*/rps_flow_cnt",
    "/sys/class/net/*/queues/tx-*/xps_cpus",
    "/sys/class/net/*/speed",
    "/sys/class/net/*/threaded",
    "/sys/class/net/*/type",
    "/sys/class/nvme/*/device/",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/cpu/cpu[0-9]*/acpi_cppc/*",
    "/sys/devices/system/cpu/cpu[0-9]*/cache/index*/[a-z]*",
    "/sys/devices/system/cpu/cpu[0-9]*/cpu_capacity",
    "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/[a-z]*_freq",
    "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/base_frequency",
    "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/disable",
    "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/latency",
    "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/name",
    "/sys/devices/system/cpu/cpu[0-9]*/node[0-9]*/",
    "/sys/devices/system/cpu/cpu[0-9]*/online",
    "/sys/devices/system/cpu/cpu[0-9]*/topology/[a-z]*",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/cpufreq/policy*/affected_cpus",
    "/sys/devices/system/cpu/cpufreq/policy*/base_frequency",
    "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_min_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    "/sys/devices/system/cpu/cpufreq/policy*/related_cpus",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_driver",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
    "/sys/devices/system/cpu/cpuidle/current_driver",
    "/sys/devices/system/cpu/cpuidle/current_governor",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/isolated",
    "/sys/devices/system/cpu/kernel_max",
    "/sys/devices/system/cpu/nohz_full",
    "/sys/devices/system/cpu/offline",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/present",
    "/sys/devices/system/cpu/smt/active",
    "/sys/devices/system/cpu/smt/control",
    "/sys/devices/system/cpu/vulnerabilities/*",
    "/sys/devices/system/machinecheck/machinecheck*/check_interval",
    "/sys/devices/system/node/has_cpu",
    "/sys/devices/system/node/has_memory",
    "/sys/devices/system/node/has_normal_memory",
    "/sys/devices/system/node/node[0-9]*/cpulist",
    "/sys/devices/system/node/node[0-9]*/cpumap",
    "/sys/devices/system/node/node[0-9]*/distance",
    "/sys/devices/system/node/node[0-9]*/hugepages/*/nr_hugepages",
    "/sys/devices/system/node/node[0-9]*/meminfo",
    "/sys/devices/system/node/online",
    "/sys/devices/system/node/possible",
    "/sys/devices/virtual/workqueue/*/cpumask",
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/hypervisor/type",
    "/sys/kernel/debug/irq/irqs/[0-9]*",
    "/sys/kernel/debug/sched/*_ns",
    "/sys/kernel/debug/sched/fair_server/cpu*/runtime",
    "/sys/kernel/debug/sched/preempt",
    "/sys/kernel/irq/[0-9]*/actions",
    "/sys/kernel/irq/[0-9]*/chip_name",
    "/sys/kernel/realtime",
    "/sys/kernel/tracing/current_tracer",
    "/sys/kernel/tracing/set_event",
    "/sys/kernel/tracing/tracing_on",
});

class Copier {
 public:
  Copier(const HostFiles& from, std::filesystem::path to) : from_(from), to_(std::move(to)) {
    unreadable_ = doctor::collected_errors(from);
  }

  void expand(const std::string& folder, std::string_view rest) {
    const std::size_t slash = rest.find('/');
    const std::string part{rest.substr(0, slash)};
    const std::string_view behind = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    if (part.find_first_of("*[") == std::string::npos) return descend(folder + '/' + part, slash, behind);
    if (const int error = folder_error(folder.empty() ? "/" : folder)) {
      if (error == EACCES || error == EPERM) unreadable_.emplace(folder, error);
      return;
    }
    for (const std::string& name : from_.list(folder)) {
      if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) descend(folder + '/' + name, slash, behind);
    }
  }

  void copy(const std::string& file) {
    // Some names come from the host's own tables; none may lead out of the copy.
    if ((file + '/').find("/../") != std::string::npos) return;
    if (done_.files >= max_files || done_.bytes >= max_bytes) {
      done_.complete = false;
      return;
    }
    auto content = from_.read(file);
    if (!content) {
      const int error = content.error();
      if (error == EISDIR) {
        make_folder(file);
      } else if (error != ENOENT && error != ENOTDIR && error != ESRCH) {
        unreadable_.emplace(file, error);
      }
      return;
    }
    if (file.starts_with("/proc/") && file.ends_with("/status") && !file.starts_with("/proc/self/"))
      content = shortened(*content);
    write(place(file), *content);
  }

  void write(const std::filesystem::path& inside, const std::string& content) {
    const std::filesystem::path target = to_ / inside.relative_path();
    std::filesystem::create_directories(target.parent_path());
    const int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) fail(target);
    std::size_t done = 0;
    while (done < content.size()) {
      const ssize_t wrote = ::write(fd, content.data() + done, content.size() - done);
      if (wrote < 0 && errno != EINTR) {
        ::close(fd);
        fail(target);
      }
      if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
    ::fchmod(fd, 0644);  // readable by others, whatever the umask
    ::close(fd);
    ++done_.files;
    done_.bytes += content.size();
  }

  Collected finish() {
    std::string text;
    for (const auto& [file, error] : unreadable_) text += std::to_string(error) + ' ' + file + '\n';
    write(doctor::unreadable_file, text);
    for (const auto& [file, error] : unreadable_) done_.unreadable += error == EACCES || error == EPERM ? 1 : 0;
    return done_;
  }

 private:
  [[noreturn]] static void fail(const std::filesystem::path& target) {
    throw std::runtime_error(cannot("write", target, errno));
  }

  void descend(const std::string& path, std::size_t slash, std::string_view behind) {
    if (slash == std::string_view::npos) return copy(path);
    if (!behind.empty()) return expand(path, behind);
    std::error_code ignored;
    if (std::filesystem::is_directory(from_.path(path), ignored)) make_folder(path);
  }

  int folder_error(const std::string& folder) const {
    const int fd = ::open(from_.path(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    ::close(fd);
    return 0;
  }

  void make_folder(const std::string& folder) {
    std::filesystem::create_directories(to_ / place(folder).relative_path());
  }

  // Keeps only the lines of a task's status that the doctor needs.
  static std::string shortened(const std::string& status) {
    std::string kept;
    for (const std::string& line : doctor::split(status, '\n')) {
      for (const char* key : {"Name:", "State:", "Tgid:", "Pid:", "VmSize:", "Cpus_allowed_list:"}) {
        if (line.starts_with(key)) kept += line + '\n';
      }
    }
    return kept;
  }

  // A file's location in the copy. Links within /sys show how devices are connected, so they are recreated, and their
  // targets are written where they point.
  std::filesystem::path place(const std::string& file) {
    namespace fs = std::filesystem;
    std::vector<std::string> parts = doctor::split(file, '/');
    if (parts.empty() || parts.front() != "sys") return file;
    fs::path here = "/";
    std::size_t links = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const fs::path next = here / parts[i];
      const auto target = from_.link(next.string());
      const bool relative = target && !target->starts_with('/');
      if (!relative || ++links > 16) {
        here = next;
        continue;
      }
      make_link(next, *target);
      std::vector<std::string> lead = doctor::split((here / *target).lexically_normal().string(), '/');
      lead.insert(lead.end(), parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end());
      parts = std::move(lead);
      here = "/";
      i = static_cast<std::size_t>(-1);
    }
    return here;
  }

  void make_link(const std::filesystem::path& inside, const std::string& target) {
    const std::filesystem::path link = to_ / inside.relative_path();
    std::filesystem::create_directories(link.parent_path());
    if (::symlink(target.c_str(), link.c_str()) != 0 && errno != EEXIST) fail(link);
  }

  const HostFiles& from_;
  std::filesystem::path to_;
  std::map<std::string, int, std::less<>> unreadable_;
  Collected done_;
};

// Our own control groups, the groups that isolate CPUs, and the files that limit them.
std::vector<std::string> group_files(const HostFiles& files) {
  std::vector<std::string> wanted;
  for (const char* controller : {"cpu", "cpuset"}) {
    for (const std::string& folder : doctor::own_group(files, controller).folders) {
      for (const char* name :
           {"/cpu.max", "/cpu.cfs_quota_us", "/cpu.cfs_period_us", "/cpu.rt_runtime_us", "/cpuset.cpus",
            "/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cgroup.controllers"})
        wanted.push_back(folder + name);
    }
  }
  const CpusetHierarchy hierarchy = find_cpusets(files);
  if (hierarchy.version == CpusetHierarchy::Version::none) return wanted;
  for (const char* name : {"/cgroup.controllers", "/cpuset.cpus.isolated", "/cpuset.cpus.effective", "/*/cpuset.cpus",
                           "/*/cpuset.cpus.partition"})
    wanted.push_back(hierarchy.mount + name);
  return wanted;
}

}  // namespace

std::span<const std::string_view> collected_patterns() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> patterns{files_to_copy.begin(), files_to_copy.end()};
    for (const doctor::Check& check : doctor::checks()) {
      const auto* setting = std::get_if<doctor::Setting>(&check.how);
      if (setting != nullptr && !setting->file.empty()) patterns.push_back(setting->file);
    }
    std::ranges::sort(patterns);
    return patterns;
  }();
  return all;
}

Collected collect_host(const HostFiles& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  try {
    fs::create_directories(to);
    if (!fs::is_empty(to))
      throw std::runtime_error(to.string() + ": is not empty; give a folder that is empty or does not exist");
    Copier copier{from, to};
    for (const std::string_view pattern : collected_patterns()) copier.expand("", pattern.substr(1));
    for (const std::string& file : group_files(from)) copier.expand("", std::string_view{file}.substr(1));
    for (const NetworkDevice& device : read_network_facts(from))
      copier.write(ethtool_file(device.name), ethtool_text(device));
    return copier.finish();
  } catch (const fs::filesystem_error& error) {
    throw std::runtime_error(cannot("write", error.path1(), error.code().value()));
  }
}

}  // namespace nfx
