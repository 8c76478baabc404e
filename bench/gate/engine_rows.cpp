// engine: an iteration of the poll loop, from an order's bytes to its report's, over the loopback transport.
// round_trip: two poll loops on two threads of one CPU, over TCP, each waiting in the kernel; its reference is plain
// send and recv.
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "engine/counter_clock.hpp"
#include "engine/poll_loop_impl.hpp"
#include "gate/gate_rows.hpp"
#include "gate/raw_socket.hpp"
#include "nexusfix/session/session.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/loopback_transport.hpp"

namespace nfx::bench {
namespace {

using namespace std::chrono_literals;

SessionConfig session_of(const GateInputs& inputs, Role role) {
  const bool venue = role == Role::acceptor;
  SessionConfig config;
  config.role = role;
  config.sender_comp_id = venue ? "VENUE" : "TRADER";
  config.target_comp_id = venue ? "TRADER" : "VENUE";
  config.heartbeat_interval = 0s;
  config.allow_no_heartbeats = true;
  config.idle_test_interval = 0s;
  config.dictionary = inputs.dictionary.get();
  return config;
}

EngineConfig engine_of(const GateInputs& inputs, Role role, const Endpoint& endpoint) {
  SessionSettings settings;
  settings.session = session_of(inputs, role);
  settings.dictionary = inputs.dictionary;
  settings.store_kind = StoreKind::memory;
  settings.prefault = true;
  if (role == Role::acceptor)
    settings.listen = endpoint;
  else
    settings.connect = {endpoint};
  EngineConfig config;
  config.sessions.push_back(std::move(settings));
  return config;
}

// Answers each order with the next report.
class Venue final : public Application {
 public:
  explicit Venue(const std::vector<std::string>& reports) : reports_(reports) {}
  Handled on_message(SessionHandle& session, const MessageView&) override {
    if (session.send({.msg_type = "8", .body = reports_[answered % gate_messages]})) ++answered;
    return Handled::done;
  }
  std::uint64_t answered = 0;

 private:
  const std::vector<std::string>& reports_;
};

class EngineRow final : public GateRow {
 public:
  explicit EngineRow(const GateInputs& inputs)
      : inputs_(inputs),
        venue_(inputs.report_bodies),
        config_(engine_of(inputs, Role::acceptor, {"venue", 1})),
        loop_(config_, 0, transport_, clock_, venue_),
        composer_(session_of(inputs, Role::initiator)) {
    loop_.start();
    const auto id = peer_transport_.connect({"venue", 1});
    if (!id) throw std::runtime_error(id.error().text());
    peer_ = *id;
    loop_.turn(Duration::zero());
    peer_transport_.poll(received_, Duration::zero());
    exchange(composed("A",
                      "98=0\x01"
                      "108=0\x01"
                      "141=Y\x01"));
    wrong_unless(loop_.find(0)->logged_on(), "the session did not log on");
  }
  void check() override { check_blocks(gate_messages / block); }
  void prepare() override {
    dealt_ = deal_.next(block);
    for (std::uint32_t i = 0; i < block; ++i) orders_[i] = composed("D", inputs_.order_bodies[dealt_[i]]);
    first_ = venue_.answered;
    received_.size = 0;
  }
  void work() override {
    for (const std::string& order : orders_) exchange(order);
  }
  void verify() override {
    std::string_view rest{received_.bytes.data(), received_.size};
    for (std::uint32_t i = 0; i < block; ++i) {
      const std::string& body = inputs_.report_bodies[(first_ + i) % gate_messages];
      const std::size_t at = rest.find(body);
      wrong_unless(rest.starts_with("8=FIX.4.4") && at != std::string_view::npos, "an order got another report");
      rest.remove_prefix(at + body.size() + 7);
    }
    wrong_unless(rest.empty() && venue_.answered == first_ + block, "more than the reports came");
  }
  void reference() override {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : dealt_) {
      sum += reference_by_bytes(inputs_.orders[i], copy_);
      sum += reference_by_bytes(inputs_.reports[i], copy_);
    }
    keep(sum);
  }
  static constexpr std::uint32_t block = 16;

 private:
  struct Received {
    void on_accept(ListenerId, ConnectionId, std::string_view) {}
    void on_connect(ConnectionId) {}
    void on_receive(ConnectionId, std::span<const char> in) {
      wrong_unless(size + in.size() <= bytes.size(), "more bytes than reports have");
      std::memcpy(bytes.data() + size, in.data(), in.size());
      size += in.size();
    }
    void on_writable(ConnectionId) {}
    void on_close(ConnectionId, CloseReason) { throw std::runtime_error("the engine closed the connection"); }
    [[nodiscard]] bool ends_message(std::size_t begin) const noexcept {
      return size > begin + 7 && bytes[size - 8] == '\x01' && std::memcmp(&bytes[size - 7], "10=", 3) == 0;
    }
    std::array<char, 16 * 1024> bytes;
    std::size_t size = 0;
  };

  std::string composed(std::string_view type, std::string_view body) {
    std::string out(256 + body.size(), '\0');
    const auto size = composer_.compose({.msg_type = type, .seq = SeqNum{seq_++}, .body = body}, clock_.now().utc, out);
    out.resize(size.value());
    return out;
  }
  // Bytes at the end of the transport's ring arrive in two pieces, in two iterations.
  void exchange(const std::string& bytes) {
    const std::size_t before = received_.size;
    peer_transport_.try_send(peer_, bytes);
    for (int turns = 0; turns < 4 && !received_.ends_message(before); ++turns) {
      loop_.turn(Duration::zero());
      peer_transport_.poll(received_, Duration::zero());
    }
  }

  const GateInputs& inputs_;
  LoopbackNetwork network_;
  LoopbackTransport transport_{network_}, peer_transport_{network_};
  Venue venue_;
  EngineConfig config_;
  CounterClock<> clock_;
  PollLoop<LoopbackTransport, CounterClock<>> loop_;
  Composer composer_;
  ConnectionId peer_ = no_connection;
  Received received_;
  std::uint64_t seq_ = 1, first_ = 0;
  Deal deal_{gate_messages};
  Order dealt_;
  std::array<std::string, block> orders_;
  std::array<char, 1024> copy_{};
};

class Trader final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView& report) override {
    ++received;
    id = report.get_view(Tag::OrderID);
    return Handled::done;
  }
  std::uint64_t received = 0;
  std::string id;
};

using TcpLoop = PollLoop<EpollTransport, CounterClock<>>;

// A poll loop with its parts.
struct Side {
  Side(const GateInputs& inputs, Role role, const Endpoint& endpoint, Callbacks program)
      : config(engine_of(inputs, role, endpoint)), loop(config, 0, transport, clock, std::move(program)) {
    loop.start();
  }
  EngineConfig config;
  EpollTransport transport;
  CounterClock<> clock;
  TcpLoop loop;
};

class RoundTripRow final : public GateRow {
 public:
  explicit RoundTripRow(const GateInputs& inputs) : inputs_(inputs), venue_(inputs.report_bodies) {
    std::atomic<std::uint32_t> port{0};
    venue_thread_ = std::thread([this, &port] {
      Side side{inputs_, Role::acceptor, {"127.0.0.1", 0}, venue_};
      port.store(side.loop.local_endpoint({"127.0.0.1", 0})->port);
      port.notify_all();
      while (!stop_.load(std::memory_order_relaxed)) side.loop.turn(20ms);
    });
    port.wait(0);
    trader_side_.emplace(inputs_, Role::initiator, Endpoint{"127.0.0.1", static_cast<std::uint16_t>(port.load())},
                         trader_);
    for (int turns = 0; !trader_side_->loop.find(0)->logged_on(); ++turns) {
      if (turns > 1000) stop_and_join();
      wrong_unless(turns <= 1000, "the sessions did not log on");
      trader_side_->loop.turn(10ms);
    }
    const int accepted = accept_one([this](std::uint16_t raw_port) { connecting_ = connect_to(raw_port); });
    raw_trader_ = std::make_unique<RawSocket>(connecting_);
    raw_venue_thread_ = std::thread([accepted] { answer_raw(accepted); });
  }
  ~RoundTripRow() override { stop_and_join(); }

  void check() override { check_blocks(gate_messages / block); }
  void prepare() override {
    dealt_ = deal_.next(block);
    wanted_ = trader_.received;
  }
  void work() override {
    for (const std::uint32_t i : dealt_) {
      ++wanted_;
      if (!trader_side_->loop.find(0)->send({.msg_type = "D", .body = inputs_.order_bodies[i]}))
        throw std::runtime_error("an order could not be sent");
      while (trader_.received < wanted_) trader_side_->loop.turn(1s);
    }
  }
  void verify() override {
    const std::string& body = inputs_.report_bodies[(wanted_ - 1) % gate_messages];
    wrong_unless(trader_.received == wanted_ && body.starts_with("37=" + trader_.id + '\x01'),
                 "an order got another report");
  }
  void reference() override {
    for (const std::uint32_t i : dealt_) {
      const std::string_view order = inputs_.orders[i];
      if (::send(raw_trader_->fd(), order.data(), order.size(), MSG_NOSIGNAL) != ssize_t(order.size()))
        throw std::runtime_error("a send fell short");
      if (::recv(raw_trader_->fd(), copy_.data(), raw_report, MSG_WAITALL) != ssize_t(raw_report))
        throw std::runtime_error("the other side is gone");
    }
  }
  static constexpr std::uint32_t block = 4;

 private:
  static constexpr std::size_t raw_report = 253;

  static void answer_raw(int fd) {
    const RawSocket socket{fd};
    std::array<char, 1024> bytes{};
    while (::recv(fd, bytes.data(), bytes.size(), 0) > 0) {
      if (::send(fd, bytes.data(), raw_report, MSG_NOSIGNAL) != ssize_t(raw_report)) return;
    }
  }
  void stop_and_join() {
    stop_.store(true, std::memory_order_relaxed);
    if (raw_trader_) ::shutdown(raw_trader_->fd(), SHUT_RDWR);
    if (venue_thread_.joinable()) venue_thread_.join();
    if (raw_venue_thread_.joinable()) raw_venue_thread_.join();
  }

  const GateInputs& inputs_;
  Venue venue_;
  Trader trader_;
  std::atomic<bool> stop_{false};
  std::optional<Side> trader_side_;
  int connecting_ = -1;
  std::unique_ptr<RawSocket> raw_trader_;
  std::thread venue_thread_, raw_venue_thread_;
  Deal deal_{gate_messages};
  Order dealt_;
  std::uint64_t wanted_ = 0;
  std::array<char, 1024> copy_{};
};

}  // namespace

std::vector<GateEntry> engine_gate_entries() {
  return {{"engine", 1, "poll loop turn, order in to report out, loopback, FIX 4.4 validated",
           "copy and byte-wise hash of order and report", EngineRow::block, 8, make_row<EngineRow>},
          {"round_trip", 1, "two poll loops on two threads of one CPU, order and report over TCP",
           "the same bytes with bare send and recv on two threads", RoundTripRow::block, 2, make_row<RoundTripRow>}};
}

}  // namespace nfx::bench
