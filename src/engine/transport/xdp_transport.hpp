// TCP over IPv4 past the kernel: frames through an AF_XDP socket, TCP by the distribution's lwIP, in the poll thread.
// Thread: one owner; wake() from any. lwIP has one stack per process: a second transport is refused while one exists.
// Cost: a poll without input reads memory, a send is one sendto. lwIP allocates each segment that it sends.
// Bounded: connections, listeners, half-open connections, frames, and a window of 64 KiB in each direction.
// Errors: the constructor throws std::invalid_argument for an option, std::system_error for what the host lacks.
// warnings() lists options of the kernel's sockets that lwIP does not have.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "transport/tcp_parts.hpp"
#include "transport/transport.hpp"

namespace nfx {

struct XdpOptions {
  std::string address;                 // "eth1 10.9.0.3/24", "eth1:2 10.9.0.3/24 via 10.9.0.1"
  std::uint32_t frames = 4096;         // of 2 KiB, half for each direction; a power of two
  std::size_t max_connections = 1024;  // accepted, connecting and lingering together
  std::size_t max_listeners = 16;
  std::size_t max_half_open = 128;                 // connections whose handshake the peer has not finished
  Duration linger_time = std::chrono::seconds(2);  // how long close() continues to deliver in the background
  std::size_t linger_bytes = 256 * 1024;           // ... and how much of the peer's it drops before it resets
};

// Throws std::invalid_argument for an option out of range.
void check_xdp_options(const XdpOptions& options);

namespace detail {
class XdpImpl;
}

class XdpTransport {
 public:
  explicit XdpTransport(const XdpOptions& options);
  ~XdpTransport();
  XdpTransport(const XdpTransport&) = delete;
  XdpTransport& operator=(const XdpTransport&) = delete;

  // The host is the transport's address, or 0.0.0.0 or empty for it.
  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {});
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const;
  void close_listener(ListenerId id) noexcept;
  // Of a name's addresses the first IPv4 address is tried.
  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options = {});
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept;
  void close(ConnectionId id) noexcept;
  void hold(ConnectionId id, bool held) noexcept;
  [[nodiscard]] std::size_t lingering() const noexcept;

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    return poll_with(detail::SinkRef::to(sink), max_wait);
  }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept { return std::nullopt; }
  void wake() noexcept;
  // Makes a waiting poll also return when this descriptor is readable. Throws std::system_error if it cannot be
  // watched.
  void wake_when_readable(int descriptor);

  [[nodiscard]] const std::vector<TransportWarning>& warnings() const noexcept;
  [[nodiscard]] const TransportCounters& counters() const noexcept;
  [[nodiscard]] std::size_t connection_count() const noexcept;  // established ones

 private:
  std::size_t poll_with(const detail::SinkRef& sink, Duration max_wait);

  std::unique_ptr<detail::XdpImpl> impl_;
};

static_assert(Transport<XdpTransport>);

}  // namespace nfx
