// Samples a host's threads from /proc at one moment.
#include "placement/thread_sampler.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <system_error>

#include "placement/numbers.hpp"
#include "placement/proc_text.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_unreadable = 8;
constexpr std::size_t max_groups = 64;
constexpr std::size_t max_group_depth = 32;

// The mounts of group controllers: "cpu" of version 1, or the unified hierarchy.
struct GroupMounts {
  std::string v1_cpu;
  std::string v2;
};

GroupMounts find_group_mounts(const HostFiles& files) {
  GroupMounts found;
  for (const Mount& mount : read_mounts(files).value_or(std::vector<Mount>{})) {
    if (mount.type == "cgroup2" && found.v2.empty()) found.v2 = mount.folder;
    if (mount.type == "cgroup" && found.v1_cpu.empty() && mount.has_option("cpu")) found.v1_cpu = mount.folder;
  }
  return found;
}

class Sampler {
 public:
  Sampler(const HostFiles& files, const WatchTarget& target, WatchSample& sample)
      : files_(files), target_(target), sample_(sample) {}

  void threads() {
    if (target_.pid != 0 && target_.isolated_cpus.empty()) {
      process(std::to_string(target_.pid));
      return;
    }
    for (const std::string& name : files_.list("/proc")) {
      if (all_digits(name)) process(name);
    }
  }

  void one(int pid, int tid) {
    thread(pid, tid, "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + '/');
  }

  void groups() {
    const GroupMounts mounts = find_group_mounts(files_);
    std::set<std::string> folders;
    int last = 0;
    for (const ThreadSample& thread : sample_.threads) {
      if (thread.pid == last) continue;
      last = thread.pid;
      const auto text = files_.read("/proc/" + std::to_string(thread.pid) + "/cgroup");
      std::string_view rest = text ? std::string_view{*text} : std::string_view{};
      while (!rest.empty()) {
        const std::string_view line = next_line(rest);
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string controllers = ',' + std::string{line.substr(first + 1, second - first - 1)} + ',';
        const std::string& mount = controllers == ",," ? mounts.v2 : mounts.v1_cpu;
        if (mount.empty() || (controllers != ",," && !controllers.contains(",cpu,"))) continue;
        add_with_ancestors(folders, mount, line.substr(second + 1));
      }
    }
    for (const std::string& folder : folders) throttling(folder);
  }

  void clocks() {
    if (auto source = text("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
      sample_.clocksource = printable_text(*source);
    const std::string base = "/sys/devices/system/cpu/cpufreq/";
    for (const std::string& policy : files_.list(base)) {
      if (!policy.starts_with("policy")) continue;
      if (const auto governor = text(base + policy + "/scaling_governor"))
        sample_.governors.emplace(policy, printable_text(*governor));
    }
    if (const auto online = text("/sys/devices/system/cpu/online"))
      sample_.online = CpuSet::parse_list(*online).value_or(CpuSet{});
  }

 private:
  // Threads end, so missing files are expected. A file that is not readable is remembered.
  std::optional<std::string> text(const std::string& file) {
    auto content = files_.text(file);
    if (content) return *std::move(content);
    if ((content.error() == EACCES || content.error() == EPERM) && sample_.unreadable.size() < max_unreadable)
      sample_.unreadable.push_back(file + ": " + std::generic_category().message(content.error()));
    return std::nullopt;
  }

  void process(const std::string& pid) {
    const std::string folder = "/proc/" + pid + "/task/";
    for (const std::string& tid : files_.list(folder)) {
      if (!all_digits(tid)) continue;
      if (looked_at_ == max_sampled_threads) {
        ++sample_.threads_left_out;
        continue;
      }
      ++looked_at_;
      thread(number<int>(pid).value_or(0), number<int>(tid).value_or(0), folder + tid + '/');
    }
  }

  void thread(int pid, int tid, const std::string& folder) {
    const auto content = text(folder + "stat");
    if (!content) return;
    const auto stat = parse_task_stat(*content);
    if (!stat || stat->cpu < 0) return;
    ThreadSample seen;
    seen.pid = pid;
    seen.tid = tid;
    seen.start_ticks = stat->start_ticks;
    seen.name = printable_text(stat->name);
    seen.state = stat->state;
    seen.cpu = stat->cpu;
    seen.policy = stat->policy;
    seen.priority = stat->priority;
    seen.minor_faults = stat->minor_faults;
    seen.major_faults = stat->major_faults;
    const bool watched = target_.pid != 0 ? pid == target_.pid : seen.name.starts_with(engine_thread_prefix);
    if (watched) {
      details(seen, folder);
      sample_.threads.push_back(std::move(seen));
    } else if (target_.isolated_cpus.contains(seen.cpu)) {
      run_times(seen, folder);
      const bool kernel = (stat->flags & TaskStat::kernel_thread) != 0;
      sample_.others.push_back({.pid = pid,
                                .tid = tid,
                                .start_ticks = seen.start_ticks,
                                .name = std::move(seen.name),
                                .cpu = seen.cpu,
                                .kernel = kernel,
                                .bound = kernel && (stat->flags & TaskStat::no_set_affinity) != 0,
                                .run_ns = seen.run_ns});
    }
  }

  void details(ThreadSample& thread, const std::string& folder) {
    if (const auto status = text(folder + "status")) {
      thread.allowed = CpuSet::parse_list(value_of(*status, "Cpus_allowed_list").value_or("")).value_or(CpuSet{});
      thread.voluntary_switches = count_of(*status, "voluntary_ctxt_switches").value_or(0);
      thread.involuntary_switches = count_of(*status, "nonvoluntary_ctxt_switches").value_or(0);
    }
    if (const auto sched = text(folder + "sched")) thread.migrations = count_of(*sched, "se.nr_migrations");
    run_times(thread, folder);
  }

  void run_times(ThreadSample& thread, const std::string& folder) {
    const auto schedstat = text(folder + "schedstat");
    if (!schedstat) return;
    std::string_view rest = *schedstat;
    const std::string_view run = next_word(rest), wait = next_word(rest);
    thread.run_ns = number<std::uint64_t>(run);
    thread.wait_ns = number<std::uint64_t>(wait);
  }

  // A limit of an ancestor throttles a group without showing in the group's counters.
  static void add_with_ancestors(std::set<std::string>& folders, const std::string& mount, std::string_view path) {
    for (std::size_t depth = 0; depth < max_group_depth && folders.size() < max_groups; ++depth) {
      const bool top = path.empty() || path == "/";
      folders.insert(top ? mount : mount + std::string{path});
      if (top) return;
      path = path.substr(0, path.rfind('/'));
    }
  }

  void throttling(const std::string& folder) {
    const auto stat = files_.text(folder + "/cpu.stat");
    if (!stat) return;
    const auto periods = count_of(*stat, "nr_throttled");
    if (!periods) return;  // no limit is possible here
    const auto us = count_of(*stat, "throttled_usec"), ns = count_of(*stat, "throttled_time");
    sample_.groups.push_back({.group = printable_text(folder),
                              .throttled_periods = *periods,
                              .throttled_us = us ? *us : ns.value_or(0) / 1000});
  }

  const HostFiles& files_;
  const WatchTarget& target_;
  WatchSample& sample_;
  std::size_t looked_at_ = 0;
};

}  // namespace

WatchSample sample_host(const HostFiles& files, const WatchTarget& target, std::chrono::nanoseconds now) {
  WatchSample sample;
  sample.time = now;
  sample.counters = sample_counters(files);
  Sampler sampler{files, target, sample};
  sampler.threads();
  sampler.groups();
  sampler.clocks();
  return sample;
}

std::optional<ThreadSample> sample_thread(const HostFiles& files, int pid, int tid) {
  const WatchTarget target{.pid = pid, .isolated_cpus = {}};
  WatchSample sample;
  Sampler{files, target, sample}.one(pid, tid);
  if (sample.threads.empty()) return std::nullopt;
  return std::move(sample.threads.front());
}

ThreadStats read_thread_stats() {
  const auto own = sample_thread(HostFiles{}, ::getpid(), ::gettid());
  if (!own) return {};
  return {.core = static_cast<std::uint32_t>(own->cpu),
          .migrations = own->migrations,
          .voluntary_switches = own->voluntary_switches,
          .involuntary_switches = own->involuntary_switches};
}

std::string scheduling(int policy, int priority) {
  constexpr std::array<std::string_view, 8> names{"SCHED_OTHER", "SCHED_FIFO", "SCHED_RR",       "SCHED_BATCH",
                                                  "SCHED_ISO",   "SCHED_IDLE", "SCHED_DEADLINE", "SCHED_EXT"};
  const auto index = static_cast<std::size_t>(policy);
  std::string text =
      policy >= 0 && index < names.size() ? std::string{names[index]} : "policy " + std::to_string(policy);
  if (priority > 0) text += ' ' + std::to_string(priority);
  return text;
}

}  // namespace nfx
