// A TCP connection on this host without the engine, for the raw rows.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "transport/loopback.hpp"

namespace nfx::bench {

class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "socket");
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket() { ::close(fd_); }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

inline int new_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

// Listens on any port, reports the port, and accepts one connection.
template <class ReportPort>
int accept_one(const ReportPort& report_port) {
  const RawSocket listener{new_socket()};
  sockaddr_in address = test::loopback();
  socklen_t size = sizeof address;
  if (::bind(listener.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.fd(), 1) != 0 ||
      ::getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  report_port(ntohs(address.sin_port));
  return ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
}

inline int connect_to(std::uint16_t port) {
  const int fd = new_socket();
  const sockaddr_in address = test::loopback(port);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

}  // namespace nfx::bench
