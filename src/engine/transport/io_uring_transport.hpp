// TCP over io_uring: the kernel fills buffers ahead of the poll, and a poll that finds nothing reads two words of
// memory.
// Thread: one owner, that of the first poll; listen, connect, hold and close may come before it from another thread,
// wake() at any time from any. Cost: no allocation on the receive and send path; a busy-polling poll calls the kernel
// only when it has work, a send is one send(2). Each option names what it costs. Fairness: a poll hands on a bounded
// number of completions in the order they came; a peer that floods can empty the buffers once, then those that found
// none receive before those that had some. Errors: see transport.hpp. A kernel without io_uring is a value
// (probe_io_uring) or std::system_error (constructor); what it lacks of the rest is left out, step by step, and
// features() names it.
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

// What a ring was made with.
struct IoUringFeatures {
  bool available = false;
  bool single_issuer = false;
  bool defer_taskrun = false;
  bool coop_taskrun = false;
  bool sqpoll = false;
  bool multishot_accept = false;
  bool multishot_receive = false;
  std::string text;  // all of it in a line: what is used, what is not and why

  friend bool operator==(const IoUringFeatures&, const IoUringFeatures&) = default;
};

// What a transport with these options would be made with here. Makes a small ring and drops it.
[[nodiscard]] IoUringFeatures probe_io_uring(const IoUringOptions& options = {});

namespace detail {
class IoUringImpl;
}

class IoUringTransport {
 public:
  // Throws std::invalid_argument for an option out of range, std::system_error when there is no io_uring here; its text
  // is that of probe_io_uring.
  explicit IoUringTransport(const IoUringOptions& options = {});
  ~IoUringTransport();
  IoUringTransport(const IoUringTransport&) = delete;
  IoUringTransport& operator=(const IoUringTransport&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {});
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const;
  void close_listener(ListenerId id) noexcept;

  // A name with several addresses is tried in their order until one accepts.
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
  // Connections with SocketOptions::timestamps are received from individually: a ring of buffers has no space for time
  // stamps.
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept;
  void wake() noexcept;
  // A poll that waits also ends when this descriptor is readable, while it is open. It is not read.
  void wake_when_readable(int descriptor);

  [[nodiscard]] const IoUringFeatures& features() const noexcept;
  // Socket options that were requested and refused, each once, with how many sockets go without.
  [[nodiscard]] const std::vector<TransportWarning>& warnings() const noexcept;
  [[nodiscard]] const TransportCounters& counters() const noexcept;
  [[nodiscard]] std::size_t connection_count() const noexcept;  // established ones

 private:
  std::size_t poll_with(const detail::SinkRef& sink, Duration max_wait);

  std::unique_ptr<detail::IoUringImpl> impl_;
};

static_assert(Transport<IoUringTransport>);

}  // namespace nfx
