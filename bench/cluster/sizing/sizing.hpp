// The commands of bench_sizing.
#pragma once

#include "cli/command_line.hpp"

namespace nfx::bench {

[[nodiscard]] cli::Command plan_command();
[[nodiscard]] cli::Command simulate_command();

}  // namespace nfx::bench
