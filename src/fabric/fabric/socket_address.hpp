// Converts the address of a rail to the kernel's format and back.
// Thread: any. Cost: no look-up, because only literal addresses are accepted. Errors: a text.
#pragma once

#include <sys/socket.h>

#include <expected>
#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx::fabric {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* generic() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] bool is_unix() const noexcept { return storage.ss_family == AF_UNIX; }
};

[[nodiscard]] std::expected<SocketAddress, std::string> parse_address(std::string_view place);

// In the format of check_address().
[[nodiscard]] std::string place_of(const SocketAddress& address);

}  // namespace nfx::fabric
