// Measures the round trip of the demonstration's bytes over plain TCP, for comparison with its latencies.
#include "demo/baseline.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

namespace nfx::app::demo {
namespace {

class Socket {
 public:
  explicit Socket(int fd) noexcept : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

int flags_of(IdleMode idle) noexcept { return idle == IdleMode::block ? 0 : MSG_DONTWAIT; }

// False if the connection is broken.
bool send_all(int fd, const std::vector<char>& bytes, IdleMode idle) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, flags_of(idle) | MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool receive_all(int fd, std::vector<char>& bytes, IdleMode idle) {
  for (std::size_t got = 0; got < bytes.size();) {
    const ssize_t n = ::recv(fd, bytes.data() + got, bytes.size() - got, flags_of(idle));
    if (n > 0) {
      got += static_cast<std::size_t>(n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      return false;
    } else if (idle == IdleMode::yield) {
      ::sched_yield();
    }
  }
  return true;
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

std::optional<LatencyHistogram> measure_baseline(const BaselinePlan& plan) {
  const Socket listener{::socket(AF_INET, SOCK_STREAM, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.fd(), generic, size) != 0 || ::listen(listener.fd(), 1) != 0 ||
      ::getsockname(listener.fd(), generic, &size) != 0) {
    return std::nullopt;
  }
  const Socket client{::socket(AF_INET, SOCK_STREAM, 0)};
  if (::connect(client.fd(), generic, size) != 0) return std::nullopt;
  const Socket server{::accept(listener.fd(), nullptr, nullptr)};
  if (server.fd() < 0) return std::nullopt;
  no_delay(client.fd());
  no_delay(server.fd());

  const std::size_t total = plan.warm_up + plan.round_trips;
  std::jthread answering{[&] {
    std::vector<char> request(plan.request_bytes), answer(plan.answer_bytes, 'a');
    for (std::size_t i = 0; i < total; ++i) {
      if (!receive_all(server.fd(), request, plan.idle) || !send_all(server.fd(), answer, plan.idle)) return;
    }
  }};
  LatencyHistogram result;
  std::vector<char> request(plan.request_bytes, 'r'), answer(plan.answer_bytes);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < total; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (begin - start > plan.at_most) break;
    if (!send_all(client.fd(), request, plan.idle) || !receive_all(client.fd(), answer, plan.idle)) {
      result = {};
      break;
    }
    if (i >= plan.warm_up || begin - start > plan.at_most / 4)
      result.record(Duration{std::chrono::steady_clock::now() - begin});
  }
  ::shutdown(client.fd(), SHUT_RDWR);  // ends the other side's thread, if it has not received all requests
  return result.count() != 0 ? std::optional{result} : std::nullopt;
}

}  // namespace nfx::app::demo
