// Addresses of UDP lines as an operator writes them: 10.0.0.5:5000, 239.1.1.1:5000@eth0, [ff15::1]:5000@eth0.
// Thread: any. Cost: allocates; at start. Errors: UdpError names the text, what is wrong with it and what to write.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// What an operator has to correct: an address, an interface, rights.
class UdpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct UdpAddress {
  std::string host;  // a literal IPv4 or IPv6 address
  std::uint16_t port = 0;
  std::string interface;  // by name or by one of its addresses, for multicast; empty: the one of the route

  friend bool operator==(const UdpAddress&, const UdpAddress&) = default;
};

[[nodiscard]] UdpAddress parse_udp_address(std::string_view text);
[[nodiscard]] std::string to_string(const UdpAddress& address);
// 224.0.0.0/4 and ff00::/8.
[[nodiscard]] bool is_multicast(const UdpAddress& address);

}  // namespace nfx
