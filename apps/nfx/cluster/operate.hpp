// nfx cluster drain, move and settings: what operators set for all gateways, while they run.
#pragma once

#include <vector>

#include "command.hpp"

namespace nfx::app {

// To be added to the commands of nfx cluster.
[[nodiscard]] std::vector<cli::Command> cluster_operator_commands();

}  // namespace nfx::app
