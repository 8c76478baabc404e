// Plays one scenario against one peer.
#pragma once

#include <optional>
#include <string>

#include "peer.hpp"
#include "scenario.hpp"

namespace nfx::conformance {

// Empty when everything went as written; otherwise "name:line: what was expected and what came".
[[nodiscard]] std::optional<std::string> run_scenario(const Scenario& scenario, Peer& peer);

}  // namespace nfx::conformance
