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

namespace nfx {

namespace {

// What an epoll event is about: a connection's id as it is, a listener's id with the top bit of its slot set, or 0 for
// wake.
constexpr std::uint64_t wake_event = 0;
constexpr std::uint64_t listener_flag = std::uint64_t{1} << 31;

// The longest poll: far beyond any timer, and safe to convert.
constexpr Duration longest_wait = std::chrono::hours(1);

[[nodiscard]] MonotonicTime monotonic_now() noexcept { return std::chrono::steady_clock::now(); }

[[nodiscard]] bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

[[nodiscard]] CloseReason reason_of(int error) noexcept {
  switch (error) {
    case ECONNREFUSED: return CloseReason::refused;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE: return CloseReason::reset;
    case ETIMEDOUT: return CloseReason::timed_out;
    case ENETUNREACH:
    case ENETDOWN:
    case EHOSTUNREACH:
    case EHOSTDOWN: return CloseReason::unreachable;
    default: return CloseReason::local_error;
  }
}

// The error that waits in a socket, taken out of it.
[[nodiscard]] int take_socket_error(int fd) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

void set_option(int fd, int level, int name, int option_value) noexcept {
  ::setsockopt(fd, level, name, &option_value, sizeof option_value);  // a tuning that the kernel refuses is no failure
}

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

EpollTransport::EpollTransport(EpollOptions options) : options_(options) {
  check_options(options);
  buffer_ = std::make_unique_for_overwrite<char[]>(options.receive_buffer_size);
  connections_.resize(options.max_connections);
  free_.resize(options.max_connections);
  for (std::size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<std::uint32_t>(free_.size() - 1 - i);
  open_.reserve(options.max_connections);
  lingering_.reserve(options.max_connections);
  broken_.reserve(options.max_connections);
  listeners_.resize(options.max_listeners);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = wake_event;
  if (wake_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    const int error = errno;
    if (wake_ >= 0) ::close(wake_);
    ::close(epoll_);
    throw std::system_error(error, std::generic_category(), "eventfd");
  }
}

// Nobody polls any more: what already lies unread is thrown away so that it does not turn the end into a reset.
EpollTransport::~EpollTransport() {
  constexpr int discard_limit = 16;
  for (Connection& connection : connections_) {
    if (connection.state == State::free) continue;
    ::shutdown(connection.fd, SHUT_WR);
    for (int i = 0; i < discard_limit; ++i) {
      if (::recv(connection.fd, buffer_.get(), options_.receive_buffer_size, MSG_DONTWAIT) <= 0) break;
    }
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
  const auto fail = [&](const char* operation, int code) {
    return std::unexpected(TransportError{code, operation + to_string(endpoint)});
  };
  const auto place = std::ranges::find(listeners_, -1, &Listener::fd);
  if (place == listeners_.end()) return fail("no listener left for ", ENOSPC);
  auto addresses = detail::look_up(endpoint);
  if (!addresses) return std::unexpected(std::move(addresses.error()));
  const addrinfo& address = **addresses;
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail("socket for ", errno);
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  const Tuning tuning{options.nodelay, options.send_buffer, options.receive_buffer};
  prepare_socket(fd, tuning);
  const char* failed = nullptr;
  if (::bind(fd, address.ai_addr, address.ai_addrlen) != 0) {
    failed = "bind ";
  } else if (::listen(fd, options_.listen_backlog) != 0) {
    failed = "listen on ";
  } else {
    const auto slot = static_cast<std::uint32_t>(place - listeners_.begin());
    const auto id = detail::make_id<ListenerId>(slot, place->generation + 1);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = std::to_underlying(id) | listener_flag;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) {
      place->fd = fd;
      place->paused = false;
      place->tuning = tuning;
      ++place->generation;
      return id;
    }
    failed = "watch ";
  }
  const int error = errno;
  ::close(fd);
  return fail(failed, error);
}

std::optional<Endpoint> EpollTransport::local_endpoint(ListenerId id) const {
  const Listener* listener = const_cast<EpollTransport*>(this)->find(id);
  if (listener == nullptr) return std::nullopt;
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener->fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  return detail::endpoint_of(address, size);
}

void EpollTransport::close_listener(ListenerId id) noexcept {
  Listener* listener = find(id);
  if (listener == nullptr) return;
  ::close(listener->fd);
  listener->fd = -1;
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
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      pause_accepting();
      break;
    }
    // Any other error is about the one connection that was to be accepted, which is gone.
  }
  return handled;
}

std::size_t EpollTransport::greet(const detail::SinkRef& sink, ListenerId listener, int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::optional<Endpoint> peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) peer = detail::endpoint_of(address, size);
  Connection* connection = take_slot();
  if (connection == nullptr) {
    ++counters_.refused_full;
    ::close(fd);
    return 0;
  }
  connection->tuning = find(listener)->tuning;
  prepare_socket(fd, connection->tuning);
  connection->fd = fd;
  connection->state = State::open;
  enlist(open_, *connection);
  watch(*connection, EPOLL_CTL_ADD, EPOLLIN);
  ++counters_.accepted;
  sink.on_accept(sink.sink, listener, id_of(*connection), peer ? to_string(*peer) : std::string("unknown"));
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
  auto addresses = detail::look_up(endpoint);
  if (!addresses) return std::unexpected(std::move(addresses.error()));
  std::optional<SocketAddress> from;
  if (!options.from.host.empty()) {
    auto local = detail::look_up(options.from);
    if (!local) return std::unexpected(std::move(local.error()));
    from = socket_address(**local);
  }
  Connection* connection = take_slot();
  if (connection == nullptr) {
    return std::unexpected(TransportError{ENOSPC, "no connection left for connect " + to_string(endpoint)});
  }
  connection->state = State::connecting;
  connection->tuning = {options.nodelay, options.send_buffer, options.receive_buffer};
  connection->from = from;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    if (const auto address = socket_address(*at)) connection->untried.insert(connection->untried.begin(), *address);
  }
  const int error = start_connect(*connection);
  if (error != 0 && reason_of(error) == CloseReason::local_error) {
    free_slot(*connection);
    return std::unexpected(TransportError{error, "connect " + to_string(endpoint)});
  }
  if (error != 0) defer_close(*connection, reason_of(error));
  return id_of(*connection);
}

std::optional<EpollTransport::SocketAddress> EpollTransport::socket_address(const addrinfo& from) noexcept {
  SocketAddress address;
  if (from.ai_addrlen > address.bytes.size()) return std::nullopt;
  std::memcpy(address.bytes.data(), from.ai_addr, from.ai_addrlen);
  address.size = from.ai_addrlen;
  return address;
}

// Begins with the next address that takes a beginning. 0, or the error of the last one.
int EpollTransport::start_connect(Connection& connection) noexcept {
  int error = EADDRNOTAVAIL;
  while (!connection.untried.empty()) {
    const SocketAddress address = connection.untried.back();
    connection.untried.pop_back();
    const auto* target = reinterpret_cast<const sockaddr*>(address.bytes.data());
    if (connection.fd >= 0) ::close(connection.fd);
    connection.fd = ::socket(target->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection.fd < 0) {
      error = errno;
      continue;
    }
    prepare_socket(connection.fd, connection.tuning);
    if (connection.from) {
      // A local port that a connection of a moment ago had may be used again.
      set_option(connection.fd, SOL_SOCKET, SO_REUSEADDR, 1);
      const auto* local = reinterpret_cast<const sockaddr*>(connection.from->bytes.data());
      if (::bind(connection.fd, local, connection.from->size) != 0) {
        error = errno;
        continue;
      }
    }
    if (::connect(connection.fd, target, address.size) == 0 || errno == EINPROGRESS) {
      watch(connection, EPOLL_CTL_ADD, EPOLLOUT);
      return 0;
    }
    error = errno;
  }
  return error;
}

std::size_t EpollTransport::finish_connect(const detail::SinkRef& sink, ConnectionId id, Connection& connection) {
  int error = take_socket_error(connection.fd);
  if (error != 0) {
    if (!connection.untried.empty()) {
      const int next_error = start_connect(connection);
      if (next_error == 0) return 0;
      error = next_error;
    }
    return report_close(sink, id, connection, reason_of(error));
  }
  connection.untried.clear();
  connection.state = State::open;
  enlist(open_, connection);
  watch(connection, EPOLL_CTL_MOD, EPOLLIN);
  sink.on_connect(sink.sink, id);
  return 1;
}

// ---- sending and closing ----

SendResult EpollTransport::try_send(ConnectionId id, std::span<const char> bytes) noexcept {
  Connection* connection = find(id);
  if (connection == nullptr || connection->broken) return {0, true};
  if (connection->state != State::open || bytes.empty()) return {0, false};
  const ssize_t sent = ::send(connection->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(bytes.size())) return {bytes.size(), false};
  if (sent < 0 && !would_block(errno)) {
    defer_close(*connection, reason_of(errno));
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
  Connection* connection = find(id);
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

void EpollTransport::defer_close(Connection& connection, CloseReason reason) noexcept {
  connection.broken = true;
  connection.reason = reason;
  broken_.push_back(id_of(connection));  // within its reserve: free_slot takes entries out
}

void EpollTransport::close(ConnectionId id) noexcept {
  Connection* connection = find(id);
  if (connection == nullptr) return;
  const bool was_open = connection->state == State::open;
  if (was_open) unlist(open_, *connection);
  const bool can_linger = was_open && !connection->broken && options_.linger_time > Duration::zero();
  if (can_linger && ::shutdown(connection->fd, SHUT_WR) == 0) {
    begin_lingering(*connection);
  } else {
    free_slot(*connection);
  }
}

// Closing a socket with unread input, or input still to come, answers the peer with a reset, which can destroy bytes on
// their way to it. So only our direction ends here, and input is read and dropped until the peer ends its own.
void EpollTransport::begin_lingering(Connection& connection) noexcept {
  ++connection.generation;  // the caller's id is stale from here on
  if (connection.generation == 0) connection.generation = 1;
  connection.state = State::lingering;
  connection.wants_write = connection.held = false;
  connection.linger_until = monotonic_now() + options_.linger_time;
  enlist(lingering_, connection);
  watch(connection, std::exchange(connection.unwatched, false) ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, EPOLLIN);
}

void EpollTransport::serve_lingering(Connection& connection) noexcept {
  const ssize_t received = ::recv(connection.fd, buffer_.get(), options_.receive_buffer_size, MSG_DONTWAIT);
  if (received == 0 || (received < 0 && !would_block(errno))) end_lingering(connection);
}

void EpollTransport::end_lingering(Connection& connection) noexcept {
  unlist(lingering_, connection);
  free_slot(connection);
}

// ---- polling ----

void EpollTransport::wake() noexcept {
  const std::uint64_t one = 1;
  // A full counter means that a wake is outstanding already.
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

std::size_t EpollTransport::poll_with(const detail::SinkRef& sink, Duration max_wait) {
  std::size_t handled = 0;
  if (!broken_.empty()) [[unlikely]] {
    handled = serve_broken(sink);
    max_wait = Duration::zero();
  }
  const bool direct = !open_.empty() && open_.size() <= options_.direct_receive_limit;
  if (max_wait <= Duration::zero() && direct && polls_until_wait_ > 0) {
    --polls_until_wait_;
    return handled + poll_directly(sink);
  }
  polls_until_wait_ = polls_per_epoll_wait - 1;
  return handled + wait_and_serve(sink, max_wait);
}

// The spin path: asking few sockets directly is cheaper than asking epoll which of them to ask.
std::size_t EpollTransport::poll_directly(const detail::SinkRef& sink) {
  std::array<ConnectionId, max_direct_receive_limit> ids;  // callbacks may change open_
  const std::size_t count = open_.size();
  for (std::size_t i = 0; i < count; ++i) ids[i] = id_of(connections_[open_[i]]);
  std::size_t handled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (Connection* connection = find(ids[i]); connection != nullptr && !connection->held) {
      handled += receive(sink, ids[i], *connection);
    }
  }
  return handled;
}

std::size_t EpollTransport::wait_and_serve(const detail::SinkRef& sink, Duration max_wait) {
  const bool deadlines = !lingering_.empty() || accepting_paused_;
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
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t drained = ::read(wake_, &count, sizeof count);
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
  for (std::size_t i = broken_.size(); i-- > 0;) {
    if (i >= broken_.size()) continue;  // callbacks shortened the list; what moved is served by the next poll
    const ConnectionId id = broken_[i];
    Connection* connection = find(id);
    NFX_ASSERT(connection != nullptr);
    if (connection->held) continue;
    const bool may_have_input = connection->state == State::open && connection->reason != CloseReason::local_error;
    handled +=
        may_have_input ? receive(sink, id, *connection) : report_close(sink, id, *connection, connection->reason);
  }
  return handled;
}

std::size_t EpollTransport::serve(const detail::SinkRef& sink, ConnectionId id, std::uint32_t events) {
  Connection* connection = find(id);  // an earlier event of this wait may have closed it
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
    connection = find(id);
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
  const ssize_t received = ::recv(connection.fd, buffer_.get(), options_.receive_buffer_size, MSG_DONTWAIT);
  if (received > 0) {
    sink.on_receive(sink.sink, id, {buffer_.get(), static_cast<std::size_t>(received)});
    return 1;
  }
  if (received < 0 && would_block(errno) && !connection.broken) return 0;
  const CloseReason reason = received == 0 ? CloseReason::peer_closed : reason_of(errno);
  return report_close(sink, id, connection, connection.broken ? connection.reason : reason);
}

std::size_t EpollTransport::report_close(const detail::SinkRef& sink, ConnectionId id, Connection& connection,
                                         CloseReason reason) {
  if (connection.state == State::open) unlist(open_, connection);
  free_slot(connection);
  sink.on_close(sink.sink, id, reason);
  return 1;
}

Duration EpollTransport::shortened_wait(Duration max_wait) const noexcept {
  const MonotonicTime now = monotonic_now();
  if (accepting_paused_) max_wait = std::min(max_wait, accept_again_ - now);
  for (const std::uint32_t slot : lingering_) max_wait = std::min(max_wait, connections_[slot].linger_until - now);
  return max_wait;
}

void EpollTransport::keep_deadlines() noexcept {
  const MonotonicTime now = monotonic_now();
  if (accepting_paused_ && now >= accept_again_) resume_accepting();
  for (std::size_t i = lingering_.size(); i-- > 0;) {
    Connection& connection = connections_[lingering_[i]];
    if (now < connection.linger_until) continue;
    ++counters_.linger_cut_short;
    end_lingering(connection);
  }
}

// ---- slots ----

EpollTransport::Connection* EpollTransport::find(ConnectionId id) noexcept {
  const std::uint32_t slot = detail::id_slot(id);
  if (slot >= connections_.size()) return nullptr;
  Connection& connection = connections_[slot];
  const bool alive = connection.state != State::free && connection.generation == detail::id_generation(id);
  return alive ? &connection : nullptr;
}

EpollTransport::Listener* EpollTransport::find(ListenerId id) noexcept {
  const std::uint32_t slot = detail::id_slot(id);
  if (slot >= listeners_.size()) return nullptr;
  Listener& listener = listeners_[slot];
  return listener.fd >= 0 && listener.generation == detail::id_generation(id) ? &listener : nullptr;
}

ConnectionId EpollTransport::id_of(const Connection& connection) const noexcept {
  return detail::make_id<ConnectionId>(static_cast<std::uint32_t>(&connection - connections_.data()),
                                       connection.generation);
}

// A closed connection that still lingers gives way to one that has its life before it.
EpollTransport::Connection* EpollTransport::take_slot() noexcept {
  if (free_.empty() && !lingering_.empty()) {
    const auto until = [this](std::uint32_t slot) { return connections_[slot].linger_until; };
    ++counters_.linger_cut_short;
    end_lingering(connections_[*std::ranges::min_element(lingering_, {}, until)]);
  }
  if (free_.empty()) return nullptr;
  Connection& connection = connections_[free_.back()];
  free_.pop_back();
  ++connection.generation;
  if (connection.generation == 0) connection.generation = 1;
  return &connection;
}

void EpollTransport::free_slot(Connection& connection) noexcept {
  if (connection.broken) std::erase(broken_, id_of(connection));
  if (connection.fd >= 0) ::close(connection.fd);
  connection.fd = -1;
  connection.state = State::free;
  connection.wants_write = connection.held = connection.unwatched = false;
  connection.broken = false;
  connection.untried.clear();
  connection.from.reset();
  free_.push_back(static_cast<std::uint32_t>(&connection - connections_.data()));
}

void EpollTransport::enlist(std::vector<std::uint32_t>& list, Connection& connection) noexcept {
  connection.position = static_cast<std::uint32_t>(list.size());
  list.push_back(static_cast<std::uint32_t>(&connection - connections_.data()));
}

void EpollTransport::unlist(std::vector<std::uint32_t>& list, Connection& connection) noexcept {
  const std::uint32_t last = list.back();
  list[connection.position] = last;
  connections_[last].position = connection.position;
  list.pop_back();
}

void EpollTransport::watch(Connection& connection, int operation, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::to_underlying(id_of(connection));
  // Only a kernel out of memory or over its limit of watches fails here; such a connection could never be served.
  if (::epoll_ctl(epoll_, operation, connection.fd, &event) != 0 && !connection.broken &&
      connection.state != State::lingering) {
    defer_close(connection, CloseReason::local_error);
  }
}

void EpollTransport::prepare_socket(int fd, const Tuning& tuning) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, tuning.nodelay ? 1 : 0);
  if (tuning.send_buffer > 0) set_option(fd, SOL_SOCKET, SO_SNDBUF, tuning.send_buffer);
  if (tuning.receive_buffer > 0) set_option(fd, SOL_SOCKET, SO_RCVBUF, tuning.receive_buffer);
}

}  // namespace nfx
