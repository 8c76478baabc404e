// Passes the bytes of connections to other gateways and back, on a thread of its own: whole connections, from the first
// byte, which the receiver gets after a header with the peer's address (nexusfix/transport/proxy_header.hpp).
// Thread: add() from any; `report` is called on the proxy's thread. Cost: two copies of each byte and three system
// calls a piece. Bounds: connections_max connections; for each direction one receive that the other side has not taken:
// it is read no further until then, so a slow reader slows the sender. Errors: what goes wrong is a report, and the
// connection is closed. The end of one side ends the other one, which gets all that was received before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/handed_on.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/transport/socket_options.hpp"

namespace nfx::gateway {

struct ProxyOptions {
  std::size_t connections_max = 64;
  std::string from{};  // own address, which the other gateways trust
  Duration connect_max{std::chrono::seconds{5}};
  Duration stalled_max{std::chrono::seconds{60}};    // that a side takes none of the bytes that wait for it
  std::size_t piece_bytes = std::size_t{64} * 1024;  // of a receive
  int socket_buffer = 0;                             // of the sockets, in bytes; 0 leaves it to the kernel
  // Runs its argument, the whole life of the proxy's thread. Empty: it is run as it is.
  std::function<void(const std::function<void()>&)> in_place{};
};

// Another gateway, and where it serves the session.
struct ProxyTarget {
  std::string gateway;
  Endpoint address;
};

struct ProxyReport {
  enum class Kind : std::uint8_t {
    begun,
    unreachable,  // closed before it began
    ended,
  };
  Kind kind = Kind::begun;
  const HandedOn& connection;
  const ProxyTarget& target;
  std::string reason{};  // but of begun
  std::uint64_t bytes_to_owner = 0;
  std::uint64_t bytes_to_peer = 0;
  Duration lasted{};
};

class Proxy {
 public:
  // Throws std::system_error when there is no thread or descriptor for it.
  Proxy(const ProxyOptions& options, std::function<void(const ProxyReport&)> report);
  // Closes all connections, with reports.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // False: connections_max connections are there; the connection is the caller's still.
  [[nodiscard]] bool add(HandedOn& connection, const ProxyTarget& target);

 private:
  class Relays;
  std::unique_ptr<Relays> relays_;
};

}  // namespace nfx::gateway
