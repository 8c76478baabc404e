// Connections and listeners over lwIP.
#ifdef NFX_WITH_AF_XDP

#include "transport/xdp_transport.hpp"

#include <lwip/priv/tcp_priv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "base/clocks.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/address.hpp"
#include "transport/xdp_impl.hpp"

namespace nfx {
namespace detail {
namespace {

constexpr std::uint16_t write_limit = 8 * 1024;  // of one tcp_write, which takes all or nothing

[[nodiscard]] std::string to_text(const Ipv4& address) {
  std::string text;
  for (const std::uint8_t part : address) text += (text.empty() ? "" : ".") + std::to_string(part);
  return text;
}

[[nodiscard]] bool read_ipv4(const std::string& text, ip_addr_t& into) {
  return ::ipaddr_aton(text.c_str(), &into) != 0 && IP_IS_V4(&into);
}

}  // namespace

// Polling.

std::size_t XdpImpl::poll(const SinkRef& sink, Duration max_wait) {
  receive_frames();
  if (ready_.empty() && max_wait > Duration::zero()) {
    wait(max_wait);
    receive_frames();
  }
  keep_time();
  std::size_t handled = 0;
  if (!ready_.empty()) {
    ready_.swap(serving_);
    for (const std::uint32_t slot : serving_) connections.all[slot].listed = false;
    for (const std::uint32_t slot : serving_) handled += serve(sink, connections.all[slot]);
    serving_.clear();
  }
  socket_.kick();
  if (was_full_) [[unlikely]] {
    was_full_ = false;
    ::tcp_txnow();
    socket_.kick();
  }
  return handled;
}

std::size_t XdpImpl::serve(const SinkRef& sink, Connection& connection) {
  if (connection.state == State::connecting && connection.broken)
    return report_close(sink, connection, connection.reason);
  if (connection.state != State::open) return 0;
  const ConnectionId id = connections.id_of(connection);
  std::size_t handled = 0;
  const auto alive = [&] { return connections.find(id) != nullptr; };
  switch (std::exchange(connection.announcement, Announcement::none)) {
    case Announcement::none: break;
    case Announcement::connected:
      sink.on_connect(sink.sink, id);
      ++handled;
      break;
    case Announcement::accepted:
      if (connection.broken || connection.pcb == nullptr) {  // gone before anyone heard of it
        free_slot(connection);
        return 0;
      }
      char host[IP4ADDR_STRLEN_MAX];
      ::ipaddr_ntoa_r(&connection.pcb->remote_ip, host, sizeof host);
      const std::string peer = std::string{host} + ":" + std::to_string(connection.pcb->remote_port);
      sink.on_accept(sink.sink, connection.listener, id, peer);
      ++handled;
      break;
  }
  if (!alive()) return handled;
  handled += deliver(sink, id, connection);
  if (!alive() || connection.held) return handled;
  if (connection.broken) return handled + report_close(sink, connection, connection.reason);
  if (connection.ended) return handled + report_close(sink, connection, CloseReason::peer_closed);
  if (connection.wants_write && has_room(connection)) {
    connection.wants_write = false;
    sink.on_writable(sink.sink, id);
    ++handled;
  }
  return handled;
}

// Passes on what one window at most holds.
std::size_t XdpImpl::deliver(const SinkRef& sink, ConnectionId id, Connection& connection) {
  std::size_t handled = 0;
  const auto read = [&](std::span<const char> bytes) {
    sink.on_receive(sink.sink, id, bytes);
    ++handled;
    if (connections.find(id) == nullptr) return;
    if (connection.pcb != nullptr) ::tcp_recved(connection.pcb, static_cast<std::uint16_t>(bytes.size()));
  };
  if (!connection.kept.empty() && !connection.held) {
    const std::string kept = std::exchange(connection.kept, {});
    read(kept);
  }
  while (connections.find(id) != nullptr && !connection.held && connection.received != nullptr) {
    pbuf* part = connection.received;
    connection.received = std::exchange(part->next, nullptr);
    part->tot_len = part->len;
    read({static_cast<const char*>(part->payload), part->len});
    ::pbuf_free(part);
  }
  return handled;
}

std::size_t XdpImpl::report_close(const SinkRef& sink, Connection& connection, CloseReason reason) {
  const ConnectionId id = connections.id_of(connection);
  if (connection.pcb != nullptr) {
    linger(connection);  // our bytes, and the end of our stream
  } else {
    free_slot(connection);
  }
  sink.on_close(sink.sink, id, reason);
  return 1;
}

// Connections.

void XdpImpl::attach(Connection& connection, tcp_pcb* pcb, const SocketTuning& tuning) noexcept {
  connection.pcb = pcb;
  connection.fd = socket_.descriptor();  // all connections share it
  connection.tuning = tuning;
  connection.progress = MonotonicTime::max();
  ::tcp_arg(pcb, &connection);
  ::tcp_recv(pcb, on_received);
  ::tcp_sent(pcb, on_acknowledged);
  ::tcp_err(pcb, on_gone);
  if (tuning.nodelay) tcp_nagle_disable(pcb);
  if (tuning.keepalive_s > 0) {
    ip_set_option(pcb, SOF_KEEPALIVE);
    pcb->keep_idle = static_cast<std::uint32_t>(tuning.keepalive_s) * 1000U * timer_rate;
    pcb->keep_intvl = TCP_KEEPINTVL_DEFAULT * timer_rate;
  }
}

// Lists a connection for the poll's end, or for the next poll.
void XdpImpl::enlist(Connection& connection) noexcept {
  if (std::exchange(connection.listed, true)) return;
  NFX_ASSERT(ready_.size() < connections.all.size());
  ready_.push_back(connections.slot_of(connection));
}

// A lingering connection gives its slot to a new one.
XdpConnection* XdpImpl::take_slot() noexcept {
  if (connections.full() && !connections.lingering.empty()) {
    ++counters.linger_cut_short;
    free_slot(*connections.oldest_lingering());
  }
  return connections.take();
}

void XdpImpl::free_slot(Connection& connection) noexcept {
  abort(connection);
  discard_received(connection);
  connection.announcement = Announcement::none;
  connection.ended = false;
  connections.give_back(connection);
}

void XdpImpl::discard_received(Connection& connection) noexcept {
  std::size_t size = connection.kept.size();
  connection.kept = {};
  while (pbuf* part = connection.received) {
    size += part->len;
    connection.received = std::exchange(part->next, nullptr);
    part->tot_len = part->len;
    ::pbuf_free(part);
  }
  if (connection.pcb != nullptr && size > 0)
    ::tcp_recved(connection.pcb, static_cast<std::uint16_t>(std::min<std::size_t>(size, UINT16_MAX)));
}

// lwIP finishes the connection by itself.
tcp_pcb* XdpImpl::let_go(Connection& connection) noexcept {
  tcp_pcb* pcb = std::exchange(connection.pcb, nullptr);
  ::tcp_arg(pcb, nullptr);
  ::tcp_recv(pcb, nullptr);
  ::tcp_sent(pcb, nullptr);
  ::tcp_err(pcb, nullptr);
  return pcb;
}

void XdpImpl::abort(Connection& connection) noexcept {
  if (connection.pcb != nullptr) ::tcp_abort(let_go(connection));
}

// Ends our direction only, so that the peer gets all bytes and no reset.
void XdpImpl::linger(Connection& connection) noexcept {
  discard_received(connection);
  if (options.linger_time <= Duration::zero() || ::tcp_shutdown(connection.pcb, 0, 1) != ERR_OK)
    return free_slot(connection);
  connection.announcement = Announcement::none;
  connections.make_lingering(connection, read_monotonic() + options.linger_time, options.linger_bytes);
  socket_.kick();
}

bool XdpImpl::has_room(const Connection& connection) const noexcept {
  return connection.pcb != nullptr && tcp_sndbuf(connection.pcb) > TCP_SNDLOWAT &&
         tcp_sndqueuelen(connection.pcb) < TCP_SNDQUEUELOWAT;
}

SendResult XdpImpl::try_send(ConnectionId id, std::span<const char> bytes) noexcept {
  Connection* connection = connections.find(id);
  if (connection == nullptr || connection->broken) return {0, true};
  if (connection->state != State::open || bytes.empty()) return {0, false};
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const std::uint16_t room = std::min(tcp_sndbuf(connection->pcb), write_limit);
    const auto size = static_cast<std::uint16_t>(std::min<std::size_t>(room, bytes.size() - sent));
    if (size == 0 || ::tcp_write(connection->pcb, bytes.data() + sent, size, TCP_WRITE_FLAG_COPY) != ERR_OK) break;
    sent += size;
  }
  if (sent < bytes.size()) connection->wants_write = true;
  ::tcp_output(connection->pcb);
  socket_.kick();
  return {sent, false};
}

void XdpImpl::close(ConnectionId id) noexcept {
  Connection* connection = connections.find(id);
  if (connection == nullptr) return;
  if (connection->state == State::open && connection->pcb != nullptr) {
    linger(*connection);
  } else {
    free_slot(*connection);
    socket_.kick();
  }
}

void XdpImpl::hold(ConnectionId id, bool held) noexcept {
  Connection* connection = connections.find(id);
  if (connection == nullptr || connection->held == held) return;
  connection->held = held;
  if (!held) return enlist(*connection);
  // Frames are for all connections: a held one keeps its bytes, at most a window, in memory of its own.
  connection->kept.reserve(TCP_WND);
  while (pbuf* part = connection->received) {
    connection->kept.append(static_cast<const char*>(part->payload), part->len);
    connection->received = std::exchange(part->next, nullptr);
    part->tot_len = part->len;
    ::pbuf_free(part);
  }
}

// Listening and connecting.

XdpListener* XdpImpl::find(ListenerId id) noexcept {
  const std::uint32_t slot = id_slot(id);
  if (slot >= listeners_.size()) return nullptr;
  XdpListener& listener = listeners_[slot];
  return listener.pcb != nullptr && listener.generation == id_generation(id) ? &listener : nullptr;
}

ListenerId XdpImpl::id_of(const XdpListener& listener) const noexcept {
  return make_id<ListenerId>(static_cast<std::uint32_t>(&listener - listeners_.data()), listener.generation);
}

void XdpImpl::note_missing(const SocketOptions& socket) {
  const std::pair<const char*, bool> missing[] = {{"send_buffer", socket.send_buffer != 0},
                                                  {"receive_buffer", socket.receive_buffer != 0},
                                                  {"busy_poll_us", socket.busy_poll_us != 0},
                                                  {"quickack", socket.quickack},
                                                  {"timestamps", socket.timestamps}};
  for (const auto& [name, wanted] : missing) {
    if (!wanted) continue;
    const std::string text = std::string{name} + ": has no effect with the transport af_xdp";
    const auto known = std::ranges::find(warnings, text, &TransportWarning::text);
    if (known == warnings.end()) {
      warnings.push_back({text, 1});
    } else {
      ++known->count;
    }
  }
}

std::expected<ListenerId, TransportError> XdpImpl::listen(const Endpoint& endpoint, const SocketOptions& socket) {
  const std::string operation = "listen on " + to_string(endpoint);
  if (auto refused = refuse_tls("listen on ", endpoint, socket)) return std::unexpected(*std::move(refused));
  const std::string own = to_text(address_.address);
  if (!endpoint.host.empty() && endpoint.host != "0.0.0.0" && endpoint.host != own)
    return std::unexpected(TransportError{EADDRNOTAVAIL, operation + ": the address of af_xdp is " + own});
  const auto place = std::ranges::find(listeners_, nullptr, &XdpListener::pcb);
  if (place == listeners_.end())
    return std::unexpected(TransportError{ENOSPC, "no listener left for " + to_string(endpoint)});
  note_missing(socket);
  tcp_pcb* pcb = ::tcp_new_ip_type(IPADDR_TYPE_V4);
  if (pcb == nullptr) return std::unexpected(TransportError{ENOMEM, operation});
  ip_set_option(pcb, SOF_REUSEADDR);  // over connections that have ended
  const ip_addr_t address = IPADDR4_INIT(to_lwip(address_.address).addr);
  err_t error = ::tcp_bind(pcb, &address, endpoint.port);
  tcp_pcb* listening = error == ERR_OK ? ::tcp_listen_with_backlog_and_err(pcb, UINT8_MAX, &error) : nullptr;
  if (listening == nullptr) {
    ::tcp_abort(pcb);
    return std::unexpected(TransportError{error == ERR_USE ? EADDRINUSE : ENOMEM, operation});
  }
  place->pcb = listening;
  ++place->generation;
  place->endpoint = {own, listening->local_port};
  place->tuning = SocketTuning::of(socket);
  ::tcp_arg(listening, &*place);
  ::tcp_accept(listening, on_accept);
  return id_of(*place);
}

std::optional<Endpoint> XdpImpl::local_endpoint(ListenerId id) const {
  const XdpListener* listener = const_cast<XdpImpl*>(this)->find(id);
  return listener == nullptr ? std::nullopt : std::optional{listener->endpoint};
}

void XdpImpl::close_listener(ListenerId id) noexcept {
  XdpListener* listener = find(id);
  if (listener == nullptr) return;
  ::tcp_close(std::exchange(listener->pcb, nullptr));
  for (std::size_t i = connections.open.size(); i-- > 0;) {
    Connection& connection = connections.all[connections.open[i]];
    if (connection.announcement == Announcement::accepted && connection.listener == id) free_slot(connection);
  }
}

bool XdpImpl::reachable(const ip_addr_t& address) const noexcept {
  return ip4_addr_netcmp(ip_2_ip4(&address), netif_ip4_addr(&interface_), netif_ip4_netmask(&interface_)) ||
         !ip4_addr_isany_val(*netif_ip4_gw(&interface_));
}

std::expected<ConnectionId, TransportError> XdpImpl::connect(const Endpoint& endpoint, const SocketOptions& socket) {
  const std::string operation = "connect " + to_string(endpoint);
  if (auto refused = refuse_tls("connect ", endpoint, socket)) return std::unexpected(*std::move(refused));
  const std::string own = to_text(address_.address);
  if (!socket.from.host.empty() && socket.from.host != own)
    return std::unexpected(TransportError{EADDRNOTAVAIL, operation + ": the address of af_xdp is " + own});
  auto resolved = resolve(endpoint);
  if (!resolved) return std::unexpected(std::move(resolved.error()));
  ip_addr_t address{};
  const auto usable =
      std::ranges::find_if(*resolved, [&](const Endpoint& each) { return read_ipv4(each.host, address); });
  if (usable == resolved->end())
    return std::unexpected(TransportError{EAFNOSUPPORT, operation + ": af_xdp has IPv4 only"});
  if (usable->host == own)
    return std::unexpected(TransportError{EADDRNOTAVAIL, operation + ": af_xdp does not connect to itself"});
  Connection* connection = take_slot();
  if (connection == nullptr) return std::unexpected(TransportError{ENOSPC, "no connection left for " + operation});
  note_missing(socket);
  connection->state = State::connecting;
  const ConnectionId id = connections.id_of(*connection);
  if (!reachable(address)) {
    connections.make_broken(*connection, CloseReason::unreachable);
    enlist(*connection);
    return id;
  }
  tcp_pcb* pcb = ::tcp_new_ip_type(IPADDR_TYPE_V4);
  err_t error = pcb == nullptr ? ERR_MEM : ERR_USE;
  if (pcb != nullptr) {
    attach(*connection, pcb, SocketTuning::of(socket));
    const ip_addr_t local = IPADDR4_INIT(to_lwip(address_.address).addr);
    if (socket.from.port != 0) {
      error = ::tcp_bind(pcb, &local, socket.from.port);
    } else {
      // lwIP chooses ports that repeat when a process starts again.
      for (std::size_t tries = 0; error == ERR_USE && tries <= options.max_connections; ++tries) {
        error = ::tcp_bind(pcb, &local, next_port_);
        if (++next_port_ == 0) next_port_ = first_own_port;
      }
    }
    if (error == ERR_OK) error = ::tcp_connect(pcb, &address, usable->port, on_connected);
  }
  if (error != ERR_OK) {
    free_slot(*connection);
    return std::unexpected(TransportError{error == ERR_USE ? EADDRINUSE : ENOMEM, operation});
  }
  socket_.kick();
  return id;
}

}  // namespace detail

void check_xdp_options(const XdpOptions& options) {
  const auto require = [](bool condition, const std::string& text) {
    if (!condition) throw std::invalid_argument(text);
  };
  require(detail::XdpAddress::parse(options.address).has_value(),
          "expected \"INTERFACE[:QUEUE] ADDRESS/PREFIX [via GATEWAY]\" as af_xdp, not \"" + options.address + "\"");
  require(options.frames >= 128 && options.frames <= (1U << 20) && (options.frames & (options.frames - 1)) == 0,
          "frames: expected a power of two from 128 to 1048576");
  require(options.max_connections >= 1 && options.max_connections <= (1U << 20),
          "max_connections: expected 1 to 1048576");
  require(options.max_half_open >= 1, "max_half_open: expected at least 1");
}

XdpTransport::XdpTransport(const XdpOptions& options) : impl_(std::make_unique<detail::XdpImpl>(options)) {}
XdpTransport::~XdpTransport() = default;

std::expected<ListenerId, TransportError> XdpTransport::listen(const Endpoint& endpoint, const SocketOptions& options) {
  return impl_->listen(endpoint, options);
}
std::optional<Endpoint> XdpTransport::local_endpoint(ListenerId id) const { return impl_->local_endpoint(id); }
void XdpTransport::close_listener(ListenerId id) noexcept { impl_->close_listener(id); }
std::expected<ConnectionId, TransportError> XdpTransport::connect(const Endpoint& endpoint,
                                                                  const SocketOptions& options) {
  return impl_->connect(endpoint, options);
}
SendResult XdpTransport::try_send(ConnectionId id, std::span<const char> bytes) noexcept {
  return impl_->try_send(id, bytes);
}
void XdpTransport::close(ConnectionId id) noexcept { impl_->close(id); }
void XdpTransport::hold(ConnectionId id, bool held) noexcept { impl_->hold(id, held); }
std::size_t XdpTransport::lingering() const noexcept { return impl_->connections.lingering.size(); }
void XdpTransport::wake() noexcept { impl_->wake(); }
void XdpTransport::wake_when_readable(int descriptor) { impl_->wake_when_readable(descriptor); }
const std::vector<TransportWarning>& XdpTransport::warnings() const noexcept { return impl_->warnings; }
const TransportCounters& XdpTransport::counters() const noexcept { return impl_->counters; }
std::size_t XdpTransport::connection_count() const noexcept { return impl_->connections.open.size(); }
std::size_t XdpTransport::poll_with(const detail::SinkRef& sink, Duration max_wait) {
  return impl_->poll(sink, max_wait);
}

}  // namespace nfx

#endif  // NFX_WITH_AF_XDP
