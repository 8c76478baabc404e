// transport: an order one way and a report the other, over TCP between two EpollTransports that one thread polls. The
// reference does the same with plain send and recv.
#include <array>
#include <stdexcept>

#include "gate/gate_rows.hpp"
#include "gate/raw_socket.hpp"
#include "transport/epoll_transport.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint32_t block = 4;

class End {
 public:
  void on_accept(ListenerId, ConnectionId id, std::string_view) { connection = id; }
  void on_connect(ConnectionId id) { connection = id; }
  void on_receive(ConnectionId, std::span<const char> bytes) {
    wrong_unless(size + bytes.size() <= received.size(), "more bytes than were sent");
    std::memcpy(received.data() + size, bytes.data(), bytes.size());
    size += bytes.size();
  }
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) { throw std::runtime_error("the connection broke"); }

  // As one string, in the expected order.
  void receive(std::size_t wanted) {
    size = 0;
    while (size < wanted) transport.poll(*this, Duration::zero());
  }
  void send(std::string_view bytes) {
    if (transport.try_send(connection, bytes).sent != bytes.size()) throw std::runtime_error("a send fell short");
  }
  [[nodiscard]] bool holds(std::string_view bytes) const { return std::string_view{received.data(), size} == bytes; }

  EpollTransport transport;
  ConnectionId connection = no_connection;
  std::array<char, 1024> received{};
  std::size_t size = 0;
};

void receive_raw(int fd, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t received = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(received));
    } else if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
      throw std::runtime_error("the other side is gone");
    }
  }
}

void send_raw(int fd, std::string_view bytes) {
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("a send fell short");
}

class TransportRow final : public GateRow {
 public:
  explicit TransportRow(const GateInputs& inputs) : inputs_(inputs) {
    const auto listener = venue_.transport.listen({"127.0.0.1", 0});
    if (!listener) throw std::runtime_error(listener.error().text());
    const auto id = trader_.transport.connect({"127.0.0.1", venue_.transport.local_endpoint(*listener)->port});
    if (!id) throw std::runtime_error(id.error().text());
    while (venue_.connection == no_connection || trader_.connection == no_connection) {
      venue_.transport.poll(venue_, Duration::zero());
      trader_.transport.poll(trader_, Duration::zero());
    }
    int connecting = -1;
    const int accepted = accept_one([&](std::uint16_t port) { connecting = connect_to(port); });
    raw_venue_ = std::make_unique<RawSocket>(accepted);
    raw_trader_ = std::make_unique<RawSocket>(connecting);
    // After this many polls a busy-polling transport has reached its steady state.
    constexpr int polls_to_settle = 10'000;
    for (int i = 0; i < polls_to_settle; ++i) {
      venue_.transport.poll(venue_, Duration::zero());
      trader_.transport.poll(trader_, Duration::zero());
    }
  }
  void check() override {
    for (std::uint32_t i = 0; i < gate_messages; ++i) {
      trader_.send(inputs_.orders[i]);
      venue_.receive(inputs_.orders[i].size());
      wrong_unless(venue_.holds(inputs_.orders[i]), "an order came in changed");
      venue_.send(inputs_.reports[i]);
      trader_.receive(inputs_.reports[i].size());
      wrong_unless(trader_.holds(inputs_.reports[i]), "a report came in changed");
    }
  }
  void prepare() override { dealt_ = deal_.next(block); }
  void work() override {
    for (const std::uint32_t i : dealt_) {
      trader_.send(inputs_.orders[i]);
      venue_.receive(inputs_.orders[i].size());
      venue_.send(inputs_.reports[i]);
      trader_.receive(inputs_.reports[i].size());
    }
  }
  void verify() override {
    wrong_unless(venue_.holds(inputs_.orders[dealt_.back()]) && trader_.holds(inputs_.reports[dealt_.back()]),
                 "a message came in changed while timed");
  }
  void reference() override {
    for (const std::uint32_t i : dealt_) {
      send_raw(raw_trader_->fd(), inputs_.orders[i]);
      receive_raw(raw_venue_->fd(), std::span{copy_}.first(inputs_.orders[i].size()));
      send_raw(raw_venue_->fd(), inputs_.reports[i]);
      receive_raw(raw_trader_->fd(), std::span{copy_}.first(inputs_.reports[i].size()));
    }
  }

 private:
  const GateInputs& inputs_;
  End venue_, trader_;
  std::unique_ptr<RawSocket> raw_venue_, raw_trader_;
  Deal deal_{gate_messages};
  Order dealt_;
  std::array<char, 1024> copy_{};
};

}  // namespace

std::vector<GateEntry> network_gate_entries() {
  return {{"transport", 1, "order out, report back over TCP, two EpollTransports on one thread",
           "the same bytes with bare send and recv", block, 4, make_row<TransportRow>}};
}

}  // namespace nfx::bench
