// A crypto venue: websocket and HTTP, plain or with TLS.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clocks.hpp"
#include "market/feed_description.hpp"
#include "market/feeds.hpp"
#include "market/market.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/recording/recording.hpp"
#include "publish/depth_generator.hpp"
#include "publish/websocket_venue.hpp"
#include "transport/tls_context.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

// The messages and first snapshots of a recorded websocket feed, to publish them again.
struct RecordedMessages {
  struct Message {
    std::string symbol;
    std::string text;  // without the stream's name
  };
  std::vector<Message> messages;
  std::map<std::string, std::string> snapshots;  // by symbol
  std::vector<std::string> names;
};

class Collector final : public WebsocketTap {
 public:
  explicit Collector(RecordedMessages& out) : out_(out) {}

  void message(std::string_view text, UtcTime) override {
    constexpr std::string_view data = "\"data\":";
    if (const std::size_t at = text.find(data); text.starts_with("{\"stream\":") && at != text.npos) {
      text = text.substr(at + data.size(), text.size() - at - data.size() - 1);
    }
    constexpr std::string_view symbol = "\"s\":\"";
    const std::size_t begin = text.find(symbol);
    if (begin == text.npos) return;
    const std::size_t name = begin + symbol.size();
    out_.messages.push_back({std::string{text.substr(name, text.find('"', name) - name)}, std::string{text}});
  }
  void snapshot(std::string_view symbol, std::string_view body) override {
    out_.snapshots.try_emplace(std::string{symbol}, body);
  }

 private:
  RecordedMessages& out_;
};

struct NoEvents {
  void event(const Event&) noexcept {}
};

// Reads the recording once. Throws ConfigError for a recording of another feed, StoreError for one that cannot be read.
RecordedMessages read_messages(const std::string& folder, const std::string& ring_directory, std::uint64_t most) {
  RecordedMessages out;
  Collector collector{out};
  NoEvents events;
  NoPorts ports;
  std::optional<WebsocketHandler> handler;
  (void)read_recording({.folder = folder, .ring_directory = ring_directory, .from = 0},
                       [&](const RecordedPacket& packet) {
                         if (packet.kind == RecordingKind::line && packet.from.line == FeedDescription::line) {
                           const auto description = FeedDescription::read(packet.bytes);
                           if (handler || !description || description->feed != "ws") return true;
                           out.names = description->names;
                           WebsocketFeedOptions options = description->websocket();
                           options.tap = &collector;
                           handler.emplace(options, events, ports);
                         }
                         const auto input = input_of(packet);
                         if (handler && input) handler->take(*input);
                         return out.messages.size() < most;
                       });
  if (!handler) {
    throw ConfigError("--recording: " + folder +
                      " is not a recording of a websocket; 'nfx market live --feed ws --record' makes one");
  }
  return out;
}

FeedDescription describe(const LiveOptions& options) {
  FeedDescription made = describe_names(options, "BTCUSDT", 8);
  made.tickers = options.tickers;
  return made;
}

FeedBooksOptions books_of(const FeedDescription& description, std::uint64_t every) {
  FeedBooksOptions made{.shape = BookShape::by_level, .every = every};
  made.limits.instruments = static_cast<std::uint32_t>(std::max<std::size_t>(description.names.size(), 1));
  return made;
}

// "wss://stream.example:9443/stream?streams=btcusdt@depth"
struct Url {
  bool tls = false;
  Endpoint server;
  std::string host;  // as in the request
  std::string path;
};

Url read_url(const std::string& option, const std::string& text, std::string_view plain, std::string_view encrypted) {
  const auto fail = [&]() -> Url {
    throw ConfigError(option + ": \"" + text + "\" is not an address; write " + std::string{plain} +
                      "://HOST:PORT or " + std::string{encrypted} + "://HOST:PORT, and a path if it has one");
  };
  const std::size_t end = text.find("://");
  if (end == std::string::npos) return fail();
  Url url;
  const std::string scheme = text.substr(0, end);
  if (scheme != plain && scheme != encrypted) return fail();
  url.tls = scheme == encrypted;
  const std::string rest = text.substr(end + 3);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.host = rest.substr(0, slash);
  url.path = rest.substr(slash);
  const bool has_port = url.host.rfind(':') != std::string::npos && !url.host.ends_with(']');
  const auto server = Endpoint::parse(has_port ? url.host : url.host + (url.tls ? ":443" : ":80"));
  if (!server) return fail();
  url.server = *server;
  return url;
}

struct Urls {
  Url stream, snapshot;
};

Urls urls_of(const LiveOptions& options) {
  if (options.url.empty()) throw ConfigError("--url is needed for --feed ws: write --url wss://HOST:PORT");
  Urls urls;
  urls.stream = read_url("--url", options.url, "ws", "wss");
  if (options.snapshot_url.empty()) {
    urls.snapshot = urls.stream;
    urls.snapshot.path.clear();
  } else {
    urls.snapshot = read_url("--snapshot-url", options.snapshot_url, "http", "https");
  }
  return urls;
}

FeedSocketsOptions sockets_of(const LiveOptions& options, const Urls& urls) {
  FeedSocketsOptions made;
  std::shared_ptr<TlsContext> context;
  if (urls.stream.tls || urls.snapshot.tls) {
    TlsOptions tls;
    tls.ca = options.ca;
    context = std::make_shared<TlsContext>(tls);
  }
  const auto add = [&](std::uint16_t number, const Url& url) {
    FeedTcpLine line;
    line.line = number;
    line.server = url.server;
    if (url.tls) line.socket.tls = context;
    made.tcp.push_back(line);
  };
  add(WebsocketLines::stream, urls.stream);
  add(WebsocketLines::snapshot, urls.snapshot);
  return made;
}

WebsocketFeedOptions feed_options(const FeedDescription& description, const Urls& urls, bool subscribe) {
  WebsocketFeedOptions options = description.websocket();
  options.host = urls.stream.host;
  options.path = urls.stream.path;
  options.subscribe = subscribe;
  options.snapshot_host = urls.snapshot.host;
  if (!urls.snapshot.path.empty()) options.snapshot_path = urls.snapshot.path;
  return options;
}

class LiveWebsocket final : public RunningFeed {
 public:
  explicit LiveWebsocket(const RunningFeedParts& parts)
      : description_(parts.description),
        urls_(urls_of(parts.options)),
        sockets_(sockets_of(parts.options, urls_)),
        books_(books_of(description_, parts.options.every), parts.hashes),
        handler_(feed_options(description_, urls_, parts.options.subscribe), books_, sockets_),
        live_({.lag_max = std::chrono::milliseconds{parts.options.max_lag_ms}}, sockets_, handler_, books_.newest(),
              parts.recorder) {
    if (parts.recorder == nullptr) return;
    const UtcTime now = read_utc();
    parts.recorder->describe({now, StampSource::none, FeedDescription::line, 0}, description_.text());
    parts.recorder->describe({now, StampSource::none, WebsocketLines::stream, 0}, "stream " + urls_.stream.host);
    parts.recorder->describe({now, StampSource::none, WebsocketLines::snapshot, 0}, "snapshot " + urls_.snapshot.host);
  }

  std::size_t poll(Duration longest) override { return live_.poll(read_utc(), longest); }
  [[nodiscard]] FeedState state() const override { return live_.state(); }
  [[nodiscard]] const FeedLag& lag() const override { return live_.lag(); }
  [[nodiscard]] const FeedBooks& books() const override { return books_; }
  [[nodiscard]] bool ended() const override { return handler_.closed_by_server(); }
  [[nodiscard]] std::string trouble() const override {
    if (!handler_.failure().empty()) return std::string{handler_.failure()};
    return live_.state() == FeedState::live ? std::string{} : sockets_.last_failure();
  }
  void add_to(Figures& out) const override {
    add_figures(out, live_.counters());
    add_figures(out, books_.counters());
    add_figures(out, handler_.counters());
    add_figures(out, handler_.feed().counters());
    add_figures(out, handler_.feed().recovery_counters());
    add_figures(out, sockets_.counters());
  }
  [[nodiscard]] std::string symbol(InstrumentId instrument) const override {
    return description_.names.at(std::to_underlying(instrument));
  }
  [[nodiscard]] std::string start_text() const override {
    return "connects to " + urls_.stream.host + ", snapshots from " + urls_.snapshot.host + "\n";
  }

 private:
  FeedDescription description_;
  Urls urls_;
  FeedSockets sockets_;
  FeedBooks books_;
  WebsocketHandler handler_;
  LiveFeed<WebsocketHandler> live_;
};

class PublishWebsocket final : public Publishing {
 public:
  explicit PublishWebsocket(const PublishOptions& options) : left_(options.messages), venue_(options_of(options)) {
    if (options.recording.empty()) return;
    recorded_ = read_messages(options.recording, options.ring_directory, options.messages);
    left_ = recorded_->messages.size();
    for (const auto& [symbol, body] : recorded_->snapshots) venue_.set_snapshot(symbol, body);
  }

  bool publish(Instant now) override {
    if (left_ == 0) return false;
    if (recorded_) {
      const RecordedMessages::Message& message = recorded_->messages[recorded_->messages.size() - left_];
      venue_.send(message.symbol, message.text);
    } else {
      venue_.publish(now.utc);
    }
    --left_;
    return true;
  }
  void serve(Instant, Duration longest) override { venue_.serve(longest); }
  [[nodiscard]] bool ready(std::uint32_t subscribers) const override { return venue_.subscribers() >= subscribers; }
  // Drops the pending output of a subscriber that does not read.
  void end(Instant now) override {
    venue_.close_all();
    const MonotonicTime until = now.monotonic + longest_end;
    while (!venue_.idle() && read_monotonic() < until) venue_.serve(std::chrono::milliseconds{10});
  }
  [[nodiscard]] std::uint64_t hash() const override { return venue_.hash(); }
  [[nodiscard]] SafeText start_text() const override {
    SafeText text = made("listens on {}; names:", to_string(Endpoint{listens_at_, venue_.port()}));
    if (recorded_) {
      for (const std::string& name : recorded_->names) text.add(" {}", name);
    } else {
      for (std::uint32_t i = 0; i < names_; ++i) text.add(" {}", depth_name(i));
    }
    return text += "\n";
  }
  void print_end(SafeText& out) const override {
    const WebsocketVenueCounters& of = venue_.counters();
    out.add("{} messages, {} sent, {} left out on purpose, {} snapshots, {} subscribers, {} of them too slow\n",
            of.messages, of.sent, of.left_out, of.snapshots, of.subscribers, venue_.slow_subscribers());
  }

 private:
  WebsocketVenueOptions options_of(const PublishOptions& options) {
    names_ = options.names;
    WebsocketVenueOptions made;
    made.listen = parse_endpoint("--listen", options.listen);
    listens_at_ = made.listen.host;
    made.names = options.recording.empty() ? options.names : 0;
    made.seed = options.seed;
    made.left_out = options.lost;
    if (!options.certificate.empty()) {
      TlsOptions tls;
      tls.certificate = options.certificate;
      tls.key = options.key;
      made.tls = std::make_shared<TlsContext>(tls);
    }
    return made;
  }

  static constexpr Duration longest_end = std::chrono::seconds{3};

  std::uint64_t left_;
  std::uint32_t names_ = 0;
  std::string listens_at_;
  std::optional<RecordedMessages> recorded_;
  WebsocketVenue venue_;
};

}  // namespace

extern const FeedRow websocket_feed;
const FeedRow websocket_feed{
    .name = "ws",
    .about = "a crypto venue's websocket",
    .venue = "websocket and HTTP",
    .describe = describe,
    .books = books_of,
    .live = [](const RunningFeedParts& parts) -> std::unique_ptr<RunningFeed> {
      return std::make_unique<LiveWebsocket>(parts);
    },
    .replay = [](const FeedDescription& description, FeedBooks& books) -> std::unique_ptr<ReplayedFeed> {
      return std::make_unique<ReplayedHandler<WebsocketHandler>>(description.websocket(), books);
    },
    .publish = [](const PublishOptions& options) -> std::unique_ptr<Publishing> {
      return std::make_unique<PublishWebsocket>(options);
    },
};

}  // namespace nfx::app::market
