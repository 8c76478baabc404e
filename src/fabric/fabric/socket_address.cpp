// Parses "/path", "10.0.0.2:7000" and "[::1]:7000". Host names are refused, because a poll thread reopens rails and
// must not wait for a name server.
#include "fabric/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "base/enumerator_name.hpp"
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {
namespace {

std::expected<SocketAddress, std::string> unix_address(std::string_view path) {
  SocketAddress address;
  sockaddr_un value{};
  if (path.size() >= sizeof value.sun_path) {
    return std::unexpected("the path " + std::string{path} + " has " + std::to_string(path.size()) +
                           " characters, a Unix socket at most " + std::to_string(sizeof value.sun_path - 1));
  }
  value.sun_family = AF_UNIX;
  std::memcpy(value.sun_path, path.data(), path.size());
  std::memcpy(&address.storage, &value, sizeof value);
  address.size = sizeof value;
  return address;
}

bool read_port(std::string_view text, in_port_t& port) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  port = htons(number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string_view to_string(RailEnd end) noexcept { return enumerator_name(end); }

std::expected<SocketAddress, std::string> parse_address(std::string_view place) {
  if (place.starts_with('/')) return unix_address(place);
  const auto wrong = [&] {
    return std::unexpected("\"" + std::string{place} +
                           "\" is not the address of a rail: write /run/nfx/NAME, 10.0.0.2:7000 or [::1]:7000");
  };
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  const std::string_view port = place.substr(colon + 1);
  std::string host{place.substr(0, colon)};
  SocketAddress address;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    sockaddr_in6 value{};
    value.sin6_family = AF_INET6;
    if (::inet_pton(AF_INET6, host.c_str(), &value.sin6_addr) != 1 || !read_port(port, value.sin6_port)) return wrong();
    std::memcpy(&address.storage, &value, sizeof value);
    address.size = sizeof value;
  } else {
    sockaddr_in value{};
    value.sin_family = AF_INET;
    if (::inet_pton(AF_INET, host.c_str(), &value.sin_addr) != 1 || !read_port(port, value.sin_port)) return wrong();
    std::memcpy(&address.storage, &value, sizeof value);
    address.size = sizeof value;
  }
  return address;
}

std::string place_of(const SocketAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in value{};
    std::memcpy(&value, &address.storage, sizeof value);
    ::inet_ntop(AF_INET, &value.sin_addr, text.data(), text.size());
    return std::string{text.data()} + ':' + std::to_string(ntohs(value.sin_port));
  }
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 value{};
    std::memcpy(&value, &address.storage, sizeof value);
    ::inet_ntop(AF_INET6, &value.sin6_addr, text.data(), text.size());
    return '[' + std::string{text.data()} + "]:" + std::to_string(ntohs(value.sin6_port));
  }
  sockaddr_un value{};
  std::memcpy(&value, &address.storage, sizeof value);
  return value.sun_path;
}

std::string check_address(std::string_view place) {
  const auto address = parse_address(place);
  return address ? std::string{} : address.error();
}

}  // namespace nfx::fabric
