// The connections of a listener, plain or with TLS, for small servers: received bytes are passed on, and sent bytes
// wait for the peer up to a bound.
// Thread: one owner. Cost: one poll of the transport; a connection allocates when it begins, and when its waiting bytes
// grow. Errors: the constructor throws std::runtime_error when it cannot listen. Bounds: StreamServerOptions; a peer
// that does not read is closed and counted when `unsent` bytes wait for it, and is reported as closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/epoll_transport.hpp"
#include "transport/tls_transport.hpp"

namespace nfx::market {

struct StreamServerOptions {
  Endpoint listen;
  SocketOptions socket{};
  std::size_t connections = 64;
  std::size_t unsent = 64u << 20;
};

class StreamServer {
 public:
  explicit StreamServer(const StreamServerOptions& options);
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  // `Peer` has opened(ConnectionId), received(ConnectionId, std::string_view) and closed(ConnectionId), which may send
  // and close.
  template <class Peer>
  std::size_t poll(Peer& peer, Duration longest) {
    Sink<Peer> sink{*this, peer};
    const std::size_t count = transport_.poll(sink, dropped_.empty() ? longest : Duration::zero());
    while (!dropped_.empty()) {
      const ConnectionId id = dropped_.back();
      dropped_.pop_back();
      peer.closed(id);
    }
    return count;
  }

  // False: the connection is gone, or was closed because too much waits for it.
  bool send(ConnectionId id, std::string_view bytes);
  // After what waits was sent. closed() is not called.
  void close(ConnectionId id) noexcept;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::size_t connections() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t slow_peers() const noexcept { return slow_peers_; }
  [[nodiscard]] bool idle() const noexcept { return waiting_ == 0 && transport_.lingering() == 0; }

 private:
  struct Connection {
    ConnectionId id = no_connection;
    std::string unsent;
    std::size_t sent = 0;  // of `unsent`
    bool closing = false;
  };

  template <class Peer>
  struct Sink {
    StreamServer& self;
    Peer& peer;

    void on_accept(ListenerId, ConnectionId id, std::string_view) {
      self.add(id);
      peer.opened(id);
    }
    void on_connect(ConnectionId) {}
    void on_receive(ConnectionId id, std::span<const char> bytes) {
      if (self.is_open(id)) peer.received(id, {bytes.data(), bytes.size()});
    }
    void on_writable(ConnectionId id) { self.send_waiting(id); }
    void on_close(ConnectionId id, CloseReason) {
      if (self.remove(id)) peer.closed(id);
    }
  };

  [[nodiscard]] Connection* find(ConnectionId id) noexcept;
  [[nodiscard]] bool is_open(ConnectionId id) noexcept;
  void add(ConnectionId id);
  bool remove(ConnectionId id) noexcept;  // false: it was closed by us
  void send_waiting(ConnectionId id);

  StreamServerOptions options_;
  EpollTransport plain_;
  TlsTransport<EpollTransport> transport_;
  std::vector<Connection> connections_;  // by slot
  std::vector<ConnectionId> dropped_;    // to be reported as closed
  std::size_t count_ = 0;
  std::size_t waiting_ = 0;  // connections for which something waits
  std::uint64_t slow_peers_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace nfx::market
