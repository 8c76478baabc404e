// Parses the UDP lines of a feed from options.
// Thread: any. Errors: ConfigError names the line and what to write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nexusfix/transport/udp.hpp"

namespace nfx::app::market {

// "A=239.1.1.1:5000@eth0"; each line has a unique name. UdpError for an address.
[[nodiscard]] std::vector<UdpLineOptions> parse_udp_lines(const std::vector<std::string>& texts,
                                                          std::uint32_t receive_buffer);

}  // namespace nfx::app::market
