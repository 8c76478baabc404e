// Walks through the headers of a packet.
#include "decode/packet.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace nfx::app {
namespace {

constexpr std::uint16_t ethertype_ipv4 = 0x0800, ethertype_ipv6 = 0x86DD;
constexpr std::uint8_t protocol_tcp = 6;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) noexcept { return static_cast<std::uint8_t>(bytes[at]); }
std::uint16_t big16(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}
std::uint32_t big32(std::string_view bytes, std::size_t at) noexcept {
  return std::uint32_t{big16(bytes, at)} << 16 | big16(bytes, at + 2);
}

// The IP packet in it.
std::optional<std::string_view> ip_packet(LinkType link, std::string_view packet) noexcept {
  const auto from = [packet](std::size_t at) -> std::optional<std::string_view> {
    if (packet.size() <= at) return std::nullopt;
    return packet.substr(at);
  };
  switch (link) {
    case LinkType::raw:
    case LinkType::raw_bsd:
    case LinkType::ipv4:
    case LinkType::ipv6: return from(0);
    case LinkType::null:
    case LinkType::loop: return from(4);
    case LinkType::linux_cooked: return from(16);
    case LinkType::linux_cooked_v2: return from(20);
    case LinkType::ethernet: break;
  }
  std::size_t at = 12;
  // Tags: customer, provider, and what was used for it before.
  while (packet.size() >= at + 2 &&
         (big16(packet, at) == 0x8100 || big16(packet, at) == 0x88A8 || big16(packet, at) == 0x9100))
    at += 4;
  if (packet.size() < at + 2) return std::nullopt;
  const std::uint16_t type = big16(packet, at);
  return type == ethertype_ipv4 || type == ethertype_ipv6 ? from(at + 2) : std::nullopt;
}

struct IpPayload {
  std::string_view bytes;  // as far as captured
  std::size_t size = 0;    // on the network
};

// Fragments have no segment: TCP avoids them.
std::optional<IpPayload> read_ipv4(std::string_view ip, TcpSegment& segment) noexcept {
  if (ip.size() < 20) return std::nullopt;
  const std::size_t header = std::size_t{byte_at(ip, 0)} % 16 * 4;
  std::size_t total = big16(ip, 2);
  if (total == 0) total = ip.size();  // filled in by the card after the capture
  const bool fragment = (big16(ip, 6) & 0x3FFF) != 0;
  if (header < 20 || ip.size() < header || total < header || fragment || byte_at(ip, 9) != protocol_tcp)
    return std::nullopt;
  std::copy_n(ip.begin() + 12, 4, segment.from.address.begin());
  std::copy_n(ip.begin() + 16, 4, segment.to.address.begin());
  return IpPayload{ip.substr(0, total).substr(header), total - header};
}

std::optional<IpPayload> read_ipv6(std::string_view ip, TcpSegment& segment) noexcept {
  constexpr std::size_t fixed = 40;
  if (ip.size() < fixed) return std::nullopt;
  std::size_t size = big16(ip, 4);
  if (size == 0) size = ip.size() - fixed;
  std::uint8_t protocol = byte_at(ip, 6);
  std::size_t header = 0;
  const std::string_view rest = ip.substr(fixed).substr(0, size);
  // Hop-by-hop options, routing, destination options.
  while (protocol == 0 || protocol == 43 || protocol == 60) {
    if (rest.size() < header + 8) return std::nullopt;
    protocol = byte_at(rest, header);
    header += (std::size_t{byte_at(rest, header + 1)} + 1) * 8;
  }
  if (protocol != protocol_tcp || rest.size() < header) return std::nullopt;
  std::copy_n(ip.begin() + 8, 16, segment.from.address.begin());
  std::copy_n(ip.begin() + 24, 16, segment.to.address.begin());
  segment.from.v6 = segment.to.v6 = true;
  return IpPayload{rest.substr(header), size - header};
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(endpoint.v6 ? AF_INET6 : AF_INET, endpoint.address.data(), text.data(), text.size());
  const std::string port = std::to_string(endpoint.port);
  return endpoint.v6 ? "[" + std::string{text.data()} + "]:" + port : std::string{text.data()} + ":" + port;
}

std::optional<TcpSegment> read_tcp_segment(LinkType link, std::string_view packet) {
  const auto ip = ip_packet(link, packet);
  if (!ip) return std::nullopt;
  TcpSegment segment;
  const unsigned version = byte_at(*ip, 0) / 16;
  const auto tcp = version == 4   ? read_ipv4(*ip, segment)
                   : version == 6 ? read_ipv6(*ip, segment)
                                  : std::optional<IpPayload>{};
  constexpr std::size_t fixed = 20;
  if (!tcp || tcp->bytes.size() < fixed) return std::nullopt;
  const std::size_t header = std::size_t{byte_at(tcp->bytes, 12)} / 16 * 4;
  if (header < fixed || tcp->size < header) return std::nullopt;
  segment.from.port = big16(tcp->bytes, 0);
  segment.to.port = big16(tcp->bytes, 2);
  segment.seq = big32(tcp->bytes, 4);
  segment.syn = (byte_at(tcp->bytes, 13) & 2) != 0;
  segment.payload = tcp->bytes.substr(std::min(header, tcp->bytes.size()));
  segment.missing = static_cast<std::uint32_t>(tcp->size - header - segment.payload.size());
  return segment;
}

}  // namespace nfx::app
