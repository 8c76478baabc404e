// Explains why a peer may take our Logon and send nothing.
// Thread: any, no state. Cost: allocates.
#pragma once

#include "nexusfix/config/engine_config.hpp"
#include "output.hpp"

namespace nfx::app {

// Lines for standard error: the probable causes with this session's settings, and what to check for each.
[[nodiscard]] SafeText why_silent(const SessionSettings& settings);

}  // namespace nfx::app
