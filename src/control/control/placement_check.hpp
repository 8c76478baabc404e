// Whether the threads of a process run where its plan has them.
// Thread: any, no state. Errors: none; each difference is a sentence.
#pragma once

#include <string>
#include <vector>

#include "control/target.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx::control {

// Threads of the plan that do not run, or with another mask or priority; and threads that are not in it but may run on
// the CPU of one that busy-polls. `reports` are the engine's, `running` are all threads of the process.
[[nodiscard]] std::vector<std::string> placement_problems(const PlacementPlan& plan,
                                                          const std::vector<ThreadReport>& reports,
                                                          const std::vector<RunningThread>& running);

}  // namespace nfx::control
