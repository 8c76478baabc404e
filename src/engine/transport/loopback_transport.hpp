// A transport without a network: connections between ends in one thread, for tests, simulation and replay.
// Thread: one for the network and all its ends. Cost: one bounded ring per direction, allocated by connect. poll never
// waits, because only its own thread could make something happen; wanted_wait() returns how long the last poll would
// have waited, for a test that moves the clock. Order: fully determined by the calls; listeners first, then connections
// by slot. A listener sees SocketOptions::from of the connect as the peer's address, or "loopback". Lifetime: the
// network outlives its ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "transport/transport.hpp"

namespace nfx {

struct LoopbackOptions {
  std::size_t stream_buffer = 64 * 1024;  // bytes in transit in one direction; beyond that, try_send sends less
  std::size_t receive_limit = 64 * 1024;  // the limit of one on_receive
  std::size_t max_connections = 256;      // per end
  std::size_t listen_backlog = 128;       // pending connects per listener; more are refused
};

class LoopbackTransport;

// Connects the ends. A listener is identified by its port alone, because this network has one host.
class LoopbackNetwork {
 public:
  LoopbackNetwork() = default;
  LoopbackNetwork(const LoopbackNetwork&) = delete;
  LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;

 private:
  friend class LoopbackTransport;
  struct Place {
    LoopbackTransport* transport;
    ListenerId listener;
  };
  std::map<std::uint16_t, Place> listeners_;
  std::uint16_t next_port_ = 49152;
};

namespace detail {

// One direction of a connection: a ring of bytes and the state of both sides.
class LoopbackStream {
 public:
  explicit LoopbackStream(std::size_t capacity) : ring_(capacity) {}

  [[nodiscard]] std::size_t write(std::span<const char> bytes) noexcept;
  [[nodiscard]] std::span<const char> front(std::size_t limit) const noexcept;  // in one piece
  void consume(std::size_t count) noexcept;
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == ring_.size(); }

  bool ended = false;      // the writer closed
  bool abandoned = false;  // the reader closed

 private:
  std::vector<char> ring_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
};

struct LoopbackLink {
  explicit LoopbackLink(std::size_t capacity) : streams{LoopbackStream(capacity), LoopbackStream(capacity)} {}
  LoopbackStream streams[2];  // [side] is written by that side; the connecting side is 0
  bool reset = false;         // the listener closed before it accepted
  std::string from;           // the connecting side's address, as the listener sees it
};

}  // namespace detail

class LoopbackTransport {
 public:
  // Throws std::invalid_argument for an option that is 0.
  explicit LoopbackTransport(LoopbackNetwork& network, LoopbackOptions options = {});
  ~LoopbackTransport();
  LoopbackTransport(const LoopbackTransport&) = delete;
  LoopbackTransport& operator=(const LoopbackTransport&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {});
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const;
  void close_listener(ListenerId id) noexcept;
  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options = {});
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept;
  void close(ConnectionId id) noexcept;
  void hold(ConnectionId id, bool held) noexcept;
  [[nodiscard]] std::size_t lingering() const noexcept { return 0; }  // the ring keeps sent bytes
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept { return std::nullopt; }
  void wake() noexcept {}  // no poll ever waits
  [[nodiscard]] Duration wanted_wait() const noexcept { return wanted_wait_; }

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    wanted_wait_ = max_wait;
    std::size_t handled = 0;
    for (std::size_t i = 0; i < listeners_.size(); ++i) handled += accept_from(sink, i);
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (connections_[i].state != State::free) handled += serve(sink, connections_[i]);
    }
    return handled;
  }

 private:
  enum class State : std::uint8_t { free, connecting, open };

  struct Connection {
    State state = State::free;
    bool wants_write = false;
    bool held = false;
    std::uint32_t generation = 0;
    std::size_t side = 0;
    std::shared_ptr<detail::LoopbackLink> link;  // null while connecting to a port without a listener

    [[nodiscard]] detail::LoopbackStream& in() const noexcept { return link->streams[1 - side]; }
    [[nodiscard]] detail::LoopbackStream& out() const noexcept { return link->streams[side]; }
  };

  struct Listener {
    bool active = false;
    std::uint32_t generation = 0;
    Endpoint endpoint;
    std::deque<std::shared_ptr<detail::LoopbackLink>> backlog;
  };

  template <TransportSink Sink>
  std::size_t accept_from(Sink& sink, std::size_t index) {
    std::size_t handled = 0;
    const auto id = detail::make_id<ListenerId>(static_cast<std::uint32_t>(index), listeners_[index].generation);
    // Looks the listener up again each time: a callback may close it or add others.
    while (listeners_[index].active && id_of(listeners_[index]) == id && !listeners_[index].backlog.empty()) {
      Connection* connection = take_slot();
      if (connection == nullptr) break;
      connection->state = State::open;
      connection->side = 1;
      connection->link = std::move(listeners_[index].backlog.front());
      listeners_[index].backlog.pop_front();
      const std::string from = connection->link->from;  // the callback may close the connection
      sink.on_accept(id, id_of(*connection), std::string_view(from));
      ++handled;
    }
    return handled;
  }

  template <TransportSink Sink>
  std::size_t serve(Sink& sink, Connection& connection) {
    const ConnectionId id = id_of(connection);
    const std::shared_ptr<detail::LoopbackLink> link = connection.link;  // kept alive if a callback closes it
    if (connection.state == State::connecting) {
      if (link == nullptr || link->reset) return report_close(sink, connection, link == nullptr);
      connection.state = State::open;
      sink.on_connect(id);
      return 1;
    }
    detail::LoopbackStream& in = connection.in();
    if (in.empty() && in.ended && !connection.held) return report_close(sink, connection, false);
    std::size_t handled = 0;
    if (const auto bytes = in.front(options_.receive_limit); !bytes.empty() && !connection.held) {
      sink.on_receive(id, bytes);
      in.consume(bytes.size());
      ++handled;
    }
    if (find(id) != nullptr && connection.wants_write && !connection.out().full()) {
      connection.wants_write = false;
      sink.on_writable(id);
      ++handled;
    }
    return handled;
  }

  template <TransportSink Sink>
  std::size_t report_close(Sink& sink, Connection& connection, bool refused) {
    const ConnectionId id = id_of(connection);
    const bool reset = connection.link != nullptr && connection.link->reset;
    release(connection);
    sink.on_close(id, refused ? CloseReason::refused : reset ? CloseReason::reset : CloseReason::peer_closed);
    return 1;
  }

  [[nodiscard]] Connection* find(ConnectionId id) noexcept;
  [[nodiscard]] Connection* take_slot() noexcept;
  void release(Connection& connection) noexcept;
  [[nodiscard]] ConnectionId id_of(const Connection& connection) const noexcept;
  [[nodiscard]] ListenerId id_of(const Listener& listener) const noexcept;

  LoopbackNetwork& network_;
  LoopbackOptions options_;
  Duration wanted_wait_ = Duration::zero();
  std::vector<Connection> connections_;  // never resized
  std::deque<Listener> listeners_;
};

static_assert(Transport<LoopbackTransport>);

}  // namespace nfx
