// Compares a plan with what the kernel reports.
#include "control/placement_check.hpp"

#include <algorithm>

namespace nfx::control {

std::vector<std::string> placement_problems(const PlacementPlan& plan, const std::vector<ThreadReport>& reports,
                                            const std::vector<RunningThread>& running) {
  std::vector<std::string> problems;
  const auto named = [&running](std::string_view name) {
    return std::ranges::find(running, name,
                             [](const RunningThread& each) { return std::string_view{each.sample.name}; });
  };
  for (const ThreadPlacement& each : plan.threads) {
    if (std::ranges::find(reports, each.name, &ThreadReport::name) == reports.end()) {
      problems.push_back(each.name + " is in the plan, and no such thread " +
                         (kind_of(each.role) == RoleKind::engine ? "runs" : "of the program has entered"));
      continue;
    }
    const auto thread = named(each.name);
    if (thread != running.end() && thread->sample.priority != each.priority)
      problems.push_back(each.name + " has real-time priority " + std::to_string(thread->sample.priority) +
                         ", and is planned with " + std::to_string(each.priority));
  }
  for (const ThreadReport& each : reports) {
    if (each.cpus != each.planned)
      problems.push_back(each.name + " may run on CPU " + each.cpus.to_list() + ", and is planned for CPU " +
                         each.planned.to_list());
  }
  for (const RunningThread& each : running) {
    if (std::ranges::find(reports, each.sample.name, &ThreadReport::name) != reports.end()) continue;
    for (const ThreadPlacement& owner : plan.threads) {
      if (owner.wait != ThreadWait::spin || !each.sample.allowed.intersects(owner.cpus)) continue;
      problems.push_back(each.sample.name + " (thread " + std::to_string(each.sample.tid) +
                         ") is not in the plan, and may run on CPU " + owner.cpus.to_list() + " of " + owner.name);
    }
  }
  return problems;
}

}  // namespace nfx::control
