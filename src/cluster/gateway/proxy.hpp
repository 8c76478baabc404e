// Passes the bytes of connections to other gateways and back, on its own thread. Connections are passed as a whole,
// from the first byte; the receiver first gets a header with the peer's address (nexusfix/transport/proxy_header.hpp).
// Thread: add() from any; `report` is called on the proxy's thread. Cost: two copies of each byte and three system
// calls a piece. Bounds: connections_max connections; for each direction one receive that the other side has not taken.
// Until it is taken no more is read, so a slow reader slows the sender. Errors: a failure is a report, and the
// connection is closed. The end of one side ends the other one, which first gets everything that was received.
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
  // Runs its argument, the whole life of the proxy's thread. Empty: the thread runs it directly.
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

  // False: there are connections_max connections; the caller keeps the connection.
  [[nodiscard]] bool add(HandedOn& connection, const ProxyTarget& target);

 private:
  class Relays;
  std::unique_ptr<Relays> relays_;
};

}  // namespace nfx::gateway
