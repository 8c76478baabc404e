// Placement needs values of several sections; this collects them in one place.
#include "nexusfix/config/placement.hpp"
#include "nexusfix/base/assert.hpp"

#include <algorithm>

namespace nfx {
namespace {

bool asks_for_core(const SessionSettings& settings) {
  return settings.session.cpu_affinity_core >= 0 || settings.session.auto_pin_to_core;
}

}  // namespace

HelperThreads helper_threads(const EngineConfig& config, ThreadRole role) {
  HelperThreads helpers;
  if (!config.placement.enabled && std::ranges::none_of(config.sessions, asks_for_core)) return helpers;
  const RoleRequest& request = config.placement.role(role);
  helpers.asked_for = request.threads > 0;
  helpers.threads = std::max(request.threads, std::uint32_t{1});
  NFX_ASSERT(role != ThreadRole::poll);
  if (request.wait == ThreadWait::spin) helpers.idle = IdleMode::spin;
  return helpers;
}

PlacementRequest placement_request(const EngineConfig& config) {
  PlacementRequest request = config.placement;
  RoleRequest& poll = request.role(ThreadRole::poll);
  poll.threads = config.poll_threads;
  // A yielding thread is always runnable, like a busy-polling one.
  poll.wait = config.idle == IdleMode::block ? ThreadWait::block : ThreadWait::spin;
  // Journals need a flusher, and a thread for work that waits for a disk. `nfx serve` makes journals of stores
  // that are not set.
  const bool journals = std::ranges::any_of(
      config.sessions, [](const SessionSettings& each) { return each.store_kind != StoreKind::memory; });
  if (journals) {
    for (const ThreadRole role : {ThreadRole::flusher, ThreadRole::deferred}) {
      RoleRequest& helper = request.role(role);
      helper.threads = std::max(helper.threads, std::uint32_t{1});
    }
  }
  if (!config.log.directory.empty() || !config.log.metrics_file.empty()) {
    RoleRequest& log = request.role(ThreadRole::log);
    log.threads = std::max(log.threads, std::uint32_t{1});
  }
  if (std::ranges::any_of(config.sessions, &SessionSettings::tls_enabled)) {
    RoleRequest& handshake = request.role(ThreadRole::handshake);
    handshake.threads = std::max(handshake.threads, std::uint32_t{1});
  }
  request.sessions.reserve(config.sessions.size());
  for (const SessionSettings& settings : config.sessions) {
    const SessionConfig& session = settings.session;
    request.sessions.push_back({.sender_comp_id = session.sender_comp_id,
                                .target_comp_id = session.target_comp_id,
                                .poll_thread = settings.poll_thread,
                                .cpu_affinity_core = session.cpu_affinity_core,
                                .auto_pin_to_core = session.auto_pin_to_core});
    request.enabled |= asks_for_core(settings);
  }
  NFX_ASSERT(request.sessions.size() == config.sessions.size() + config.placement.sessions.size());
  return request;
}

}  // namespace nfx
