// Connections of sessions that another gateway owns, over real sockets: what poll threads give up, and what they take
// from other gateways.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "engine/engine_operations.hpp"
#include "engine/fake_network.hpp"
#include "engine/handed_on.hpp"
#include "engine/loop_rig.hpp"
#include "engine/poll_thread.hpp"
#include "nexusfix/engine/engine.hpp"
#include "transport/loopback.hpp"

namespace nfx::test {
namespace {

constexpr std::string_view other_gateway = "127.0.0.2";
constexpr std::string_view too_many = "too many connections wait to be handed on, or the gateway has not begun";

// A peer with an address of its own.
class Client {
 public:
  Client(std::uint16_t port, std::string_view from) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, std::string{from}.c_str(), &address.sin_addr);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  void end_sending() const { ::shutdown(fd_, SHUT_WR); }

 private:
  int fd_;
};

// Gateway a, which owns nothing: no cluster is running.
class HandingOn : public ::testing::TestWithParam<TransportKind> {
 protected:
  HandingOn() {
    config.transport = GetParam();
    config.sessions = {acceptor()};
    SessionSettings& session = config.sessions.front();
    session.listen = {.host = "127.0.0.1", .port = port};
    session.store_kind = StoreKind::journal;
    session.journal.durability = Durability::replicated;
    session.journal.directory = "no store of it is opened";
    config.cluster.servers = {"nats://127.0.0.1"};
    config.cluster.gateway = "a";
    config.cluster.gateways = {"a", "b"};
    config.cluster.wrong_gateway = WrongGateway::hand_on;
    config.cluster.addresses = {"a=127.0.0.1", "b=" + std::string{other_gateway}};
  }
  void SetUp() override {
    if (const TransportChoice choice = choose_transport(config); choice.kind != GetParam()) GTEST_SKIP() << choice.text;
  }

  void begin(bool with_gateway = true) {
    engine = std::make_unique<Engine>(config, application);
    engine->start();
    if (with_gateway) EngineOperations{*engine}.hand_on_queue().call_on_push([this] { ++pushed; });
  }
  template <class Condition>
  [[nodiscard]] bool turn_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10min;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      engine->turn(1ms);
    }
    return true;
  }
  // The one refusal.
  RecordingApplication::Refusal refusal() {
    EXPECT_TRUE(turn_until([&] { return !application.refusals.empty(); }));
    EXPECT_EQ(application.refusals.size(), 1U);
    return application.refusals.empty() ? RecordingApplication::Refusal{} : application.refusals.front();
  }
  static std::string logon() { return logon_bytes("TRADER", "VENUE", read_utc()); }
  static std::string header(std::string_view peer = "192.0.2.7") {
    return "PROXY TCP4 " + std::string{peer} + " 127.0.0.2 51234 9878\r\n";
  }

  const std::uint16_t port = free_port();
  EngineConfig config;
  RecordingApplication application;
  std::unique_ptr<Engine> engine;
  int pushed = 0;
};

INSTANTIATE_TEST_SUITE_P(Transports, HandingOn, ::testing::Values(TransportKind::epoll, TransportKind::io_uring),
                         [](const auto& each) { return std::string{to_string(each.param)}; });

TEST_P(HandingOn, gives_up_a_connection_with_all_that_it_has_sent) {
  begin();
  const Client client{port, "127.0.0.3"};
  const std::string bytes = logon() + "and what came after it";
  client.send(bytes);
  client.end_sending();
  ASSERT_TRUE(turn_until([&] { return EngineOperations{*engine}.hand_on_queue().waiting(); }));
  EXPECT_EQ(pushed, 1);
  const std::vector<HandedOn> taken = EngineOperations{*engine}.hand_on_queue().take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].replica, "VENUE-TRADER");
  EXPECT_EQ(taken[0].session, "FIX.4.4:VENUE->TRADER");
  EXPECT_TRUE(taken[0].peer.starts_with("127.0.0.3:")) << taken[0].peer;
  std::string all = taken[0].bytes;
  std::array<char, 256> rest{};
  for (ssize_t size = 0; (size = ::recv(taken[0].socket, rest.data(), rest.size(), 0)) > 0;)
    all.append(rest.data(), static_cast<std::size_t>(size));
  EXPECT_EQ(all, bytes);
  EXPECT_TRUE(application.refusals.empty());
}

TEST_P(HandingOn, refuses_a_connection_that_no_gateway_takes) {
  begin(false);
  const Client client{port, "127.0.0.3"};
  client.send(logon());
  EXPECT_EQ(refusal().reason, LogonRefusalReason::not_owner);
  EXPECT_EQ(refusal().text, too_many);
}

TEST_P(HandingOn, gives_up_no_more_connections_than_may_wait) {
  config.max_pending_logons = config.max_pending_logons_per_address = config.max_pending_logons_per_network = 128;
  begin();
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i <= HandOnQueue::waiting_max; ++i) {
    clients.push_back(std::make_unique<Client>(port, "127.0.0.3"));
    clients.back()->send(logon());
  }
  EXPECT_EQ(refusal().text, too_many);
  EXPECT_EQ(EngineOperations{*engine}.hand_on_queue().take().size(), HandOnQueue::waiting_max);
}

TEST_P(HandingOn, refuses_a_connection_from_an_address_that_the_session_does_not_allow) {
  config.sessions.push_back(acceptor("OTHER"));
  config.sessions.back().listen = config.sessions.front().listen;
  config.sessions.front().allowed_addresses = {"192.0.2.7"};
  begin();
  const Client client{port, "127.0.0.3"};
  client.send(logon());
  EXPECT_EQ(refusal().reason, LogonRefusalReason::address_not_allowed);
}

// Otherwise two gateways that take each other for the owner would pass it to and fro.
TEST_P(HandingOn, hands_no_connection_on_a_second_time) {
  begin();
  const Client client{port, other_gateway};
  client.send(header() + logon());
  EXPECT_EQ(refusal().reason, LogonRefusalReason::not_owner);
  EXPECT_EQ(refusal().text, "another gateway handed the connection on to this one, which does not own the session");
  EXPECT_EQ(refusal().peer, "192.0.2.7:51234");
  EXPECT_EQ(pushed, 0);
}

TEST_P(HandingOn, takes_a_header_that_comes_byte_by_byte) {
  begin();
  const Client client{port, other_gateway};
  for (const char byte : header()) {
    client.send({&byte, 1});
    engine->turn(1ms);
  }
  client.send(logon());
  EXPECT_EQ(refusal().peer, "192.0.2.7:51234");
}

TEST_P(HandingOn, takes_a_logon_of_the_full_length_after_a_header) {
  config.pending_logon_bytes = 256;
  const std::string ours(64, 'V'), theirs(64, 'T'), address = "2001:0db8:0000:0000:0000:0000:0000:0007";
  config.sessions.front().replica_name = "LONG";
  config.sessions.front().session.sender_comp_id = ours;
  config.sessions.front().session.target_comp_id = theirs;
  begin();
  const Client client{port, other_gateway};
  const std::string long_header = "PROXY TCP6 " + address + ' ' + address + " 51234 9878\r\n";
  const std::string bytes = logon_bytes(theirs, ours, read_utc());
  ASSERT_LT(bytes.size(), 256U);
  ASSERT_GT(long_header.size() + bytes.size(), 256U);
  client.send(long_header + bytes);
  EXPECT_EQ(refusal().reason, LogonRefusalReason::not_owner);
}

TEST_P(HandingOn, checks_the_address_in_a_header_as_that_of_the_peer) {
  config.sessions.front().allowed_addresses = {"192.0.2.7"};
  begin();
  const Client client{port, other_gateway};
  client.send(header("192.0.2.8") + logon());
  EXPECT_EQ(refusal().reason, LogonRefusalReason::address_not_allowed);
  EXPECT_EQ(refusal().peer, "192.0.2.8:51234");
}

TEST_P(HandingOn, takes_a_header_from_another_gateway_alone) {
  begin();
  const Client client{port, "127.0.0.3"};
  client.send(header() + logon());
  EXPECT_EQ(refusal().reason, LogonRefusalReason::not_fix);
  EXPECT_TRUE(refusal().peer.starts_with("127.0.0.3:"));
}

TEST_P(HandingOn, refuses_a_wrong_header) {
  begin();
  const Client client{port, other_gateway};
  client.send("PROXY UNKNOWN\r\n" + logon());
  EXPECT_EQ(refusal().reason, LogonRefusalReason::not_fix);
  EXPECT_EQ(refusal().text, "a wrong header of the PROXY protocol");
}

}  // namespace
}  // namespace nfx::test
