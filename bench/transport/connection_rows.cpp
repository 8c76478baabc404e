// Many connections on one transport: the time until one of them is answered, and until all are. The other side is raw
// sockets that busy-poll in every row, so that only the transport differs.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "harness/random.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/io_uring_transport.hpp"
#include "transport/ping_pong.hpp"
#include "transport/raw_socket.hpp"

namespace nfx::bench {
namespace {

using namespace std::chrono_literals;

enum class Load : std::uint8_t { one_at_a_time, all_at_once };

struct ManyConnections {
  std::uint32_t count;
  Load load;
  bool busy;

  [[nodiscard]] std::string suffix() const {
    return ", " + std::to_string(count) + " connections, " + (load == Load::one_at_a_time ? "one" : "all") +
           (busy ? ", busy-polling" : ", blocking");
  }
  // Requests before the timed ones, and timed ones: whole rounds over the connections. Waking takes ten times as long.
  [[nodiscard]] std::uint32_t warm_up(const PingPong& plan) const { return rounded(plan.warm_up / (busy ? 1 : 8)); }
  [[nodiscard]] std::uint32_t measured(const PingPong& plan) const {
    const std::uint32_t wanted = plan.measured / (busy ? 1 : 8);
    return rounded(load == Load::one_at_a_time ? wanted : wanted * 4);
  }

 private:
  [[nodiscard]] std::uint32_t rounded(std::uint32_t requests) const { return (requests / count + 1) * count; }
};

// Answers every request on the connection that it came from.
template <class T>
class ManyServer {
 public:
  template <class Options>
  ManyServer(const Options& options, const PingPong& plan, bool busy)
      : transport_(options), plan_(plan), max_wait_(busy ? 0ns : Duration{10s}) {}

  template <class ReportPort>
  void serve(std::uint32_t connections, std::uint64_t requests, const ReportPort& report_port) {
    const auto listener = transport_.listen({"127.0.0.1", 0});
    if (!listener) throw std::runtime_error(listener.error().text());
    report_port(transport_.local_endpoint(*listener)->port);
    while (peers_.size() < connections) poll();
    while (answered_ < requests) poll();
    for (const auto& [id, peer] : peers_) transport_.close(id);
    while (transport_.lingering() > 0) transport_.poll(*this, 1ms);
  }

  void on_accept(ListenerId, ConnectionId id, std::string_view) { peers_[id] = {}; }
  void on_connect(ConnectionId) {}
  void on_receive(ConnectionId id, std::span<const char> bytes) {
    Peer& peer = peers_.at(id);
    if (peer.taken + bytes.size() > request_size) throw WrongAnswerError("more bytes than were requested");
    std::ranges::copy(bytes, peer.request.begin() + peer.taken);
    peer.taken += static_cast<std::uint32_t>(bytes.size());
    if (peer.taken < request_size) return;
    peer.taken = 0;
    std::uint64_t number = 0;
    std::memcpy(&number, peer.request.data(), sizeof number);
    std::array<char, request_size> expected;
    fill(expected, number, plan_.seed);
    if (peer.request != expected) throw WrongAnswerError("request " + std::to_string(number) + " came in changed");
    std::array<char, answer_size> reply;
    fill(reply, number, plan_.seed + 1);
    if (transport_.try_send(id, reply).sent != reply.size()) throw std::runtime_error("a send fell short");
    ++answered_;
  }
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) { ++gone_; }

 private:
  struct Peer {
    std::uint32_t taken = 0;  // bytes of the request that have arrived
    std::array<char, request_size> request;
  };

  void poll() {
    if (transport_.poll(*this, max_wait_) == 0 && max_wait_ == 0ns) cpu_pause();
    if (gone_ != 0) throw std::runtime_error("the other side is gone");
  }

  T transport_;
  const PingPong& plan_;
  Duration max_wait_;
  std::unordered_map<ConnectionId, Peer> peers_;
  std::uint64_t answered_ = 0;
  std::uint32_t gone_ = 0;
};

// The other side: as many sockets.
class ManyClients {
 public:
  ManyClients(const PingPong& plan, std::uint16_t port, std::uint32_t connections) : plan_(plan) {
    for (std::uint32_t i = 0; i < connections; ++i) sockets_.push_back(std::make_unique<RawSocket>(connect_to(port)));
  }

  LatencyHistogram ask(const ManyConnections& how) {
    Random random{plan_.seed};
    LatencyHistogram times;
    const std::uint32_t step = how.load == Load::one_at_a_time ? 1 : how.count;
    const std::uint32_t warm_up = how.warm_up(plan_), all = warm_up + how.measured(plan_);
    std::vector<std::uint32_t> asked(step);
    for (std::uint32_t i = 0; i < all; i += step) {
      for (std::uint32_t k = 0; k < step; ++k)
        asked[k] = step == 1 ? static_cast<std::uint32_t>(random.below(how.count)) : k;
      prepare(i, step);
      const auto begin = std::chrono::steady_clock::now();
      for (std::uint32_t k = 0; k < step; ++k) send(asked[k], requests_[k]);
      for (std::uint32_t k = 0; k < step; ++k) receive(asked[k], replies_[k]);
      const auto elapsed = std::chrono::steady_clock::now() - begin;
      if (replies_ != expected_) throw WrongAnswerError("an answer is not the one to its request");
      if (i >= warm_up) times.record(elapsed);
    }
    return times;
  }

 private:
  void prepare(std::uint64_t first, std::uint32_t count) {
    requests_.resize(count), replies_.resize(count), expected_.resize(count);
    for (std::uint32_t k = 0; k < count; ++k) {
      fill(requests_[k], first + k, plan_.seed);
      fill(expected_[k], first + k, plan_.seed + 1);
    }
  }
  void send(std::uint32_t at, std::span<const char> bytes) {
    const ssize_t sent = ::send(sockets_[at]->fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) throw std::runtime_error("a send fell short");
  }
  void receive(std::uint32_t at, std::span<char> bytes) {
    while (!bytes.empty()) {
      const ssize_t received = ::recv(sockets_[at]->fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (received > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(received));
      } else if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
        throw std::runtime_error("the other side is gone");
      } else {
        cpu_pause();
      }
    }
  }

  const PingPong& plan_;
  std::vector<std::unique_ptr<RawSocket>> sockets_;
  std::vector<std::array<char, request_size>> requests_;
  std::vector<std::array<char, answer_size>> replies_, expected_;
};

template <class T, class Options>
LatencyHistogram run_many(const PingPong& plan, const Options& options, const ManyConnections& how) {
  return run_both(
      plan,
      [&](const auto& report_port) {
        ManyServer<T> server{options, plan, how.busy};
        server.serve(how.count, how.warm_up(plan) + how.measured(plan), report_port);
      },
      [&](std::uint16_t port) { return ManyClients{plan, port, how.count}.ask(how); });
}

}  // namespace

void add_connection_rows(std::vector<Condition>& rows) {
  const IoUringFeatures ring = probe_io_uring();
  for (const std::uint32_t count : {8U, 64U, 256U}) {
    for (const Load load : {Load::one_at_a_time, Load::all_at_once}) {
      for (const bool busy : {false, true}) {
        const ManyConnections how{count, load, busy};
        const std::string baseline = "epoll" + how.suffix();
        rows.push_back(
            {.name = baseline,
             .baseline = "",
             .why_not = "",
             .run = [how](const PingPong& plan) { return run_many<EpollTransport>(plan, EpollOptions{}, how); },
             .has_target = false});
        rows.push_back(
            {.name = "io_uring" + how.suffix(),
             .baseline = baseline,
             .why_not = ring.available ? "" : ring.text,
             .run = [how](const PingPong& plan) { return run_many<IoUringTransport>(plan, IoUringOptions{}, how); },
             .has_target = false});
      }
    }
  }
}

}  // namespace nfx::bench
