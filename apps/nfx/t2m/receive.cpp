// The poll loops of a run, and what each feed stamps.
#include "t2m/receive.hpp"

#include <poll.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "market/feed_description.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/live_feed.hpp"

namespace nfx::app::t2m {
namespace {

using namespace std::chrono_literals;
using namespace nfx::market;

constexpr Duration longest_wait = 10ms;
constexpr Duration start_delay = 20ms;
constexpr Duration connect_patience = 10s;

class Datagrams final : public Receiver {
 public:
  Datagrams(Reader& reader, UdpReceiver& socket) : reader_(reader), socket_(socket) {}

  bool turn() override {
    reader_.poll_begins();
    const std::span<const UdpDatagram> batch = socket_.receive(0);
    if (batch.empty()) {
      reader_.nothing_came();
      return false;
    }
    reader_.read_returned();
    const Instant now = reader_.at(read_clocks().utc);
    for (const UdpDatagram& datagram : batch) {
      if (reader_.recorder() != nullptr)
        reader_.recorder()->datagram({datagram.received, datagram.stamp, 0}, datagram.bytes);
      reader_.packet(datagram.stamp);
      reader_.path().packet(std::as_bytes(std::span{datagram.bytes}), datagram.received, now);
    }
    reader_.read_done(now);
    reader_.path().tick(now);
    return true;
  }
  void wait(Duration longest) noexcept override { socket_.wait(longest); }
  [[nodiscard]] int descriptor() noexcept override { return socket_.descriptor(0); }
  [[nodiscard]] bool ready() const noexcept override { return true; }

 private:
  Reader& reader_;
  UdpReceiver& socket_;
};

// Book tickers by the sockets and the handler of `nfx market live`.
class Websocket final : public Receiver, private WebsocketTap {
 public:
  Websocket(Reader& reader, const MessageOptions& options, std::uint16_t port)
      : reader_(reader),
        sockets_(sockets_of(port)),
        handler_(handler_options(options, port), reader.path(), sockets_),
        stamped_{*this},
        live_({.lag_max = Duration::zero()}, sockets_, stamped_, reader.path(), reader.recorder()) {}

  bool turn() override {
    now_ = reader_.at(read_clocks().utc);
    reader_.poll_begins();
    read_ = false;
    live_.poll(now_.utc);
    read_ ? reader_.read_done(now_) : reader_.nothing_came();
    return read_;
  }
  void wait(Duration longest) noexcept override {
    pollfd waited{sockets_.descriptor(), POLLIN, 0};
    (void)::poll(&waited, 1, static_cast<int>(longest / 1ms));
  }
  [[nodiscard]] int descriptor() noexcept override { return sockets_.descriptor(); }
  [[nodiscard]] bool ready() const noexcept override { return handler_.counters().opened != 0; }

 private:
  // The handler, with a stamp when it is given what was read.
  struct Stamped {
    Websocket& self;
    void take(const FeedInput& input) { self.take(input); }
    [[nodiscard]] MonotonicTime due_at() const noexcept { return self.handler_.due_at(); }
    [[nodiscard]] FeedState state() const noexcept { return self.handler_.state(); }
  };

  static FeedSocketsOptions sockets_of(std::uint16_t port) {
    FeedSocketsOptions options;
    for (const std::uint16_t line : {WebsocketLines::stream, WebsocketLines::snapshot})
      options.tcp.push_back({.line = line, .server = {"127.0.0.1", port}});
    return options;
  }
  WebsocketFeedOptions handler_options(const MessageOptions& options, std::uint16_t port) {
    const app::market::FeedDescription description{
        .feed = "ws", .scale = 8, .tickers = true, .names = names_of(options.feed, options.names)};
    WebsocketFeedOptions made = description.websocket();
    made.host = made.snapshot_host = "127.0.0.1:" + std::to_string(port);
    made.tap = this;
    return made;
  }

  void take(const FeedInput& input) {
    if (input.kind == InputKind::received) {
      if (!std::exchange(read_, true)) reader_.read_returned();
      reader_.packet(input.stamp);
      reader_.path().input_begins(input.at, now_, handler_.state());
    }
    handler_.take(input);
  }
  void message(std::string_view, UtcTime) override { reader_.path().framed(); }
  void snapshot(std::string_view, std::string_view) override {}

  Reader& reader_;
  FeedSockets sockets_;
  WebsocketHandler handler_;
  Stamped stamped_;
  LiveFeed<Stamped, Reader::Path> live_;
  Instant now_{};
  bool read_ = false;
};

// Reads market data in the poll loop of the session that its orders take.
class Trading final : public Application {
 public:
  Trading(Reader& reader, Receiver& receiver) : reader_(reader), receiver_(receiver) {}
  void on_logon(SessionHandle& session) override {
    logged_on_ = true;
    reader_.session_is(&session, session.now().utc);
  }
  void on_logout(SessionHandle& session, std::string_view) override {
    logged_on_ = false;
    reader_.session_is(nullptr, session.now().utc);
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    (void)reader_.session_message(message, session.now().utc);
    return Handled::done;
  }
  Duration on_turn(Instant) override {
    while (receiver_.turn()) {
    }
    return Duration::max();
  }
  [[nodiscard]] bool ready() const noexcept { return logged_on_ && receiver_.ready(); }

 private:
  Reader& reader_;
  Receiver& receiver_;
  bool logged_on_ = false;
};

// Market data by the session and the handler of `nfx market live`, and orders by the same session.
class FixTrading final : public FixSessionFeed, public Observer {
 public:
  FixTrading(Reader& reader, const RunOptions& options, FixSessionPorts& ports, FixHandler& handler,
             const FeedBooks& no_books)
      : FixSessionFeed({.lag_max = Duration::zero()}, ports, handler, no_books, reader.recorder()),
        reader_(reader),
        handler_(handler),
        orders_(options.orders) {}

  void on_logon(SessionHandle& session) override {
    if (orders_) reader_.session_is(&session, session.now().utc);
    FixSessionFeed::on_logon(session);
  }
  void on_logout(SessionHandle& session, std::string_view reason) override {
    reader_.session_is(nullptr, session.now().utc);
    FixSessionFeed::on_logout(session, reason);
  }
  void on_traffic(SessionHandle&, Direction direction, std::string_view) override {
    if (direction == Direction::in && !std::exchange(read_, true)) reader_.read_returned();
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    if (reader_.session_message(message, session.now().utc)) return Handled::done;
    const auto stamp = session.received_at();
    reader_.packet(stamp ? StampSource::kernel : StampSource::program);
    const Instant now = reader_.at(session.now().utc);
    reader_.path().input_begins(stamp.value_or(now.utc), now, handler_.state());
    reader_.path().framed();
    return FixSessionFeed::on_message(session, message);
  }
  Duration on_turn(Instant now) override {
    std::exchange(read_, false) ? reader_.read_done(now) : reader_.nothing_came();
    const Duration longest = FixSessionFeed::on_turn(now);
    reader_.poll_begins();
    return longest;
  }

 private:
  Reader& reader_;
  const FixHandler& handler_;
  bool orders_;
  bool read_ = false;
};

void begin(Reader& reader, PublisherProcess& publisher) {
  const UtcTime start = read_clocks().utc + start_delay;
  reader.begin(start);
  publisher.begin(start);
}

template <class Turn, class Ready>
void until_ready(Turn&& turn, Ready&& ready, const char* what) {
  const MonotonicTime begin = read_clocks().monotonic;
  while (!ready()) {
    turn();
    if (read_clocks().monotonic - begin > connect_patience) throw std::runtime_error(what);
  }
}

void turn_until_over(Engine& engine, Reader& reader, WaitMode mode) {
  for (std::uint32_t turns = 1;; ++turns) {
    engine.turn(longest_wait);
    if ((mode == WaitMode::block || turns % 4096 == 0) && reader.over(read_clocks().monotonic)) break;
  }
  // From here on the session refuses orders, and no replay would know since when.
  reader.session_is(nullptr, read_clocks().utc);
  engine.stop();
  while (!engine.finished()) engine.turn(longest_wait);
}

EngineConfig initiator(WaitMode mode, std::uint16_t port) {
  EngineConfig config;
  config.idle = mode == WaitMode::spin ? IdleMode::spin : IdleMode::block;
  config.sessions = {demo::demo_session(Role::initiator)};
  config.sessions[0].connect = {{"127.0.0.1", port}};
  return config;
}

}  // namespace

std::unique_ptr<Receiver> make_datagram_receiver(Reader& reader, UdpReceiver& socket) {
  return std::make_unique<Datagrams>(reader, socket);
}

std::unique_ptr<Receiver> make_websocket_receiver(Reader& reader, const MessageOptions& options, std::uint16_t port) {
  return std::make_unique<Websocket>(reader, options, port);
}

void receive_alone(Reader& reader, Receiver& receiver, WaitMode mode, PublisherProcess& publisher) {
  until_ready([&] { receiver.turn(); }, [&] { return receiver.ready(); }, "the publisher does not answer");
  begin(reader, publisher);
  for (std::uint32_t turns = 1;; ++turns) {
    if (receiver.turn()) continue;
    if (mode == WaitMode::block) {
      receiver.wait(longest_wait);
    } else {
      cpu_pause();
    }
    if ((mode == WaitMode::block || turns % 4096 == 0) && reader.over(read_clocks().monotonic)) return;
  }
}

void receive_in_engine(Reader& reader, Receiver& receiver, WaitMode mode, PublisherProcess& publisher,
                       demo::VenueProcess& venue) {
  const auto port = venue.port();
  if (!port) throw std::runtime_error("the venue's process did not start");
  Trading trading{reader, receiver};
  Engine engine{initiator(mode, *port), trading};
  if (mode == WaitMode::block) engine.wake_when_readable(receiver.descriptor());
  until_ready([&] { engine.turn(longest_wait); }, [&] { return trading.ready(); },
              "the venue does not answer the Logon, or the publisher does not answer");
  begin(reader, publisher);
  turn_until_over(engine, reader, mode);
}

void receive_by_fix(Reader& reader, const RunOptions& options, PublisherProcess& publisher) {
  const app::market::FeedDescription description{.feed = "fix",
                                                 .names = names_of(options.messages.feed, options.messages.names)};
  FixSessionPorts ports;
  FixHandler handler{description.fix(), reader.path(), ports};
  // The books are those of the path.
  const FeedBooks no_books{{.limits = {.instruments = 1, .orders = 16, .levels = 16, .orders_expected = 16}}};
  FixTrading trading{reader, options, ports, handler, no_books};
  EngineConfig config = initiator(options.mode, publisher.port());
  make_room_for_snapshots(config);
  config.sessions[0].session.reset_on_logon = true;
  config.sessions[0].socket.timestamps = true;
  Engine engine{config, trading};
  until_ready([&] { engine.turn(longest_wait); }, [&] { return handler.state() == FeedState::live; },
              "the publisher does not answer the Logon, or does not send its books");
  begin(reader, publisher);
  turn_until_over(engine, reader, options.mode);
}

}  // namespace nfx::app::t2m
