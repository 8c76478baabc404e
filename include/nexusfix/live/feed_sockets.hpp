// The sockets of a live feed: UDP lines, and TCP connections, plain or with TLS, as the inputs of a feed's handler.
// Thread: one owner, which polls. Cost: a poll is one recvmmsg per UDP line and, where the feed has connections, one
// poll of the transport; no allocation but for a connection that begins. Lifetime: an input is dead when the sink
// returns. Errors: the constructor throws UdpError or TlsError, and ConfigError is the caller's; afterwards a
// connection that cannot be opened is an input `closed`, and last_failure() has the reason. Bounds: one connection per
// line; what waits for a peer is bounded by `unsent`, beyond which send() refuses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/live/feed_input.hpp"
#include "nexusfix/transport/socket_options.hpp"
#include "nexusfix/transport/transport.hpp"
#include "nexusfix/transport/udp.hpp"

namespace nfx::market {

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

class FeedSockets final : public FeedPorts {
 public:
  explicit FeedSockets(const FeedSocketsOptions& options);
  ~FeedSockets() override;
  FeedSockets(const FeedSockets&) = delete;
  FeedSockets& operator=(const FeedSockets&) = delete;

  // Gives what has arrived to sink(const FeedInput&); waits up to `longest` when nothing has. Returns the inputs.
  template <class Sink>
  std::size_t poll(Sink&& sink, Duration longest) {
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

}  // namespace nfx
