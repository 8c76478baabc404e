// The common parts of the TCP transports: a sink called through function pointers, the state of each connection, and
// the table of connections. Programs use only TransportCounters, TransportWarning and resolve.
// Thread: the transport's owner. Cost: no allocation after construction, except a connect's addresses and the first
// warning of a kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "transport/transport.hpp"
#include "transport/transport_counters.hpp"

namespace nfx {

// A socket option that this host refuses. The connection works without it.
struct TransportWarning {
  std::string text;         // option, error and fix
  std::uint64_t count = 0;  // number of sockets
};

// Resolves a host name to literal endpoints, best first. May block for a name look-up: call it at start.
[[nodiscard]] std::expected<std::vector<Endpoint>, TransportError> resolve(const Endpoint& endpoint);

namespace detail {
// A sink called through five function pointers. This keeps the transport's code out of headers, for one indirect call
// per event.
struct SinkRef {
  void* sink;
  void (*on_accept)(void*, ListenerId, ConnectionId, std::string_view);
  void (*on_connect)(void*, ConnectionId);
  void (*on_receive)(void*, ConnectionId, std::span<const char>);
  void (*on_writable)(void*, ConnectionId);
  void (*on_close)(void*, ConnectionId, CloseReason);

  template <TransportSink S>
  static SinkRef to(S& s) noexcept {
    return {
        &s,
        [](void* p, ListenerId l, ConnectionId c, std::string_view peer) { static_cast<S*>(p)->on_accept(l, c, peer); },
        [](void* p, ConnectionId c) { static_cast<S*>(p)->on_connect(c); },
        [](void* p, ConnectionId c, std::span<const char> bytes) { static_cast<S*>(p)->on_receive(c, bytes); },
        [](void* p, ConnectionId c) { static_cast<S*>(p)->on_writable(c); },
        [](void* p, ConnectionId c, CloseReason reason) { static_cast<S*>(p)->on_close(c, reason); }};
  }
};

// Space for an IPv4 or IPv6 address in the kernel's format.
struct SocketAddress {
  alignas(8) std::array<std::byte, 28> bytes{};
  std::uint32_t size = 0;
};

// SocketOptions without their text.
struct SocketTuning {
  bool nodelay = true;
  bool quickack = false;
  bool timestamps = false;
  int send_buffer = 0;
  int receive_buffer = 0;
  int busy_poll_us = 0;
  int keepalive_s = 0;
  int user_timeout_s = 0;

  [[nodiscard]] static SocketTuning of(const SocketOptions& options) noexcept {
    return {.nodelay = options.nodelay,
            .quickack = options.quickack,
            .timestamps = options.timestamps,
            .send_buffer = options.send_buffer,
            .receive_buffer = options.receive_buffer,
            .busy_poll_us = options.busy_poll_us,
            .keepalive_s = options.keepalive_s,
            .user_timeout_s = options.user_timeout_s};
  }
};

// free -> connecting -> open -> (close) lingering -> free. Accepted connections begin open; an end seen by poll frees
// directly.
enum class ConnectionState : std::uint8_t { free, connecting, open, lingering };

struct TcpConnection {
  int fd = -1;
  std::uint32_t generation = 0;
  ConnectionState state = ConnectionState::free;
  bool wants_write = false;  // a send was incomplete: the kernel is asked to report space
  bool held = false;         // not read
  bool broken = false;       // a send found the connection dead; `reason` says why
  CloseReason reason = CloseReason::local_error;
  std::uint32_t position = 0;  // position in open or lingering
  MonotonicTime linger_until{};
  std::size_t linger_bytes = 0;        // input that may still be received and dropped
  std::vector<SocketAddress> untried;  // further addresses of a connect; the last one is next
  std::optional<SocketAddress> from;   // the local address
  SocketTuning tuning;
};

struct TcpListener {
  int fd = -1;
  std::uint32_t generation = 0;
  bool paused = false;
  SocketTuning tuning;
};

template <class C>
class ConnectionTable {
 public:
  explicit ConnectionTable(std::size_t capacity) : all(capacity), free_(capacity) {
    for (std::size_t i = 0; i < capacity; ++i) free_[i] = static_cast<std::uint32_t>(capacity - 1 - i);
    open.reserve(capacity);
    lingering.reserve(capacity);
    broken.reserve(capacity);
  }

  [[nodiscard]] C* find(ConnectionId id) noexcept {
    const std::uint32_t slot = id_slot(id);
    if (slot >= all.size()) return nullptr;
    C& connection = all[slot];
    const bool alive = connection.state != ConnectionState::free && connection.generation == id_generation(id);
    return alive ? &connection : nullptr;
  }
  [[nodiscard]] std::uint32_t slot_of(const C& connection) const noexcept {
    NFX_ASSERT(&connection >= all.data() && &connection < all.data() + all.size());
    return static_cast<std::uint32_t>(&connection - all.data());
  }
  [[nodiscard]] ConnectionId id_of(const C& connection) const noexcept {
    return make_id<ConnectionId>(slot_of(connection), connection.generation);
  }

  [[nodiscard]] bool full() const noexcept { return free_.empty(); }
  // Null if the table is full.
  [[nodiscard]] C* take() noexcept {
    if (free_.empty()) return nullptr;
    C& connection = all[free_.back()];
    free_.pop_back();
    NFX_ASSERT(connection.state == ConnectionState::free && connection.fd == -1 && !connection.broken);
    renew(connection);
    return &connection;
  }
  // Makes ids given out before stale.
  void renew(C& connection) noexcept {
    if (++connection.generation == 0) connection.generation = 1;
  }
  // Does not close the descriptor.
  void give_back(C& connection) noexcept {
    NFX_ASSERT(free_.size() < all.size());  // no slot is returned twice
    NFX_ASSERT(connection.generation != 0);
    if (connection.broken) std::erase(broken, id_of(connection));
    if (connection.state == ConnectionState::open) unlist(open, connection);
    if (connection.state == ConnectionState::lingering) unlist(lingering, connection);
    connection.fd = -1;
    connection.state = ConnectionState::free;
    connection.wants_write = connection.held = connection.broken = false;
    connection.untried.clear();
    connection.from.reset();
    free_.push_back(slot_of(connection));
  }

  void make_open(C& connection) noexcept {
    NFX_ASSERT(connection.fd >= 0 && !connection.broken);
    NFX_ASSERT(connection.state == ConnectionState::connecting || connection.state == ConnectionState::free);
    connection.state = ConnectionState::open;
    enlist(open, connection);
  }
  void make_lingering(C& connection, MonotonicTime until, std::size_t bytes) noexcept {
    NFX_ASSERT(connection.state == ConnectionState::open && !connection.broken);
    unlist(open, connection);
    renew(connection);
    connection.state = ConnectionState::lingering;
    connection.wants_write = connection.held = false;
    connection.linger_until = until;
    connection.linger_bytes = bytes;
    enlist(lingering, connection);
  }
  void make_broken(C& connection, CloseReason reason) noexcept {
    NFX_ASSERT(!connection.broken && broken.size() < all.size());  // listed once, because on_close is called once
    connection.broken = true;
    connection.reason = reason;
    broken.push_back(id_of(connection));  // within the reserved capacity: give_back removes entries
  }
  // The connection that has lingered longest; null if there is none.
  [[nodiscard]] C* oldest_lingering() noexcept {
    const auto until = [this](std::uint32_t slot) { return all[slot].linger_until; };
    return lingering.empty() ? nullptr : &all[*std::ranges::min_element(lingering, {}, until)];
  }

  std::vector<C> all;
  std::vector<std::uint32_t> open;       // slots of established connections
  std::vector<std::uint32_t> lingering;  // slots of closed connections that still deliver
  std::vector<ConnectionId> broken;      // found dead by try_send; on_close is outstanding

 private:
  void enlist(std::vector<std::uint32_t>& list, C& connection) noexcept {
    NFX_ASSERT(list.size() < all.size());  // within the reserved capacity: no allocation
    connection.position = static_cast<std::uint32_t>(list.size());
    list.push_back(slot_of(connection));
  }
  void unlist(std::vector<std::uint32_t>& list, C& connection) noexcept {
    NFX_ASSERT(connection.position < list.size() && list[connection.position] == slot_of(connection));
    const std::uint32_t last = list.back();
    list[connection.position] = last;
    all[last].position = connection.position;
    list.pop_back();
  }

  std::vector<std::uint32_t> free_;  // slots; the last one is next
};

}  // namespace detail
}  // namespace nfx
