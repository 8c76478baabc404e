// Where the two ends of a rail find each other: one listens, the other connects, again after every end of the rail.
// Thread: plain values. Errors: a text that names what is wrong with the address.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx::fabric {

enum class RailEnd : std::uint8_t { listens, connects };
[[nodiscard]] std::string_view to_string(RailEnd end) noexcept;

// "/run/nfx/standby.0": a Unix socket, for two processes of this host. "10.0.0.2:7000" or "[::1]:7000": TCP, an address
// and not a name, because nothing here may wait for a name server.
struct RailAddress {
  RailEnd end = RailEnd::connects;
  std::string place;
};

// What is wrong with it; empty: nothing.
[[nodiscard]] std::string check_address(std::string_view place);

}  // namespace nfx::fabric
