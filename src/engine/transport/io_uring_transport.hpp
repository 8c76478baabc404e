// TCP over io_uring. The kernel fills buffers ahead of the poll, and a poll without work reads two words of memory.
// Thread: one owner, which is the thread of the first poll; listen, connect, hold and close may be called before it
// from another thread, wake() at any time from any. Cost: no allocation on the receive and send path; a busy-polling
// poll calls the kernel only when it has work, a send is one send(2). Each option names its cost. Fairness: a poll
// handles a bounded number of completions in their order. A flooding peer can use up the buffers once; then connections
// that found none receive before the others. Errors: see transport.hpp. A missing io_uring is a value (probe_io_uring)
// or std::system_error (constructor). Other missing kernel features are left out step by step, and features() names
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/transport/socket_options.hpp"
#include "transport/tcp_parts.hpp"
#include "transport/transport.hpp"

namespace nfx {

// The features of a ring.
struct IoUringFeatures {
  bool available = false;
  bool single_issuer = false;
  bool defer_taskrun = false;
  bool coop_taskrun = false;
  bool sqpoll = false;
  bool multishot_accept = false;
  bool multishot_receive = false;
  std::string text;  // one line: the features in use, and the missing ones with the reason

  friend bool operator==(const IoUringFeatures&, const IoUringFeatures&) = default;
};

// The features that a transport with these options would have on this host. Creates a small ring and closes it.
[[nodiscard]] IoUringFeatures probe_io_uring(const IoUringOptions& options = {});

namespace detail {
class IoUringImpl;
}

class IoUringTransport {
 public:
  // Throws std::invalid_argument for an option out of range, and std::system_error, with the text of probe_io_uring, if
  // io_uring is not available.
  explicit IoUringTransport(const IoUringOptions& options = {});
  ~IoUringTransport();
  IoUringTransport(const IoUringTransport&) = delete;
  IoUringTransport& operator=(const IoUringTransport&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {});
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const;
  void close_listener(ListenerId id) noexcept;

  // The addresses of a name are tried in order until one accepts.
  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options = {});
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept;
  void close(ConnectionId id) noexcept;
  void hold(ConnectionId id, bool held) noexcept;
  [[nodiscard]] std::expected<int, NotDetached> detach(ConnectionId id, std::string& received);
  [[nodiscard]] std::size_t lingering() const noexcept;

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    return poll_with(detail::SinkRef::to(sink), max_wait);
  }
  // Connections with SocketOptions::timestamps receive individually, because a ring of buffers has no space for time
  // stamps.
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept;
  void wake() noexcept;
  // Makes a waiting poll also return when this descriptor is readable, while it is open. The descriptor is not read.
  void wake_when_readable(int descriptor);

  [[nodiscard]] const IoUringFeatures& features() const noexcept;
  // Socket options that the host refused, each once, with the number of affected sockets.
  [[nodiscard]] const std::vector<TransportWarning>& warnings() const noexcept;
  [[nodiscard]] const TransportCounters& counters() const noexcept;
  [[nodiscard]] std::size_t connection_count() const noexcept;  // established ones

 private:
  std::size_t poll_with(const detail::SinkRef& sink, Duration max_wait);

  std::unique_ptr<detail::IoUringImpl> impl_;
};

static_assert(Transport<IoUringTransport>);

}  // namespace nfx
