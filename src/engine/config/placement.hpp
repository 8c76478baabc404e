// The placement that a configuration requests.
// Thread: any, before run.
#pragma once

#include <cstdint>
#include <string>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/placement/placement_request.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

// [placement], with the poll threads of [engine] and the sessions. It is enabled by [placement] itself, and by a
// session with cpu_affinity_core or auto_pin_to_core.
[[nodiscard]] PlacementRequest placement_request(const EngineConfig& config);

// The plan of an engine. With idle "auto" its poll threads block where they cannot all have a CPU of their own.
[[nodiscard]] PlacementPlan plan_engine(const EngineConfig& config, const Topology& topology, const HostFacts& host);

// What a poll thread does while idle, and why: as configured, or what "auto" means with this plan. Null: no plan.
struct PollIdle {
  IdleMode mode = IdleMode::block;  // never automatic
  std::string why;
};
[[nodiscard]] PollIdle poll_idle(const EngineConfig& config, const PlacementPlan* plan, std::uint32_t thread);
// "idle: block: there are fewer CPUs than busy-polling threads", for people.
[[nodiscard]] std::string poll_idle_text(const EngineConfig& config, const PlacementPlan* plan);

// How many threads of a role other than poll the engine runs once it needs one, and what they do while idle: as in
// [placement] when it is enabled, otherwise one that blocks.
struct HelperThreads {
  std::uint32_t threads = 1;
  IdleMode idle = IdleMode::block;
  bool asked_for = false;  // by number: they run from the start, needed or not
};
[[nodiscard]] HelperThreads helper_threads(const EngineConfig& config, ThreadRole role);

}  // namespace nfx
