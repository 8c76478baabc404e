// The baseline: only send and recv. Blocking: the kernel wakes the thread; busy-polling: it receives in a loop.
#include "gate/raw_socket.hpp"
#include "transport/ping_pong.hpp"

namespace nfx::bench {

namespace {

template <bool Spin>
class RawEnd {
 public:
  explicit RawEnd(int fd) : socket_(fd) {}
  void send(std::span<const char> bytes) {
    const ssize_t sent = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) throw std::runtime_error("a send fell short");
  }
  void receive(std::span<char> bytes) {
    while (!bytes.empty()) {
      const ssize_t received = ::recv(socket_.fd(), bytes.data(), bytes.size(), Spin ? MSG_DONTWAIT : 0);
      if (received > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(received));
      } else if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
        throw std::runtime_error("the other side is gone");
      } else if (Spin) {
        cpu_pause();
      }
    }
  }

 private:
  RawSocket socket_;
};

template <bool Spin>
LatencyHistogram run_raw(const PingPong& plan) {
  return run_both(
      plan,
      [&](const auto& report_port) {
        RawEnd<Spin> end{accept_one(report_port)};
        answer(end, plan);
      },
      [&](std::uint16_t port) {
        RawEnd<Spin> end{connect_to(port)};
        return ask(end, plan);
      });
}

}  // namespace

void add_raw_rows(std::vector<Condition>& rows) {
  rows.push_back({.name = "raw block", .baseline = "", .why_not = "", .run = run_raw<false>, .has_target = false});
  rows.push_back({.name = "raw spin", .baseline = "", .why_not = "", .run = run_raw<true>, .has_target = false});
}

}  // namespace nfx::bench
