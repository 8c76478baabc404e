// The placement that a configuration requests.
// Thread: any, before run.
#pragma once

#include <cstdint>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

// [placement], with the poll threads of [engine] and the sessions. It is enabled by [placement] itself, and by a
// session with cpu_affinity_core or auto_pin_to_core.
[[nodiscard]] PlacementRequest placement_request(const EngineConfig& config);

// How many threads of a role other than poll the engine runs once it needs one, and what they do while idle: as in
// [placement] when it is enabled, otherwise one that blocks.
struct HelperThreads {
  std::uint32_t threads = 1;
  IdleMode idle = IdleMode::block;
  bool asked_for = false;  // by number: they run from the start, needed or not
};
[[nodiscard]] HelperThreads helper_threads(const EngineConfig& config, ThreadRole role);

}  // namespace nfx
