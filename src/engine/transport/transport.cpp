// Formats endpoints and names close reasons.
#include "transport/transport.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <system_error>

namespace nfx {

std::optional<std::string> canonical_address(std::string_view host) {
  if (host.contains('\0')) return std::nullopt;  // inet_pton would stop there
  const std::string text{host};
  std::array<char, INET6_ADDRSTRLEN> written{};
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    ::inet_ntop(AF_INET, &v4, written.data(), written.size());
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6) != 1) {
    return std::nullopt;
  } else if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    ::inet_ntop(AF_INET, &v6.s6_addr[12], written.data(), written.size());
  } else {
    ::inet_ntop(AF_INET6, &v6, written.data(), written.size());
  }
  return std::string{written.data()};
}

std::optional<Endpoint> Endpoint::parse(std::string_view text) {
  std::string_view host;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find("]:");
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    port = text.substr(end + 2);
    // "[10.0.0.1:5]:6" is not an address; "fe80::1%eth0", with a scope, is one.
    in6_addr address{};
    if (host.contains(':') && ::inet_pton(AF_INET6, std::string{host.substr(0, host.find('%'))}.c_str(), &address) != 1)
      return std::nullopt;
  } else {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.empty() || host.find_first_of("[] \t") != std::string_view::npos) return std::nullopt;
  Endpoint endpoint{std::string(host), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (port.empty() || error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  return endpoint;
}

std::string to_string(const Endpoint& endpoint) {
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  return (brackets ? '[' + endpoint.host + ']' : endpoint.host) + ':' + std::to_string(endpoint.port);
}

std::string_view to_string(CloseReason reason) noexcept {
  switch (reason) {
    case CloseReason::peer_closed: return "peer closed";
    case CloseReason::reset: return "reset";
    case CloseReason::refused: return "refused";
    case CloseReason::timed_out: return "timed out";
    case CloseReason::unreachable: return "unreachable";
    case CloseReason::local_error: return "local error";
    case CloseReason::tls_failed: return "TLS failed";
  }
  return "unknown";
}

std::string_view to_string(NotDetached why) noexcept {
  switch (why) {
    case NotDetached::not_yet: return "the kernel still receives for the connection";
    case NotDetached::gone: return "the connection has ended";
    case NotDetached::encrypted: return "the connection is encrypted";
    case NotDetached::unsupported: return "the transport has no sockets";
  }
  return "unknown";
}

std::string TransportError::text() const {
  return code == no_such_host ? operation : operation + ": " + std::generic_category().message(code);
}

}  // namespace nfx
