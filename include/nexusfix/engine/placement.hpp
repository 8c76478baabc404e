// Where the engine's configuration and the placement of its threads meet.
// Thread: any, before run.
#pragma once

#include "nexusfix/engine/engine_config.hpp"
#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

// What the configuration asks of the placement: [placement], with the poll threads of [engine] and the sessions. It is
// enabled by [placement] itself, and by a session that asks for a core of its own.
[[nodiscard]] PlacementRequest placement_request(const EngineConfig& config);

}  // namespace nfx
