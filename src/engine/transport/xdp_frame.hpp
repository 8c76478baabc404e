// Which received frames lwIP sees: ARP, and whole packets of TCP and ICMP without IP options from another host to this
// one. So lwIP gets no fragment, no group, no other protocol and no packet that seems to be its own.
// Thread: any. Cost: reads at most 48 bytes. Errors: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nfx::detail {

using Ipv4 = std::array<std::uint8_t, 4>;

enum class FrameKind : std::uint8_t { other, usable, first_of_connection };

[[nodiscard]] inline FrameKind kind_of(std::span<const char> frame, const Ipv4& own) noexcept {
  constexpr std::size_t ethernet = 14, arp = 28, ipv4 = 20, tcp = 20;
  if (frame.size() < ethernet + arp) return FrameKind::other;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(frame[at]); };
  const auto ip = [&](std::size_t at) { return byte(ethernet + at); };
  if (byte(12) == 0x08 && byte(13) == 0x06) return FrameKind::usable;
  if (byte(12) != 0x08 || byte(13) != 0x00 || ip(0) != 0x45) return FrameKind::other;
  if ((ip(6) & 0x3f) != 0 || ip(7) != 0) return FrameKind::other;  // a fragment
  const Ipv4 from{ip(12), ip(13), ip(14), ip(15)}, to{ip(16), ip(17), ip(18), ip(19)};
  if (to != own || from == own || from[0] == 0 || from[0] == 127 || from[0] >= 224) return FrameKind::other;
  constexpr std::uint8_t icmp_number = 1, tcp_number = 6, syn = 0x02, ack = 0x10;
  if (ip(9) == icmp_number) return FrameKind::usable;
  if (ip(9) != tcp_number || frame.size() < ethernet + ipv4 + tcp) return FrameKind::other;
  return (ip(ipv4 + 13) & (syn | ack)) == syn ? FrameKind::first_of_connection : FrameKind::usable;
}

}  // namespace nfx::detail
