// The line that a proxy sends before the bytes of a connection that it forwards, in HAProxy's PROXY protocol, version
// 1.
// It names the peer that the proxy has accepted:
//   "PROXY TCP4 192.0.2.7 10.0.0.11 51234 9878\r
// "   the addresses of peer and proxy, then their ports
// The reader has to trust the sender, because any program can write any address.
// Thread: any. Cost: two system calls to make one; reading one allocates the peer's name. Errors: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

inline constexpr std::size_t longest_proxy_header = 107;

// The header for the connection of this socket. Empty if it is not a TCP connection, or has ended.
[[nodiscard]] std::string proxy_header(int socket);

struct ProxyHeader {
  enum class Status : std::uint8_t {
    absent,      // the bytes begin with something else
    incomplete,  // they may become a header
    wrong,       // too long, or not a header with TCP addresses
    complete,
  };
  Status status = Status::absent;
  std::size_t size = 0;  // of a complete header
  std::string peer;      // as in the header: "192.0.2.7:51234"
};
// Parses the header at the start of received bytes.
[[nodiscard]] ProxyHeader read_proxy_header(std::string_view bytes);

}  // namespace nfx
