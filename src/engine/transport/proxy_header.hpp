// The line that a proxy sends before the bytes of a connection that it hands on, as HAProxy's PROXY protocol, version
// 1, has it. It names the peer that the proxy has accepted:
//   "PROXY TCP4 192.0.2.7 10.0.0.11 51234 9878\r\n"   the addresses of peer and proxy, then their ports
// Who reads it has to trust the sender: any program can write any address.
// Thread: any. Cost: two system calls to make one; reading one allocates the peer's name. Errors: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

inline constexpr std::size_t longest_proxy_header = 107;

// Of the connection that this socket is an end of. Empty: it is not a TCP connection, or has ended.
[[nodiscard]] std::string proxy_header(int socket);

struct ProxyHeader {
  enum class Status : std::uint8_t {
    absent,      // the bytes begin otherwise
    incomplete,  // they may become a header
    wrong,       // too long, or no header that states TCP addresses
    complete,
  };
  Status status = Status::absent;
  std::size_t size = 0;  // of a complete one
  std::string peer;      // as it states it: "192.0.2.7:51234"
};
// The header at the front of what was received.
[[nodiscard]] ProxyHeader read_proxy_header(std::string_view bytes);

}  // namespace nfx
