// The operations of a transport that happen once per connection and not once per message, as virtual functions, so that
// code that uses them is compiled once. Messages are sent and received through the transport itself.
// Thread: the poll thread, except wake() and time_on_any_thread(), which any thread may call. Errors: as the
// transport's.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>

#include "nexusfix/base/time.hpp"
#include "transport/transport.hpp"

namespace nfx {

struct TlsPeer;

class LoopNetwork {
 public:
  [[nodiscard]] virtual std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                         const SocketOptions& options) = 0;
  virtual void close_listener(ListenerId listener) noexcept = 0;
  [[nodiscard]] virtual std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                            const SocketOptions& options) = 0;
  virtual SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept = 0;
  virtual void close(ConnectionId id) noexcept = 0;
  virtual void hold(ConnectionId id, bool held) noexcept = 0;
  // See Transport. The connection is held.
  [[nodiscard]] virtual std::expected<int, NotDetached> detach(ConnectionId, std::string&) {
    return std::unexpected(NotDetached::unsupported);
  }
  [[nodiscard]] virtual std::optional<UtcTime> received_at() const noexcept = 0;
  virtual void wake() noexcept = 0;
  [[nodiscard]] virtual UtcTime time_on_any_thread() const noexcept = 0;
  [[nodiscard]] virtual MonotonicTime monotonic() const noexcept = 0;  // the loop's clock
  // The identity in the certificate of an accepted connection's peer; null: there is none.
  [[nodiscard]] virtual const TlsPeer* tls_peer(ConnectionId) const noexcept { return nullptr; }

 protected:
  ~LoopNetwork() = default;
};

}  // namespace nfx
