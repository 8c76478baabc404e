// System calls on TCP sockets, shared by the transports.
#include "transport/tcp_socket.hpp"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "transport/address.hpp"
#include "transport/listen_address.hpp"

namespace nfx::detail {

namespace {

[[nodiscard]] bool set_option(int fd, int level, int name, int option_value) noexcept {
  return ::setsockopt(fd, level, name, &option_value, sizeof option_value) == 0;
}

[[gnu::cold, gnu::noinline]] void warn(Warnings& warnings, std::string option, const char* fix) {
  const std::string text = std::move(option) + ": " + std::generic_category().message(errno) + fix;
  const auto known = std::ranges::find(warnings, text, &TransportWarning::text);
  if (known != warnings.end()) {
    ++known->count;
    return;
  }
  constexpr std::size_t most_warnings = 32;  // distinct ones; a configuration has few
  if (warnings.size() < most_warnings) warnings.push_back({text, 1});
}

[[nodiscard]] std::optional<SocketAddress> socket_address(const addrinfo& from) noexcept {
  SocketAddress address;
  if (from.ai_addrlen > address.bytes.size()) return std::nullopt;
  std::memcpy(address.bytes.data(), from.ai_addr, from.ai_addrlen);
  address.size = from.ai_addrlen;
  return address;
}

// The network card's time stamp if it made one, otherwise the kernel's.
[[nodiscard]] std::optional<UtcTime> stamp_of(msghdr& message) noexcept {
  const auto time_of = [](const timespec& at) -> std::optional<UtcTime> {
    if (at.tv_sec == 0 && at.tv_nsec == 0) return std::nullopt;
    return UtcTime{std::chrono::seconds{at.tv_sec} + std::chrono::nanoseconds{at.tv_nsec}};
  };
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_TIMESTAMPING) continue;
    scm_timestamping stamps{};
    std::memcpy(&stamps, CMSG_DATA(at), sizeof stamps);
    const auto hardware = time_of(stamps.ts[2]);
    return hardware ? hardware : time_of(stamps.ts[0]);
  }
  return std::nullopt;
}

// A bound socket.
template <class Prepare>
[[nodiscard]] std::expected<int, TransportError> open_bound(const Endpoint& endpoint, Prepare&& prepare) {
  const auto fail = [&](const char* operation, int code) {
    return std::unexpected(TransportError{code, operation + to_string(endpoint)});
  };
  auto addresses = look_up(endpoint);
  if (!addresses) return std::unexpected(std::move(addresses.error()));
  const addrinfo& address = **addresses;
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail("socket for ", errno);
  (void)set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  prepare(fd);
  if (::bind(fd, address.ai_addr, address.ai_addrlen) == 0) return fd;
  const int error = errno;
  ::close(fd);
  return fail("bind ", error);
}

}  // namespace

bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

bool short_of_descriptors(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

CloseReason reason_of(int error) noexcept {
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

int take_socket_error(int fd) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

void prepare_socket(int fd, const SocketTuning& tuning, Warnings& warnings) {
  const auto whole = [](const char* name, int amount) { return name + std::to_string(amount); };
  if (!set_option(fd, IPPROTO_TCP, TCP_NODELAY, tuning.nodelay ? 1 : 0)) warn(warnings, "TCP_NODELAY", "");
  if (tuning.send_buffer > 0 && !set_option(fd, SOL_SOCKET, SO_SNDBUF, tuning.send_buffer)) {
    warn(warnings, whole("SO_SNDBUF ", tuning.send_buffer), "");
  }
  if (tuning.receive_buffer > 0 && !set_option(fd, SOL_SOCKET, SO_RCVBUF, tuning.receive_buffer)) {
    warn(warnings, whole("SO_RCVBUF ", tuning.receive_buffer), "");
  }
  if (tuning.busy_poll_us > 0 && !set_option(fd, SOL_SOCKET, SO_BUSY_POLL, tuning.busy_poll_us)) {
    warn(warnings, whole("SO_BUSY_POLL ", tuning.busy_poll_us),
         "; older kernels want CAP_NET_ADMIN for it: give that, or set net.core.busy_read instead");
  }
  if (tuning.quickack && !set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 1)) warn(warnings, "TCP_QUICKACK", "");
  if (tuning.timestamps) {
    constexpr int software = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    constexpr int hardware = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
    if (!set_option(fd, SOL_SOCKET, SO_TIMESTAMPING, software | hardware)) warn(warnings, "SO_TIMESTAMPING", "");
  }
}

// For listeners and connecting sockets; accepted sockets inherit it.
void watch_silence(int fd, const SocketTuning& tuning, Warnings& warnings) {
  constexpr int probes = 4;  // within the same time again
  if (tuning.keepalive_s > 0) {
    const int between = std::max(1, tuning.keepalive_s / probes);
    if (!set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1) ||
        !set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, tuning.keepalive_s) ||
        !set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, between) || !set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, probes)) {
      warn(warnings, "SO_KEEPALIVE " + std::to_string(tuning.keepalive_s), "");
    }
  }
  if (tuning.user_timeout_s > 0 && !set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, tuning.user_timeout_s * 1000)) {
    warn(warnings, "TCP_USER_TIMEOUT " + std::to_string(tuning.user_timeout_s), "");
  }
}

std::expected<int, TransportError> open_listener(const Endpoint& endpoint, const SocketTuning& tuning, int backlog,
                                                 Warnings& warnings) {
  auto bound = open_bound(endpoint, [&](int fd) {
    prepare_socket(fd, tuning, warnings);
    watch_silence(fd, tuning, warnings);
  });
  if (!bound || ::listen(*bound, backlog) == 0) return bound;
  const int error = errno;
  ::close(*bound);
  return std::unexpected(TransportError{error, "listen on " + to_string(endpoint)});
}

std::optional<Endpoint> local_endpoint_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  return endpoint_of(address, size);
}

std::string peer_name(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::optional<Endpoint> peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) peer = endpoint_of(address, size);
  return peer ? to_string(*peer) : std::string("unknown");
}

std::expected<Route, TransportError> find_route(const Endpoint& endpoint, const Endpoint& from) {
  Route route;
  auto addresses = look_up(endpoint);
  if (!addresses) return std::unexpected(std::move(addresses.error()));
  if (!from.host.empty()) {
    auto local = look_up(from);
    if (!local) return std::unexpected(std::move(local.error()));
    route.from = socket_address(**local);
  }
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    if (const auto address = socket_address(*at)) route.untried.push_back(*address);
  }
  std::ranges::reverse(route.untried);
  return route;
}

int start_connect(TcpConnection& connection, Warnings& warnings) {
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
    prepare_socket(connection.fd, connection.tuning, warnings);
    watch_silence(connection.fd, connection.tuning, warnings);
    if (connection.from) {
      // Allows reuse of a local port from a recent connection.
      (void)set_option(connection.fd, SOL_SOCKET, SO_REUSEADDR, 1);
      const auto* local = reinterpret_cast<const sockaddr*>(connection.from->bytes.data());
      if (::bind(connection.fd, local, connection.from->size) != 0) {
        error = errno;
        continue;
      }
    }
    if (::connect(connection.fd, target, address.size) == 0 || errno == EINPROGRESS) return 0;
    error = errno;
  }
  return error;
}

void reset_when_closed(int fd) noexcept {
  const linger abort{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
}

void end_and_discard(int fd, char* buffer, std::size_t size) noexcept {
  constexpr int discard_limit = 16;
  ::shutdown(fd, SHUT_WR);
  for (int i = 0; i < discard_limit; ++i) {
    if (::recv(fd, buffer, size, MSG_DONTWAIT) <= 0) break;
  }
}

int make_wake_event() {
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

void raise_wake_event(int fd) noexcept {
  const std::uint64_t one = 1;
  // A full counter means that a wake-up is already pending.
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

void clear_wake_event(int fd) noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t drained = ::read(fd, &count, sizeof count);
}

Received receive_some(int fd, const SocketTuning& tuning, char* buffer, std::size_t size) noexcept {
  Received received;
  if (tuning.timestamps) [[unlikely]] {
    iovec place{buffer, size};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(scm_timestamping)) + 64> control;
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    received.size = ::recvmsg(fd, &message, MSG_DONTWAIT);
    if (received.size > 0) received.at = stamp_of(message);
  } else {
    received.size = ::recv(fd, buffer, size, MSG_DONTWAIT);
  }
  if (tuning.quickack && received.size > 0) acknowledge_at_once(fd);
  return received;
}

void acknowledge_at_once(int fd) noexcept { (void)set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 1); }

}  // namespace nfx::detail

namespace nfx {

ListenTrial::~ListenTrial() {
  for (const Bound& each : bound_) ::close(each.descriptor);
}

std::expected<void, TransportError> ListenTrial::bind(const Endpoint& endpoint) {
  for (const Bound& each : bound_) {
    if (each.port == endpoint.port && endpoint.port != 0) (void)::listen(each.descriptor, 0);
  }
  const auto bound = detail::open_bound(endpoint, [](int) {});
  if (!bound) return std::unexpected(bound.error());
  bound_.push_back({endpoint.port, *bound});
  return {};
}

}  // namespace nfx
