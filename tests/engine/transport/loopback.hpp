// Loopback addresses for tests with sockets of their own.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
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

// A free port, for a program that cannot choose one itself. Each process has 32 of its own, one after the other, so
// that nobody gets the same one before the program listens. They are below 32768: Linux assigns ports from there to
// 60999 to connections, and to listeners without a port.
inline std::uint16_t free_port() {
  constexpr int first = 10'000, of_a_process = 32, processes = 711;
  static std::atomic<int> given{0};
  int reason = 0;
  for (int tries = 0; tries < 3 * of_a_process; ++tries) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // After a round, those of another process.
    const int owner = ::getpid() + tries / of_a_process;
    const auto port =
        static_cast<std::uint16_t>(first + owner % processes * of_a_process + given.fetch_add(1) % of_a_process);
    const sockaddr_in address = loopback(port);
    const bool found = fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    reason = errno;
    if (fd >= 0) ::close(fd);
    if (found) return port;
  }
  throw std::system_error{reason, std::generic_category(), "no free port on loopback"};
}

}  // namespace nfx::test
