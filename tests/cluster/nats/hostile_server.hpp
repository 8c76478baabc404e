// A server on loopback that speaks NATS as far as a client needs to connect, and then sends what a test gives it: after
// the first request, to each connection. Thread: one of its own; the functions from any. Errors: std::runtime_error.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/loopback.hpp"

namespace nfx::test {

class HostileServer {
 public:
  static constexpr const char* greeting =
      "INFO {\"server_id\":\"X\",\"server_name\":\"x\",\"version\":\"2.12.0\",\"proto\":1,\"headers\":true,"
      "\"max_payload\":1048576,\"jetstream\":true}\r\n";

  struct Says {
    std::string greeting = HostileServer::greeting;
    std::string pong = "PONG\r\n";
    std::string answer = {};  // to a request
  };

  explicit HostileServer(Says says) : says_(std::move(says)) {
    sockaddr_in address = test::loopback();
    socklen_t size = sizeof address;
    const bool listens = listener_ >= 0 && ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                         ::listen(listener_, 16) == 0 &&
                         ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (!listens) throw std::runtime_error("no port on loopback for a hostile server");
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  }
  ~HostileServer() {
    thread_ = {};
    for (const auto& [fd, heard] : clients_) ::close(fd);
    ::close(listener_);
  }
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;

  [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }

 private:
  static void send(int fd, const std::string& bytes) {
    static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }

  void run(const std::stop_token& stop) {
    constexpr int turn_ms = 5;
    while (!stop.stop_requested()) {
      std::vector<pollfd> polled{{.fd = listener_, .events = POLLIN, .revents = 0}};
      for (const auto& [fd, heard] : clients_) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      if (::poll(polled.data(), polled.size(), turn_ms) <= 0) continue;
      for (const pollfd& each : polled) {
        if (each.revents == 0) continue;
        if (each.fd != listener_) {
          hear(each.fd);
          continue;
        }
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) continue;
        const timeval most{.tv_sec = 1, .tv_usec = 0};  // a client that reads nothing does not stop the test
        ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        clients_[fd];
        send(fd, says_.greeting);
      }
    }
  }

  void hear(int fd) {
    char bytes[4096];
    const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) {
      clients_.erase(fd);
      ::close(fd);
      return;
    }
    std::string& heard = clients_[fd];
    heard.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end = heard.find("\r\n"); end != std::string::npos; end = heard.find("\r\n")) {
      if (heard.starts_with("PING")) send(fd, says_.pong);
      if (heard.starts_with("PUB") || heard.starts_with("HPUB")) send(fd, says_.answer);
      heard.erase(0, end + 2);
    }
  }

  const Says says_;
  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::map<int, std::string> clients_;  // what each has sent and is no whole line yet
  std::jthread thread_;
};

}  // namespace nfx::test
