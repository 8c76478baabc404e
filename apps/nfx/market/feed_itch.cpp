// NASDAQ ITCH: two lines of datagrams, requests, and snapshots over TCP.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "base/clocks.hpp"
#include "base/error_text.hpp"
#include "market/feeds.hpp"
#include "market/itch_generator.hpp"
#include "market/market.hpp"
#include "market/udp_lines.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/transport/udp.hpp"
#include "publish/itch_publisher.hpp"

namespace nfx::app::market {

using namespace nfx::market;

Endpoint parse_endpoint(const std::string& option, const std::string& text) {
  const auto endpoint = Endpoint::parse(text);
  if (!endpoint) throw ConfigError(option + ": \"" + text + "\" is not an address; write HOST:PORT");
  return *endpoint;
}

namespace {

FeedDescription describe(const LiveOptions& options) {
  return {.feed = options.feed,
          .midnight =
              options.midnight.empty() ? midnight_in_new_york(read_utc()) : parse_time("--midnight", options.midnight)};
}

FeedBooksOptions books_of(const FeedDescription&, std::uint64_t every) {
  return {.limits = itch_book_limits, .every = every};
}

FeedSocketsOptions sockets_of(const LiveOptions& options) {
  if (options.lines.empty() || options.lines.size() > 2) {
    throw ConfigError("--line: an ITCH feed has one or two lines; write --line A=GROUP:PORT@INTERFACE");
  }
  FeedSocketsOptions made;
  std::uint16_t number = ItchLines::a;
  for (UdpLineOptions& line : parse_udp_lines(options.lines, options.receive_buffer))
    made.udp.push_back({number++, std::move(line), {}});
  if (!options.rerequest.empty()) {
    const UdpAddress server = parse_udp_address(options.rerequest);
    const std::string any = server.host.contains(':') ? "::" : "0.0.0.0";
    made.udp.push_back({ItchLines::request, {"request", {any, 0, ""}, 0}, server});
  }
  if (!options.snapshot.empty()) {
    FeedTcpLine line;
    line.line = ItchLines::snapshot;
    line.server = parse_endpoint("--snapshot", options.snapshot);
    made.tcp.push_back(line);
  }
  return made;
}

ItchFeedOptions feed_options(const FeedDescription& description, const LiveOptions& options) {
  ItchFeedOptions made{.midnight = description.midnight};
  made.snapshot_login.username = options.user;
  if (options.password_env.empty()) return made;
  const char* const password = std::getenv(options.password_env.c_str());
  if (password == nullptr) throw ConfigError("--password-env: " + not_set(options.password_env) + "; set it");
  made.snapshot_login.password = password;
  return made;
}

class LiveItch final : public RunningFeed {
 public:
  explicit LiveItch(const RunningFeedParts& parts)
      : description_(parts.description),
        sockets_(sockets_of(parts.options)),
        books_(books_of(description_, parts.options.every), parts.hashes),
        handler_({feed_options(description_, parts.options)}, books_, sockets_),
        live_({.lag_max = std::chrono::milliseconds{parts.options.max_lag_ms}}, sockets_, handler_, books_.newest(),
              parts.recorder) {
    if (parts.recorder == nullptr) return;
    const UtcTime now = read_utc();
    parts.recorder->describe({now, StampSource::none, FeedDescription::line, 0}, description_.text());
    for (std::uint16_t i = 0; i < sockets_.udp()->lines().size(); ++i) {
      const UdpLine& line = sockets_.udp()->lines()[i];
      parts.recorder->describe({now, StampSource::none, sockets_.line_of(i), 0},
                               line.name + " " + to_string(line.address));
    }
  }

  std::size_t poll(Duration longest) override { return live_.poll(read_utc(), longest); }
  [[nodiscard]] FeedState state() const override { return live_.state(); }
  [[nodiscard]] const FeedLag& lag() const override { return live_.lag(); }
  [[nodiscard]] const FeedBooks& books() const override { return books_; }
  [[nodiscard]] bool ended() const override { return live_.state() == FeedState::ended; }
  [[nodiscard]] std::string trouble() const override {
    const StaleReason reason = handler_.feed().arbiter().stale_reason();
    if (live_.state() != FeedState::stale || reason == StaleReason::none) return {};
    std::string text{to_string(reason)};
    if (!sockets_.last_failure().empty()) text += "; " + sockets_.last_failure();
    return text;
  }
  void add_to(Figures& out) const override {
    add_figures(out, live_.counters());
    add_figures(out, books_.counters());
    add_figures(out, handler_.feed().arbiter().counters());
    add_figures(out, handler_.feed().parser().counters());
    add_figures(out, handler_.feed().counters());
    add_figures(out, sockets_.counters());
    for (std::uint16_t i = 0; i < sockets_.udp()->lines().size(); ++i) {
      sockets_.udp()->read_drops(i);
      add_figures(out, sockets_.udp()->counters(i), sockets_.udp()->lines()[i].name);
    }
  }
  [[nodiscard]] std::string symbol(InstrumentId instrument) const override {
    return std::string{handler_.feed().directory().at(static_cast<std::uint16_t>(instrument)).symbol()};
  }
  [[nodiscard]] std::string start_text() const override {
    std::string text;
    for (const UdpLine& line : sockets_.udp()->lines()) {
      text += "line " + line.name + " listens on " + to_string(line.address) + "\n";
      for (const std::string& warning : line.warnings) text += "  warning: " + warning + "\n";
    }
    return text;
  }

 private:
  FeedDescription description_;
  mutable FeedSockets sockets_;
  FeedBooks books_;
  ItchHandler<FeedBooks> handler_;
  LiveFeed<ItchHandler<FeedBooks>> live_;
};

class PublishItch final : public Publishing {
 public:
  explicit PublishItch(const PublishOptions& options)
      : generator_({.seed = options.seed,
                    .messages = options.messages,
                    .stocks = static_cast<std::uint16_t>(options.names),
                    .resting_orders = 100}),
        publisher_(options_of(options)) {}

  bool publish(Instant now) override {
    const auto message = generator_.next();
    if (message.empty()) return false;
    publisher_.add(message, now.utc);
    return true;
  }
  void flush(Instant now) override { publisher_.flush(now.monotonic); }
  void serve(Instant now, Duration) override { publisher_.serve(now.monotonic); }
  [[nodiscard]] bool ready(std::uint32_t) const override { return true; }
  void published(Instant now) override { publisher_.end(now.monotonic); }
  void end(Instant now) override { publisher_.end(now.monotonic); }
  [[nodiscard]] std::uint64_t hash() const override { return publisher_.books().hash(); }
  [[nodiscard]] SafeText start_text() const override {
    return made("requests: listens on {}\nsnapshots: listens on {}\n",
                to_string(Endpoint{requests_at_, publisher_.request_port()}),
                to_string(Endpoint{snapshots_at_, publisher_.snapshot_port()}));
  }
  void print_end(SafeText& out) const override {
    const ItchPublisherCounters& of = publisher_.counters();
    out.add("{} messages, {} packets sent, {} lost on purpose, {} requests, {} snapshots\n", of.messages, of.packets,
            of.lost, of.requests, of.snapshots);
  }

 private:
  ItchPublisherOptions options_of(const PublishOptions& options) {
    ItchPublisherOptions made;
    if (options.lines.empty() || options.lines.size() > 2) {
      throw ConfigError("--line: an ITCH feed has one or two lines; write --line 239.1.1.1:5000@lo");
    }
    for (const std::string& text : options.lines) {
      made.lines.push_back(
          parse_udp_address(text.substr(text.find('=') == std::string::npos ? 0 : text.find('=') + 1)));
    }
    made.faults.fill({options.lost, options.duplicated, options.reordered});
    made.seed = options.seed;
    if (!options.rerequest.empty()) made.requests = parse_udp_address(options.rerequest);
    if (!options.snapshot.empty()) made.snapshots = parse_endpoint("--snapshot", options.snapshot);
    made.midnight = midnight_in_new_york(read_utc());
    if (made.requests) requests_at_ = made.requests->host;
    if (made.snapshots) snapshots_at_ = made.snapshots->host;
    return made;
  }

  ItchGenerator generator_;
  std::string requests_at_, snapshots_at_;
  ItchPublisher publisher_;
};

}  // namespace

extern const FeedRow itch_feed;
const FeedRow itch_feed{
    .name = "itch",
    .about = "MoldUDP64 over UDP",
    .venue = "two UDP lines, and servers of missed messages and snapshots",
    .datagrams = true,
    .describe = describe,
    .books = books_of,
    .live = [](const RunningFeedParts& parts) -> std::unique_ptr<RunningFeed> {
      return std::make_unique<LiveItch>(parts);
    },
    .replay = [](const FeedDescription& description, FeedBooks& books) -> std::unique_ptr<ReplayedFeed> {
      return std::make_unique<ReplayedHandler<ItchHandler<FeedBooks>>>(
          ItchHandlerOptions{{.midnight = description.midnight}}, books);
    },
    .publish = [](const PublishOptions& options) -> std::unique_ptr<Publishing> {
      return std::make_unique<PublishItch>(options);
    },
};

}  // namespace nfx::app::market
