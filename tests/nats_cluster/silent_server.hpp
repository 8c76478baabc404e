// A server on loopback that greets like nats-server, and then answers nothing: libnats before 3.8 does not return from
// it.
// Thread: one of its own; the functions from any. Errors: std::runtime_error.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "transport/loopback.hpp"

namespace nfx::test {

class SilentServer {
 public:
  SilentServer() {
    sockaddr_in address = test::loopback();
    socklen_t size = sizeof address;
    const bool listens = listener_ >= 0 && ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                         ::listen(listener_, 16) == 0 &&
                         ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (!listens) throw std::runtime_error("no port on loopback for a silent server");
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  }
  ~SilentServer() {
    thread_ = {};
    ::close(listener_);
    hang_up();
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] int greeted() const {
    const std::lock_guard lock{mutex_};
    return greeted_;
  }
  // Closes its connections.
  void hang_up() {
    const std::lock_guard lock{mutex_};
    for (const int fd : std::exchange(fds_, {})) ::close(fd);
  }

 private:
  void run(const std::stop_token& stop) {
    constexpr std::string_view greeting =
        "INFO {\"server_id\":\"X\",\"server_name\":\"x\",\"version\":\"2.12.0\",\"proto\":1,\"headers\":true,"
        "\"max_payload\":1048576,\"jetstream\":true}\r\n";
    constexpr int turn_ms = 5;
    while (!stop.stop_requested()) {
      pollfd polled{.fd = listener_, .events = POLLIN, .revents = 0};
      if (::poll(&polled, 1, turn_ms) <= 0) continue;
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      static_cast<void>(::send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL));
      const std::lock_guard lock{mutex_};
      fds_.push_back(fd);
      ++greeted_;
    }
  }

  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;  // protects the members below
  std::vector<int> fds_;
  int greeted_ = 0;
  std::jthread thread_;
};

}  // namespace nfx::test
