// Passes requests of the control plane on to an engine.
#include "control/engine_target.hpp"

#include <unistd.h>

#include "nexusfix/base/clocks.hpp"

namespace nfx::control {

EngineTarget::EngineTarget(Engine& engine) : engine_(engine), started_(read_utc()) {}

CommandOutcome EngineTarget::command(std::size_t session, const SessionCommand& command) {
  return engine_.command(session, command);
}

Engine::SessionList EngineTarget::sessions() { return engine_.list_sessions(); }

std::optional<std::size_t> EngineTarget::find(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end() && engine_.command(known->second, {}).session.name == name) return known->second;
  numbers_.clear();
  for (const SessionStatus& each : engine_.list_sessions().sessions) numbers_.emplace(each.name, each.number);
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional{found->second};
}

EngineView EngineTarget::engine() {
  return {.version = NFX_VERSION,
          .pid = ::getpid(),
          .started = started_,
          .poll_threads = engine_.config().poll_threads,
          .idle = engine_.idle_text(),
          .transport = engine_.transport_text(),
          .draining = draining_,
          .stopping = stopping_};
}

void EngineTarget::stop() {
  stopping_ = true;
  engine_.stop();
}

bool EngineTarget::drain(std::string_view text) {
  draining_ = true;
  return engine_.drain(text);
}

bool EngineTarget::end_drain() {
  draining_ = false;
  return engine_.end_drain();
}

}  // namespace nfx::control
