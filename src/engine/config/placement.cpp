// Collects the values that placement needs from several sections.
#include "config/placement.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"
#include "placement/thread_name.hpp"

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
  // A yielding thread is always runnable, like a busy-polling one. With "auto", each thread requests a CPU of its own.
  poll.wait = config.idle == IdleMode::block ? ThreadWait::block : ThreadWait::spin;
  // Journals need a flusher, and a thread for work that waits for a disk. `nfx serve` uses a journal if the store is
  // not set.
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

PlacementPlan plan_engine(const EngineConfig& config, const Topology& topology, const HostFacts& host) {
  PlacementRequest request = placement_request(config);
  PlacementPlan plan = make_plan(topology, host, request);
  if (config.idle != IdleMode::automatic || !plan.refused()) return plan;
  request.role(ThreadRole::poll).wait = ThreadWait::block;
  return make_plan(topology, host, request);
}

PollIdle poll_idle(const EngineConfig& config, const PlacementPlan* plan, std::uint32_t thread) {
  if (config.idle != IdleMode::automatic) return {.mode = config.idle, .why = "as configured"};
  if (plan == nullptr)
    return {.mode = IdleMode::block, .why = "without [placement] a poll thread shares its CPU with other work"};
  const auto placed = std::ranges::find_if(plan->threads, [thread](const ThreadPlacement& each) {
    return each.role == ThreadRole::poll && each.index == thread;
  });
  NFX_ASSERT(placed != plan->threads.end());
  if (placed->wait != ThreadWait::spin || placed->cpus.size() != 1)
    return {.mode = IdleMode::block, .why = "there are fewer CPUs than busy-polling threads"};
  const bool shared = std::ranges::any_of(plan->threads, [&placed](const ThreadPlacement& other) {
    return &other != &*placed && other.wait == ThreadWait::spin && other.cpus.intersects(placed->cpus);
  });
  if (shared) return {.mode = IdleMode::block, .why = "another busy-polling thread has the same CPU"};
  return {.mode = IdleMode::spin, .why = "it has CPU " + placed->cpus.to_list() + " for itself"};
}

std::string poll_idle_text(const EngineConfig& config, const PlacementPlan* plan) {
  std::string text;
  const PollIdle first = poll_idle(config, plan, 0);
  bool all_alike = true;
  for (std::uint32_t i = 1; i < config.poll_threads; ++i) {
    const PollIdle each = poll_idle(config, plan, i);
    all_alike = all_alike && each.mode == first.mode && (each.why == first.why || each.mode == IdleMode::spin);
  }
  if (config.poll_threads > 1 && all_alike && first.mode == IdleMode::spin && config.idle == IdleMode::automatic)
    return "idle: " + std::string{to_string(first.mode)} + ": each poll thread has a CPU for itself";
  for (std::uint32_t i = 0; i < (all_alike ? 1 : config.poll_threads); ++i) {
    const PollIdle each = poll_idle(config, plan, i);
    text += text.empty() ? "idle: " : "; ";
    if (!all_alike) text += thread_name(ThreadRole::poll, i) + ' ';
    text.append(to_string(each.mode)).append(": ").append(each.why);
  }
  return text;
}

}  // namespace nfx
