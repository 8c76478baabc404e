// The commands below `nfx fabric`. Each is one file or a few.
#pragma once

#include <string>

#include "cli/command_line.hpp"

namespace nfx::app::fabric {

cli::Command plan_command();
cli::Command simulate_command();
cli::Command bench_command();
cli::Command ladder_command();

[[nodiscard]] cli::Option provider_option(std::string& provider);

}  // namespace nfx::app::fabric
