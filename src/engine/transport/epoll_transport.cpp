// TCP over epoll: level-triggered, one bounded read per connection and poll.
#include "transport/epoll_transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/call_trace.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/tcp_registry_impl.hpp"
#include "transport/tcp_socket.hpp"

namespace nfx {

using detail::longest_wait;
using detail::reason_of;
using detail::would_block;

namespace {

// The meaning of an epoll event's data: a connection's id, a listener's id with the top bit of its slot set, 0 for
// wake, or a descriptor of the program with this flag.
constexpr std::uint64_t wake_event = 0;
constexpr std::uint64_t foreign_event = std::uint64_t{3} << 30;
constexpr std::uint64_t listener_flag = std::uint64_t{1} << 31;

const EpollOptions& checked(const EpollOptions& options) {
  detail::check_tcp_options(options);
  detail::require_option(options.direct_receive_limit <= 64, "direct_receive_limit: expected at most 64");
  return options;
}

}  // namespace

EpollTransport::EpollTransport(EpollOptions options) : Registry(checked(options)) {
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

EpollTransport::~EpollTransport() {
  end_connections();
  end_listeners();
  ::close(wake_);
  ::close(epoll_);
}

std::expected<ListenerId, TransportError> EpollTransport::listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options) {
  return Registry::listen(endpoint, options);
}
std::optional<Endpoint> EpollTransport::local_endpoint(ListenerId id) const { return Registry::local_endpoint(id); }
void EpollTransport::close_listener(ListenerId id) noexcept { Registry::close_listener(id); }
std::expected<ConnectionId, TransportError> EpollTransport::connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options) {
  return Registry::connect(endpoint, options);
}
SendResult EpollTransport::try_send(ConnectionId id, std::span<const char> bytes) noexcept {
  NFX_TRACE();
  return Registry::try_send(id, bytes);
}
void EpollTransport::close(ConnectionId id) noexcept { Registry::close(id); }
std::expected<int, NotDetached> EpollTransport::detach(ConnectionId id, std::string& received) {
  return Registry::detach(id, received);
}
std::optional<ConnectionId> EpollTransport::adopt(int fd, const SocketOptions& options) {
  return Registry::adopt(fd, options);
}

// Accepting.

int EpollTransport::watch_listener(const Listener& listener) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = std::to_underlying(id_of(listener)) | listener_flag;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener.fd, &event) == 0 ? 0 : errno;
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
      unwatch_listeners();
      break;
    }
    // Any other error concerns only the connection being accepted, which is gone.
  }
  return handled;
}

// A level-triggered listener that cannot accept would end every wait immediately, so it is not watched for a while.
void EpollTransport::unwatch_listeners() noexcept {
  for (Listener& listener : listeners_) {
    if (listener.fd < 0 || listener.paused) continue;
    listener.paused = ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener.fd, nullptr) == 0;
  }
}

void EpollTransport::resume_accepting() noexcept {
  for (Listener& listener : listeners_) {
    if (listener.fd < 0 || !listener.paused) continue;
    if (watch_listener(listener) == 0) {
      listener.paused = false;
    } else {
      accept_later();  // still short of memory: try again at the next deadline
    }
  }
}

// Holding and closing.

// While a connection is held, bytes stay in the kernel's buffer, and then in the peer's.
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
  NFX_ASSERT(!connection.unwatched || connection.held);  // only a held connection is removed from epoll
  if (connection.unwatched) return;
  watch(connection, EPOLL_CTL_MOD, (connection.held ? 0U : EPOLLIN) | (connection.wants_write ? EPOLLOUT : 0U));
}

void EpollTransport::watch_lingering(Connection& connection) noexcept {
  watch(connection, std::exchange(connection.unwatched, false) ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, EPOLLIN);
}

void EpollTransport::serve_lingering(Connection& connection) noexcept {
  NFX_ASSERT(connection.state == State::lingering && connection.fd >= 0);
  const ssize_t received = ::recv(connection.fd, buffer_.get(), options_.receive_buffer_size, MSG_DONTWAIT);
  if (received > 0) return drop_input(connection, static_cast<std::size_t>(received));
  if (received == 0 || !would_block(errno)) free_slot(connection);
}

// Polling.

void EpollTransport::wake() noexcept { detail::raise_wake_event(wake_); }

void EpollTransport::wake_when_readable(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = foreign_event;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0)
    throw std::system_error(errno, std::generic_category(), "watch a descriptor of the program");
}

std::size_t EpollTransport::poll_with(const detail::SinkRef& sink, Duration max_wait) {
  NFX_TRACE();
  std::size_t handled = 0;
  if (!connections_.broken.empty()) [[unlikely]] {
    handled = serve_broken(sink);
    max_wait = Duration::zero();
  }
  const bool direct = !connections_.open.empty() && connections_.open.size() <= options_.direct_receive_limit;
  if (max_wait <= Duration::zero() && direct && polls_until_wait_ > 0) {
    --polls_until_wait_;
    if (--polls_until_direct_ == 0) leave_epoll();
    return handled + poll_directly(sink);
  }
  if (!direct || max_wait > Duration::zero()) return_to_epoll();
  polls_until_wait_ = polls_per_epoll_wait - 1;
  return handled + wait_and_serve(sink, max_wait);
}

// The busy-polling path. Reading a few sockets directly is cheaper than asking epoll which of them to read.
std::size_t EpollTransport::poll_directly(const detail::SinkRef& sink) {
  NFX_TRACE();
  std::array<ConnectionId, max_direct_receive_limit> ids;  // callbacks may change connections_.open
  const std::size_t count = connections_.open.size();
  NFX_ASSERT(count <= ids.size());
  for (std::size_t i = 0; i < count; ++i) ids[i] = connections_.id_of(connections_.all[connections_.open[i]]);
  std::size_t handled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (Connection* connection = connections_.find(ids[i]); connection != nullptr && !connection->held) {
      handled += receive(sink, ids[i], *connection);
    }
  }
  return handled;
}

// For a watched socket, the thread that sends a segment first puts it on epoll's list, which no poll reads while all
// sockets are read directly. So sockets are removed from epoll; sockets added later or watched meanwhile are removed in
// the next round.
void EpollTransport::leave_epoll() noexcept {
  polls_until_direct_ = direct_polls;
  for (const std::uint32_t slot : connections_.open) {
    Connection& connection = connections_.all[slot];
    if (connection.direct || connection.unwatched || connection.held || connection.wants_write || connection.broken)
      continue;
    connection.direct = ::epoll_ctl(epoll_, EPOLL_CTL_DEL, connection.fd, nullptr) == 0;
    some_direct_ |= connection.direct;
  }
}

void EpollTransport::return_to_epoll() noexcept {
  polls_until_direct_ = direct_polls;
  if (!std::exchange(some_direct_, false)) return;
  for (const std::uint32_t slot : connections_.open) {
    Connection& connection = connections_.all[slot];
    if (connection.direct) watch(connection, EPOLL_CTL_ADD, EPOLLIN);
  }
}

std::size_t EpollTransport::wait_and_serve(const detail::SinkRef& sink, Duration max_wait) {
  NFX_TRACE();
  const bool deadlines = has_deadlines();
  if (deadlines) max_wait = shortened_wait(max_wait);
  max_wait = std::clamp(max_wait, Duration::zero(), longest_wait);
  std::array<epoll_event, events_per_wait> events;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(max_wait);
  const timespec timeout{seconds.count(), (max_wait - seconds).count()};
  int ready = -1;
  if (max_wait == Duration::zero()) {  // the call that Onload, VMA and XLIO accelerate
    ready = ::epoll_wait(epoll_, events.data(), events_per_wait, 0);
  } else if (has_pwait2_) {
    ready = ::epoll_pwait2(epoll_, events.data(), events_per_wait, &timeout, nullptr);
    if (ready < 0 && errno == ENOSYS) has_pwait2_ = false;
  }
  if (max_wait != Duration::zero() && !has_pwait2_) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(max_wait);
    ready = ::epoll_wait(epoll_, events.data(), events_per_wait, static_cast<int>(milliseconds.count()));
  }
  NFX_ASSERT(ready <= static_cast<int>(events_per_wait));
  ++counters_.epoll_waits;
  std::size_t handled = 0;
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == wake_event) {
      detail::clear_wake_event(wake_);
    } else if (event.data.u64 == foreign_event) {
      continue;
    } else if ((event.data.u64 & listener_flag) != 0) {
      handled += accept_from(sink, ListenerId{event.data.u64 & ~listener_flag});
    } else {
      handled += serve(sink, ConnectionId{event.data.u64}, event.events);
    }
  }
  if (deadlines) keep_deadlines();
  return handled;
}

// First delivers the bytes that the peer sent before the end; the close follows when nothing is left.
std::size_t EpollTransport::serve_broken(const detail::SinkRef& sink) {
  std::size_t handled = 0;
  for (std::size_t i = connections_.broken.size(); i-- > 0;) {
    if (i >= connections_.broken.size())
      continue;  // callbacks shortened the list; the next poll serves the moved entry
    const ConnectionId id = connections_.broken[i];
    Connection* connection = connections_.find(id);
    NFX_ASSERT(connection != nullptr);
    if (connection->held) continue;
    const bool may_have_input = connection->state == State::open && connection->reason != CloseReason::local_error;
    handled += may_have_input ? receive(sink, id, *connection) : report_close(sink, *connection, connection->reason);
  }
  return handled;
}

std::size_t EpollTransport::serve(const detail::SinkRef& sink, ConnectionId id, std::uint32_t events) {
  NFX_TRACE();
  Connection* connection = connections_.find(id);  // an earlier event of this wait may have closed it
  if (connection == nullptr) return 0;
  if (connection->state == State::connecting) return connection->broken ? 0 : finish_connect(sink, *connection);
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
  NFX_TRACE();
  NFX_ASSERT(connections_.find(id) == &connection && connection.state == State::open);
  const auto received =
      detail::receive_some(connection.fd, connection.tuning, buffer_.get(), options_.receive_buffer_size);
  NFX_ASSERT(received.size <= static_cast<ssize_t>(options_.receive_buffer_size));
  if (received.size > 0) {
    received_at_ = received.at;
    sink.on_receive(sink.sink, id, {buffer_.get(), static_cast<std::size_t>(received.size)});
    received_at_.reset();
    return 1;
  }
  if (received.size < 0 && would_block(errno) && !connection.broken) return 0;
  const CloseReason reason = received.size == 0 ? CloseReason::peer_closed : reason_of(errno);
  return report_close(sink, connection, connection.broken ? connection.reason : reason);
}

// Watches.

// Bytes of a held connection are still in the socket. The socket stays open, so its watch must be removed explicitly.
bool EpollTransport::may_detach(Connection& connection, std::string&) noexcept {
  if (!connection.unwatched && !connection.direct) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, connection.fd, nullptr);
  return true;
}

void EpollTransport::free_slot(Connection& connection) noexcept {
  if (connection.fd >= 0) ::close(connection.fd);
  connection.unwatched = connection.direct = false;
  connections_.give_back(connection);
}

void EpollTransport::watch_connecting(Connection& connection) noexcept { watch(connection, EPOLL_CTL_ADD, EPOLLOUT); }

// An outgoing connection has been watched since its start.
void EpollTransport::watch_open(Connection& connection, bool accepted) noexcept {
  watch(connection, accepted ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, EPOLLIN);
}

void EpollTransport::watch(Connection& connection, int operation, std::uint32_t events) noexcept {
  if (std::exchange(connection.direct, false)) operation = EPOLL_CTL_ADD;
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::to_underlying(connections_.id_of(connection));
  // This fails only if the kernel is out of memory or over its limit of watches; such a connection could never be
  // served.
  if (::epoll_ctl(epoll_, operation, connection.fd, &event) != 0 && !connection.broken &&
      connection.state != State::lingering) {
    connections_.make_broken(connection, CloseReason::local_error);
  }
}

}  // namespace nfx
