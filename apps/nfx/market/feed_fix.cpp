// Market data over a FIX session.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/clocks.hpp"
#include "config/quickfix_settings.hpp"
#include "market/feeds.hpp"
#include "market/fix_venue.hpp"
#include "market/market.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/live/fix_handler.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

FeedDescription describe(const LiveOptions& options) { return describe_names(options, "ALFA", 0); }

FeedBooksOptions books_of(const FeedDescription& description, std::uint64_t every) {
  FeedBooksOptions made{.every = every};
  made.limits.orders = 1u << 20;
  made.limits.instruments = static_cast<std::uint32_t>(std::max<std::size_t>(description.names.size(), 1));
  return made;
}

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
        books_(books_of(description_, parts.options.every), parts.hashes),
        handler_(description_.fix(), books_, ports_),
        feed_({.lag_max = std::chrono::milliseconds{parts.options.max_lag_ms}}, ports_, handler_, books_.newest(),
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
    while (!engine_.finished()) engine_.turn(std::chrono::milliseconds{10});  // for up to logout_timeout
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
  FixSessionFeed<FixHandler> feed_;
  Engine engine_;
};

class PublishFix final : public Publishing {
 public:
  explicit PublishFix(const PublishOptions& options)
      : left_(options.messages),
        listen_(parse_endpoint("--listen", options.listen)),
        venue_({.listen = listen_, .seed = options.seed, .left_out = options.lost}) {}

  bool publish(Instant now) override {
    if (left_ == 0) return false;
    --left_;
    venue_.step(now.utc);
    return true;
  }
  void serve(Instant, Duration longest) override { venue_.serve(longest); }
  [[nodiscard]] bool ready(std::uint32_t subscribers) const override { return venue_.subscribers() >= subscribers; }
  void end(Instant) override { venue_.end(); }
  [[nodiscard]] std::uint64_t hash() const override { return venue_.publisher().books().hash(); }
  [[nodiscard]] SafeText start_text() const override {
    SafeText text = made("listens on {}; names:", to_string(Endpoint{listen_.host, venue_.port()}));
    for (const std::string_view name : demo::symbols) text.add(" {}", name);
    return text += "\n";
  }
  void print_end(SafeText& out) const override {
    const FixPublisherCounters& of = venue_.publisher().counters();
    out.add("{} requests, {} snapshots, {} increments, {} left out on purpose, {} not sent\n", of.requests,
            of.snapshots, of.increments, of.left_out, of.unsent);
  }

 private:
  std::uint64_t left_;
  Endpoint listen_;
  FixVenue venue_;
};

}  // namespace

extern const FeedRow fix_feed;
const FeedRow fix_feed{
    .name = "fix",
    .about = "market data by FIX",
    .venue = "the demonstration's venue, which takes orders too",
    .describe = describe,
    .books = books_of,
    .live = [](const RunningFeedParts& parts) -> std::unique_ptr<RunningFeed> {
      return std::make_unique<LiveFix>(parts);
    },
    .replay = [](const FeedDescription& description, FeedBooks& books) -> std::unique_ptr<ReplayedFeed> {
      return std::make_unique<ReplayedHandler<FixHandler>>(description.fix(), books);
    },
    .publish = [](const PublishOptions& options) -> std::unique_ptr<Publishing> {
      return std::make_unique<PublishFix>(options);
    },
};

}  // namespace nfx::app::market
