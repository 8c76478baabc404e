// Connections within one thread, so that tests and simulation need no network.
#include "transport/loopback_transport.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace nfx {

namespace detail {

std::size_t LoopbackStream::write(std::span<const char> bytes) noexcept {
  NFX_ASSERT(begin_ < ring_.size() && size_ <= ring_.size());
  const std::size_t count = std::min(bytes.size(), ring_.size() - size_);
  const std::size_t at = (begin_ + size_) % ring_.size();
  const std::size_t before_end = std::min(count, ring_.size() - at);
  if (before_end > 0) std::memcpy(ring_.data() + at, bytes.data(), before_end);
  if (count > before_end) std::memcpy(ring_.data(), bytes.data() + before_end, count - before_end);
  size_ += count;
  return count;
}

std::span<const char> LoopbackStream::front(std::size_t limit) const noexcept {
  return {ring_.data() + begin_, std::min({limit, size_, ring_.size() - begin_})};
}

void LoopbackStream::consume(std::size_t count) noexcept {
  NFX_ASSERT(count <= size_);  // only written bytes are read
  begin_ = (begin_ + count) % ring_.size();
  size_ -= count;
}

}  // namespace detail

LoopbackTransport::LoopbackTransport(LoopbackNetwork& network, LoopbackOptions options)
    : network_(network), options_(options) {
  if (options.stream_buffer == 0 || options.receive_limit == 0 || options.max_connections == 0 ||
      options.listen_backlog == 0) {
    throw std::invalid_argument("loopback options: expected values of at least 1");
  }
  connections_.resize(options.max_connections);
}

LoopbackTransport::~LoopbackTransport() {
  for (const Listener& listener : listeners_) {
    if (listener.active) close_listener(id_of(listener));
  }
  for (const Connection& connection : connections_) {
    if (connection.state != State::free) close(id_of(connection));
  }
}

std::expected<ListenerId, TransportError> LoopbackTransport::listen(const Endpoint& endpoint,
                                                                    const SocketOptions& options) {
  if (auto refused = detail::refuse_tls("listen on ", endpoint, options)) return std::unexpected(*std::move(refused));
  Endpoint local = endpoint;
  if (local.port == 0) {
    while (network_.listeners_.contains(network_.next_port_)) ++network_.next_port_;
    local.port = network_.next_port_++;
  }
  if (network_.listeners_.contains(local.port)) {
    return std::unexpected(TransportError{EADDRINUSE, "listen on " + to_string(local)});
  }
  auto place = std::ranges::find(listeners_, false, &Listener::active);
  if (place == listeners_.end()) {
    listeners_.emplace_back();
    place = std::prev(listeners_.end());
  }
  place->active = true;
  ++place->generation;
  place->endpoint = local;
  const ListenerId id = id_of(*place);
  network_.listeners_.emplace(local.port, LoopbackNetwork::Place{this, id});
  return id;
}

std::optional<Endpoint> LoopbackTransport::local_endpoint(ListenerId id) const {
  const std::uint32_t slot = detail::id_slot(id);
  if (slot >= listeners_.size() || !listeners_[slot].active || id_of(listeners_[slot]) != id) return std::nullopt;
  return listeners_[slot].endpoint;
}

void LoopbackTransport::close_listener(ListenerId id) noexcept {
  const std::uint32_t slot = detail::id_slot(id);
  if (slot >= listeners_.size() || !listeners_[slot].active || id_of(listeners_[slot]) != id) return;
  Listener& listener = listeners_[slot];
  network_.listeners_.erase(listener.endpoint.port);
  for (const auto& link : listener.backlog) {
    link->reset = true;
    link->streams[1].ended = true;
    link->streams[0].abandoned = true;
  }
  listener.backlog.clear();
  listener.active = false;
}

std::expected<ConnectionId, TransportError> LoopbackTransport::connect(const Endpoint& endpoint,
                                                                       const SocketOptions& options) {
  if (auto refused = detail::refuse_tls("connect ", endpoint, options)) return std::unexpected(*std::move(refused));
  Connection* connection = take_slot();
  if (connection == nullptr) {
    return std::unexpected(TransportError{ENOSPC, "no connection left for connect " + to_string(endpoint)});
  }
  connection->state = State::connecting;
  connection->side = 0;
  const auto place = network_.listeners_.find(endpoint.port);
  if (place != network_.listeners_.end()) {
    LoopbackTransport& other = *place->second.transport;
    auto& backlog = other.listeners_[detail::id_slot(place->second.listener)].backlog;
    if (backlog.size() < other.options_.listen_backlog) {
      connection->link = std::make_shared<detail::LoopbackLink>(options_.stream_buffer);
      connection->link->from = options.from.host.empty() ? "loopback" : to_string(options.from);
      backlog.push_back(connection->link);
    }
  }
  return id_of(*connection);
}

SendResult LoopbackTransport::try_send(ConnectionId id, std::span<const char> bytes) noexcept {
  Connection* connection = find(id);
  if (connection == nullptr) return {0, true};
  if (connection->state != State::open) return {0, false};
  detail::LoopbackStream& out = connection->out();
  if (out.abandoned) return {0, true};
  const std::size_t sent = out.write(bytes);
  if (sent < bytes.size()) connection->wants_write = true;
  return {sent, false};
}

void LoopbackTransport::close(ConnectionId id) noexcept {
  if (Connection* connection = find(id)) release(*connection);
}

void LoopbackTransport::hold(ConnectionId id, bool held) noexcept {
  if (Connection* connection = find(id)) connection->held = held;
}

LoopbackTransport::Connection* LoopbackTransport::find(ConnectionId id) noexcept {
  const std::uint32_t slot = detail::id_slot(id);
  if (slot >= connections_.size() || connections_[slot].state == State::free) return nullptr;
  return id_of(connections_[slot]) == id ? &connections_[slot] : nullptr;
}

LoopbackTransport::Connection* LoopbackTransport::take_slot() noexcept {
  const auto place = std::ranges::find(connections_, State::free, &Connection::state);
  if (place == connections_.end()) return nullptr;
  ++place->generation;
  return &*place;
}

void LoopbackTransport::release(Connection& connection) noexcept {
  if (connection.link != nullptr) {
    connection.out().ended = true;
    connection.in().abandoned = true;
  }
  connection.link.reset();
  connection.state = State::free;
  connection.wants_write = connection.held = false;
}

ConnectionId LoopbackTransport::id_of(const Connection& connection) const noexcept {
  NFX_ASSERT(&connection >= connections_.data() && &connection < connections_.data() + connections_.size());
  return detail::make_id<ConnectionId>(static_cast<std::uint32_t>(&connection - connections_.data()),
                                       connection.generation);
}

ListenerId LoopbackTransport::id_of(const Listener& listener) const noexcept {
  const auto at = std::ranges::find(listeners_, &listener, [](const Listener& l) { return &l; });
  NFX_ASSERT(at != listeners_.end());
  return detail::make_id<ListenerId>(static_cast<std::uint32_t>(at - listeners_.begin()), listener.generation);
}

}  // namespace nfx
