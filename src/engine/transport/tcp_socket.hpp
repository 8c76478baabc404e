// The system calls that the TCP transports have in common.
// Thread: the transport's owner. Errors: errno values and TransportError; a tuning that the host refuses is a warning.
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
// What accept returns when it is the process or the host that is short, not the peer that is gone.
[[nodiscard]] bool short_of_descriptors(int error) noexcept;
[[nodiscard]] CloseReason reason_of(int error) noexcept;

// The error that waits in a socket, taken out of it.
[[nodiscard]] int take_socket_error(int fd) noexcept;

void prepare_socket(int fd, const SocketTuning& tuning, Warnings& warnings);

// A socket that listens, without waiting.
[[nodiscard]] std::expected<int, TransportError> open_listener(const Endpoint& endpoint, const SocketTuning& tuning,
                                                               int backlog, Warnings& warnings);
[[nodiscard]] std::optional<Endpoint> local_endpoint_of(int fd);
// "127.0.0.1:4711", or "unknown".
[[nodiscard]] std::string peer_name(int fd);

// Where to connect to, best last, and from.
struct Route {
  std::vector<SocketAddress> untried;
  std::optional<SocketAddress> from;
};
[[nodiscard]] std::expected<Route, TransportError> find_route(const Endpoint& endpoint, const Endpoint& from);

// Begins with the next address that takes a beginning. 0, or the error of the last one.
[[nodiscard]] int start_connect(TcpConnection& connection, Warnings& warnings);

// Closing it drops what is in transit in both directions, and sends the peer a reset.
void reset_when_closed(int fd) noexcept;

// Ends both directions' input as far as it has come, so that closing does not turn the end into a reset.
void end_and_discard(int fd, char* buffer, std::size_t size) noexcept;

// A non-blocking event counter for wake(); throws std::system_error.
[[nodiscard]] int make_wake_event();
void raise_wake_event(int fd) noexcept;
void clear_wake_event(int fd) noexcept;

struct Received {
  ssize_t size = 0;  // 0: the peer's end; below 0: errno has the error
  std::optional<UtcTime> at;
};
// One receive that does not wait, and what the connection's tuning wants before and after it.
[[nodiscard]] Received receive_some(int fd, const SocketTuning& tuning, char* buffer, std::size_t size) noexcept;
// Linux forgets TCP_QUICKACK; it is set again after every receive.
void acknowledge_at_once(int fd) noexcept;

}  // namespace nfx::detail
