// Makes a running host follow a plan. Each change is recorded before it is made, so that it can be reverted after a
// crash.
#include "host/apply.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>
#include <utility>

#include "base/error_text.hpp"
#include "host/apply/restore.hpp"
#include "host/apply/tasks.hpp"

namespace nfx {
namespace {

using host::read_group;
using host::Task;

// Tasks fork while they are moved; each pass finds the children of tasks that the previous pass moved.
constexpr int max_passes = 10;

class Applier {
 public:
  Applier(const PlacementPlan& plan, const HostFiles& files, HostWriter& writer, const ApplyOptions& options,
          const RecordContent* before, ApplyReport& report)
      : plan_(plan),
        files_(files),
        writer_(writer),
        options_(options),
        report_(report),
        record_(options.record, before) {
    if (before == nullptr || before->plan.hash != plan.hash || before->changes.empty())
      record_.set_plan(plan, host::boot_id(files));
    if (before == nullptr) return;
    for (const Change& change : before->changes) continues_ = continues_ || change.kind == ChangeKind::move_tasks;
    for (const auto& [index, outcome] : before->outcomes) {
      for (const RefusedTask& task : outcome.refused) refused_.insert({task.task.tid, task.task.start});
    }
  }

  void run(std::vector<Change> changes, std::size_t first) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const bool ok = execute(std::move(changes[i]));
      if (ok) continue;
      failed_ = true;
      if (options_.keep_going) continue;
      for (std::size_t rest = i + 1; rest < changes.size(); ++rest)
        report_.changes.push_back({std::move(changes[rest]), {}, false});
      return roll_back(first);
    }
    // `verify` checks the plan that was applied last.
    if (first != 0) record_.add_plan();
    bool warn = false;
    for (const ChangeResult& change : report_.changes) warn = warn || change.result.outcome != Outcome::accepted;
    for (const RefusedTask& task : user_tasks_refused_)
      report_.notes.push_back(task.task.name + " (" + std::to_string(task.task.tid) +
                              "): is not a kernel thread and cannot be moved: " + system_text(task.error));
    if (warn || !user_tasks_refused_.empty()) report_.exit = HostExit::warnings;
    if (failed_) report_.exit = HostExit::partly_applied;
  }

 private:
  bool execute(Change change) {
    switch (change.kind) {
      case ChangeKind::write_file: return write(std::move(change));
      case ChangeKind::make_group:
      case ChangeKind::make_directory: {
        const std::size_t index = record_.add(change);
        const int error = writer_.make_directory(change.path);
        return finish(std::move(change), index, error == EEXIST ? 0 : error, {});
      }
      case ChangeKind::move_tasks: return move(std::move(change));
      case ChangeKind::set_affinities: return set_affinities(std::move(change));
      case ChangeKind::install_file: {
        const std::size_t index = record_.add(change);
        return finish_installed(std::move(change), index);
      }
    }
    return false;
  }

  bool finish_installed(Change change, std::size_t index) {
    const int error = writer_.replace_file(change.path, change.wanted, change.mode);
    return finish(std::move(change), index, error, {});
  }

  // Returns whether to continue.
  bool finish(Change change, std::size_t index, int error, RecordedOutcome outcome) {
    if (error != 0) {
      outcome.outcome = Outcome::refused;
      outcome.error = error;
    }
    record_.add(index, outcome);
    const bool go_on = outcome.outcome != Outcome::refused || change.may_refuse;
    if (!go_on && report_.error.empty()) {
      report_.error =
          change.path + ": " +
          (outcome.error != 0 ? system_text(outcome.error)
                              : "reads \"" + outcome.seen + "\" after \"" + change.wanted + "\" was written");
    }
    report_.changes.push_back({std::move(change), std::move(outcome), true});
    return go_on;
  }

  bool write(Change change) {
    // Files of new groups did not exist before, so they are read here for the first time.
    auto seen = files_.read(change.path);
    if (!seen) {
      report_.error = report_.error.empty() ? cannot("read", change.path, seen.error()) : report_.error;
      const bool go_on = change.may_refuse;
      report_.changes.push_back({std::move(change), {Outcome::refused, seen.error(), {}, {}}, true});
      return go_on;
    }
    if (same_content(change.compare, *seen, change.wanted)) return true;
    if (change.compare != Compare::contains_word) change.undo = *seen;
    change.seen = *std::move(seen);
    const std::size_t index = record_.add(change);
    const int error = writer_.write(change.path, change.wanted);
    RecordedOutcome outcome;
    if (error == 0) {
      outcome.seen = files_.text(change.path).value_or("");
      if (!same_content(change.compare, outcome.seen, change.wanted)) outcome.outcome = Outcome::refused;
      constexpr std::string_view allowed = "/smp_affinity_list";
      if (outcome.outcome == Outcome::accepted && change.path.ends_with(allowed)) {
        const std::string folder = change.path.substr(0, change.path.size() - allowed.size());
        const auto effective = CpuSet::parse_list(files_.text(folder + "/effective_affinity_list").value_or(""));
        if (effective && effective->intersects(plan_.isolated_cpus)) outcome.outcome = Outcome::pending;
      }
    }
    return finish(std::move(change), index, error, std::move(outcome));
  }

  bool may_move(const Task& task) const {
    if (task.bound || refused_.contains({task.state.tid, task.state.start})) return false;
    if (host::is_engine_thread(task.state.name)) return false;
    return !task.kernel || task.state.mask.intersects(plan_.isolated_cpus);
  }

  void refuse(const Task& task, int error, RecordedOutcome& outcome) {
    // The task has ended, which is as good as moved.
    if (error == ESRCH) return;
    outcome.refused.push_back({task.state, error});
    refused_.insert({task.state.tid, task.state.start});
    (task.kernel ? report_.refused_tasks : user_tasks_refused_).push_back({task.state, error});
  }

  bool move(Change change) {
    const bool threads = change.path.ends_with("/tasks");
    for (int pass = 0; pass < max_passes; ++pass) {
      const std::set<int> members = read_group(files_, change.from);
      std::vector<Task> tasks = host::read_tasks(files_);
      std::set<int> engines;  // process ids, where whole processes are moved
      for (const Task& task : tasks) {
        if (!threads && host::is_engine_thread(task.state.name)) engines.insert(task.state.pid);
      }
      Change batch = change;
      std::vector<Task> moving;
      for (Task& task : tasks) {
        task.state.moves = members.contains(threads ? task.state.tid : task.state.pid) && may_move(task) &&
                           (threads || (!task.kernel && !engines.contains(task.state.pid)));
        if (task.state.moves) moving.push_back(task);
        // Masks are unchanged before the first move; later our groups have narrowed some of them.
        if (task.state.moves || (pass == 0 && !continues_ && !task.bound)) batch.tasks.push_back(task.state);
      }
      if (batch.tasks.empty() || (pass > 0 && moving.empty())) break;
      if (pass + 1 == max_passes) report_.notes.push_back("tasks are started faster than they can be moved");
      const std::size_t index = record_.add(batch);
      RecordedOutcome outcome;
      for (const Task& task : moving) {
        if (!threads && task.state.pid != task.state.tid) continue;  // moves together with its process
        const int error = writer_.move_task(change.path, threads ? task.state.tid : task.state.pid);
        if (error == 0) ++report_.tasks_moved;
        if (error != 0) refuse(task, error, outcome);
      }
      record_.add(index, outcome);
    }
    change.tasks.clear();
    report_.changes.push_back({std::move(change), {}, true});
    return true;
  }

  bool set_affinities(Change change) {
    const bool only_kernel = change.from == "kernel threads";
    std::set<std::pair<int, std::uint64_t>> tried;
    bool done = false;
    for (int pass = 0; pass < max_passes; ++pass) {
      Change batch = change;
      std::vector<Task> chosen;
      for (const Task& task : host::read_tasks(files_)) {
        if (task.bound || (only_kernel && !task.kernel) || host::is_engine_thread(task.state.name)) continue;
        if (!task.state.mask.intersects(plan_.isolated_cpus) ||
            !tried.insert({task.state.tid, task.state.start}).second)
          continue;
        chosen.push_back(task);
        batch.tasks.push_back(task.state);
      }
      if (chosen.empty()) break;
      done = true;
      const std::size_t index = record_.add(batch);
      RecordedOutcome outcome;
      for (const Task& task : chosen) {
        const CpuSet rest = task.state.mask & plan_.housekeeping;
        const int error = writer_.set_affinity(task.state.tid, rest.empty() ? plan_.housekeeping : rest);
        if (error == 0) {
          ++report_.tasks_moved;
          std::erase_if(report_.refused_tasks, [&](const RefusedTask& r) { return r.task.tid == task.state.tid; });
        } else if (std::ranges::none_of(report_.refused_tasks,
                                        [&](const RefusedTask& r) { return r.task.tid == task.state.tid; })) {
          refuse(task, error, outcome);
        }
      }
      record_.add(index, outcome);
    }
    if (done) report_.changes.push_back({std::move(change), {}, true});
    return true;
  }

  void roll_back(std::size_t first) {
    RevertReport undone;
    if (record_.written()) {
      if (const auto content = ChangeRecord::load(options_.record))
        host::restore(files_, writer_, *content, first, undone);
    }
    report_.rolled_back = undone.left.empty();
    report_.exit = undone.left.empty() ? HostExit::failures : HostExit::partly_applied;
    for (std::string& left : undone.left) report_.notes.push_back("not restored: " + std::move(left));
    if (undone.left.empty()) record_.forget();
  }

  const PlacementPlan& plan_;
  const HostFiles& files_;
  HostWriter& writer_;
  const ApplyOptions& options_;
  ApplyReport& report_;
  ChangeRecord record_;
  bool continues_ = false;
  bool failed_ = false;
  std::set<std::pair<int, std::uint64_t>> refused_;
  std::vector<RefusedTask> user_tasks_refused_;
};

ApplyReport problem_report(const ApplyProblem& problem) {
  ApplyReport report;
  report.exit = problem.exit;
  report.error = problem.text;
  return report;
}

// Nothing from an earlier boot's record still applies.
std::optional<RecordContent> record_of_this_boot(const HostFiles& files, const std::filesystem::path& file) {
  auto content = ChangeRecord::load(file);
  const std::string boot = host::boot_id(files);
  if (content && !boot.empty() && !content->boot_id.empty() && content->boot_id != boot) {
    std::filesystem::remove(file);
    return std::nullopt;
  }
  return content;
}

}  // namespace

std::optional<ApplyProblem> find_apply_problem(const PlacementPlan& plan, const HostFacts& facts,
                                               const HostFiles& files, bool while_trading) {
  if (plan.refused()) {
    std::string text = "the plan is refused";
    for (const PlanFinding& finding : plan.findings) {
      if (finding.severity == Severity::refusal) text += "; " + finding.id + ": " + finding.text;
    }
    return ApplyProblem{HostExit::policy_invalid, text + " ('nfx host plan' explains)"};
  }
  if (plan.isolated_cpus.empty()) return std::nullopt;
  const bool known = !facts.online.empty();
  if (plan.housekeeping.empty() || (known && !facts.online.intersects(plan.housekeeping)))
    return ApplyProblem{
        HostExit::policy_invalid,
        "the plan leaves no CPU for the rest of the host, so that no login would be possible; configure fewer "
        "busy-polling threads, or name housekeeping CPUs in [placement] that are online"};
  if (plan.isolated_cpus.intersects(plan.housekeeping))
    return ApplyProblem{HostExit::policy_invalid, "the plan wants CPUs " +
                                                      (plan.isolated_cpus & plan.housekeeping).to_list() +
                                                      " both among the isolated and among the housekeeping CPUs"};
  if (known && !facts.online.contains_all(plan.isolated_cpus | plan.housekeeping))
    return ApplyProblem{HostExit::policy_invalid,
                        "CPUs " + ((plan.isolated_cpus | plan.housekeeping) - facts.online).to_list() +
                            " of the plan are not online here; make the plan on this host"};
  if (while_trading) return std::nullopt;
  for (const Task& task : host::read_tasks(files)) {
    if (host::is_poll_thread(task.state.name))
      return ApplyProblem{HostExit::failures,
                          "an engine runs (process " + std::to_string(task.state.pid) + ", thread " + task.state.name +
                              "): stop it first, or give --while-trading if its orders may be delayed"};
  }
  return std::nullopt;
}

ApplyReport apply_runtime(const PlacementPlan& plan, const HostFacts& facts, const HostFiles& files, HostWriter& writer,
                          const ApplyOptions& options) {
  if (const auto problem = find_apply_problem(plan, facts, files, options.while_trading))
    return problem_report(*problem);
  ApplyReport report;
  if (plan.isolated_cpus.empty()) {
    report.notes.push_back("the plan isolates no CPU: no thread busy-polls, so there is nothing to change");
    return report;
  }
  const RecordLock lock{options.record.parent_path()};
  const auto before = record_of_this_boot(files, options.record);
  std::vector<Change> changes = runtime_changes(plan, facts, files, before ? &*before : nullptr, &report.notes);
  Applier{plan, files, writer, options, before ? &*before : nullptr, report}.run(std::move(changes),
                                                                                 before ? before->changes.size() : 0);
  return report;
}

ApplyReport install(const PlacementPlan& plan, std::span<const BootArtefact> artefacts, const HostFiles& files,
                    HostWriter& writer, const ApplyOptions& options) {
  if (plan.refused()) return problem_report(*find_apply_problem(plan, {}, files, true));
  ApplyReport report;
  const RecordLock lock{options.record.parent_path()};
  const auto before = ChangeRecord::load(options.record);
  std::vector<Change> changes = install_changes(artefacts, files);
  const bool none = changes.empty();
  Applier{plan, files, writer, options, before ? &*before : nullptr, report}.run(std::move(changes),
                                                                                 before ? before->changes.size() : 0);
  if (none && !before) report.notes.push_back("all files are installed already, by other means");
  return report;
}

}  // namespace nfx
