// Shared by the tests over TCP: a socket that may misbehave, and a transport that listens.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>

#include "transport/loopback.hpp"
#include "transport/transport_testing.hpp"

namespace nfx::testing {

// A plain blocking socket, for behaviour that a transport does not have.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = test::loopback(port);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view text) { EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text)); }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }
  void reset() {
    const linger abort{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// A transport that listens on this host.
template <class Kind>
struct ServerOver {
  explicit ServerOver(const typename Kind::Options& options = {}) : transport(Kind::adjusted(options)) {
    const auto made = transport.listen({"127.0.0.1", 0});
    EXPECT_TRUE(made.has_value());
    listener = *made;
    port = transport.local_endpoint(listener)->port;
  }
  template <class Condition>
  [[nodiscard]] bool poll_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10min;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      transport.poll(sink, 1ms);
    }
    return true;
  }
  typename Kind::Transport transport;
  ListenerId listener{};
  std::uint16_t port = 0;
  RecordingSink sink;
};

}  // namespace nfx::testing
