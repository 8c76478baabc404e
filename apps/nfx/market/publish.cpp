// nfx market publish: a venue on this host, to try a live feed with: NASDAQ ITCH, a crypto venue, or the
// demonstration's venue by FIX.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/clocks.hpp"
#include "command.hpp"
#include "market/feed_replay.hpp"
#include "market/fix_venue.hpp"
#include "market/itch_generator.hpp"
#include "market/market.hpp"
#include "market/recorded_messages.hpp"
#include "market/stop_flag.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "publish/itch_publisher.hpp"
#include "publish/websocket_venue.hpp"
#include "transport/tls_context.hpp"

namespace nfx::app::market {
namespace {

using namespace nfx::market;

struct PublishOptions {
  std::string feed;
  std::vector<std::string> lines;
  std::string rerequest = "127.0.0.1:0";
  std::string snapshot = "127.0.0.1:0";
  std::string listen = "127.0.0.1:0";
  std::string recording;
  std::string ring_directory = "/dev/shm";
  std::string certificate;
  std::string key;
  std::uint64_t messages = 100'000;
  std::uint32_t names = 4;
  std::uint64_t seed = 1;
  double rate = 10'000;
  std::uint32_t wait_for = 1;
  std::uint32_t lost = 0;
  std::uint32_t duplicated = 0;
  std::uint32_t reordered = 0;
};

// One kind of venue, which publishes a message per call.
class Publishing {
 public:
  virtual ~Publishing() = default;
  // False: there is nothing more.
  virtual bool publish(Instant now) = 0;
  virtual void flush(Instant) {}
  // Answers requests; waits for it up to `longest`.
  virtual void serve(Instant now, Duration longest) = 0;
  [[nodiscard]] virtual bool ready(std::uint32_t subscribers) const = 0;
  virtual void end(Instant now) = 0;
  [[nodiscard]] virtual std::uint64_t hash() const = 0;
  [[nodiscard]] virtual SafeText start_text() const = 0;
  virtual void print_end(SafeText& out) const = 0;
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
  // What waits for a subscriber that does not read is given up.
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

std::unique_ptr<Publishing> make_venue(const PublishOptions& options) {
  try {
    if (options.feed == "itch") return std::make_unique<PublishItch>(options);
    if (options.feed == "ws") return std::make_unique<PublishWebsocket>(options);
    return std::make_unique<PublishFix>(options);
  } catch (const UdpError& error) {
    throw ConfigError(error.what());
  } catch (const TlsError& error) {
    throw ConfigError(error.what());
  }
}

// At the rate, from when enough have subscribed. A message is published when it is due, or later, and its time is that
// at which it was due.
void publish_all(const PublishOptions& options, Publishing& venue, const StopFlag& stop) {
  constexpr Duration longest = std::chrono::milliseconds{10};
  while (!stop.wanted() && !venue.ready(options.wait_for)) venue.serve(read_clocks(), longest);
  const Instant begin = read_clocks();
  for (std::uint64_t done = 0; !stop.wanted();) {
    const Instant now = read_clocks();
    const double elapsed = std::chrono::duration<double>(now.monotonic - begin.monotonic).count();
    const auto due = static_cast<std::uint64_t>(elapsed * options.rate) + 1;
    for (int burst = 0; done < due && burst < 64; ++burst, ++done) {
      const Duration since{static_cast<Duration::rep>(static_cast<double>(done) * 1e9 / options.rate)};
      if (!venue.publish({begin.utc + since, now.monotonic})) return venue.flush(now);
    }
    venue.flush(now);
    venue.serve(now, done < due ? Duration::zero() : std::chrono::microseconds{100});
  }
}

int run(const PublishOptions& options) {
  const std::unique_ptr<Publishing> venue = make_venue(options);
  const StopFlag stop;
  print(venue->start_text());
  publish_all(options, *venue, stop);
  print("published; books {}\n", hexadecimal(venue->hash()));
  if (options.feed == "itch") venue->end(read_clocks());
  while (!stop.wanted()) venue->serve(read_clocks(), std::chrono::milliseconds{10});
  venue->end(read_clocks());
  SafeText out;
  venue->print_end(out);
  print(out);
  return exit_done;
}

}  // namespace

cli::Command publish_command() {
  static PublishOptions options;
  return {
      .name = "publish",
      .summary = "A venue on this host that publishes generated market data, to try live feeds with",
      .run = [] { return run(options); },
      .options =
          {{.names = "--feed",
            .target = &options.feed,
            .help = "itch: two UDP lines, and servers of missed messages and snapshots; ws: websocket and HTTP; "
                    "fix: the demonstration's venue, which takes orders too",
            .required = true,
            .one_of = {"itch", "ws", "fix"}},
           {.names = "--line",
            .target = &options.lines,
            .help = "itch: where a line is sent to; given for A and for B",
            .value = "[NAME=]ADDRESS"},
           {.names = "--rerequest", .target = &options.rerequest, .help = "itch: where requests are received"},
           {.names = "--snapshot", .target = &options.snapshot, .help = "itch: where snapshots are served"},
           {.names = "--listen", .target = &options.listen, .help = "ws, fix: where to listen"},
           {.names = "--recording",
            .target = &options.recording,
            .help = "ws: publish the messages and snapshots that 'nfx market live' recorded in this folder",
            .kind = cli::Kind::existing_folder},
           {.names = "--ring-directory",
            .target = &options.ring_directory,
            .help = "Where the recorder had its shared memory",
            .kind = cli::Kind::folder},
           {.names = "--certificate",
            .target = &options.certificate,
            .help = "ws: PEM, for wss",
            .kind = cli::Kind::existing_file,
            .needs = {"--key"}},
           {.names = "--key", .target = &options.key, .help = "ws: its key, PEM", .kind = cli::Kind::existing_file},
           {.names = "--messages", .target = &options.messages, .help = "How many are published"},
           {.names = "--names",
            .target = &options.names,
            .help = "itch, ws: instruments",
            .range = cli::Range{1, 65000}},
           {.names = "--rate", .target = &options.rate, .help = "Messages a second", .range = cli::Range{0.1, 1e8}},
           {.names = "--wait-for", .target = &options.wait_for, .help = "ws, fix: begin when so many have subscribed"},
           {.names = "--lost",
            .target = &options.lost,
            .help = "Of 10,000 packets of a line, or messages: not sent, on purpose",
            .range = cli::Range{0, 10'000}},
           {.names = "--duplicated",
            .target = &options.duplicated,
            .help = "itch: of 10,000 packets of a line: sent twice",
            .range = cli::Range{0, 10'000}},
           {.names = "--reordered",
            .target = &options.reordered,
            .help = "itch: of 10,000 packets of a line: sent after the next one",
            .range = cli::Range{0, 10'000}},
           {.names = "--seed", .target = &options.seed, .help = "Chooses the messages and the faults"}},
      .details =
          R"(When everything is published, prints the hash of its books, which a subscriber's are equal to, and serves on until Ctrl-C or SIGTERM, which ends the sessions in order.)",
      .exit_codes = "0 done, 1 failed, 2 wrong usage, or an address that cannot be used",
      .examples = {{.line = "nfx market publish --feed ws --listen 127.0.0.1:9443 --rate 1000"},
                   {.line = "nfx market publish --feed itch --line A=239.1.1.1:5000@lo --line B=239.1.2.1:5000@lo "
                            "--rerequest 127.0.0.1:6000 --snapshot 127.0.0.1:7000 --lost 100",
                    .about = "1% of each line's packets are lost"},
                   {.line = "nfx market publish --feed fix --listen 127.0.0.1:9880"}},
  };
}

}  // namespace nfx::app::market
