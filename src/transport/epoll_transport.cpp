#include "nexusfix/transport/epoll_transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "transport/address.hpp"
#include "transport/tcp_socket.hpp"

namespace nfx {

using detail::longest_wait;
using detail::monotonic_now;
using detail::reason_of;
using detail::SocketTuning;
using detail::would_block;

namespace {

// What an epoll event is about: a connection's id as it is, a listener's id with the top bit of its slot set, or 0 for
// wake.
constexpr std::uint64_t wake_event = 0;
constexpr std::uint64_t listener_flag = std::uint64_t{1} << 31;

void check_options(const EpollOptions& options) {
  const auto require = [](bool condition, const char* text) {
    if (!condition) throw std::invalid_argument(std::string("transport options: ") + text);
  };
  require(options.receive_buffer_size >= 1 && options.receive_buffer_size <= (1U << 30),
          "receive_buffer_size is 1 to 1 GiB");
  require(options.direct_receive_limit <= 64, "direct_receive_limit is at most 64");
  require(options.max_connections >= 1 && options.max_connections <= (1U << 20), "max_connections is 1 to 1048576");
  require(options.max_listeners <= 1024, "max_listeners is at most 1024");
  require(options.accept_limit >= 1, "accept_limit is at least 1");
  require(options.listen_backlog >= 1, "listen_backlog is at least 1");
  require(options.linger_time >= Duration::zero() && options.linger_time <= longest_wait, "linger_time is 0 to 1 hour");
  require(options.accept_pause > Duration::zero() && options.accept_pause <= longest_wait,
          "accept_pause is up to 1 hour");
}

}  // namespace

EpollTransport::EpollTransport(EpollOptions options)
    : options_((check_options(options), options)), connections_(options.max_connections) {
  buffer_ = std::make_unique_for_overwrite<char[]>(options.receive_buffer_size);
  listeners_.resize(options.max_listeners);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  try {
    wake_ = detail::make_wake_event();
  } catch (...) {
    ::close(epoll_);
    throw;
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = wake_event;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    const int error = errno;
    ::close(wake_);
    ::close(epoll_);
    throw std::system_error(error, std::generic_category(), "watch the wake event");
  }
}

// Nobody polls any more: what already lies unread is thrown away so that it does not turn the end into a reset.
EpollTransport::~EpollTransport() {
  for (Connection& connection : connections_.all) {
    if (connection.state == State::free) continue;
    detail::end_and_discard(connection.fd, buffer_.get(), options_.receive_buffer_size);
    ::close(connection.fd);
  }
  for (const Listener& listener : listeners_) {
    if (listener.fd >= 0) ::close(listener.fd);
  }
  ::close(wake_);
  ::close(epoll_);
}

// ---- listening ----

std::expected<ListenerId, TransportError> EpollTransport::listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options) {
  if (auto refused = detail::refuse_tls("listen on ", endpoint, options)) return std::unexpected(*std::move(refused));
  const auto place = std::ranges::find(listeners_, -1, &Listener::fd);
  if (place == listeners_.end()) {
    return std::unexpected(TransportError{ENOSPC, "no listener left for " + to_string(endpoint)});
  }
  const SocketTuning tuning = SocketTuning::of(options);
  const auto fd = detail::open_listener(endpoint, tuning, options_.listen_backlog, warnings_);
  if (!fd) return std::unexpected(fd.error());
  const auto slot = static_cast<std::uint32_t>(place - listeners_.begin());
  const auto id = detail::make_id<ListenerId>(slot, place->generation + 1);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = std::to_underlying(id) | listener_flag;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, *fd, &event) != 0) {
    const int error = errno;
    ::close(*fd);
    return std::unexpected(TransportError{error, "watch " + to_string(endpoint)});
  }
  *place = {.fd = *fd, .generation = detail::id_generation(id), .paused = false, .tuning = tuning};
  return id;
}

std::optional<Endpoint> EpollTransport::local_endpoint(ListenerId id) const {
  const Listener* listener = find(id);
  return listener == nullptr ? std::nullopt : detail::local_endpoint_of(listener->fd);
}

void EpollTransport::close_listener(ListenerId id) noexcept {
  if (find(id) == nullptr) return;
  Listener& listener = listeners_[detail::id_slot(id)];
  ::close(listener.fd);
  listener.fd = -1;
}

std::size_t EpollTransport::accept_from(const detail::SinkRef& sink, ListenerId id) {
  std::size_t handled = 0;
  for (std::size_t i = 0; i < options_.accept_limit; ++i) {
    const Listener* listener = find(id);  // a callback may have closed it
    if (listener == nullptr) break;
    const int fd = ::accept4(listener->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      handled += greet(sink, id, fd);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (detail::short_of_descriptors(errno)) {
      pause_accepting();
      break;
    }
    // Any other error is about the one connection that was to be accepted, which is gone.
  }
  return handled;
}

std::size_t EpollTransport::greet(const detail::SinkRef& sink, ListenerId listener, int fd) {
  Connection* connection = take_slot();
  if (connection == nullptr) {
    ++counters_.refused_full;
    ::close(fd);
    return 0;
  }
  connection->tuning = find(listener)->tuning;
  detail::prepare_socket(fd, connection->tuning, warnings_);
  connection->fd = fd;
  connections_.make_open(*connection);
  watch(*connection, EPOLL_CTL_ADD, EPOLLIN);
  ++counters_.accepted;
  sink.on_accept(sink.sink, listener, connections_.id_of(*connection), detail::peer_name(fd));
  return 1;
}

// A level-triggered listener that cannot accept would end every wait at once, so it is not watched for a while.
void EpollTransport::pause_accepting() noexcept {
  ++counters_.accept_pauses;
  accepting_paused_ = true;
  accept_again_ = monotonic_now() + options_.accept_pause;
  for (Listener& listener : listeners_) {
    if (listener.fd < 0 || listener.paused) continue;
    listener.paused = ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener.fd, nullptr) == 0;
  }
}

void EpollTransport::resume_accepting() noexcept {
  accepting_paused_ = false;
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    Listener& listener = listeners_[i];
    if (listener.fd < 0 || !listener.paused) continue;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 =
        std::to_underlying(detail::make_id<ListenerId>(static_cast<std::uint32_t>(i), listener.generation)) |
        listener_flag;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener.fd, &event) == 0) {
      listener.paused = false;
    } else {
      accepting_paused_ = true;  // still short of memory: the next deadline tries again
      accept_again_ = monotonic_now() + options_.accept_pause;
    }
  }
}

// ---- connecting ----

std::expected<ConnectionId, TransportError> EpollTransport::connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options) {
  if (auto refused = detail::refuse_tls("connect ", endpoint, options)) return std::unexpected(*std::move(refused));
  auto route = detail::find_route(endpoint, options.from);
  if (!route) return std::unexpected(std::move(route.error()));
  Connection* connection = take_slot();
  if (connection == nullptr) {
    return std::unexpected(TransportError{ENOSPC, "no connection left for connect " + to_string(endpoint)});
  }
  connection->state = State::connecting;
  connection->tuning = SocketTuning::of(options);
  connection->from = route->from;
  connection->untried = std::move(route->untried);
  const int error = detail::start_connect(*connection, warnings_);
  if (error == 0) {
    watch(*connection, EPOLL_CTL_ADD, EPOLLOUT);
  } else if (reason_of(error) == CloseReason::local_error) {
    free_slot(*connection);
    return std::unexpected(TransportError{error, "connect " + to_string(endpoint)});
  } else {
    connections_.make_broken(*connection, reason_of(error));
  }
  return connections_.id_of(*connection);
}

std::size_t EpollTransport::finish_connect(const detail::SinkRef& sink, ConnectionId id, Connection& connection) {
  int error = detail::take_socket_error(connection.fd);
  if (error != 0) {
    if (!connection.untried.empty()) {
      const int next_error = detail::start_connect(connection, warnings_);
      if (next_error == 0) {
        watch(connection, EPOLL_CTL_ADD, EPOLLOUT);
        return 0;
      }
      error = next_error;
    }
    return report_close(sink, id, connection, reason_of(error));
  }
  connection.untried.clear();
  connections_.make_open(connection);
  watch(connection, EPOLL_CTL_MOD, EPOLLIN);
  sink.on_connect(sink.sink, id);
  return 1;
}

// ---- sending and closing ----

SendResult EpollTransport::try_send(ConnectionId id, std::span<const char> bytes) noexcept {
  Connection* connection = connections_.find(id);
  if (connection == nullptr || connection->broken) return {0, true};
  if (connection->state != State::open || bytes.empty()) return {0, false};
  const ssize_t sent = ::send(connection->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(bytes.size())) return {bytes.size(), false};
  if (sent < 0 && !would_block(errno)) {
    connections_.make_broken(*connection, reason_of(errno));
    return {0, true};
  }
  if (!connection->wants_write) {
    connection->wants_write = true;
    watch_for_more(*connection);
  }
  return {sent < 0 ? 0 : static_cast<std::size_t>(sent), false};
}

// Bytes stay in the kernel's buffer while a connection is held, and then in the peer's.
void EpollTransport::hold(ConnectionId id, bool held) noexcept {
  Connection* connection = connections_.find(id);
  if (connection == nullptr || connection->state != State::open || connection->held == held) return;
  connection->held = held;
  if (std::exchange(connection->unwatched, false)) {
    watch(*connection, EPOLL_CTL_ADD, EPOLLIN);
  } else {
    watch_for_more(*connection);
  }
}

void EpollTransport::watch_for_more(Connection& connection) noexcept {
  if (connection.unwatched) return;
  watch(connection, EPOLL_CTL_MOD, (connection.held ? 0U : EPOLLIN) | (connection.wants_write ? EPOLLOUT : 0U));
}

void EpollTransport::close(ConnectionId id) noexcept {
  Connection* connection = connections_.find(id);
  if (connection == nullptr) return;
  const bool can_linger =
      connection->state == State::open && !connection->broken && options_.linger_time > Duration::zero();
  if (can_linger && ::shutdown(connection->fd, SHUT_WR) == 0) {
    begin_lingering(*connection);
  } else {
    free_slot(*connection);
  }
}

// Closing a socket with unread input, or input still to come, answers the peer with a reset, which can destroy bytes on
// their way to it. So only our direction ends here, and input is read and dropped until the peer ends its own.
void EpollTransport::begin_lingering(Connection& connection) noexcept {
  connections_.make_lingering(connection, monotonic_now() + options_.linger_time);
  watch(connection, std::exchange(connection.unwatched, false) ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, EPOLLIN);
}

void EpollTransport::serve_lingering(Connection& connection) noexcept {
  const ssize_t received = ::recv(connection.fd, buffer_.get(), options_.receive_buffer_size, MSG_DONTWAIT);
  if (received == 0 || (received < 0 && !would_block(errno))) free_slot(connection);
}

// ---- polling ----

void EpollTransport::wake() noexcept { detail::raise_wake_event(wake_); }

std::size_t EpollTransport::poll_with(const detail::SinkRef& sink, Duration max_wait) {
  std::size_t handled = 0;
  if (!connections_.broken.empty()) [[unlikely]] {
    handled = serve_broken(sink);
    max_wait = Duration::zero();
  }
  const bool direct = !connections_.open.empty() && connections_.open.size() <= options_.direct_receive_limit;
  if (max_wait <= Duration::zero() && direct && polls_until_wait_ > 0) {
    --polls_until_wait_;
    return handled + poll_directly(sink);
  }
  polls_until_wait_ = polls_per_epoll_wait - 1;
  return handled + wait_and_serve(sink, max_wait);
}

// The spin path: asking few sockets directly is cheaper than asking epoll which of them to ask.
std::size_t EpollTransport::poll_directly(const detail::SinkRef& sink) {
  std::array<ConnectionId, max_direct_receive_limit> ids;  // callbacks may change connections_.open
  const std::size_t count = connections_.open.size();
  for (std::size_t i = 0; i < count; ++i) ids[i] = connections_.id_of(connections_.all[connections_.open[i]]);
  std::size_t handled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (Connection* connection = connections_.find(ids[i]); connection != nullptr && !connection->held) {
      handled += receive(sink, ids[i], *connection);
    }
  }
  return handled;
}

std::size_t EpollTransport::wait_and_serve(const detail::SinkRef& sink, Duration max_wait) {
  const bool deadlines = !connections_.lingering.empty() || accepting_paused_;
  if (deadlines) max_wait = shortened_wait(max_wait);
  max_wait = std::clamp(max_wait, Duration::zero(), longest_wait);
  std::array<epoll_event, events_per_wait> events;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(max_wait);
  const timespec timeout{seconds.count(), (max_wait - seconds).count()};
  int ready = -1;
  if (has_pwait2_) {
    ready = ::epoll_pwait2(epoll_, events.data(), events_per_wait, &timeout, nullptr);
    if (ready < 0 && errno == ENOSYS) has_pwait2_ = false;
  }
  if (!has_pwait2_) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(max_wait);
    ready = ::epoll_wait(epoll_, events.data(), events_per_wait, static_cast<int>(milliseconds.count()));
  }
  ++counters_.epoll_waits;
  std::size_t handled = 0;
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == wake_event) {
      detail::clear_wake_event(wake_);
    } else if ((event.data.u64 & listener_flag) != 0) {
      handled += accept_from(sink, ListenerId{event.data.u64 & ~listener_flag});
    } else {
      handled += serve(sink, ConnectionId{event.data.u64}, event.events);
    }
  }
  if (deadlines) keep_deadlines();
  return handled;
}

// Reading first hands on what the peer sent before the end; the close follows once nothing is left.
std::size_t EpollTransport::serve_broken(const detail::SinkRef& sink) {
  std::size_t handled = 0;
  for (std::size_t i = connections_.broken.size(); i-- > 0;) {
    if (i >= connections_.broken.size())
      continue;  // callbacks shortened the list; what moved is served by the next poll
    const ConnectionId id = connections_.broken[i];
    Connection* connection = connections_.find(id);
    NFX_ASSERT(connection != nullptr);
    if (connection->held) continue;
    const bool may_have_input = connection->state == State::open && connection->reason != CloseReason::local_error;
    handled +=
        may_have_input ? receive(sink, id, *connection) : report_close(sink, id, *connection, connection->reason);
  }
  return handled;
}

std::size_t EpollTransport::serve(const detail::SinkRef& sink, ConnectionId id, std::uint32_t events) {
  Connection* connection = connections_.find(id);  // an earlier event of this wait may have closed it
  if (connection == nullptr) return 0;
  if (connection->state == State::connecting) return connection->broken ? 0 : finish_connect(sink, id, *connection);
  if (connection->state == State::lingering) {
    serve_lingering(*connection);
    return 0;
  }
  std::size_t handled = 0;
  const bool readable = (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0;
  if (readable && connection->held) {
    if ((events & (EPOLLERR | EPOLLHUP)) == 0) return 0;
    connection->unwatched = ::epoll_ctl(epoll_, EPOLL_CTL_DEL, connection->fd, nullptr) == 0;
    return 0;
  }
  if (readable) {
    handled += receive(sink, id, *connection);
    connection = connections_.find(id);
    if (connection == nullptr) return handled;
  }
  if ((events & EPOLLOUT) != 0 && connection->wants_write && !connection->broken) {
    connection->wants_write = false;
    watch_for_more(*connection);
    sink.on_writable(sink.sink, id);
    ++handled;
  }
  return handled;
}

std::size_t EpollTransport::receive(const detail::SinkRef& sink, ConnectionId id, Connection& connection) {
  const auto received =
      detail::receive_some(connection.fd, connection.tuning, buffer_.get(), options_.receive_buffer_size);
  if (received.size > 0) {
    received_at_ = received.at;
    sink.on_receive(sink.sink, id, {buffer_.get(), static_cast<std::size_t>(received.size)});
    received_at_.reset();
    return 1;
  }
  if (received.size < 0 && would_block(errno) && !connection.broken) return 0;
  const CloseReason reason = received.size == 0 ? CloseReason::peer_closed : reason_of(errno);
  return report_close(sink, id, connection, connection.broken ? connection.reason : reason);
}

std::size_t EpollTransport::report_close(const detail::SinkRef& sink, ConnectionId id, Connection& connection,
                                         CloseReason reason) {
  free_slot(connection);
  sink.on_close(sink.sink, id, reason);
  return 1;
}

Duration EpollTransport::shortened_wait(Duration max_wait) const noexcept {
  const MonotonicTime now = monotonic_now();
  if (accepting_paused_) max_wait = std::min(max_wait, accept_again_ - now);
  for (const std::uint32_t slot : connections_.lingering)
    max_wait = std::min(max_wait, connections_.all[slot].linger_until - now);
  return max_wait;
}

void EpollTransport::keep_deadlines() noexcept {
  const MonotonicTime now = monotonic_now();
  if (accepting_paused_ && now >= accept_again_) resume_accepting();
  for (std::size_t i = connections_.lingering.size(); i-- > 0;) {
    Connection& connection = connections_.all[connections_.lingering[i]];
    if (now < connection.linger_until) continue;
    ++counters_.linger_cut_short;
    free_slot(connection);
  }
}

// ---- slots ----

const EpollTransport::Listener* EpollTransport::find(ListenerId id) const noexcept {
  const std::uint32_t slot = detail::id_slot(id);
  if (slot >= listeners_.size()) return nullptr;
  const Listener& listener = listeners_[slot];
  return listener.fd >= 0 && listener.generation == detail::id_generation(id) ? &listener : nullptr;
}

// A closed connection that still lingers gives way to one that has its life before it.
EpollTransport::Connection* EpollTransport::take_slot() noexcept {
  if (connections_.full() && !connections_.lingering.empty()) {
    ++counters_.linger_cut_short;
    free_slot(*connections_.oldest_lingering());
  }
  return connections_.take();
}

void EpollTransport::free_slot(Connection& connection) noexcept {
  if (connection.fd >= 0) ::close(connection.fd);
  connection.unwatched = false;
  connections_.give_back(connection);
}

void EpollTransport::watch(Connection& connection, int operation, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::to_underlying(connections_.id_of(connection));
  // Only a kernel out of memory or over its limit of watches fails here; such a connection could never be served.
  if (::epoll_ctl(epoll_, operation, connection.fd, &event) != 0 && !connection.broken &&
      connection.state != State::lingering) {
    connections_.make_broken(connection, CloseReason::local_error);
  }
}

}  // namespace nfx
