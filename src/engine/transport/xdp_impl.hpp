// The AF_XDP transport: its connections over lwIP's raw interface, and lwIP's one stack. lwIP's callbacks only record
// what happened; poll tells the sink afterwards, so a callback of the sink may close any connection.
// Thread: the transport's owner. Included where NFX_WITH_AF_XDP is defined.
#pragma once

#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/tcp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "transport/tcp_socket.hpp"
#include "transport/xdp_socket.hpp"
#include "transport/xdp_transport.hpp"

namespace nfx::detail {

class XdpImpl;

// lwIP's timers are written for a step of 250 ms, every second one of which retransmits. Ten times that rate makes its
// shortest retransmission 150 ms instead of 1.5 s, and divides its other times by ten too.
inline constexpr int timer_rate = 10;
inline constexpr std::uint16_t first_own_port = 49152;

[[nodiscard]] inline ip4_addr_t to_lwip(const Ipv4& address) {
  ip4_addr_t converted{};
  std::memcpy(&converted.addr, address.data(), address.size());
  return converted;
}

enum class Announcement : std::uint8_t { none, accepted, connected };

struct XdpConnection : TcpConnection {
  XdpImpl* owner = nullptr;
  tcp_pcb* pcb = nullptr;    // null once lwIP has given it up
  pbuf* received = nullptr;  // pbufs without a common length, oldest first
  pbuf* last_received = nullptr;
  std::string kept;  // received while held; less than a window
  Announcement announcement = Announcement::none;
  ListenerId listener{};
  bool listed = false;  // in ready_; stays with the place
  bool ended = false;   // the peer's stream
  std::uint32_t acknowledged = 0;
  MonotonicTime progress{};  // when the peer acknowledged last; the maximum while it has nothing to
};

struct XdpListener {
  XdpImpl* owner = nullptr;
  tcp_pcb* pcb = nullptr;  // a tcp_pcb_listen in fact, as lwIP returns it
  std::uint32_t generation = 0;
  Endpoint endpoint;
  SocketTuning tuning;
};

// lwIP's stack, which one transport of the process may have.
class StackOwner {
 public:
  StackOwner();
  ~StackOwner();
  StackOwner(const StackOwner&) = delete;
  StackOwner& operator=(const StackOwner&) = delete;
};

class XdpImpl {
 public:
  explicit XdpImpl(const XdpOptions& options);
  ~XdpImpl();
  XdpImpl(const XdpImpl&) = delete;
  XdpImpl& operator=(const XdpImpl&) = delete;

  std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint, const SocketOptions& options);
  std::optional<Endpoint> local_endpoint(ListenerId id) const;
  void close_listener(ListenerId id) noexcept;
  std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint, const SocketOptions& options);
  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept;
  void close(ConnectionId id) noexcept;
  void hold(ConnectionId id, bool held) noexcept;
  std::size_t poll(const SinkRef& sink, Duration max_wait);
  void wake() noexcept { raise_wake_event(wake_); }
  void wake_when_readable(int descriptor) { watch(descriptor, false); }

  const XdpOptions options;
  ConnectionTable<XdpConnection> connections;
  TransportCounters counters;
  std::vector<TransportWarning> warnings;

 private:
  using State = ConnectionState;
  using Connection = XdpConnection;

  // A received frame while lwIP, or a connection, refers to it.
  struct Buffer {
    pbuf_custom head;
    XdpImpl* owner;
    std::uint32_t number;
  };

  // lwIP's callbacks.
  static err_t start_interface(netif* interface);
  static err_t send_frame(netif* interface, pbuf* packet);
  static void free_buffer(pbuf* buffer);
  static err_t on_accept(void* listener, tcp_pcb* pcb, err_t error);
  static err_t on_connected(void* connection, tcp_pcb* pcb, err_t error);
  static err_t on_received(void* connection, tcp_pcb* pcb, pbuf* bytes, err_t error);
  static err_t on_acknowledged(void* connection, tcp_pcb* pcb, std::uint16_t size);
  static void on_gone(void* connection, err_t error);

  void watch(int descriptor, bool wake_event);
  void wait(Duration max_wait);
  void receive_frames();
  [[nodiscard]] static bool is_opposite(const ReceivedFrame& frame) noexcept;
  [[nodiscard]] bool too_many_half_open() const noexcept;
  void shed_out_of_order() noexcept;
  void keep_time() noexcept;
  void check_progress(Connection& connection, MonotonicTime now) noexcept;
  void sweep_lingering(MonotonicTime now) noexcept;
  void limit_time_wait() noexcept;
  [[nodiscard]] Duration time_to_next_step() const noexcept;
  std::size_t serve(const SinkRef& sink, Connection& connection);
  std::size_t deliver(const SinkRef& sink, ConnectionId id, Connection& connection);
  std::size_t report_close(const SinkRef& sink, Connection& connection, CloseReason reason);

  void attach(Connection& connection, tcp_pcb* pcb, const SocketTuning& tuning) noexcept;
  void enlist(Connection& connection) noexcept;
  [[nodiscard]] Connection* take_slot() noexcept;
  void free_slot(Connection& connection) noexcept;
  void linger(Connection& connection) noexcept;
  void discard_received(Connection& connection) noexcept;
  static tcp_pcb* let_go(Connection& connection) noexcept;
  static void abort(Connection& connection) noexcept;
  [[nodiscard]] bool has_room(const Connection& connection) const noexcept;
  [[nodiscard]] XdpListener* find(ListenerId id) noexcept;
  [[nodiscard]] ListenerId id_of(const XdpListener& listener) const noexcept;
  void note_missing(const SocketOptions& options);
  [[nodiscard]] bool reachable(const ip_addr_t& address) const noexcept;

  XdpAddress address_;
  StackOwner stack_;
  XdpSocket socket_;
  netif interface_{};
  std::vector<Buffer> buffers_;  // one per frame for receiving
  std::vector<XdpListener> listeners_;
  std::vector<std::uint32_t> ready_;  // places with something to tell, each once
  std::vector<std::uint32_t> serving_;
  int epoll_ = -1;
  int wake_ = -1;
  bool was_full_ = false;  // a segment found no frame
  std::uint32_t polls_ = 0;
  std::uint16_t next_port_ = 0;
  MonotonicTime next_step_{};
  MonotonicTime next_address_step_{};
};

}  // namespace nfx::detail
