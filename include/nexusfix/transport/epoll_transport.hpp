// TCP over epoll.
// Thread: one owner; wake() from any. Cost: no allocation on the receive and send path; a poll is one epoll_wait and
// one recv per ready connection, or, spinning with few connections, the recv calls alone. Fairness: level-triggered
// with one bounded recv per connection and poll, so a flooding peer delays its neighbours by one buffer at most.
// Accepts are bounded likewise. Errors: see transport.hpp. A process out of descriptors pauses its listeners for a
// moment instead of spinning on accept.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/transport/transport.hpp"

struct addrinfo;

namespace nfx {

struct EpollOptions {
  std::size_t receive_buffer_size = 64 * 1024;  // shared by all connections; the most that one recv brings
  std::size_t direct_receive_limit = 8;  // up to so many connections, a spinning poll skips epoll_wait; 0 never does
  std::size_t max_connections = 1024;    // accepted, connecting and lingering together
  std::size_t max_listeners = 16;
  std::size_t accept_limit = 16;  // per listener and poll
  int listen_backlog = 128;
  Duration linger_time = std::chrono::seconds(2);         // how long close() goes on delivering behind the scenes
  Duration accept_pause = std::chrono::milliseconds(50);  // after accept found no descriptor or memory
};

struct TransportCounters {
  std::uint64_t accepted = 0;
  std::uint64_t refused_full = 0;      // accepted and closed at once: max_connections reached
  std::uint64_t accept_pauses = 0;     // accept found no descriptor or memory
  std::uint64_t linger_cut_short = 0;  // closed connections given up before the peer's end: time over or slot needed
  std::uint64_t epoll_waits = 0;
};

// The addresses a host name stands for, as literal endpoints, best first. May block for a name look-up: call it at
// start.
[[nodiscard]] std::expected<std::vector<Endpoint>, TransportError> resolve(const Endpoint& endpoint);

namespace detail {
// A sink behind five function pointers, which keeps the transport's code out of headers for one indirect call per
// event.
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
}  // namespace detail

class EpollTransport {
 public:
  // Throws std::invalid_argument for an option out of range, std::system_error when epoll cannot be set up.
  explicit EpollTransport(EpollOptions options = {});
  ~EpollTransport();
  EpollTransport(const EpollTransport&) = delete;
  EpollTransport& operator=(const EpollTransport&) = delete;

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
  [[nodiscard]] std::size_t lingering() const noexcept { return lingering_.size(); }

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    return poll_with(detail::SinkRef::to(sink), max_wait);
  }
  void wake() noexcept;

  [[nodiscard]] const TransportCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::size_t connection_count() const noexcept { return open_.size(); }  // established ones

 private:
  // free -> connecting -> open -> (close) lingering -> free. Accepted ones begin open; an end seen by poll frees
  // directly.
  enum class State : std::uint8_t { free, connecting, open, lingering };

  // Room for an IPv4 or IPv6 address as the kernel wants it.
  struct SocketAddress {
    alignas(8) std::array<std::byte, 28> bytes{};
    std::uint32_t size = 0;
  };

  // SocketOptions without their text.
  struct Tuning {
    bool nodelay = true;
    int send_buffer = 0;
    int receive_buffer = 0;
  };

  struct Connection {
    int fd = -1;
    std::uint32_t generation = 0;
    State state = State::free;
    bool wants_write = false;  // a send fell short: epoll watches for room
    bool held = false;         // nothing is read
    bool unwatched = false;    // held, and ended: epoll would report the end over and over
    bool broken = false;       // a send found the connection dead: `reason` says how
    CloseReason reason = CloseReason::local_error;
    std::uint32_t position = 0;  // in open_ or lingering_
    MonotonicTime linger_until{};
    std::vector<SocketAddress> untried;  // further addresses of a connect, last one next
    std::optional<SocketAddress> from;   // and the local one
    Tuning tuning;
  };

  struct Listener {
    int fd = -1;
    std::uint32_t generation = 0;
    bool paused = false;
    Tuning tuning;
  };

  static constexpr std::size_t events_per_wait = 128;
  static constexpr std::size_t max_direct_receive_limit = 64;
  static constexpr std::uint32_t polls_per_epoll_wait = 32;

  std::size_t poll_with(const detail::SinkRef& sink, Duration max_wait);
  std::size_t poll_directly(const detail::SinkRef& sink);
  std::size_t wait_and_serve(const detail::SinkRef& sink, Duration max_wait);
  std::size_t serve_broken(const detail::SinkRef& sink);
  std::size_t serve(const detail::SinkRef& sink, ConnectionId id, std::uint32_t events);
  std::size_t receive(const detail::SinkRef& sink, ConnectionId id, Connection& connection);
  std::size_t finish_connect(const detail::SinkRef& sink, ConnectionId id, Connection& connection);
  std::size_t accept_from(const detail::SinkRef& sink, ListenerId id);
  std::size_t report_close(const detail::SinkRef& sink, ConnectionId id, Connection& connection, CloseReason reason);
  std::size_t greet(const detail::SinkRef& sink, ListenerId listener, int fd);
  void pause_accepting() noexcept;
  void resume_accepting() noexcept;
  void keep_deadlines() noexcept;
  [[nodiscard]] Duration shortened_wait(Duration max_wait) const noexcept;

  void begin_lingering(Connection& connection) noexcept;
  void serve_lingering(Connection& connection) noexcept;
  void end_lingering(Connection& connection) noexcept;

  [[nodiscard]] Connection* find(ConnectionId id) noexcept;
  [[nodiscard]] Listener* find(ListenerId id) noexcept;
  [[nodiscard]] ConnectionId id_of(const Connection& connection) const noexcept;
  [[nodiscard]] Connection* take_slot() noexcept;
  void free_slot(Connection& connection) noexcept;
  void enlist(std::vector<std::uint32_t>& list, Connection& connection) noexcept;
  void unlist(std::vector<std::uint32_t>& list, Connection& connection) noexcept;
  void watch(Connection& connection, int operation, std::uint32_t events) noexcept;
  [[nodiscard]] static std::optional<SocketAddress> socket_address(const addrinfo& from) noexcept;
  void watch_for_more(Connection& connection) noexcept;
  static void prepare_socket(int fd, const Tuning& tuning) noexcept;
  [[nodiscard]] int start_connect(Connection& connection) noexcept;
  void defer_close(Connection& connection, CloseReason reason) noexcept;

  EpollOptions options_;
  int epoll_ = -1;
  int wake_ = -1;
  bool has_pwait2_ = true;
  std::uint32_t polls_until_wait_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::vector<Connection> connections_;
  std::vector<std::uint32_t> free_;       // slots, last one next
  std::vector<std::uint32_t> open_;       // slots of established connections
  std::vector<std::uint32_t> lingering_;  // slots of closed ones that still deliver
  std::vector<ConnectionId> broken_;      // found dead by try_send, on_close outstanding
  std::vector<Listener> listeners_;
  bool accepting_paused_ = false;
  MonotonicTime accept_again_{};
  TransportCounters counters_;
};

static_assert(Transport<EpollTransport>);

}  // namespace nfx
