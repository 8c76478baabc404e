// Checks whether a plan holds on this host now.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "base/enumerator_name.hpp"
#include "host/apply.hpp"
#include "host/apply/tasks.hpp"

namespace nfx {
namespace {

using host::Task;

constexpr std::size_t names_shown = 5;

// "sshd (712), cron (80) and 3 more".
class Names {
 public:
  void add(const std::string& name) {
    if (++count_ <= names_shown) text_ += (text_.empty() ? "" : ", ") + name;
  }
  void add(const TaskState& task) { add(task.name + " (" + std::to_string(task.tid) + ")"); }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::string text() const {
    return count_ <= names_shown ? text_ : text_ + " and " + std::to_string(count_ - names_shown) + " more";
  }

 private:
  std::size_t count_ = 0;
  std::string text_;
};

class Verifier {
 public:
  explicit Verifier(const VerifyInput& input) : in_(input), plan_(input.plan) {
    if (in_.runtime == nullptr) return;
    for (const auto& [index, outcome] : in_.runtime->outcomes) {
      if (index < in_.runtime->changes.size() && outcome.outcome == Outcome::refused)
        refused_files_.insert(in_.runtime->changes[index].path);
      for (const RefusedTask& task : outcome.refused) refused_tasks_.insert({task.task.tid, task.task.start});
    }
  }

  VerifyReport run() {
    if (!plan_.isolated_cpus.empty()) {
      group();
      tasks();
      interrupts();
      settings();
      siblings();
    }
    engine_threads();
    nodes();
    boot();
    for (const std::string& file : in_.facts.unreadable) add("host.files", VerifyResult::unknown, file, "may be read");
    return std::move(report_);
  }

 private:
  void add(std::string id, VerifyResult result, std::string seen, std::string wanted) {
    HostExit exit = HostExit::ok;
    switch (result) {
      case VerifyResult::ok: break;
      case VerifyResult::pending: exit = id.starts_with("boot.") ? HostExit::reboot_pending : HostExit::warnings; break;
      case VerifyResult::refused: exit = HostExit::warnings; break;
      case VerifyResult::violated: exit = HostExit::failures; break;
      case VerifyResult::unknown: exit = HostExit::cannot_tell; break;
    }
    report_.exit = combine(report_.exit, exit);
    report_.items.push_back({std::move(id), result, std::move(seen), std::move(wanted)});
  }

  void group() {
    const std::string wanted = "CPUs " + plan_.isolated_cpus.to_list() + " are isolated";
    if (in_.facts.isolated_cpus().contains_all(plan_.isolated_cpus)) {
      add("tasks.group", VerifyResult::ok,
          in_.facts.isolated.contains_all(plan_.isolated_cpus)
              ? "isolated by the scheduler: " + in_.facts.isolated.to_list()
              : "all groups but the engine's have CPUs " + (in_.facts.online - in_.facts.shielded).to_list(),
          wanted);
    } else if (find_cpusets(in_.files).version == CpusetHierarchy::Version::none) {
      add("tasks.group", VerifyResult::ok, "no cpusets here, masks alone", wanted);
    } else {
      add("tasks.group", VerifyResult::violated,
          in_.facts.isolated_cpus().empty() ? "no CPU is isolated" : "isolated: " + in_.facts.isolated_cpus().to_list(),
          wanted);
    }
  }

  void tasks() {
    Names user, kernel, refused;
    std::size_t bound = 0;
    for (const Task& task : host::read_tasks(in_.files)) {
      if (!task.state.mask.intersects(plan_.isolated_cpus) || host::is_engine_thread(task.state.name)) continue;
      if (task.bound) {
        ++bound;
      } else if (refused_tasks_.contains({task.state.tid, task.state.start})) {
        refused.add(task.state);
      } else {
        (task.kernel ? kernel : user).add(task.state);
      }
    }
    const std::string wanted = "none may run on CPUs " + plan_.isolated_cpus.to_list();
    add("tasks.user", user.empty() ? VerifyResult::ok : VerifyResult::violated, user.empty() ? "none" : user.text(),
        wanted);
    add("tasks.kernel", kernel.empty() ? VerifyResult::ok : VerifyResult::violated,
        (kernel.empty() ? "none" : kernel.text()) + "; " + std::to_string(bound) + " bound to their CPU by the kernel",
        wanted);
    if (!refused.empty()) add("tasks.refused", VerifyResult::refused, refused.text(), wanted);
  }

  void interrupts() {
    Names allowed, refused, pending;
    for (const Interrupt& interrupt : in_.facts.interrupts) {
      const std::string number = std::to_string(interrupt.number);
      const std::string name = number + (interrupt.actions.empty() ? "" : " " + interrupt.actions.front());
      if (interrupt.allowed && interrupt.allowed->intersects(plan_.isolated_cpus)) {
        (refused_files_.contains("/proc/irq/" + number + "/smp_affinity_list") ? refused : allowed).add(name);
      } else if (interrupt.effective && interrupt.effective->intersects(plan_.isolated_cpus)) {
        pending.add(name);
      }
    }
    const std::string wanted = "none goes to CPUs " + plan_.isolated_cpus.to_list();
    add("interrupts.allowed", allowed.empty() ? VerifyResult::ok : VerifyResult::violated,
        allowed.empty() ? "none" : allowed.text(), wanted);
    if (!refused.empty()) add("interrupts.refused", VerifyResult::refused, refused.text(), wanted);
    add("interrupts.effective", pending.empty() ? VerifyResult::ok : VerifyResult::pending,
        pending.empty() ? "none is waiting" : pending.text() + ": until the next one arrives", wanted);
  }

  // Each remaining change of apply is a violation; each area without one reports success.
  void settings() {
    std::map<std::string, std::size_t> violations{
        {"memory", 0}, {"network", 0}, {"power", 0}, {"scheduler", 0}, {"workqueues", 0}};
    for (const Change& change : runtime_changes(plan_, in_.facts, in_.files, in_.runtime)) {
      if (change.kind != ChangeKind::write_file || change.area == "tasks") continue;
      if (change.path.ends_with("/smp_affinity_list")) continue;
      ++violations[change.area];
      add(change.area + ".setting", VerifyResult::violated,
          change.path + " is " + in_.files.text(change.path).value_or("not readable"), change.wanted);
    }
    for (const std::string& file : refused_files_) {
      if (file.ends_with("/smp_affinity_list")) continue;
      add("settings.refused", VerifyResult::refused, file + " is " + in_.files.text(file).value_or("not readable"),
          "as planned");
    }
    for (const auto& [area, count] : violations) {
      if (count == 0) add(area + ".settings", VerifyResult::ok, "as planned", "as planned");
    }
  }

  void siblings() {
    CpuSet awake;
    for (const int cpu : plan_.isolated_cpus.members()) awake |= in_.topology.siblings_of(cpu) & in_.facts.online;
    awake -= plan_.isolated_cpus;
    if (!in_.topology.has_smt()) return;
    add("smt.siblings", awake.empty() ? VerifyResult::ok : VerifyResult::violated,
        awake.empty() ? "idle or offline"
                      : "CPUs " + awake.to_list() + " share a core with an isolated CPU and run other tasks",
        "the siblings of isolated CPUs are idle or offline");
  }

  void engine_threads() {
    std::size_t running = 0;
    Names wrong;
    for (const Task& task : host::read_tasks(in_.files)) {
      const auto planned = std::ranges::find(plan_.threads, task.state.name, &ThreadPlacement::name);
      if (planned == plan_.threads.end()) continue;
      ++running;
      if (task.state.mask != planned->cpus)
        wrong.add(task.state.name + " on " + task.state.mask.to_list() + " instead of " + planned->cpus.to_list());
    }
    add("engine.threads", wrong.empty() ? VerifyResult::ok : VerifyResult::violated,
        !wrong.empty() ? wrong.text()
        : running == 0 ? "no engine runs"
                       : std::to_string(running) + " threads where they belong",
        "each thread on its planned CPUs");
  }

  void nodes() {
    Names wrong;
    bool any = false;
    for (const ThreadPlacement& thread : plan_.threads) {
      const int node = in_.topology.numa_node_of(thread.cpus.first());
      if (thread.numa_node < 0 || node < 0 || thread.cpus.size() != 1) continue;
      any = true;
      if (node != thread.numa_node)
        wrong.add(thread.name + ": CPU " + thread.cpus.to_list() + " is on node " + std::to_string(node) + ", not " +
                  std::to_string(thread.numa_node));
    }
    if (any)
      add("numa.nodes", wrong.empty() ? VerifyResult::ok : VerifyResult::violated,
          wrong.empty() ? "as planned" : wrong.text(), "each pinned thread on its planned node");
  }

  void boot() {
    const auto booted = in_.facts.parameters.find(plan_parameter);
    const bool has = booted != in_.facts.parameters.end();
    if (!has && in_.installed == nullptr) return;
    const std::string wanted = std::string{plan_parameter} + '=' + plan_.hash;
    if (has && booted->second == plan_.hash) {
      add("boot.plan", VerifyResult::ok, wanted, wanted);
      boot_isolation();
    } else {
      const bool installed = in_.installed != nullptr && in_.installed->plan.hash == plan_.hash;
      add("boot.plan", installed ? VerifyResult::pending : VerifyResult::violated,
          has ? std::string{plan_parameter} + '=' + booted->second : "booted without a plan", wanted);
    }
    if (in_.installed == nullptr) return;
    Names changed;
    // If a file was changed more than once, the last change counts.
    std::map<std::string, const Change*> latest;
    for (const Change& change : in_.installed->changes) {
      if (change.kind == ChangeKind::install_file) latest[change.path] = &change;
    }
    for (const auto& [path, change] : latest) {
      if (in_.files.read(path).value_or("") != change->wanted) changed.add(path);
    }
    add("boot.files", changed.empty() ? VerifyResult::ok : VerifyResult::violated,
        changed.empty() ? std::to_string(latest.size()) + " as installed" : "changed since: " + changed.text(),
        "as installed");
  }

  void boot_isolation() {
    const std::array<std::pair<const char*, const CpuSet*>, 3> sets{
        {{"isolcpus", &in_.facts.isolated}, {"nohz_full", &in_.facts.nohz_full}, {"rcu_nocbs", &in_.facts.rcu_nocbs}}};
    for (const auto& [name, cpus] : sets) {
      const bool holds = cpus->contains_all(plan_.isolated_cpus);
      add(std::string{"boot."} + name, holds ? VerifyResult::ok : VerifyResult::violated,
          cpus->empty() ? "none" : cpus->to_list(), "contains " + plan_.isolated_cpus.to_list());
    }
  }

  const VerifyInput& in_;
  const PlacementPlan& plan_;
  std::set<std::string> refused_files_;
  std::set<std::pair<int, std::uint64_t>> refused_tasks_;
  VerifyReport report_;
};

}  // namespace

std::string_view to_string(VerifyResult result) noexcept { return enumerator_name(result); }

VerifyReport verify(const VerifyInput& input) { return Verifier{input}.run(); }

}  // namespace nfx
