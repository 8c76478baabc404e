// The TCP segment in a captured packet: Ethernet with or without VLAN tags, Linux cooked captures, loopback and raw IP;
// IPv4 and IPv6.
// Thread: any, no state. Cost: a few compares per header, no allocation. Lifetime: a segment borrows the packet.
// Errors: a packet that is not TCP, or is cut off within its headers, has no segment.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nfx::app {

// LINKTYPE_ values of pcap files.
enum class LinkType : std::uint16_t {
  null = 0,
  ethernet = 1,
  raw_bsd = 12,
  raw = 101,
  loop = 108,
  linux_cooked = 113,
  ipv4 = 228,
  ipv6 = 229,
  linux_cooked_v2 = 276,
};

struct Endpoint {
  std::array<std::uint8_t, 16> address{};
  bool v6 = false;
  std::uint16_t port = 0;

  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

// "10.0.0.1:5000", "[fe80::1]:5000".
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

struct TcpSegment {
  Endpoint from, to;
  std::uint32_t seq = 0;
  bool syn = false;
  std::string_view payload;
  std::uint32_t missing = 0;  // bytes of the payload that were not captured, after those that were
};

[[nodiscard]] std::optional<TcpSegment> read_tcp_segment(LinkType link, std::string_view packet);

}  // namespace nfx::app
