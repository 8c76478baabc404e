// Computes the changes that make a running host follow a plan, from the plan and the host's files.
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <string>

#include "base/error_text.hpp"
#include "host/apply.hpp"
#include "host/apply/tasks.hpp"

namespace nfx {
namespace {

using host::read_group;
using host::Task;

constexpr std::size_t max_groups = 4096;

class Planner {
 public:
  Planner(const PlacementPlan& plan, const HostFacts& facts, const HostFiles& files, const RecordContent* record,
          std::vector<std::string>* notes)
      : plan_(plan), facts_(facts), files_(files), notes_(notes), tasks_(host::read_tasks(files)) {
    if (record == nullptr) return;
    for (const auto& [index, outcome] : record->outcomes) {
      if (index >= record->changes.size()) continue;
      const Change& change = record->changes[index];
      if (outcome.outcome == Outcome::refused) refused_.insert({change.path, change.wanted});
      for (const RefusedTask& task : outcome.refused) refused_tasks_.insert({task.task.tid, task.task.start});
    }
  }

  std::vector<Change> run() {
    const CpusetHierarchy groups = find_cpusets(files_);
    switch (groups.version) {
      case CpusetHierarchy::Version::v1: cpusets_v1(groups.mount); break;
      case CpusetHierarchy::Version::v2: cpusets_v2(groups.mount); break;
      case CpusetHierarchy::Version::none:
        note(
            "no cpusets on this host: each task gets a mask, which its children inherit and a privileged task may "
            "widen "
            "again");
        affinities(false);
        break;
    }
    interrupts();
    workqueues();
    scheduler();
    memory_and_watchdog();
    network();
    power();
    return std::move(changes_);
  }

 private:
  void note(std::string text) {
    if (notes_ != nullptr) notes_->push_back(std::move(text));
  }

  // Adds a change if the file's content differs from `wanted`. `undo` restores it, if not by writing the old content
  // back.
  Change* want(std::string area, std::string path, std::string wanted, Compare compare, std::string why) {
    auto seen = files_.read(path);
    if (!seen) {
      // A missing file needs no change; an unreadable one may need one.
      if (seen.error() != ENOENT && seen.error() != ENOTDIR) note(cannot("read", path, seen.error()));
      return nullptr;
    }
    if (same_content(compare, *seen, wanted) || refused_.contains({path, wanted})) return nullptr;
    Change change;
    change.area = std::move(area);
    change.path = std::move(path);
    change.seen = change.undo = *std::move(seen);
    change.wanted = std::move(wanted);
    change.compare = compare;
    change.why = std::move(why);
    return &changes_.emplace_back(std::move(change));
  }

  // A file of a group that may not exist yet.
  void want_in_group(const std::string& group, std::string_view name, std::string wanted, bool ours) {
    const std::string path = group + '/' + std::string{name};
    if (files_.exists(path)) {
      if (Change* change = want("tasks", path, std::move(wanted), Compare::cpu_list, "the housekeeping CPUs"))
        change->goes_with_group = ours;
      return;
    }
    Change change;
    change.area = "tasks";
    change.path = path;
    change.seen = change.undo = "\n";
    change.wanted = std::move(wanted);
    change.goes_with_group = ours;
    change.compare = Compare::cpu_list;
    change.why = "the housekeeping CPUs";
    changes_.push_back(std::move(change));
  }

  void make_group(const std::string& group) {
    if (files_.exists(group)) return;
    Change change;
    change.kind = ChangeKind::make_group;
    change.area = "tasks";
    change.path = group;
    change.existed = false;
    change.why = "everything but the engine's threads runs in it";
    changes_.push_back(std::move(change));
  }

  bool known_as_refused(const Task& task) const { return refused_tasks_.contains({task.state.tid, task.state.start}); }

  // Kernel threads are moved only if they may run on an isolated CPU. All other tasks are moved, because of the tasks
  // they will start.
  bool to_be_moved(const Task& task) const {
    if (task.bound || known_as_refused(task) || host::is_engine_thread(task.state.name)) return false;
    return !task.kernel || task.state.mask.intersects(plan_.isolated_cpus);
  }

  void move(const std::string& group, const std::string& root, std::string_view list, bool shrinks) {
    const bool threads = list == "tasks";
    const std::string from = root + '/' + std::string{list};
    const std::set<int> members = read_group(files_, from);
    bool needed = shrinks;
    for (const Task& task : tasks_)
      needed = needed || (members.contains(threads ? task.state.tid : task.state.pid) && to_be_moved(task) &&
                          (threads || !task.kernel));
    if (!needed) return;
    Change change;
    change.kind = ChangeKind::move_tasks;
    change.area = "tasks";
    change.path = group + '/' + std::string{list};
    change.from = from;
    change.wanted = plan_.housekeeping.to_list();
    change.why = "an isolated CPU runs the engine's thread and nothing else";
    changes_.push_back(std::move(change));
  }

  // A kernel thread that cannot be moved may still accept another mask; above all kthreadd, which starts the others.
  void affinities(bool only_kernel_threads) {
    const bool needed = std::ranges::any_of(tasks_, [&](const Task& task) {
      return to_be_moved(task) && task.state.mask.intersects(plan_.isolated_cpus) &&
             (task.kernel || !only_kernel_threads);
    });
    if (!needed) return;
    Change change;
    change.kind = ChangeKind::set_affinities;
    change.area = "tasks";
    change.path = "/proc";
    change.from = only_kernel_threads ? "kernel threads" : "all tasks";
    change.wanted = plan_.housekeeping.to_list();
    change.may_refuse = true;
    change.why = "an isolated CPU runs the engine's thread and nothing else";
    changes_.push_back(std::move(change));
  }

  // The CPUs of the set that are not isolated.
  CpuSet kept(const CpuSet& cpus) const {
    const CpuSet rest = cpus & plan_.housekeeping;
    return rest.empty() ? plan_.housekeeping : rest;
  }

  // Groups below `folder`, deepest first: a group cannot shrink below the CPUs of its children.
  void groups_below(const std::string& folder, std::string_view list, std::vector<std::string>& found) const {
    for (const std::string& entry : files_.list(folder)) {
      const std::string group = folder + '/' + entry;
      if (entry == housekeeping_group || found.size() >= max_groups) continue;
      if (!files_.exists(group + '/' + std::string{list})) continue;
      groups_below(group, list, found);
      found.push_back(group);
    }
  }

  void cpusets_v1(const std::string& mount) {
    const std::string group = mount + '/' + std::string{housekeeping_group};
    make_group(group);
    want_in_group(group, "cpuset.mems", files_.text(mount + "/cpuset.mems").value_or("0"), true);
    want_in_group(group, "cpuset.cpus", plan_.housekeeping.to_list(), true);
    std::vector<std::string> others;
    groups_below(mount, "tasks", others);
    std::vector<Change> shrink;
    const std::size_t before = changes_.size();
    for (const std::string& other : others) {
      const auto cpus = CpuSet::parse_list(files_.text(other + "/cpuset.cpus").value_or(""));
      // An empty group, such as one made for the engine, disturbs no CPU.
      const std::set<int> members = read_group(files_, other + "/tasks");
      if (!cpus || !cpus->intersects(plan_.isolated_cpus) ||
          (members.empty() && plan_.isolated_cpus.contains_all(*cpus)))
        continue;
      if (Change* change = want("tasks", other + "/cpuset.cpus", kept(*cpus).to_list(), Compare::cpu_list,
                                "its tasks stay in their group and leave the isolated CPUs"))
        change->may_refuse = true;
    }
    shrink.assign(std::make_move_iterator(changes_.begin() + static_cast<std::ptrdiff_t>(before)),
                  std::make_move_iterator(changes_.end()));
    changes_.resize(before);
    // The move comes first, because it records all masks.
    move(group, mount, "tasks", !shrink.empty());
    std::ranges::move(shrink, std::back_inserter(changes_));
    affinities(true);
  }

  void cpusets_v2(const std::string& mount) {
    const std::string group = mount + '/' + std::string{housekeeping_group};
    if (Change* change = want("tasks", mount + "/cgroup.subtree_control", "+cpuset", Compare::contains_word,
                              "lets the groups of this host have CPUs of their own"))
      change->undo = "-cpuset";
    make_group(group);
    want_in_group(group, "cpuset.cpus", plan_.housekeeping.to_list(), true);
    const std::size_t before = changes_.size();
    for (const std::string& entry : files_.list(mount)) {
      const std::string other = mount + '/' + entry;
      if (entry == housekeeping_group || !files_.exists(other + "/cgroup.procs")) continue;
      const std::string partition = files_.text(other + "/cpuset.cpus.partition").value_or("member");
      if (partition != "member") {
        note(other + ": is another partition (" + partition + ") and not changed");
        continue;
      }
      const auto cpus = CpuSet::parse_list(files_.text(other + "/cpuset.cpus").value_or(""));
      if (!cpus || (!cpus->empty() && !cpus->intersects(plan_.isolated_cpus))) continue;
      want_in_group(other, "cpuset.cpus", kept(*cpus).to_list(), false);
    }
    std::vector<Change> shrink(std::make_move_iterator(changes_.begin() + static_cast<std::ptrdiff_t>(before)),
                               std::make_move_iterator(changes_.end()));
    changes_.resize(before);
    move(group, mount, "cgroup.procs", !shrink.empty());
    std::ranges::move(shrink, std::back_inserter(changes_));
    affinities(true);
  }

  std::string mask(const CpuSet& cpus) const { return cpus.to_mask(std::max(facts_.online.last(), 0) + 1); }

  void interrupts() {
    if (std::ranges::any_of(tasks_, [](const Task& task) { return task.state.name == "irqbalance"; }))
      note("irqbalance runs and will spread the interrupts again: stop it, or ban CPUs " +
           plan_.isolated_cpus.to_list() + " in its configuration ('nfx host apply --boot' writes it)");
    for (const Interrupt& interrupt : facts_.interrupts) {
      if (!interrupt.allowed || !interrupt.allowed->intersects(plan_.isolated_cpus)) continue;
      const std::string who = interrupt.actions.empty() ? "no handler at the moment" : interrupt.actions.front();
      if (Change* change = want("interrupts", "/proc/irq/" + std::to_string(interrupt.number) + "/smp_affinity_list",
                                kept(*interrupt.allowed).to_list(), Compare::cpu_list, "handled by " + who))
        change->may_refuse = true;
    }
    const std::string file = "/proc/irq/default_smp_affinity";
    const auto allowed = CpuSet::parse_mask(files_.text(file).value_or("0"));
    if (allowed && allowed->intersects(plan_.isolated_cpus))
      want("interrupts", file, mask(kept(*allowed)), Compare::cpu_mask, "interrupts that are set up from now on");
  }

  void workqueues() {
    const std::string base = "/sys/devices/virtual/workqueue";
    std::vector<std::string> masks{base + "/cpumask"};
    for (const std::string& entry : files_.list(base)) {
      if (files_.exists(base + '/' + entry + "/cpumask")) masks.push_back(base + '/' + entry + "/cpumask");
    }
    for (const std::string& file : masks) {
      const auto allowed = CpuSet::parse_mask(files_.text(file).value_or("0"));
      if (!allowed || !allowed->intersects(plan_.isolated_cpus)) continue;
      if (Change* change = want("workqueues", file, mask(kept(*allowed)), Compare::cpu_mask,
                                "work that the kernel puts off may run on any CPU of this mask"))
        change->may_refuse = file != masks.front();
    }
  }

  void scheduler() {
    const bool real_time = std::ranges::any_of(plan_.threads, [](const ThreadPlacement& thread) {
      return thread.wait == ThreadWait::spin && thread.priority > 0;
    });
    if (real_time) {
      want("scheduler", "/proc/sys/kernel/sched_rt_runtime_us", "-1", Compare::text,
           "a busy-polling real-time thread is stopped for 50 ms of every second otherwise");
      const std::string base = "/sys/kernel/debug/sched/fair_server/";
      for (const int cpu : plan_.isolated_cpus.members())
        want("scheduler", base + "cpu" + std::to_string(cpu) + "/runtime", "0", Compare::text,
             "gives 5% of the CPU to ordinary tasks even if a real-time thread busy-polls there");
      if (facts_.kernel >= KernelVersion{6, 12} && !files_.exists(base))
        note(
            "the fair server cannot be turned off: /sys/kernel/debug is not mounted here; it acts only while an "
            "ordinary task waits on the CPU of a real-time thread");
    }
    if (wanted_timer_migration(facts_, plan_.isolated_cpus) == 1) {
      want("scheduler", "/proc/sys/kernel/timer_migration", "1", Compare::text,
           "timers leave nohz_full CPUs for the others only then");
    } else {
      want("scheduler", "/proc/sys/kernel/timer_migration", "0", Compare::text,
           "a CPU that is always awake is given the timers of those that sleep");
    }
    want("scheduler", "/proc/sys/kernel/numa_balancing", "0", Compare::text,
         "unmaps pages to see which CPU uses them, and the thread that does takes the fault");
  }

  void memory_and_watchdog() {
    const auto interval = files_.integer("/proc/sys/vm/stat_interval");
    if (interval && *interval < 120)
      want("memory", "/proc/sys/vm/stat_interval", "120", Compare::text,
           "wakes a worker on every CPU to add up counters of memory");
    const std::string file = "/proc/sys/kernel/watchdog_cpumask";
    const auto watched = CpuSet::parse_list(files_.text(file).value_or(""));
    if (watched && watched->intersects(plan_.isolated_cpus))
      want("scheduler", file, kept(*watched).to_list(), Compare::cpu_list,
           "the watchdog wakes a real-time thread on every CPU of this list");
  }

  // RPS: the CPU that processes a received packet, if the interrupted CPU hands it on. The counterpart for sending,
  // xps_cpus, only chooses the queue for a CPU's own packets and brings that CPU no work.
  void network() {
    const std::string base = "/sys/class/net/";
    for (const std::string& device : files_.list(base)) {
      for (const std::string& queue : files_.list(base + device + "/queues")) {
        const std::string file = base + device + "/queues/" + queue + "/rps_cpus";
        const auto cpus = CpuSet::parse_mask(files_.text(file).value_or("0"));
        if (cpus && cpus->intersects(plan_.isolated_cpus))
          want("network", file, mask(kept(*cpus)), Compare::cpu_mask, "received packets are handed on to these CPUs");
      }
    }
  }

  void power() {
    const std::string base = "/sys/devices/system/cpu/cpufreq/";
    for (const std::string& policy : files_.list(base)) {
      std::string cpus = files_.text(base + policy + "/affected_cpus").value_or("");
      std::ranges::replace(cpus, ' ', ',');
      const auto affected = CpuSet::parse_list(cpus);
      if (!affected || !affected->intersects(plan_.isolated_cpus)) continue;
      const std::string known = ' ' + files_.text(base + policy + "/scaling_available_governors").value_or("") + ' ';
      if (!known.contains(" performance ")) continue;
      want("power", base + policy + "/scaling_governor", "performance", Compare::text,
           "a clock that follows the load is slow when the first message comes");
    }
  }

  const PlacementPlan& plan_;
  const HostFacts& facts_;
  const HostFiles& files_;
  std::vector<std::string>* notes_;
  std::vector<Task> tasks_;
  std::set<std::pair<std::string, std::string>> refused_;
  std::set<std::pair<int, std::uint64_t>> refused_tasks_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> runtime_changes(const PlacementPlan& plan, const HostFacts& facts, const HostFiles& files,
                                    const RecordContent* record, std::vector<std::string>* notes) {
  if (plan.isolated_cpus.empty()) return {};
  return Planner{plan, facts, files, record, notes}.run();
}

std::vector<Change> install_changes(std::span<const BootArtefact> artefacts, const HostFiles& files) {
  std::vector<Change> changes;
  std::set<std::string> made;
  for (const BootArtefact& artefact : artefacts) {
    Change change;
    change.kind = ChangeKind::install_file;
    change.area = "boot";
    change.path = artefact.path;
    change.wanted = artefact.content;
    change.mode = artefact.mode;
    change.why = artefact.purpose;
    const auto seen = files.read(artefact.path);
    std::error_code error;
    const auto status = std::filesystem::symlink_status(files.path(artefact.path), error);
    change.existed = seen.has_value();
    if (std::filesystem::is_symlink(status))
      throw ApplyError(artefact.path + " is a symbolic link: move it away, as this file would take its place");
    if (seen && (static_cast<std::uint32_t>(status.permissions()) & 07000) != 0)
      throw ApplyError(artefact.path + " runs as its owner or group, or is sticky: run chmod 0755 " + artefact.path);
    if (seen) {
      change.seen = *seen;
      change.seen_mode = static_cast<std::uint32_t>(status.permissions()) & 07777;
      if (change.seen == change.wanted && change.seen_mode == change.mode) continue;
    }
    // Missing folders, outermost first.
    std::vector<std::string> missing;
    for (std::string folder = artefact.path.substr(0, artefact.path.rfind('/'));
         !folder.empty() && !files.exists(folder) && made.insert(folder).second;
         folder = folder.substr(0, folder.rfind('/')))
      missing.push_back(folder);
    for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder) {
      Change directory;
      directory.kind = ChangeKind::make_directory;
      directory.area = "boot";
      directory.path = *folder;
      directory.existed = false;
      directory.why = "holds " + artefact.path;
      changes.push_back(std::move(directory));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace nfx
