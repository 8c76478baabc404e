// Parses addresses of UDP lines, finds their interfaces, and opens sockets for them.
#include "transport/udp_socket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "base/error_text.hpp"

namespace nfx {

namespace {

constexpr std::string_view forms =
    "; write ADDRESS:PORT, for multicast GROUP:PORT@INTERFACE, for example "
    "239.1.1.1:5000@eth0 or [ff15::1]:5000@eth0";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw UdpError("the address \"" + std::string{text} + "\" " + std::string{why} + std::string{forms});
}

using Interfaces = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

Interfaces list_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) first = nullptr;
  return {first, &::freeifaddrs};
}

std::string interface_names() {
  std::set<std::string> names;
  const Interfaces interfaces = list_interfaces();
  for (const ifaddrs* at = interfaces.get(); at != nullptr; at = at->ifa_next) names.insert(at->ifa_name);
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text.empty() ? "none" : text;
}

// By its name, or by its address.
unsigned interface_index(const UdpAddress& address) {
  if (const unsigned index = ::if_nametoindex(address.interface.c_str()); index != 0) return index;
  in_addr ipv4{};
  in6_addr ipv6{};
  const bool is_ipv4 = ::inet_pton(AF_INET, address.interface.c_str(), &ipv4) == 1;
  const bool is_ipv6 = !is_ipv4 && ::inet_pton(AF_INET6, address.interface.c_str(), &ipv6) == 1;
  const Interfaces interfaces = list_interfaces();
  for (const ifaddrs* at = interfaces.get(); at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const bool same =
        (is_ipv4 && at->ifa_addr->sa_family == AF_INET &&
         reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr.s_addr == ipv4.s_addr) ||
        (is_ipv6 && at->ifa_addr->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr, &ipv6, sizeof ipv6) == 0);
    if (same) return ::if_nametoindex(at->ifa_name);
  }
  throw UdpError(to_string(address) + ": this host has no interface \"" + address.interface + "\"; it has " +
                 interface_names());
}

}  // namespace

UdpAddress parse_udp_address(std::string_view text) {
  UdpAddress address;
  std::string_view rest = text;
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    address.interface = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (address.interface.empty()) refuse(text, "names no interface after @");
  }
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) refuse(text, "has no port");
  const std::string_view port = rest.substr(colon + 1);
  std::string_view host = rest.substr(0, colon);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size()) refuse(text, "has no port of 0 to 65535");
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    refuse(text, "is an IPv6 address without [ and ]");
  }
  address.host = host;
  (void)is_multicast(address);  // checks that the address is literal
  return address;
}

std::string to_string(const UdpAddress& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  std::string text = is_ipv6 ? '[' + address.host + ']' : address.host;
  text.append(":").append(std::to_string(address.port));
  if (!address.interface.empty()) text.append("@").append(address.interface);
  return text;
}

bool is_multicast(const UdpAddress& address) {
  in_addr ipv4{};
  in6_addr ipv6{};
  if (::inet_pton(AF_INET, address.host.c_str(), &ipv4) == 1) return IN_MULTICAST(ntohl(ipv4.s_addr));
  if (::inet_pton(AF_INET6, address.host.c_str(), &ipv6) == 1) return IN6_IS_ADDR_MULTICAST(&ipv6) != 0;
  refuse(to_string(address), "is not a literal IPv4 or IPv6 address");
}

namespace detail {

UdpSocketAddress socket_address_of(const UdpAddress& address) {
  UdpSocketAddress found;
  found.multicast = is_multicast(address);
  if (!address.interface.empty()) {
    if (!found.multicast) {
      throw UdpError(to_string(address) + ": " + address.host +
                     " is not a multicast group (224.0.0.0/4 or ff00::/8); leave out @" + address.interface +
                     " where it is an address of this host, or give the group");
    }
    found.interface = interface_index(address);
  }
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(found.storage);
  if (::inet_pton(AF_INET, address.host.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(address.port);
    found.size = sizeof ipv4;
    return found;
  }
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(found.storage);
  (void)::inet_pton(AF_INET6, address.host.c_str(), &ipv6.sin6_addr);  // is_multicast() has parsed it
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(address.port);
  ipv6.sin6_scope_id = found.interface;
  found.size = sizeof ipv6;
  return found;
}

UdpSocket::UdpSocket(const UdpSocketAddress& address)
    : fd_(::socket(address.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) throw UdpError("cannot make a UDP socket: " + system_text(errno));
}

UdpSocket::~UdpSocket() {
  if (fd_ >= 0) ::close(fd_);
}

bool UdpSocket::set(int level, int name, int value) noexcept {
  return ::setsockopt(fd_, level, name, &value, sizeof value) == 0;
}

int UdpSocket::get(int level, int name) const noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd_, level, name, &value, &size) == 0 ? value : 0;
}

}  // namespace detail
}  // namespace nfx
