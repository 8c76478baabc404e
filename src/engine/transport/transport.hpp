// The network as the engine uses it: listen, connect, send without waiting, and one poll that hands bytes to a sink.
// Thread: one owner per transport; wake() alone may be called from any thread.
// Push model: received bytes are in a buffer that the transport owns and reuses, so a span given to on_receive is dead
// when the callback returns, and an idle connection costs no buffer.
// Errors: errors of a peer arrive as on_close with a CloseReason. Errors that the operator can fix (a port that is
// taken, a name that does not resolve) are a TransportError from listen or connect.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/base/time.hpp"
#include "nexusfix/transport/socket_options.hpp"

namespace nfx {

// One connection's whole life, from connect or on_accept on. The low half is a slot, a small number that is reused
// (below the transport's limit, so it can index an array); the high half counts the uses of that slot, so a stale id
// never names another connection. 0 means none.
enum class ConnectionId : std::uint64_t {};
enum class ListenerId : std::uint64_t {};

inline constexpr ConnectionId no_connection{0};
inline constexpr ListenerId no_listener{0};

[[nodiscard]] constexpr std::uint32_t slot_of(ConnectionId id) noexcept {
  return static_cast<std::uint32_t>(std::to_underlying(id));
}

namespace detail {
template <class Id>
[[nodiscard]] constexpr Id make_id(std::uint32_t slot, std::uint32_t generation) noexcept {
  return Id{(std::uint64_t{generation} << 32) | slot};
}
template <class Id>
[[nodiscard]] constexpr std::uint32_t id_slot(Id id) noexcept {
  return static_cast<std::uint32_t>(std::to_underlying(id));
}
template <class Id>
[[nodiscard]] constexpr std::uint32_t id_generation(Id id) noexcept {
  return static_cast<std::uint32_t>(std::to_underlying(id) >> 32);
}
}  // namespace detail

enum class CloseReason : std::uint8_t {
  peer_closed,  // orderly end of the peer's stream
  reset,        // the peer or something between broke the connection
  refused,      // no listener there
  timed_out,
  unreachable,
  local_error,  // an error of this host
  tls_failed,   // the handshake, or a record, was refused by one side; TlsTransport has the text
};

[[nodiscard]] std::string_view to_string(CloseReason reason) noexcept;

// As TransportError::code: no address is known for the host. The operation states it.
inline constexpr int no_such_host = -1;

// Why listen or connect could not even begin.
struct TransportError {
  int code = 0;           // an errno value, or no_such_host
  std::string operation;  // what failed, with its address: "bind 127.0.0.1:9880"

  // "bind 127.0.0.1:9880: Address already in use"
  [[nodiscard]] std::string text() const;
};

struct SendResult {
  std::size_t sent = 0;
  bool closed = false;  // the connection is gone or the id is stale; nothing will be sent on it any more
};

// Why a connection's socket is not given up.
enum class NotDetached : std::uint8_t {
  not_yet,      // the kernel still receives for it: hold it, and try again after the next poll
  gone,         // the connection has ended, or is ending
  encrypted,    // its bytes are encrypted, and the keys are here
  unsupported,  // the transport has no sockets
};

[[nodiscard]] std::string_view to_string(NotDetached why) noexcept;

// The callbacks of poll. A callback may call anything on the transport but poll, also for other connections.
//   on_accept    a peer connected to a listener; `peer` is its address, alive during the call
//   on_connect   an own connect succeeded; from here on try_send takes bytes
//   on_receive   the next bytes of the stream, at least one; the sink may overwrite them, so that no password stays
//   on_writable  once after a try_send fell short, when there is space again
//   on_close     the connection ended, and its id is stale already: exactly once, unless close() ended it
template <class S>
concept TransportSink = requires(S& sink, ListenerId listener, ConnectionId id, std::string_view peer,
                                 std::span<const char> bytes, CloseReason reason) {
  sink.on_accept(listener, id, peer);
  sink.on_connect(id);
  sink.on_receive(id, bytes);
  sink.on_writable(id);
  sink.on_close(id, reason);
};

namespace detail {
// The sink that Transport is checked with, since a concept cannot require a template.
struct SinkArchetype {
  void on_accept(ListenerId, ConnectionId, std::string_view) {}
  void on_connect(ConnectionId) {}
  void on_receive(ConnectionId, std::span<const char>) {}
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) {}
};
}  // namespace detail

//   listen          port 0 means any free port; local_endpoint returns it
//   connect         begins; on_connect or on_close reports later how it ended. A literal address never blocks; a
//                   host name is looked up here, which may block, so resolve names before run
//   try_send        never blocks. A short result means "buffer full now", and one on_writable follows when there is
//                   space. Before on_connect it takes nothing, and on_connect is that on_writable. Never calls the
//                   sink: when it finds the connection broken it returns closed, and on_close follows from poll
//   close           no more callbacks for the connection. Bytes that try_send took still reach the peer before
//                   the end of the stream, also while input is unread; the transport does that in the background
//                   while it is polled, for a bounded time. A stale id is ignored
//   hold            with true the sink gets neither on_receive nor on_close of the connection until hold(id, false):
//                   the peer's bytes wait in the network, which in the end slows the peer. A stale id is ignored
//   lingering       closed connections still delivering their last bytes: a program that ends polls until this is 0
//   poll            serves every ready connection once, with one bounded read each, so no peer can starve another;
//                   waits up to max_wait for something to happen (zero or less: does not wait). Returns the callbacks
//                   it made
//   received_at     within on_receive: when the kernel, or the network card, got the last of the bytes; empty where the
//                   options did not request it, or it is not known
//   wake            ends a waiting poll, or the next one
// Those that have sockets have this too, which the concept does not require:
//   detach          gives up the socket of an established connection, which is held. The caller owns it from then on,
//                   and the id is stale. Bytes that were received while it was held are appended to `received`
template <class T>
concept Transport = requires(T& transport, const T& constant, const Endpoint& endpoint, ListenerId listener,
                             ConnectionId id, std::span<const char> bytes, detail::SinkArchetype& sink,
                             Duration max_wait, const SocketOptions& options) {
  { transport.listen(endpoint, options) } -> std::same_as<std::expected<ListenerId, TransportError>>;
  { constant.local_endpoint(listener) } -> std::same_as<std::optional<Endpoint>>;
  { transport.close_listener(listener) } noexcept;
  { transport.connect(endpoint, options) } -> std::same_as<std::expected<ConnectionId, TransportError>>;
  { transport.try_send(id, bytes) } noexcept -> std::same_as<SendResult>;
  { transport.close(id) } noexcept;
  { transport.hold(id, true) } noexcept;
  { constant.lingering() } noexcept -> std::same_as<std::size_t>;
  { transport.poll(sink, max_wait) } -> std::same_as<std::size_t>;
  { constant.received_at() } noexcept -> std::same_as<std::optional<UtcTime>>;
  { transport.wake() } noexcept;
};

}  // namespace nfx
