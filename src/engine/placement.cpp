#include "nexusfix/engine/placement.hpp"

namespace nfx {

PlacementRequest placement_request(const EngineConfig& config) {
  PlacementRequest request = config.placement;
  RoleRequest& poll = request.role(ThreadRole::poll);
  poll.threads = config.poll_threads;
  // A yielding thread is runnable all the time, as a spinning one is.
  poll.wait = config.idle == IdleMode::block ? ThreadWait::block : ThreadWait::spin;
  request.sessions.reserve(config.sessions.size());
  for (const SessionSettings& settings : config.sessions) {
    const SessionConfig& session = settings.session;
    request.sessions.push_back({.sender_comp_id = session.sender_comp_id,
                                .target_comp_id = session.target_comp_id,
                                .poll_thread = settings.poll_thread,
                                .cpu_affinity_core = session.cpu_affinity_core,
                                .auto_pin_to_core = session.auto_pin_to_core});
    request.enabled |= session.cpu_affinity_core >= 0 || session.auto_pin_to_core;
  }
  return request;
}

}  // namespace nfx
