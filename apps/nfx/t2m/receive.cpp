// The poll loops of a run, and what each feed stamps.
#include "t2m/receive.hpp"

#include <poll.h>

#include <chrono>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/live/session_trader.hpp"
#include "t2m/feeds.hpp"

namespace nfx::app::t2m {
namespace {

using namespace std::chrono_literals;
using namespace nfx::market;

constexpr Duration longest_wait = 10ms;
constexpr Duration start_delay = 20ms;
constexpr Duration connect_patience = 10s;

template <class Turn, class Ready>
void until_ready(Turn&& turn, Ready&& ready, const char* what) {
  const MonotonicTime begin = read_clocks().monotonic;
  while (!ready()) {
    turn();
    if (read_clocks().monotonic - begin > connect_patience) throw std::runtime_error(what);
  }
}

// A frame of a websocket is a message.
struct FrameTap final : WebsocketTap {
  explicit FrameTap(Measurement& to) : measurement(to) {}
  void message(std::string_view, UtcTime) override { measurement.framed(); }
  void snapshot(std::string_view, std::string_view) override {}
  Measurement& measurement;
};

// By FIX the engine reads: its poll until the first message of it is framed.
struct ReadTap final : Observer {
  explicit ReadTap(Measurement& to) : measurement(to) {}
  void on_traffic(SessionHandle&, Direction direction, std::string_view) override {
    if (direction == Direction::in) measurement.read_returned();
  }
  Measurement& measurement;
};

template <class Feed>
class TradingReceiver final : public Receiver {
  using T = RunTrader<Feed, FixSessionVenue, Measurement>;
  static constexpr bool by_session = std::is_same_v<Feed, FixHandlerOptions>;
  static constexpr bool by_websocket = std::is_same_v<Feed, WebsocketFeedOptions>;

 public:
  TradingReceiver(const ReceiverParts& parts, Feed feed)
      : options_(parts.options),
        sockets_(parts.sockets),
        recorder_(parts.recorder),
        trader_(tapped(std::move(feed)), trader_options(parts.options.messages.feed, parts.options.messages.names),
                FixSessionVenue{{.symbol = std::string{demo::symbols[0]}}},
                Measurement{parts.options.messages.feed, parts.messages}, SlowModel{parts.options.slow_model_every},
                quotes(parts.options.messages.feed)) {}

  void receive(PublisherProcess& publisher, demo::VenueProcess* venue) override {
    if constexpr (by_session) {
      SessionTrader application{trader_, recorder_, session_options()};
      EngineConfig config = initiator(publisher.port());
      make_room_for_snapshots(config);
      config.sessions[0].session.reset_on_logon = true;
      config.sessions[0].socket.timestamps = true;
      return receive_in_engine(application, config, publisher);
    } else if (venue != nullptr) {
      const auto port = venue->port();
      if (!port) throw std::runtime_error("the venue's process did not start");
      SessionTrader application{trader_, sockets_, recorder_, session_options()};
      return receive_in_engine(application, initiator(*port), publisher);
    } else {
      LiveFeed<T> live{{.lag_max = Duration::zero()}, sockets_, trader_, trader_.newest(), recorder_};
      trader_.use(sockets_);
      const auto turn = [&] {
        const Instant now = read_clocks();
        trader_.set_now(now);
        measurement().poll_begins();
        const std::size_t count = live.poll(now.utc);
        measurement().poll_ends(now);
        return count != 0;
      };
      until_ready(turn, [this] { return ready(); }, "the publisher does not answer");
      begin(measurement(), publisher);
      pollfd waited{sockets_.udp() != nullptr ? sockets_.udp()->descriptor(0) : sockets_.descriptor(), POLLIN, 0};
      receive_alone(measurement(), options_.mode, turn,
                    [&](Duration longest) { (void)::poll(&waited, 1, static_cast<int>(longest / 1ms)); });
    }
  }
  [[nodiscard]] Measurement& measurement() noexcept override { return trader_.observer(); }
  void add_to(RunResult& result) const override {
    result.anomalies = trader_.books().anomalies();
    result.book_hash = trader_.book_hash();
    result.orders = trader_.pipeline().gate().counters();
    result.order_hash = hash_of(trader_.sent());
  }

 private:
  Feed tapped(Feed feed) {
    if constexpr (by_websocket) feed.tap = &frames_;
    return feed;
  }
  [[nodiscard]] SessionTraderOptions session_options() const {
    return {.feed = {.lag_max = Duration::zero()}, .orders = options_.orders};
  }
  // It is connected and has subscribed.
  [[nodiscard]] bool ready() {
    if constexpr (by_session) return trader_.state() == FeedState::live;
    if constexpr (by_websocket) return trader_.handler().counters().opened != 0;
    return true;
  }
  EngineConfig initiator(std::uint16_t port) const {
    EngineConfig config;
    config.idle = options_.mode == WaitMode::spin ? IdleMode::spin : IdleMode::block;
    config.sessions = {demo::demo_session(Role::initiator)};
    config.sessions[0].connect = {{"127.0.0.1", port}};
    return config;
  }
  void receive_in_engine(SessionTrader<T>& application, const EngineConfig& config, PublisherProcess& publisher) {
    Callbacks callbacks{application};
    ReadTap reads{measurement()};
    if (by_session) callbacks.observers.push_back(&reads);
    Engine engine{config, callbacks};
    if (!by_session && options_.mode == WaitMode::block) {
      for (const int each : sockets_.descriptors()) engine.wake_when_readable(each);
    }
    until_ready([&] { engine.turn(longest_wait); },
                [&] { return ready() && (by_session || trader_.venue().session() != nullptr); },
                "the venue does not answer the Logon, or the publisher does not answer");
    begin(measurement(), publisher);
    for (std::uint32_t turns = 1;; ++turns) {
      engine.turn(longest_wait);
      const bool look = options_.mode == WaitMode::block || turns % 4096 == 0;
      if (look && measurement().over(read_clocks().monotonic)) break;
    }
    application.no_more_orders(read_clocks().utc);
    engine.stop();
    while (!engine.finished()) engine.turn(longest_wait);
  }

  const RunOptions& options_;
  FeedSockets& sockets_;
  Recorder* recorder_;
  T trader_;
  FrameTap frames_{trader_.observer()};  // whose address the handler has
};

}  // namespace

void begin(Measurement& measurement, PublisherProcess& publisher) {
  UtcTime start = read_clocks().utc + start_delay;
  start -= start.time_since_epoch() % 2;  // an even number of nanoseconds, as each message is due after it
  measurement.begin(start);
  publisher.begin(start);
}

std::unique_ptr<Receiver> make_receiver(const ReceiverParts& parts) {
  const MessageOptions& of = parts.options.messages;
  return with_feed(of.feed, of.names, parts.messages.midnight(), [&](auto feed) -> std::unique_ptr<Receiver> {
    return std::make_unique<TradingReceiver<decltype(feed)>>(parts, std::move(feed));
  });
}

}  // namespace nfx::app::t2m
