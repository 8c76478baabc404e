// Compares the threads of a process with its plan.
// Thread: any, no state. Errors: none; each difference is a sentence.
#pragma once

#include <string>
#include <vector>

#include "control/target.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx::control {

// Reports threads of the plan that do not run, or that have another mask or priority; also other threads that may run
// on the CPU of a busy-polling one. `reports` come from the engine, `running` are all threads of the process.
[[nodiscard]] std::vector<std::string> placement_problems(const PlacementPlan& plan,
                                                          const std::vector<ThreadReport>& reports,
                                                          const std::vector<RunningThread>& running);

}  // namespace nfx::control
