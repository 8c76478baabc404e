// The state of a TCP transport that does not depend on the kernel interface: options, connections, listeners, counters
// and the time to accept again, with the functions that need nothing else. Internal: tcp_registry_impl.hpp has the
// bodies.
// Thread: the transport's owner. Cost: the system calls; allocates only as described in tcp_parts.hpp.
//
// A transport derives from it and implements the calls of its kernel interface:
//   int  watch_listener(Listener&)            returns an errno if it cannot be watched
//   void forget_listener(Listener&)           it is about to be closed
//   void resume_accepting()                   accept_pause is over
//   void watch_connecting(Connection&)        report when its connect has ended
//   void watch_open(Connection&, bool accepted)
//   void watch_for_room(Connection&)          a send was incomplete
//   void watch_lingering(Connection&)         pass input to drop_input() until the peer's end
//   bool stream_ended(const Connection&)      the peer has closed, even if not yet reported
//   bool may_detach(Connection&, string&)     no request is outstanding; received bytes are appended
//   void free_slot(Connection&)               close it and return its place
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "transport/tcp_parts.hpp"
#include "transport/transport.hpp"

namespace nfx::detail {

template <class Self, class Connection, class Listener, class Options>
class TcpRegistry {
 protected:
  // Requires options that were checked.
  explicit TcpRegistry(const Options& options);
  ~TcpRegistry() = default;
  TcpRegistry(const TcpRegistry&) = delete;
  TcpRegistry& operator=(const TcpRegistry&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options);
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const;
  void close_listener(ListenerId id) noexcept;
  [[nodiscard]] const Listener* find(ListenerId id) const noexcept;
  [[nodiscard]] ListenerId id_of(const Listener& listener) const noexcept;
  // Announces an accepted connection, or closes it if all places are taken.
  std::size_t greet(const SinkRef& sink, ListenerId listener, int fd);
  void pause_accepting() noexcept;  // no descriptor or memory is available
  void accept_later() noexcept;     // ... still not

  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options);
  std::size_t finish_connect(const SinkRef& sink, Connection& connection);

  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept;
  void close(ConnectionId id) noexcept;
  // Adopts a socket from another transport as an established connection; the sink is not called. Empty if all places
  // are taken; the caller then still owns the socket.
  [[nodiscard]] std::optional<ConnectionId> adopt(int fd, const SocketOptions& options);
  [[nodiscard]] std::expected<int, NotDetached> detach(ConnectionId id, std::string& received);
  std::size_t report_close(const SinkRef& sink, Connection& connection, CloseReason reason);
  // Counts dropped input of a lingering connection. Beyond linger_bytes the connection is closed with unread input,
  // which resets it, and no longer exists when this returns.
  void drop_input(Connection& connection, std::size_t bytes) noexcept;

  [[nodiscard]] bool has_deadlines() const noexcept { return !connections_.lingering.empty() || accepting_paused_; }
  [[nodiscard]] Duration shortened_wait(Duration max_wait) const noexcept;
  void keep_deadlines() noexcept;

  // Called when there are no more polls: discards unread input, so that the end does not become a reset.
  void end_connections() noexcept;
  void end_listeners() noexcept;

  Options options_;
  std::unique_ptr<char[]> buffer_;  // receive buffer
  ConnectionTable<Connection> connections_;
  std::vector<Listener> listeners_;
  bool accepting_paused_ = false;
  std::optional<UtcTime> received_at_;
  TransportCounters counters_;
  std::vector<TransportWarning> warnings_;

 private:
  [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
  [[nodiscard]] Connection* take_slot() noexcept;

  MonotonicTime accept_again_{};
};

}  // namespace nfx::detail
