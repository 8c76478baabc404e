// Host names and socket addresses.
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "transport/transport.hpp"

namespace nfx::detail {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// The error of a transport without encryption for options that request it: such a connection is never sent in plain
// text.
[[nodiscard]] inline std::optional<TransportError> refuse_tls(const char* operation, const Endpoint& endpoint,
                                                              const SocketOptions& options) {
  if (!options.tls) return std::nullopt;
  return TransportError{EINVAL,
                        std::string{operation} + to_string(endpoint) + ": encrypted, but without a TlsTransport"};
}

// Returns a literal address immediately; looking up a name may block. Never an empty list.
[[nodiscard]] std::expected<AddressList, TransportError> look_up(const Endpoint& endpoint);

// The literal form of a socket address; empty for a family without ports.
[[nodiscard]] std::optional<Endpoint> endpoint_of(const sockaddr_storage& address, socklen_t size);

}  // namespace nfx::detail
