// Market data and orders of a Trader by one FIX session of an engine. Thread: the session's poll thread. Cost: that of
// FixSessionFeed; an order is that of OrderMessages and a system call. Lifetime: trader and recorder outlive the
// application. Errors: counters and state(); send() is false for what did not leave.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/fix_session_feed.hpp"
#include "nexusfix/live/trader.hpp"
#include "nexusfix/recording/recorder.hpp"
#include "nexusfix/strategy/order_messages.hpp"

namespace nfx::market {

class FixSessionVenue final : public FixSessionPorts {
 public:
  explicit FixSessionVenue(const strategy::OrderMessageOptions& orders) : messages_(orders) {}

  using FixSessionPorts::send;
  // False: the session is not logged on, has no space, or the order does not fit its template.
  bool send(const strategy::Intent& intent, const strategy::OwnOrder& order, UtcTime now) noexcept;
  void before(const OrderBook&, InstrumentIndex, const Event&) noexcept {}
  void after(const OrderBook&, InstrumentIndex, const Event&) noexcept {}
  void reports(UtcTime, auto&&) noexcept {}

 private:
  strategy::OrderMessages messages_;
};
static_assert(Venue<FixSessionVenue>);

// The application of the engine.
template <class... Models>
class FixSessionTrader final : public FixSessionFeed {
 public:
  // `recorder` may be null; it gets the market data.
  FixSessionTrader(Trader<FixSessionVenue, Models...>& trader, Recorder* recorder)
      : FixSessionFeed({}, trader.venue(), trader.handler(), trader.books(), recorder), trader_(trader) {}

  Handled on_message(SessionHandle& session, const MessageView& message) override {
    trader_.set_now(session.now());
    const auto report = strategy::read_report(message);
    if (!report) return FixSessionFeed::on_message(session, message);
    trader_.report(*report);
    return Handled::done;
  }
  Duration on_turn(Instant now) override {
    trader_.set_now(now);
    return FixSessionFeed::on_turn(now);
  }

 private:
  Trader<FixSessionVenue, Models...>& trader_;
};

// Runs an engine with this application and space for snapshots until SIGINT or SIGTERM. Throws ConfigError if the
// configuration has not exactly one session, and what Engine throws.
void run_session(FixSessionFeed& application, EngineConfig config);

// Trades by the configuration's session until SIGINT or SIGTERM. What it receives is recorded in the folder
// `recording`, for backtest(), unless that is empty. Throws as run_session() and RecordingThread do.
template <class... Models>
void trade(Trader<FixSessionVenue, Models...>& trader, EngineConfig config, const std::string& recording = {}) {
  std::optional<RecordingThread> recorder;
  if (!recording.empty()) recorder.emplace(RecorderOptions{.folder = recording});
  FixSessionTrader application{trader, recorder ? &recorder->recorder() : nullptr};
  run_session(application, std::move(config));
}

}  // namespace nfx::market
