// Orders to the session, and the engine of a program that trades.
#include "nexusfix/live/trader.hpp"

#include <utility>

#include "nexusfix/engine/engine.hpp"

namespace nfx::market {

bool FixSessionVenue::send(const strategy::Intent& intent, const strategy::OwnOrder& order, UtcTime now) noexcept {
  if (session() == nullptr) return false;
  const auto message = messages_.message(intent, order, now);
  if (!message || !session()->send(*message)) return false;
  session()->flush();
  return true;
}

void run_session(FixSessionFeed& application, EngineConfig config) {
  if (config.sessions.size() != 1) {
    throw ConfigError("market data and orders are of one session, and the configuration has " +
                      std::to_string(config.sessions.size()));
  }
  make_room_for_snapshots(config);
  Engine engine{std::move(config), application};
  const StopOnSignal stop{engine};
  engine.run();
}

}  // namespace nfx::market
