// The state of a TCP transport, whatever interface reports its events: options, connections, listeners, when it accepts
// again, and what it counts; and what follows from these alone. Not for programs: src/engine/transport/tcp_registry.hpp
// has the bodies. Thread: the transport's owner. Cost: that of the system calls; no allocation but those that
// tcp_parts.hpp names.
//
// A transport derives from it and implements what differs, the calls of its kernel interface:
//   int  watch_listener(Listener&)            errno, when it cannot be watched
//   void forget_listener(Listener&)           it is about to be closed
//   void resume_accepting()                   accept_pause is over
//   void watch_connecting(Connection&)        report when its connect has ended
//   void watch_open(Connection&, bool accepted)
//   void watch_for_room(Connection&)          a send fell short
//   void watch_lingering(Connection&)         input is read and given to drop_input() until the peer's end
//   bool stream_ended(const Connection&)      the peer has closed, though this was not reported yet
//   bool may_detach(Connection&, string&)     nothing of it is with the kernel; what it had received is appended
//   void free_slot(Connection&)               closes it and gives its place back
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
  // Of options that are checked already.
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
  // Announces what was accepted, or closes it when all places are taken.
  std::size_t greet(const SinkRef& sink, ListenerId listener, int fd);
  void pause_accepting() noexcept;  // there is no descriptor or memory
  void accept_later() noexcept;     // ... still

  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options);
  std::size_t finish_connect(const SinkRef& sink, Connection& connection);

  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept;
  void close(ConnectionId id) noexcept;
  // A socket of another transport becomes an established connection, which the sink has no call for. Empty: all places
  // are taken, and the socket is still the caller's.
  [[nodiscard]] std::optional<ConnectionId> adopt(int fd, const SocketOptions& options);
  [[nodiscard]] std::expected<int, NotDetached> detach(ConnectionId id, std::string& received);
  std::size_t report_close(const SinkRef& sink, Connection& connection, CloseReason reason);
  // A lingering connection received so much, which is dropped. Beyond linger_bytes it is closed with what is unread,
  // which resets it: then it is gone when this returns.
  void drop_input(Connection& connection, std::size_t bytes) noexcept;

  [[nodiscard]] bool has_deadlines() const noexcept { return !connections_.lingering.empty() || accepting_paused_; }
  [[nodiscard]] Duration shortened_wait(Duration max_wait) const noexcept;
  void keep_deadlines() noexcept;

  // There are no more polls: unread input is discarded so that it does not turn the end into a reset.
  void end_connections() noexcept;
  void end_listeners() noexcept;

  Options options_;
  std::unique_ptr<char[]> buffer_;  // of a receive
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
