// Plays one scenario against one peer.
#pragma once

#include <optional>
#include <string>

#include "peer.hpp"
#include "scenario.hpp"

namespace nfx::conformance {

// Empty on success; otherwise "name:line: ..." with the expected and the actual event.
[[nodiscard]] std::optional<std::string> run_scenario(const Scenario& scenario, Peer& peer);

}  // namespace nfx::conformance
