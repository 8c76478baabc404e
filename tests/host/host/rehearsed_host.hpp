// A host made of plain files, with the tasks, groups, interrupts and settings that placement changes, and a writer that
// counts, fails and dies.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "host/apply.hpp"
#include "temporary_folder.hpp"

namespace nfx::rehearsal {

// In memory if possible, because records are synced to the disk line by line, here thousands of times.
[[nodiscard]] inline std::filesystem::path place_of_folders() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
}

enum class Groups { v1, v2, none };

// Four CPUs; CPU 3 is to be isolated.
class Host {
 public:
  explicit Host(Groups groups = Groups::v1) {
    put("/proc/cmdline", "quiet\n");
    put("/proc/sys/kernel/osrelease", "6.18.1\n");
    put("/proc/sys/kernel/random/boot_id", "first-boot\n");
    put("/proc/sys/kernel/sched_rt_runtime_us", "950000\n");
    put("/proc/sys/kernel/timer_migration", "1\n");
    put("/proc/sys/kernel/numa_balancing", "1\n");
    put("/proc/sys/kernel/watchdog_cpumask", "0-3\n");
    put("/proc/sys/vm/stat_interval", "1\n");
    for (const char* name : {"online", "present"}) put(std::string{"/sys/devices/system/cpu/"} + name, "0-3\n");
    put("/sys/devices/system/cpu/isolated", "\n");
    put("/sys/devices/system/cpu/cpufreq/policy3/affected_cpus", "3\n");
    put("/sys/devices/system/cpu/cpufreq/policy3/scaling_available_governors", "performance schedutil\n");
    put("/sys/devices/system/cpu/cpufreq/policy3/scaling_governor", "schedutil\n");
    put("/sys/devices/virtual/workqueue/cpumask", "f\n");
    put("/sys/devices/virtual/workqueue/writeback/cpumask", "f\n");
    put("/sys/class/net/eth0/queues/rx-0/rps_cpus", "f\n");
    put("/sys/class/net/eth0/queues/rx-1/rps_cpus", "0\n");
    put("/proc/irq/default_smp_affinity", "f\n");
    interrupt(10, "0-3", "3");
    interrupt(11, "0-3", "0");
    interrupt(12, "3", "3");
    interrupt(13, "0-2", "1");
    task(1, 1, "init", "0-3", 0);
    task(2, 2, "kthreadd", "0-3", kernel);
    task(3, 3, "kworker/3:0", "3", kernel | bound);
    task(50, 50, "server", "0-3", 0);
    task(50, 51, "server io", "3", 0);
    task(60, 60, "a job", "2-3", 0, 50);
    control_groups(groups);
  }

  [[nodiscard]] HostFiles files() const { return HostFiles{folder_.path()}; }
  [[nodiscard]] HostFacts facts() const { return read_host_facts(files()); }

  void put(std::string_view file, std::string_view content) const {
    const std::filesystem::path path = files().path(file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << content;
  }
  [[nodiscard]] std::string get(std::string_view file) const { return files().text(file).value_or("(none)"); }

  void interrupt(int number, const std::string& allowed, const std::string& effective) const {
    const std::string folder = "/proc/irq/" + std::to_string(number) + '/';
    put(folder + "smp_affinity_list", allowed + '\n');
    put(folder + "effective_affinity_list", effective + '\n');
  }

  static constexpr unsigned kernel = 0x00200000, bound = 0x04000000;
  static std::string task_folder(int pid, int tid) {
    return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
  }
  void task(int pid, int tid, const std::string& name, const std::string& mask, unsigned flags, int parent = 1,
            int start = 100) const {
    put(task_folder(pid, tid) + "/stat", std::to_string(tid) + " (" + name + ") S " + std::to_string(parent) +
                                             " 1 1 0 -1 " + std::to_string(flags) + " 0 0 0 0 0 0 0 0 20 0 1 0 " +
                                             std::to_string(start) + " 0 0\n");
    put(task_folder(pid, tid) + "/status", "Name:\t" + name + "\nCpus_allowed_list:\t" + mask + "\nMems_allowed:\t1\n");
  }
  [[nodiscard]] std::string mask(int pid, int tid) const {
    const std::string status = get(task_folder(pid, tid) + "/status");
    const std::size_t begin = status.find("list:\t") + 6;
    return status.substr(begin, status.find('\n', begin) - begin);
  }

  // Every file with its content and mode, every folder.
  [[nodiscard]] std::map<std::string, std::string> snapshot() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      const std::string name = entry.path().lexically_relative(folder_.path()).string();
      if (entry.is_directory()) {
        all[name + '/'] = "";
      } else {
        std::ifstream in{entry.path(), std::ios::binary};
        all[name] = std::string{std::istreambuf_iterator<char>{in}, {}};
      }
    }
    return all;
  }

 private:
  void control_groups(Groups groups) const {
    const std::string v1 = "/sys/fs/cgroup/cpuset", v2 = "/sys/fs/cgroup";
    switch (groups) {
      case Groups::v1:
        put("/proc/self/mounts", "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n");
        put(v1 + "/cpuset.cpus", "0-3\n");
        put(v1 + "/cpuset.mems", "0\n");
        put(v1 + "/tasks", "1\n2\n3\n50\n51\n");
        put(v1 + "/cgroup.procs", "1\n2\n3\n50\n");
        put(v1 + "/jobs/cpuset.cpus", "2-3\n");
        put(v1 + "/jobs/tasks", "60\n");
        put(v1 + "/jobs/cgroup.procs", "60\n");
        return;
      case Groups::v2:
        put("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
        put(v2 + "/cgroup.controllers", "cpuset cpu memory\n");
        put(v2 + "/cgroup.subtree_control", "cpu memory\n");
        put(v2 + "/cgroup.procs", "2\n3\n50\n");
        put(v2 + "/init.scope/cgroup.procs", "1\n");
        put(v2 + "/system.slice/cgroup.procs", "60\n");
        return;
      case Groups::none: put("/proc/self/mounts", "proc /proc proc rw 0 0\n"); return;
    }
  }

  test::TemporaryFolder folder_{place_of_folders()};
};

inline PlacementPlan plan_for(CpuSet isolated_cpus, int priority = 0) {
  PlacementPlan plan;
  for (const int cpu : isolated_cpus.members()) {
    ThreadPlacement thread{.name = "nfx-poll-" + std::to_string(plan.threads.size()),
                           .index = static_cast<std::uint32_t>(plan.threads.size()),
                           .wait = ThreadWait::spin,
                           .cpus = {cpu},
                           .priority = priority};
    plan.threads.push_back(std::move(thread));
  }
  plan.housekeeping = CpuSet{0, 1, 2, 3} - isolated_cpus;
  plan.isolated_cpus = std::move(isolated_cpus);
  plan.hash = "00000000000000" + std::to_string(10 + plan.threads.size());
  return plan;
}

// Not an std::exception, so that only a test can catch it.
struct Died {};

class FaultyWriter final : public HostWriter {
 public:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  explicit FaultyWriter(const Host& host) : under_(host.files()) {}

  std::size_t die_before = never;  // the process has died, and the operation was not done
  std::size_t die_after = never;   // the operation was done, and not reported
  std::size_t fail_at = never;
  int error = EIO;
  std::string refused_file;  // the end of its path
  std::size_t operations = 0;

  int write(std::string_view file, std::string_view bytes) override {
    if (!refused_file.empty() && file.ends_with(refused_file)) return ++operations, error;
    return act([&] { return under_.write(file, bytes); });
  }
  int make_directory(std::string_view path) override {
    return act([&] { return under_.make_directory(path); });
  }
  int remove_directory(std::string_view path) override {
    return act([&] { return under_.remove_directory(path); });
  }
  int move_task(std::string_view list, int id) override {
    return act([&] { return under_.move_task(list, id); });
  }
  int set_affinity(int tid, const CpuSet& cpus) override {
    return act([&] { return under_.set_affinity(tid, cpus); });
  }
  int replace_file(std::string_view file, std::string_view bytes, std::uint32_t mode) override {
    return act([&] { return under_.replace_file(file, bytes, mode); });
  }
  int remove_file(std::string_view file) override {
    return act([&] { return under_.remove_file(file); });
  }

 private:
  int act(const std::function<int()>& operation) {
    const std::size_t number = operations++;
    if (number == die_before) throw Died{};
    if (number == fail_at) return error;
    const int result = operation();
    if (number == die_after) throw Died{};
    return result;
  }

  FolderWriter under_;
};

}  // namespace nfx::rehearsal
