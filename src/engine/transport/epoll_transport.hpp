// TCP over epoll.
// Thread: one owner; wake() from any. Cost: no allocation on the receive and send path. A poll is one epoll_wait and
// one recv per ready connection. A busy-polling transport with few connections calls only recv: after direct_polls such
// polls the connections leave epoll, whose list costs the sender of every segment, until a poll may wait again.
// Fairness: level-triggered with one bounded recv per connection and poll, so a flooding peer delays others by at most
// one buffer. Accepts are bounded likewise. Errors: see transport.hpp. A process out of descriptors pauses its
// listeners for a moment instead of retrying accept in a loop.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "transport/tcp_parts.hpp"
#include "transport/tcp_registry.hpp"
#include "transport/transport.hpp"

namespace nfx {

struct EpollOptions {
  std::size_t receive_buffer_size = 64 * 1024;  // shared by all connections; the limit of one recv
  std::size_t direct_receive_limit = 8;  // up to this many connections, a busy-polling poll skips epoll_wait; 0: never
  std::size_t max_connections = 1024;    // total of accepted, connecting and lingering connections
  std::size_t max_listeners = 16;
  std::size_t accept_limit = 16;  // per listener and poll
  int listen_backlog = 128;
  Duration linger_time = std::chrono::seconds(2);         // time that close() continues to deliver in the background
  std::size_t linger_bytes = 256 * 1024;                  // ... and how much peer input it drops before it resets
  Duration accept_pause = std::chrono::milliseconds(50);  // after accept found no descriptor or memory
};

class EpollTransport;

namespace detail {
struct EpollConnection : TcpConnection {
  bool unwatched = false;  // held and ended: epoll would report the end repeatedly
  bool direct = false;     // not watched either, because every poll reads it
};
using EpollBooks = TcpRegistry<EpollTransport, EpollConnection, TcpListener, EpollOptions>;
}  // namespace detail

class EpollTransport : private detail::EpollBooks {
 public:
  // Throws std::invalid_argument for an option out of range, std::system_error if epoll cannot be set up.
  explicit EpollTransport(EpollOptions options = {});
  ~EpollTransport();
  EpollTransport(const EpollTransport&) = delete;
  EpollTransport& operator=(const EpollTransport&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {});
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const;
  void close_listener(ListenerId id) noexcept;

  // The addresses of a name are tried in order until one accepts.
  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options = {});
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept;
  void close(ConnectionId id) noexcept;
  void hold(ConnectionId id, bool held) noexcept;
  [[nodiscard]] std::expected<int, NotDetached> detach(ConnectionId id, std::string& received);
  // Adopts a socket from another transport as an established connection, which may already have input. Empty if all
  // places are taken; the caller then still owns the socket.
  [[nodiscard]] std::optional<ConnectionId> adopt(int fd, const SocketOptions& options = {});
  [[nodiscard]] std::size_t lingering() const noexcept { return connections_.lingering.size(); }

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    return poll_with(detail::SinkRef::to(sink), max_wait);
  }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept { return received_at_; }
  void wake() noexcept;
  // Makes a waiting poll also return when this descriptor is readable, until it is closed. The descriptor is not read.
  // Throws std::system_error if epoll cannot watch it.
  void wake_when_readable(int descriptor);
  // A descriptor that is readable when a poll has work, for a program that sleeps in another loop. From the next poll
  // on, no socket is read without epoll; only a busy-polling thread would gain from that.
  [[nodiscard]] int descriptor() noexcept {
    options_.direct_receive_limit = 0;
    return epoll_;
  }

  // Socket options that the host refused, each once, with the number of affected sockets.
  [[nodiscard]] const std::vector<TransportWarning>& warnings() const noexcept { return warnings_; }
  [[nodiscard]] const TransportCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::size_t connection_count() const noexcept { return connections_.open.size(); }  // established ones

 private:
  friend detail::EpollBooks;
  using Registry = detail::EpollBooks;
  using State = detail::ConnectionState;
  using Connection = detail::EpollConnection;
  using Listener = detail::TcpListener;

  static constexpr std::size_t events_per_wait = 128;
  static constexpr std::size_t max_direct_receive_limit = 64;
  static constexpr std::uint32_t polls_per_epoll_wait = 32;
  static constexpr std::uint32_t direct_polls = 4096;

  std::size_t poll_with(const detail::SinkRef& sink, Duration max_wait);
  std::size_t poll_directly(const detail::SinkRef& sink);
  std::size_t wait_and_serve(const detail::SinkRef& sink, Duration max_wait);
  std::size_t serve_broken(const detail::SinkRef& sink);
  std::size_t serve(const detail::SinkRef& sink, ConnectionId id, std::uint32_t events);
  std::size_t receive(const detail::SinkRef& sink, ConnectionId id, Connection& connection);
  std::size_t accept_from(const detail::SinkRef& sink, ListenerId id);
  void serve_lingering(Connection& connection) noexcept;

  // Called by TcpRegistry.
  [[nodiscard]] int watch_listener(const Listener& listener) noexcept;
  void forget_listener(const Listener&) noexcept {}  // closing a descriptor ends its watch
  void resume_accepting() noexcept;
  void watch_connecting(Connection& connection) noexcept;
  void watch_open(Connection& connection, bool accepted) noexcept;
  void watch_for_room(Connection& connection) noexcept { watch_for_more(connection); }
  void watch_lingering(Connection& connection) noexcept;
  [[nodiscard]] bool stream_ended(const Connection&) const noexcept { return false; }
  [[nodiscard]] bool may_detach(Connection& connection, std::string& received) noexcept;
  void free_slot(Connection& connection) noexcept;

  void unwatch_listeners() noexcept;
  void leave_epoll() noexcept;
  void return_to_epoll() noexcept;
  void watch(Connection& connection, int operation, std::uint32_t events) noexcept;
  void watch_for_more(Connection& connection) noexcept;

  int epoll_ = -1;
  int wake_ = -1;
  bool has_pwait2_ = true;
  std::uint32_t polls_until_wait_ = 0;
  std::uint32_t polls_until_direct_ = direct_polls;
  bool some_direct_ = false;
};

static_assert(Transport<EpollTransport>);

}  // namespace nfx
