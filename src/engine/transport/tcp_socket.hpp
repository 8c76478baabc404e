// System calls shared by the TCP transports.
// Thread: the transport's owner. Errors: errno values and TransportError; a tuning option that the host refuses is a
// warning.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "transport/tcp_parts.hpp"

namespace nfx::detail {

// The longest poll: far beyond any timer, and safe to convert.
inline constexpr Duration longest_wait = std::chrono::hours(1);

using Warnings = std::vector<TransportWarning>;

[[nodiscard]] bool would_block(int error) noexcept;
// Whether accept failed because the process or the host ran short, not because the peer is gone.
[[nodiscard]] bool short_of_descriptors(int error) noexcept;
[[nodiscard]] CloseReason reason_of(int error) noexcept;

// Takes the pending error out of a socket.
[[nodiscard]] int take_socket_error(int fd) noexcept;

void prepare_socket(int fd, const SocketTuning& tuning, Warnings& warnings);

// A non-blocking listening socket.
[[nodiscard]] std::expected<int, TransportError> open_listener(const Endpoint& endpoint, const SocketTuning& tuning,
                                                               int backlog, Warnings& warnings);
[[nodiscard]] std::optional<Endpoint> local_endpoint_of(int fd);
// "127.0.0.1:4711", or "unknown".
[[nodiscard]] std::string peer_name(int fd);

// The remote addresses, best last, and the local one.
struct Route {
  std::vector<SocketAddress> untried;
  std::optional<SocketAddress> from;
};
[[nodiscard]] std::expected<Route, TransportError> find_route(const Endpoint& endpoint, const Endpoint& from);

// Tries the next addresses until a connect can start. Returns 0, or the last error.
[[nodiscard]] int start_connect(TcpConnection& connection, Warnings& warnings);

// Makes close() drop bytes in transit in both directions and send the peer a reset.
void reset_when_closed(int fd) noexcept;

// Ends both directions and discards input, so that closing does not cause a reset.
void end_and_discard(int fd, char* buffer, std::size_t size) noexcept;

// A non-blocking event counter for wake(); throws std::system_error.
[[nodiscard]] int make_wake_event();
void raise_wake_event(int fd) noexcept;
void clear_wake_event(int fd) noexcept;

struct Received {
  ssize_t size = 0;  // 0: end of the stream; below 0: errno has the error
  std::optional<UtcTime> at;
};
// One non-blocking receive, with the calls that the connection's tuning needs before and after it.
[[nodiscard]] Received receive_some(int fd, const SocketTuning& tuning, char* buffer, std::size_t size) noexcept;
// Linux resets TCP_QUICKACK, so it is set again after every receive.
void acknowledge_at_once(int fd) noexcept;

}  // namespace nfx::detail
