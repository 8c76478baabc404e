// Loopback addresses for tests with sockets of their own.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <random>
#include <system_error>

namespace nfx::test {

// 127.0.0.1; port 0: chosen by the kernel.
inline sockaddr_in loopback(std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A free port, for a program that cannot choose one itself. It is below 32768: Linux assigns ports from there to 60999
// to connections, and to listeners without a port, so another test could get it a moment later.
inline std::uint16_t free_port() {
  std::random_device random;
  std::uniform_int_distribution<int> ports{10'000, 32'767};
  int reason = 0;
  for (int tries = 0; tries < 100; ++tries) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto port = static_cast<std::uint16_t>(ports(random));
    const sockaddr_in address = loopback(port);
    const bool found = fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    reason = errno;
    if (fd >= 0) ::close(fd);
    if (found) return port;
  }
  throw std::system_error{reason, std::generic_category(), "no free port on loopback"};
}

}  // namespace nfx::test
