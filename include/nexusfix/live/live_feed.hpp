// A feed that receives: its sockets, its handler, and optionally a recording of every input. One thread calls
// LiveFeed::poll() as often as it can, or lets it wait. A handler is a function of its inputs, which come from sockets
// or from a recording. A live feed records each input before its handler takes it. A replay gives the same inputs to
// the same code, so events, books and states are equal by construction. Time comes from the inputs alone; between
// packets the timers run at inputs of kind clock, which are recorded too.
// Thread: one owner. Cost: a poll is a clock read, one recvmmsg per UDP line, one poll of the transport if the feed has
// connections, and a copy per input while recording. Only a new connection allocates. Lifetime: an input is valid until
// the handler returns. Errors: the constructor of FeedSockets throws UdpError or TlsError; afterwards a connection that
// cannot be opened is an input `closed`. Bounds: one connection per line; FeedSocketsOptions::unsent.
//
// Outdated: if a thread cannot follow its feed, its books are complete but not current. The time of the newest event in
// the books is compared with the clock. A lag of more than `lag_max` is outdated, until it is less than half of it. The
// clocks of host and venue have to agree to that precision. An outdated feed has the state() stale.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nexusfix/base/call_hook.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/recording/recording.hpp"
#include "nexusfix/transport/socket_options.hpp"
#include "nexusfix/transport/udp.hpp"

namespace nfx::market {

enum class InputKind : std::uint8_t {
  clock,     // nothing but time: what is due runs
  datagram,  // of a UDP line
  opened,    // a connection of this line is open. The bytes are random, for its handshake
  received,  // the next bytes of a connection
  closed,    // it has ended, or could not be opened
};

struct FeedInput {
  InputKind kind = InputKind::clock;
  StampSource stamp = StampSource::none;
  std::uint16_t line = 0;
  std::uint32_t connection = 0;  // each connection of a line has the next number
  UtcTime at{};
  std::string_view bytes{};  // dead when the handler returns
};

// Timers compare times that never go back, whatever the clocks of lines and hosts do.
class FeedClock {
 public:
  [[nodiscard]] Instant at(UtcTime time) noexcept {
    last_ = std::max(last_, of(time));
    return {time, last_};
  }
  [[nodiscard]] static MonotonicTime of(UtcTime time) noexcept { return MonotonicTime{time.time_since_epoch()}; }

 private:
  MonotonicTime last_{};
};

// Where a handler sends. It does not call back.
class FeedPorts {
 public:
  virtual ~FeedPorts() = default;
  // An input opened or closed follows.
  virtual void connect(std::uint16_t line) noexcept = 0;
  // A datagram, or bytes of the line's connection. False: there was no space, or no connection; nothing is sent of it.
  virtual bool send(std::uint16_t line, std::string_view bytes) noexcept = 0;
  // No further input of this connection comes.
  virtual void close(std::uint16_t line) noexcept = 0;
  // For the masks of websocket frames.
  virtual void random(std::span<std::uint8_t> out) noexcept = 0;
};

// Sends nothing, as in a replay.
class NoPorts : public FeedPorts {
 public:
  void connect(std::uint16_t) noexcept override {}
  bool send(std::uint16_t, std::string_view) noexcept override { return true; }
  void close(std::uint16_t) noexcept override {}
  void random(std::span<std::uint8_t> out) noexcept override { std::ranges::fill(out, std::uint8_t{0}); }
};

//   take     one input; a handler first runs what is due at its time
//   due_at   when a clock input is wanted, if no other one comes before
//   state    of all instruments together: live only if each book equals the venue's
template <class H>
concept FeedHandler = requires(H& handler, const H& constant, const FeedInput& input) {
  handler.take(input);
  { constant.due_at() } -> std::same_as<MonotonicTime>;
  { constant.state() } -> std::same_as<FeedState>;
};

// The handler of a feed and its kind of books, by the type of the handler's options: one row beside each handler.
//   template <class Output> using Handler   a FeedHandler, made of the options, an Output with event(), and FeedPorts
//   Books                                   OrderBooks or LevelBooks
//   orders_unique                           see BookLimits
template <class Options>
struct FeedOf;

// A line of recordings that no handler has: what live/session_trader.hpp adds for its own replay.
inline constexpr std::uint16_t session_line = 0xFFFE;

// The input that this record was; empty for others, such as a line's name.
[[nodiscard]] constexpr std::optional<FeedInput> input_of(const RecordedPacket& packet) noexcept {
  if (packet.from.line == session_line) return std::nullopt;
  const auto made = [&](InputKind kind) {
    return FeedInput{kind, packet.from.stamp, packet.from.line, packet.from.connection, packet.from.at, packet.bytes};
  };
  switch (packet.kind) {
    case RecordingKind::datagram: return made(InputKind::datagram);
    case RecordingKind::stream: return made(InputKind::received);
    case RecordingKind::clock: return made(InputKind::clock);
    case RecordingKind::opened: return made(InputKind::opened);
    case RecordingKind::closed: return made(InputKind::closed);
    case RecordingKind::cut_datagram:
    case RecordingKind::line:
    case RecordingKind::dropped:
    case RecordingKind::kernel_dropped: break;
  }
  return std::nullopt;
}

// False: dropped, and counted by the recorder.
inline bool record(Recorder& recorder, const FeedInput& input) noexcept {
  const ReceivedFrom from{input.at, input.stamp, input.line, input.connection};
  switch (input.kind) {
    case InputKind::clock: return recorder.mark(RecordingKind::clock, from);
    case InputKind::datagram: return recorder.datagram(from, input.bytes);
    case InputKind::opened: return recorder.mark(RecordingKind::opened, from, input.bytes);
    case InputKind::received: return recorder.stream(from, input.bytes);
    case InputKind::closed: return recorder.mark(RecordingKind::closed, from);
  }
  return false;
}

// A UDP line that is only received from; or one whose datagrams go to a server, and whose answers come back.
struct FeedUdpLine {
  std::uint16_t line = 0;  // as the handler knows it
  UdpLineOptions udp;
  std::optional<UdpAddress> server = {};
};
struct FeedTcpLine {
  std::uint16_t line = 0;
  Endpoint server;
  SocketOptions socket = stamped();  // tls: encrypted

  [[nodiscard]] static SocketOptions stamped() {
    SocketOptions options;
    options.timestamps = true;
    return options;
  }
};

// Lines that are not here exist for no handler: what it sends there is dropped, and no connection opens.
struct FeedSocketsOptions {
  std::vector<FeedUdpLine> udp;
  std::vector<FeedTcpLine> tcp;
  UdpReceiverOptions receive;
  std::size_t tcp_receive_bytes = 256 * 1024;  // at most of one read
  std::size_t unsent = 64 * 1024;
};

struct FeedSocketCounters {
  std::uint64_t connects = 0;
  std::uint64_t opened = 0;
  std::uint64_t closed = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t refused_sends = 0;

  friend bool operator==(const FeedSocketCounters&, const FeedSocketCounters&) = default;
};

// UDP lines, and TCP connections, plain or with TLS, as the inputs of a feed's handler. At most `unsent` bytes wait for
// a peer; beyond that send() fails.
class FeedSockets final : public FeedPorts {
 public:
  explicit FeedSockets(const FeedSocketsOptions& options);
  ~FeedSockets() override;
  FeedSockets(const FeedSockets&) = delete;
  FeedSockets& operator=(const FeedSockets&) = delete;

  // Gives what has arrived to sink(const FeedInput&); waits up to `longest` when nothing has. Returns the inputs.
  template <class Sink>
  std::size_t poll(Sink&& sink, Duration longest) {
    trace_call();
    std::size_t count = 0;
    if (udp_) count += udp_->poll([&](const UdpDatagram& datagram) { take(datagram, sink); });
    if (!options_.tcp.empty()) {
      const auto give = [](void* to, const FeedInput& input) {
        (*static_cast<std::remove_reference_t<Sink>*>(to))(input);
      };
      count += poll_tcp({std::addressof(sink), give}, count != 0 || udp_ ? Duration::zero() : longest);
    }
    if (count == 0 && udp_ && longest > Duration::zero()) wait_for_udp(longest);
    return count;
  }

  void connect(std::uint16_t line) noexcept override;
  bool send(std::uint16_t line, std::string_view bytes) noexcept override;
  void close(std::uint16_t line) noexcept override;
  void random(std::span<std::uint8_t> out) noexcept override;

  // Null: the feed has no UDP line. Its lines are in the order of FeedSocketsOptions::udp.
  [[nodiscard]] UdpReceiver* udp() noexcept { return udp_ ? &*udp_ : nullptr; }
  [[nodiscard]] std::uint16_t line_of(std::uint16_t udp_line) const noexcept { return udp_lines_[udp_line].line; }
  // Readable when a connection has something: for a program that sleeps in another loop. Not for one that busy-polls.
  [[nodiscard]] int descriptor() noexcept;
  // The descriptors of connections and UDP lines, for Engine::wake_when_readable.
  [[nodiscard]] std::vector<int> descriptors() noexcept;
  [[nodiscard]] const FeedSocketCounters& counters() const noexcept { return counters_; }
  // Why the last connection could not be opened or ended, in a sentence.
  [[nodiscard]] const std::string& last_failure() const noexcept { return failure_; }

 private:
  struct UdpLineState {
    std::uint16_t line = 0;
    std::optional<UdpDestination> server;
  };
  struct Connections;  // transports, and the lines that use them
  // Where the inputs of connections go.
  struct SinkRef {
    void* to;
    void (*give)(void* to, const FeedInput& input);
  };

  template <class Sink>
  void take(const UdpDatagram& datagram, Sink& sink) {
    if (datagram.truncated) return;  // counted by the receiver
    sink(FeedInput{InputKind::datagram, datagram.stamp, udp_lines_[datagram.line].line, 0, datagram.received,
                   datagram.bytes});
  }

  std::size_t poll_tcp(SinkRef sink, Duration longest);
  void wait_for_udp(Duration longest) noexcept;

  FeedSocketsOptions options_;
  std::optional<UdpReceiver> udp_;
  std::vector<UdpLineState> udp_lines_;
  std::unique_ptr<Connections> connections_;
  FeedSocketCounters counters_;
  std::string failure_;
  std::array<std::uint8_t, 1024> random_{};
  std::size_t random_left_ = 0;
};

struct LiveCounters {
  std::uint64_t inputs = 0;
  std::uint64_t clock_inputs = 0;
  std::uint64_t became_outdated = 0;
  std::uint64_t became_live = 0;
  std::uint64_t stopped_live = 0;

  friend bool operator==(const LiveCounters&, const LiveCounters&) = default;
};

struct LiveFeedOptions {
  Duration lag_max = std::chrono::seconds{1};  // 0: never outdated
  Duration wait_max = std::chrono::milliseconds{100};
  bool record_polls = false;  // the time of each poll that found something, on session_line
};

// Whether a feed's newest event is too old, and the changes of its state.
class FeedLag {
 public:
  explicit FeedLag(Duration most) noexcept : most_(most) {}

  // After inputs were taken. Inputs without an event, such as heartbeats without trading, change nothing.
  void update(const NewestEvent& newest, UtcTime now, LiveCounters& counters) noexcept {
    if (newest.count == seen_) return;
    seen_ = newest.count;
    lag_ = now - newest.time;
    if (most_ == Duration::zero()) return;
    const bool outdated = lag_ > (outdated_ ? most_ / 2 : most_);
    if (outdated && !outdated_) ++counters.became_outdated;
    outdated_ = outdated;
  }
  [[nodiscard]] bool outdated() const noexcept { return outdated_; }
  [[nodiscard]] Duration lag() const noexcept { return lag_; }

 private:
  Duration most_;
  Duration lag_{};
  std::uint64_t seen_ = 0;
  bool outdated_ = false;
};

template <FeedHandler Handler>
class LiveFeed {
 public:
  // All outlive this. `newest`: of the books that the handler fills. `recorder` may be null.
  LiveFeed(const LiveFeedOptions& options, FeedSockets& sockets, Handler& handler, const NewestEvent& newest,
           Recorder* recorder)
      : options_(options),
        sockets_(sockets),
        handler_(handler),
        newest_(newest),
        recorder_(recorder),
        lag_(options.lag_max) {}

  // Takes what has arrived; waits for it up to `longest` if there is nothing. Returns how many inputs there were.
  std::size_t poll(UtcTime now, Duration longest = Duration::zero()) {
    trace_call();
    polled_ = now;
    if (FeedClock::of(now) >= handler_.due_at()) [[unlikely]] {
      ++counters_.clock_inputs;
      give({.kind = InputKind::clock, .stamp = StampSource::program, .at = now});
    }
    if (longest > Duration::zero()) longest = shortened(longest, now);
    const std::size_t count = sockets_.poll([this](const FeedInput& input) { give(input); }, longest);
    if (count != 0) lag_.update(newest_, now, counters_);
    const bool live = state() == FeedState::live;
    if (live != live_) [[unlikely]] {
      ++(live ? counters_.became_live : counters_.stopped_live);
      live_ = live;
    }
    return count;
  }

  // Whether the books are current and complete.
  [[nodiscard]] FeedState state() const noexcept {
    const FeedState state = handler_.state();
    return state == FeedState::live && lag_.outdated() ? FeedState::stale : state;
  }
  [[nodiscard]] bool outdated() const noexcept { return lag_.outdated(); }
  [[nodiscard]] const FeedLag& lag() const noexcept { return lag_; }
  [[nodiscard]] const LiveCounters& counters() const noexcept { return counters_; }
  // How long the thread may sleep unless something comes.
  [[nodiscard]] Duration shortened(Duration longest, UtcTime now) const noexcept {
    const Duration due = std::max(handler_.due_at(), MonotonicTime{}) - FeedClock::of(now);
    return std::clamp(due, Duration::zero(), std::min(longest, options_.wait_max));
  }

 private:
  void give(const FeedInput& input) {
    ++counters_.inputs;
    if (recorder_ != nullptr) [[unlikely]] {
      if (options_.record_polls && polled_ != recorded_poll_)
        recorder_->mark(RecordingKind::clock, {recorded_poll_ = polled_, StampSource::program, session_line});
      record(*recorder_, input);
    }
    handler_.take(input);
  }

  LiveFeedOptions options_;
  FeedSockets& sockets_;
  Handler& handler_;
  const NewestEvent& newest_;
  Recorder* recorder_;
  FeedLag lag_;
  LiveCounters counters_;
  UtcTime polled_{};
  UtcTime recorded_poll_{};
  bool live_ = false;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::FeedSocketCounters> = std::to_array<CounterRow<market::FeedSocketCounters>>({
    {&market::FeedSocketCounters::connects, "nfx_feed_connects_total", "Connections that were begun."},
    {&market::FeedSocketCounters::opened, "nfx_feed_connections_opened_total", "Connections that were opened."},
    {&market::FeedSocketCounters::closed, "nfx_feed_connections_closed_total",
     "Connections that ended, or could not be opened."},
    {&market::FeedSocketCounters::received_bytes, "nfx_feed_tcp_bytes_total", "Bytes received by connections."},
    {&market::FeedSocketCounters::refused_sends, "nfx_feed_sends_refused_total",
     "Requests that were not sent: no connection, or no space."},
});
static_assert(rows_are_complete<market::FeedSocketCounters>());

template <>
inline constexpr auto counter_rows<market::LiveCounters> = std::to_array<CounterRow<market::LiveCounters>>({
    {&market::LiveCounters::inputs, "nfx_feed_inputs_total",
     "Packets, pieces of streams, connections and clock readings that the feed took."},
    {&market::LiveCounters::clock_inputs, "nfx_feed_clock_inputs_total", "Times that timers ran between packets."},
    {&market::LiveCounters::became_outdated, "nfx_feed_outdated_total",
     "Times that the newest event was older than the limit: the thread did not follow."},
    {&market::LiveCounters::became_live, "nfx_feed_live_total", "Times that all books became live."},
    {&market::LiveCounters::stopped_live, "nfx_feed_not_live_total", "Times that a book stopped being live."},
});
static_assert(rows_are_complete<market::LiveCounters>());

}  // namespace nfx
