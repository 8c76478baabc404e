// Computes the placement that a configuration requests.
// Thread: any, before run.
#pragma once

#include <cstdint>
#include <string>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/placement/placement_request.hpp"
#include "nexusfix/placement/plan.hpp"

namespace nfx {

// The request from [placement], the poll threads of [engine] and the sessions. It is enabled by the section
// [placement], or by a session with cpu_affinity_core or auto_pin_to_core.
[[nodiscard]] PlacementRequest placement_request(const EngineConfig& config);

// The plan of an engine. With idle "auto", poll threads block if there are not enough CPUs for one each.
[[nodiscard]] PlacementPlan plan_engine(const EngineConfig& config, const Topology& topology, const HostFacts& host);

// The idle mode of a poll thread, and the reason: as configured, or the meaning of "auto" with this plan. Null: no
// plan.
struct PollIdle {
  IdleMode mode = IdleMode::block;  // never automatic
  std::string why;
};
[[nodiscard]] PollIdle poll_idle(const EngineConfig& config, const PlacementPlan* plan, std::uint32_t thread);
// "idle: block: there are fewer CPUs than busy-polling threads", for people.
[[nodiscard]] std::string poll_idle_text(const EngineConfig& config, const PlacementPlan* plan);

// The number of threads of a role other than poll, if the engine needs any, and their idle mode. Taken from [placement]
// if it is enabled; otherwise one thread that blocks.
struct HelperThreads {
  std::uint32_t threads = 1;
  IdleMode idle = IdleMode::block;
  bool asked_for = false;  // requested by number: they run from the start, whether needed or not
};
[[nodiscard]] HelperThreads helper_threads(const EngineConfig& config, ThreadRole role);

}  // namespace nfx
