// Checks of other tasks, kernel threads and workqueues that may run on the isolated CPUs.
#include <algorithm>
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {

void pid1_mask(const Examination& e, Report& report) {
  const auto status = report.text(e, "/proc/1/status");
  if (!status) return;
  const auto list = line_value(*status, "Cpus_allowed_list");
  const auto allowed = list ? CpuSet::parse_list(*list) : std::unexpected{std::string{}};
  if (!allowed) return report.cannot_tell("/proc/1/status: no Cpus_allowed_list");
  if (!report.set_apart(e, CheckResult::warning)) return;
  const CpuSet shared = *allowed & e.isolated_cpus & e.facts.online;
  // The shield moves all tasks by their group, whatever their masks are.
  if (shared.empty()) return report.good("PID 1 may use " + allowed->to_list());
  report.warning("PID 1 may use " + allowed->to_list() + ", and all that it starts inherits that",
                 "CPUAffinity= without " + shared.to_list());
}

namespace {

bool ours(const Task& task) { return task.name.starts_with("nfx-"); }

std::vector<std::string> names_of(const std::vector<const Task*>& tasks) {
  std::vector<std::string> names;
  for (const Task* task : tasks) {
    std::string name = task->name + " (" + std::to_string(task->id) + ')';
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

void other_tasks(const Examination& e, Report& report) {
  if (e.tasks.empty()) return report.not_here("no tasks are described");
  if (!report.set_apart(e, CheckResult::warning)) return;
  std::vector<const Task*> runnable, sleeping;
  for (const Task& task : e.tasks) {
    if (task.kernel || ours(task) || !task.allowed.intersects(e.isolated_cpus)) continue;
    // Only tasks whose mask has no other CPU run on isolated CPUs, because the scheduler does not balance onto them.
    if (e.facts.isolated.contains_all(task.allowed & e.isolated_cpus) && !e.isolated_cpus.contains_all(task.allowed))
      continue;
    (task.state == 'R' ? runnable : sleeping).push_back(&task);
  }
  const std::string wanted = "no other task that may use " + e.isolated_cpus.to_list();
  if (!runnable.empty())
    report.failure(std::to_string(runnable.size()) + " running now: " + join(names_of(runnable)), wanted);
  if (!sleeping.empty())
    report.warning(std::to_string(sleeping.size()) + " asleep now: " + join(names_of(sleeping)), wanted);
  if (runnable.empty() && sleeping.empty()) report.good("no other task may run on " + e.isolated_cpus.to_list());
}

void kernel_threads(const Examination& e, Report& report) {
  if (e.tasks.empty()) return report.not_here("no tasks are described");
  if (!report.set_apart(e)) return;
  std::vector<const Task*> movable;
  std::size_t bound = 0;
  for (const Task& task : e.tasks) {
    if (!task.kernel || !task.allowed.intersects(e.isolated_cpus)) continue;
    if (task.allowed.size() == 1) {
      ++bound;
    } else if (!e.facts.isolated.contains_all(task.allowed & e.isolated_cpus)) {
      movable.push_back(&task);
    }
  }
  const std::string also = "; " + std::to_string(bound) + " are bound to their CPU and stay";
  if (movable.empty()) return report.good("no kernel thread that could run elsewhere" + also);
  report.warning(std::to_string(movable.size()) + " kernel threads may use " + e.isolated_cpus.to_list() + ": " +
                     join(names_of(movable)) + also,
                 "masks without " + e.isolated_cpus.to_list() + " for those that allow it");
}

void workqueues(const Examination& e, Report& report) {
  const std::string base = "/sys/devices/virtual/workqueue/";
  const auto all = report.mask(e, base + "cpumask");
  if (!all || !report.set_apart(e)) return;
  const CpuSet shared = *all & e.isolated_cpus & e.facts.online;
  if (!shared.empty())
    return report.warning("unbound work may run on " + shared.to_list(),
                          "/sys/devices/virtual/workqueue/cpumask without " + e.isolated_cpus.to_list());
  // A workqueue uses the intersection of its own mask and the general one, but the general mask can be widened again.
  std::vector<std::string> wide;
  for (const std::string& queue : e.files.list(base)) {
    const auto text = e.files.text(base + queue + "/cpumask");
    const auto mask = text ? CpuSet::parse_mask(*text) : std::unexpected{std::string{}};
    if (mask && (*mask & *all).intersects(e.isolated_cpus)) wide.push_back(queue);
  }
  if (!wide.empty()) return report.warning("queues with masks of their own: " + join(wide), "masks without these CPUs");
  report.good("unbound work runs on " + all->to_list());
}

void writeback_workqueue(const Examination& e, Report& report) {
  const auto mask = report.mask(e, "/sys/devices/virtual/workqueue/writeback/cpumask");
  if (!mask || !report.set_apart(e)) return;
  const auto text = e.files.text("/sys/devices/virtual/workqueue/cpumask");
  CpuSet effective = *mask & e.facts.online;
  if (const auto all = text ? CpuSet::parse_mask(*text) : std::unexpected{std::string{}}) effective &= *all;
  if (!effective.intersects(e.isolated_cpus)) return report.good("pages are written back on " + effective.to_list());
  report.warning("pages are written back on " + effective.to_list(), "a mask without " + e.isolated_cpus.to_list());
}

}  // namespace nfx::doctor::look
