// The bodies of transport/tcp_registry.hpp, for the transports that derive from it.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/clocks.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/address.hpp"
#include "transport/tcp_registry.hpp"
#include "transport/tcp_socket.hpp"

namespace nfx::detail {

inline void require_option(bool condition, const char* text) {
  if (!condition) throw std::invalid_argument(std::string("transport options: ") + text);
}

// Checks the options of all TCP transports. Throws std::invalid_argument.
template <class Options>
void check_tcp_options(const Options& options) {
  require_option(options.receive_buffer_size >= 1 && options.receive_buffer_size <= (1U << 30),
                 "receive_buffer_size: expected 1 byte to 1 GiB");
  require_option(options.max_connections >= 1 && options.max_connections <= (1U << 20),
                 "max_connections: expected 1 to 1048576");
  require_option(options.max_listeners <= 1024, "max_listeners: expected at most 1024");
  require_option(options.accept_limit >= 1, "accept_limit: expected at least 1");
  require_option(options.listen_backlog >= 1, "listen_backlog: expected at least 1");
  require_option(options.linger_time >= Duration::zero() && options.linger_time <= longest_wait,
                 "linger_time: expected 0 to 1 hour");
  require_option(options.accept_pause > Duration::zero() && options.accept_pause <= longest_wait,
                 "accept_pause: expected more than 0 and at most 1 hour");
}

template <class Self, class Connection, class Listener, class Options>
TcpRegistry<Self, Connection, Listener, Options>::TcpRegistry(const Options& options)
    : options_(options),
      buffer_(std::make_unique_for_overwrite<char[]>(options.receive_buffer_size)),
      connections_(options.max_connections),
      listeners_(options.max_listeners) {}

// Listening.

template <class Self, class Connection, class Listener, class Options>
std::expected<ListenerId, TransportError> TcpRegistry<Self, Connection, Listener, Options>::listen(
    const Endpoint& endpoint, const SocketOptions& options) {
  if (auto refused = refuse_tls("listen on ", endpoint, options)) return std::unexpected(*std::move(refused));
  const auto place = std::ranges::find(listeners_, -1, &TcpListener::fd);
  if (place == listeners_.end()) {
    return std::unexpected(TransportError{ENOSPC, "no listener left for " + to_string(endpoint)});
  }
  const SocketTuning tuning = SocketTuning::of(options);
  const auto fd = open_listener(endpoint, tuning, options_.listen_backlog, warnings_);
  if (!fd) return std::unexpected(fd.error());
  place->fd = *fd;
  ++place->generation;
  place->paused = false;
  place->tuning = tuning;
  if (const int error = self().watch_listener(*place); error != 0) {
    ::close(std::exchange(place->fd, -1));
    return std::unexpected(TransportError{error, "watch " + to_string(endpoint)});
  }
  return id_of(*place);
}

template <class Self, class Connection, class Listener, class Options>
std::optional<Endpoint> TcpRegistry<Self, Connection, Listener, Options>::local_endpoint(ListenerId id) const {
  const Listener* listener = find(id);
  return listener == nullptr ? std::nullopt : local_endpoint_of(listener->fd);
}

template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::close_listener(ListenerId id) noexcept {
  if (find(id) == nullptr) return;
  Listener& listener = listeners_[id_slot(id)];
  self().forget_listener(listener);
  ::close(std::exchange(listener.fd, -1));
}

template <class Self, class Connection, class Listener, class Options>
const Listener* TcpRegistry<Self, Connection, Listener, Options>::find(ListenerId id) const noexcept {
  const std::uint32_t slot = id_slot(id);
  if (slot >= listeners_.size()) return nullptr;
  const Listener& listener = listeners_[slot];
  return listener.fd >= 0 && listener.generation == id_generation(id) ? &listener : nullptr;
}

template <class Self, class Connection, class Listener, class Options>
ListenerId TcpRegistry<Self, Connection, Listener, Options>::id_of(const Listener& listener) const noexcept {
  NFX_ASSERT(&listener >= listeners_.data() && &listener < listeners_.data() + listeners_.size());
  return make_id<ListenerId>(static_cast<std::uint32_t>(&listener - listeners_.data()), listener.generation);
}

template <class Self, class Connection, class Listener, class Options>
std::size_t TcpRegistry<Self, Connection, Listener, Options>::greet(const SinkRef& sink, ListenerId listener, int fd) {
  Connection* connection = take_slot();
  if (connection == nullptr) {
    ++counters_.refused_full;
    ::close(fd);
    return 0;
  }
  NFX_ASSERT(fd >= 0 && find(listener) != nullptr);  // callers look up the listener after each callback
  connection->tuning = find(listener)->tuning;
  prepare_socket(fd, connection->tuning, warnings_);
  connection->fd = fd;
  connections_.make_open(*connection);
  self().watch_open(*connection, true);
  ++counters_.accepted;
  sink.on_accept(sink.sink, listener, connections_.id_of(*connection), peer_name(fd));
  return 1;
}

template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::pause_accepting() noexcept {
  ++counters_.accept_pauses;
  accept_later();
}

template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::accept_later() noexcept {
  accepting_paused_ = true;
  accept_again_ = read_monotonic() + options_.accept_pause;
}

// Connecting.

template <class Self, class Connection, class Listener, class Options>
std::expected<ConnectionId, TransportError> TcpRegistry<Self, Connection, Listener, Options>::connect(
    const Endpoint& endpoint, const SocketOptions& options) {
  if (auto refused = refuse_tls("connect ", endpoint, options)) return std::unexpected(*std::move(refused));
  auto route = find_route(endpoint, options.from);
  if (!route) return std::unexpected(std::move(route.error()));
  Connection* connection = take_slot();
  if (connection == nullptr) {
    return std::unexpected(TransportError{ENOSPC, "no connection left for connect " + to_string(endpoint)});
  }
  connection->state = ConnectionState::connecting;
  connection->tuning = SocketTuning::of(options);
  connection->from = route->from;
  connection->untried = std::move(route->untried);
  const int error = start_connect(*connection, warnings_);
  if (error == 0) {
    self().watch_connecting(*connection);
  } else if (reason_of(error) == CloseReason::local_error) {
    self().free_slot(*connection);
    return std::unexpected(TransportError{error, "connect " + to_string(endpoint)});
  } else {
    connections_.make_broken(*connection, reason_of(error));
  }
  return connections_.id_of(*connection);
}

template <class Self, class Connection, class Listener, class Options>
std::size_t TcpRegistry<Self, Connection, Listener, Options>::finish_connect(const SinkRef& sink,
                                                                             Connection& connection) {
  NFX_ASSERT(connection.state == ConnectionState::connecting && !connection.broken);
  int error = take_socket_error(connection.fd);
  if (error != 0) {
    if (!connection.untried.empty()) {
      error = start_connect(connection, warnings_);
      if (error == 0) {
        self().watch_connecting(connection);
        return 0;
      }
    }
    return report_close(sink, connection, reason_of(error));
  }
  connection.untried.clear();
  connections_.make_open(connection);
  self().watch_open(connection, false);
  sink.on_connect(sink.sink, connections_.id_of(connection));
  return 1;
}

// Sending and closing.

template <class Self, class Connection, class Listener, class Options>
SendResult TcpRegistry<Self, Connection, Listener, Options>::try_send(ConnectionId id,
                                                                      std::span<const char> bytes) noexcept {
  Connection* connection = connections_.find(id);
  if (connection == nullptr || connection->broken) return {0, true};
  if (connection->state != ConnectionState::open || bytes.empty()) return {0, false};
  const ssize_t sent = ::send(connection->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  NFX_ASSERT(sent <= static_cast<ssize_t>(bytes.size()));
  if (sent == static_cast<ssize_t>(bytes.size())) return {bytes.size(), false};
  if (sent < 0 && !would_block(errno)) {
    connections_.make_broken(*connection, reason_of(errno));
    return {0, true};
  }
  if (!std::exchange(connection->wants_write, true)) self().watch_for_room(*connection);
  return {sent < 0 ? 0 : static_cast<std::size_t>(sent), false};
}

// Closing a socket with unread or future input sends the peer a reset, which can destroy bytes in transit. So only our
// direction is closed. Input is read and dropped until the peer closes its own, has sent linger_bytes more, or
// linger_time is over.
template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::close(ConnectionId id) noexcept {
  Connection* connection = connections_.find(id);
  if (connection == nullptr) return;
  const bool can_linger = connection->state == ConnectionState::open && !connection->broken &&
                          !self().stream_ended(*connection) && options_.linger_time > Duration::zero();
  if (can_linger && ::shutdown(connection->fd, SHUT_WR) == 0) {
    connections_.make_lingering(*connection, read_monotonic() + options_.linger_time, options_.linger_bytes);
    self().watch_lingering(*connection);
  } else {
    self().free_slot(*connection);
  }
}

template <class Self, class Connection, class Listener, class Options>
std::optional<ConnectionId> TcpRegistry<Self, Connection, Listener, Options>::adopt(int fd,
                                                                                    const SocketOptions& options) {
  NFX_ASSERT(fd >= 0);
  Connection* connection = take_slot();
  if (connection == nullptr) return std::nullopt;
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  connection->tuning = SocketTuning::of(options);
  prepare_socket(fd, connection->tuning, warnings_);
  connection->fd = fd;
  connections_.make_open(*connection);
  self().watch_open(*connection, true);
  return connections_.id_of(*connection);
}

template <class Self, class Connection, class Listener, class Options>
std::expected<int, NotDetached> TcpRegistry<Self, Connection, Listener, Options>::detach(ConnectionId id,
                                                                                         std::string& received) {
  Connection* connection = connections_.find(id);
  if (connection == nullptr || connection->state != ConnectionState::open || connection->broken)
    return std::unexpected(NotDetached::gone);
  NFX_ASSERT(connection->held);
  if (!self().may_detach(*connection, received)) return std::unexpected(NotDetached::not_yet);
  const int fd = std::exchange(connection->fd, -1);
  self().free_slot(*connection);
  return fd;
}

template <class Self, class Connection, class Listener, class Options>
std::size_t TcpRegistry<Self, Connection, Listener, Options>::report_close(const SinkRef& sink, Connection& connection,
                                                                           CloseReason reason) {
  const ConnectionId id = connections_.id_of(connection);
  self().free_slot(connection);
  sink.on_close(sink.sink, id, reason);
  return 1;
}

template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::drop_input(Connection& connection, std::size_t bytes) noexcept {
  NFX_ASSERT(connection.state == ConnectionState::lingering);
  if (bytes <= connection.linger_bytes) {
    connection.linger_bytes -= bytes;
    return;
  }
  ++counters_.linger_flooded;
  reset_when_closed(connection.fd);
  self().free_slot(connection);
}

// A lingering connection gives its slot to a new one.
template <class Self, class Connection, class Listener, class Options>
Connection* TcpRegistry<Self, Connection, Listener, Options>::take_slot() noexcept {
  if (connections_.full() && !connections_.lingering.empty()) {
    ++counters_.linger_cut_short;
    self().free_slot(*connections_.oldest_lingering());
  }
  return connections_.take();
}

// Deadlines.

template <class Self, class Connection, class Listener, class Options>
Duration TcpRegistry<Self, Connection, Listener, Options>::shortened_wait(Duration max_wait) const noexcept {
  const MonotonicTime now = read_monotonic();
  if (accepting_paused_) max_wait = std::min(max_wait, accept_again_ - now);
  for (const std::uint32_t slot : connections_.lingering)
    max_wait = std::min(max_wait, connections_.all[slot].linger_until - now);
  return max_wait;
}

template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::keep_deadlines() noexcept {
  const MonotonicTime now = read_monotonic();
  if (accepting_paused_ && now >= accept_again_) {
    accepting_paused_ = false;
    self().resume_accepting();
  }
  for (std::size_t i = connections_.lingering.size(); i-- > 0;) {
    Connection& connection = connections_.all[connections_.lingering[i]];
    NFX_ASSERT(connection.state == ConnectionState::lingering);
    if (now < connection.linger_until) continue;
    ++counters_.linger_cut_short;
    self().free_slot(connection);
  }
}

// The end.

template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::end_connections() noexcept {
  for (Connection& connection : connections_.all) {
    if (connection.state == ConnectionState::free || connection.fd < 0) continue;
    end_and_discard(connection.fd, buffer_.get(), options_.receive_buffer_size);
    ::close(connection.fd);
  }
}

template <class Self, class Connection, class Listener, class Options>
void TcpRegistry<Self, Connection, Listener, Options>::end_listeners() noexcept {
  for (Listener& listener : listeners_) {
    if (listener.fd < 0) continue;
    self().forget_listener(listener);
    ::close(listener.fd);
  }
}

}  // namespace nfx::detail
