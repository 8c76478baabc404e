// Host names and socket addresses.
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <expected>
#include <memory>
#include <optional>

#include "nexusfix/transport/transport.hpp"

namespace nfx::detail {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// A literal address at once, a name by a look-up that may block. Never an empty list.
[[nodiscard]] std::expected<AddressList, TransportError> look_up(const Endpoint& endpoint);

// The literal form of a socket address; empty for a family without ports.
[[nodiscard]] std::optional<Endpoint> endpoint_of(const sockaddr_storage& address, socklen_t size);

}  // namespace nfx::detail
