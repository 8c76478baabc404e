// Writes and parses the header of the PROXY protocol.
#include "transport/proxy_header.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "nexusfix/transport/socket_options.hpp"

namespace nfx {
namespace {

constexpr std::string_view begin = "PROXY ";

struct Side {
  bool v6 = false;
  std::string host;
  std::uint16_t port = 0;
};

std::optional<Side> side_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  Side side;
  const void* host = nullptr;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (address.ss_family == AF_INET) {
    std::memcpy(&v4, &address, sizeof v4);
    host = &v4.sin_addr;
    side.port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    std::memcpy(&v6, &address, sizeof v6);
    side.port = ntohs(v6.sin6_port);
    side.v6 = !IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
    host = side.v6 ? v6.sin6_addr.s6_addr : v6.sin6_addr.s6_addr + 12;  // an IPv4 address is the last four bytes
  } else {
    return std::nullopt;
  }
  if (::inet_ntop(side.v6 ? AF_INET6 : AF_INET, host, text.data(), text.size()) == nullptr) return std::nullopt;
  side.host = text.data();
  return side;
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);

std::optional<Side> side_of(int socket, NameOf name_of) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (name_of(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  return side_of(address);
}

// Removes and returns the text before the separator, and the separator. Empty if there is no separator.
std::string_view take(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  if (end == std::string_view::npos) return {};
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end + separator.size());
  return word;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

bool is_address(std::string_view family, std::string_view text) {
  std::array<std::byte, sizeof(in6_addr)> bytes{};
  if (text.contains('\0')) return false;  // inet_pton() would stop there
  if (family == "TCP4") return ::inet_pton(AF_INET, std::string{text}.c_str(), bytes.data()) == 1;
  return family == "TCP6" && ::inet_pton(AF_INET6, std::string{text}.c_str(), bytes.data()) == 1;
}

}  // namespace

std::string proxy_header(int socket) {
  const std::optional<Side> peer = side_of(socket, ::getpeername), own = side_of(socket, ::getsockname);
  if (!peer || !own || peer->v6 != own->v6) return {};
  return std::string{begin} + (peer->v6 ? "TCP6 " : "TCP4 ") + peer->host + ' ' + own->host + ' ' +
         std::to_string(peer->port) + ' ' + std::to_string(own->port) + "\r\n";
}

ProxyHeader read_proxy_header(std::string_view bytes) {
  using enum ProxyHeader::Status;
  const std::size_t common = std::min(bytes.size(), begin.size());
  if (bytes.substr(0, common) != begin.substr(0, common)) return {};
  const std::size_t end = bytes.substr(0, longest_proxy_header).find("\r\n");
  if (end == std::string_view::npos)
    return {.status = bytes.size() < longest_proxy_header ? incomplete : wrong, .peer = {}};
  std::string_view rest = bytes.substr(0, end);
  rest.remove_prefix(begin.size());
  const std::string_view family = take(rest, " "), peer = take(rest, " "), own = take(rest, " ");
  const std::optional<std::uint16_t> peer_port = port_of(take(rest, " ")), own_port = port_of(rest);
  if (!is_address(family, peer) || !is_address(family, own) || !peer_port || !own_port)
    return {.status = wrong, .peer = {}};
  return {
      .status = complete, .size = end + 2, .peer = to_string(Endpoint{.host = std::string{peer}, .port = *peer_port})};
}

}  // namespace nfx
