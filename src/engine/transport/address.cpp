// Resolves host names and formats addresses.
#include "transport/address.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "transport/tcp_parts.hpp"

namespace nfx {

namespace detail {

std::optional<Endpoint> endpoint_of(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  const int flags = NI_NUMERICHOST | NI_NUMERICSERV;
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port, sizeof port, flags) !=
      0) {
    return std::nullopt;
  }
  return Endpoint{host, static_cast<std::uint16_t>(std::stoul(port))};
}

std::expected<AddressList, TransportError> look_up(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  const std::string port = std::to_string(endpoint.port);
  addrinfo* found = nullptr;
  int result = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (result == EAI_NONAME) {
    hints.ai_flags = AI_NUMERICSERV;
    result = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  }
  if (result == 0) return AddressList(found, &::freeaddrinfo);
  if (result == EAI_SYSTEM) return std::unexpected(TransportError{errno, "look up " + endpoint.host});
  return std::unexpected(
      TransportError{no_such_host, "the host " + endpoint.host + " is unknown (" + ::gai_strerror(result) + ")"});
}

}  // namespace detail

std::expected<std::vector<Endpoint>, TransportError> resolve(const Endpoint& endpoint) {
  auto addresses = detail::look_up(endpoint);
  if (!addresses) return std::unexpected(std::move(addresses.error()));
  std::vector<Endpoint> endpoints;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, at->ai_addr, at->ai_addrlen);
    if (auto literal = detail::endpoint_of(address, at->ai_addrlen)) endpoints.push_back(*std::move(literal));
  }
  return endpoints;
}

}  // namespace nfx
