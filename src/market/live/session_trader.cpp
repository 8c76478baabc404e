// Orders to the session, and the engine of a program that trades.
#include "nexusfix/live/session_trader.hpp"

#include <utility>

#include "base/call_trace.hpp"
#include "nexusfix/engine/engine.hpp"

namespace nfx::market {

bool FixSessionVenue::send(const strategy::Intent& intent, const strategy::OwnOrder& order, UtcTime now) noexcept {
  NFX_TRACE();
  if (session_ == nullptr) return false;
  const auto index = messages_.size() == 1 ? 0 : std::to_underlying(order.instrument);
  const auto message = messages_[index].message(intent, order, now);
  return message && session_->send(*message);
}

void FixSessionVenue::flush() noexcept {
  NFX_TRACE();
  session_->flush();
}

void run_session(Application& application, EngineConfig config, std::span<const int> descriptors) {
  if (config.sessions.size() != 1) {
    throw ConfigError("orders take one session, and the configuration has " + std::to_string(config.sessions.size()));
  }
  Engine engine{std::move(config), application};
  for (const int each : descriptors) engine.wake_when_readable(each);
  const StopOnSignal stop{engine};
  engine.run();
}

}  // namespace nfx::market
