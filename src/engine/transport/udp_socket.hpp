// Shared by UDP senders and receivers: literal addresses and interfaces in the kernel's format.
// Thread: any. Cost: system calls; at start. Errors: UdpError.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "nexusfix/transport/udp.hpp"

namespace nfx::detail {

struct UdpSocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool multicast = false;
  unsigned interface = 0;  // interface index; 0: chosen by the route

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] bool is_ipv4() const noexcept { return storage.ss_family == AF_INET; }
  [[nodiscard]] const sockaddr_in& ipv4() const noexcept { return reinterpret_cast<const sockaddr_in&>(storage); }
  [[nodiscard]] const sockaddr_in6& ipv6() const noexcept { return reinterpret_cast<const sockaddr_in6&>(storage); }
};

[[nodiscard]] UdpSocketAddress socket_address_of(const UdpAddress& address);

// Closed by the destructor.
class UdpSocket {
 public:
  UdpSocket() = default;
  explicit UdpSocket(const UdpSocketAddress& address);
  ~UdpSocket();
  UdpSocket(UdpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UdpSocket& operator=(UdpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  [[nodiscard]] bool set(int level, int name, int value) noexcept;  // sets a socket option
  [[nodiscard]] int get(int level, int name) const noexcept;        // 0 if it cannot be read

 private:
  int fd_ = -1;
};

}  // namespace nfx::detail
