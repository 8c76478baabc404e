// A live feed by a FIX session.
#include <chrono>
#include <optional>

#include "base/clocks.hpp"
#include "config/quickfix_settings.hpp"
#include "market/market.hpp"
#include "market/running_feed.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/live/fix_handler.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

// One initiator, with space for large snapshots.
EngineConfig config_of(const LiveOptions& options) {
  EngineConfig config;
  if (options.config.empty()) {
    if (options.url.empty()) throw ConfigError("--feed fix needs --url HOST:PORT of a venue, or --config FILE");
    const auto server = Endpoint::parse(options.url);
    if (!server) throw ConfigError("--url: \"" + options.url + "\" is not an address; write HOST:PORT");
    SessionSettings session;
    session.session.role = Role::initiator;
    session.session.sender_comp_id = "SUBSCRIBER";
    session.session.target_comp_id = "VENUE";
    session.session.timestamp_digits = 6;
    session.connect = {*server};
    config.sessions.push_back(session);
  } else {
    config = load_any_config(options.config);
    std::erase_if(config.sessions, [](const SessionSettings& each) { return each.session.role != Role::initiator; });
    if (config.sessions.size() != 1) {
      throw ConfigError(options.config + ": a feed is one session with role = \"initiator\", and this file has " +
                        std::to_string(config.sessions.size()));
    }
  }
  config.poll_threads = 1;
  config.idle = options.idle == "spin" ? IdleMode::spin : IdleMode::block;
  make_room_for_snapshots(config);
  config.sessions[0].poll_thread = 0;
  config.sessions[0].session.reset_on_logon = true;
  config.sessions[0].socket.timestamps = true;
  return config;
}

class LiveFix final : public RunningFeed {
 public:
  explicit LiveFix(const RunningFeedParts& parts)
      : description_(parts.description),
        books_(description_.books(parts.options.every), parts.hashes),
        handler_(description_.fix(), books_, ports_),
        feed_({.lag_max = std::chrono::milliseconds{parts.options.max_lag_ms}}, ports_, handler_, books_,
              parts.recorder),
        engine_(config_of(parts.options), feed_) {
    if (parts.recorder != nullptr) {
      const UtcTime now = read_utc();
      parts.recorder->describe({now, StampSource::none, FeedDescription::line, 0}, description_.text());
      parts.recorder->describe({now, StampSource::none, FixLines::session, 0}, "session " + peer());
    }
    engine_.start();
  }

  std::size_t poll(Duration longest) override { return engine_.turn(longest); }
  [[nodiscard]] FeedState state() const override { return feed_.state(); }
  [[nodiscard]] const FeedLag& lag() const override { return feed_.lag(); }
  [[nodiscard]] const FeedBooks& books() const override { return books_; }
  [[nodiscard]] bool ended() const override {
    return handler_.counters().logouts != 0 && !engine_.finished() && feed_.state() == FeedState::stale;
  }
  [[nodiscard]] std::string trouble() const override {
    return feed_.state() == FeedState::live ? std::string{} : feed_.reason();
  }
  void add_to(Figures& out) const override {
    add_figures(out, feed_.counters());
    add_figures(out, books_.counters());
    add_figures(out, handler_.counters());
    add_figures(out, handler_.feed().counters());
    add_figures(out, handler_.feed().recovery_counters());
  }
  [[nodiscard]] std::string symbol(InstrumentId instrument) const override {
    return description_.names.at(std::to_underlying(instrument));
  }
  [[nodiscard]] std::string start_text() const override { return "connects to " + peer() + " by FIX\n"; }
  void stop() override {
    engine_.stop();
    while (!engine_.finished()) engine_.turn(std::chrono::milliseconds{10});  // as long as logout_timeout
  }

 private:
  [[nodiscard]] std::string peer() const {
    const SessionSettings& session = engine_.config().sessions[0];
    return session.connect.empty() ? std::string{"?"} : to_string(session.connect.front());
  }

  FeedDescription description_;
  FixSessionPorts ports_;
  FeedBooks books_;
  FixHandler handler_;
  FixSessionFeed feed_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<RunningFeed> make_fix_feed(const RunningFeedParts& parts) { return std::make_unique<LiveFix>(parts); }

}  // namespace nfx::app::market
