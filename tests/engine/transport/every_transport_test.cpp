// Requirements for every implementation of the transport concept.
#include <gtest/gtest.h>

#include <memory>

#include "transport/tls_testing.hpp"
#include "transport/transport_testing.hpp"
#ifdef NFX_WITH_AF_XDP
#include "transport/xdp_testing.hpp"
#endif

namespace nfx {
namespace {

using namespace testing;

template <class P>
class EveryTransport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = P::missing(); !missing.empty()) GTEST_SKIP() << missing;
    pair_ = std::make_unique<P>();
  }
  P& pair() { return *pair_; }

 private:
  std::unique_ptr<P> pair_;
};
using IoUringPair = PairOver<IoUringKind>;
using PlainIoUringPair = PairOver<PlainIoUringKind>;
using FaultyIoUringPair = Pair<FaultyEnds<TcpEnds<IoUringKind>>>;
#ifdef NFX_WITH_AF_XDP
using XdpServerPair = Pair<XdpEnds<true, clear_sky>>;
using XdpClientPair = Pair<XdpEnds<false, clear_sky>>;
using RoughXdpServerPair = Pair<XdpEnds<true, bad_weather>>;
using RoughXdpClientPair = Pair<XdpEnds<false, bad_weather>>;
// The certificates are for 127.0.0.1, which is not on the wire.
struct TlsXdpPair : TlsPair<XdpEnds<true, bad_weather>> {
  TlsXdpPair() {
    TlsOptions options = TestCertificates::get().server_options();
    options.check_name = false;
    socket.tls = tls(options);
  }
};
#define NFX_XDP_PAIRS , XdpServerPair, XdpClientPair, RoughXdpServerPair, RoughXdpClientPair, TlsXdpPair
#else
#define NFX_XDP_PAIRS
#endif
using Pairs = ::testing::Types<TcpPair, IoUringPair, PlainIoUringPair, LoopbackPair, FaultyTcpPair, FaultyIoUringPair,
                               FaultyLoopbackPair, TlsTcpPair, TlsIoUringPair, TlsLoopbackPair, TlsFaultyTcpPair,
                               TlsFaultyLoopbackPair, ThreadedTlsTcpPair, ThreadedTlsIoUringPair,
                               ThreadedTlsLoopbackPair NFX_XDP_PAIRS>;
struct PairNames {
  template <class P>
  static std::string GetName(int) {
    if constexpr (std::is_same_v<P, TcpPair>) return "tcp";
    if constexpr (std::is_same_v<P, IoUringPair>) return "io_uring";
    if constexpr (std::is_same_v<P, PlainIoUringPair>) return "plain_io_uring";
    if constexpr (std::is_same_v<P, LoopbackPair>) return "loopback";
    if constexpr (std::is_same_v<P, FaultyTcpPair>) return "faulty_tcp";
    if constexpr (std::is_same_v<P, FaultyIoUringPair>) return "faulty_io_uring";
    if constexpr (std::is_same_v<P, FaultyLoopbackPair>) return "faulty_loopback";
    if constexpr (std::is_same_v<P, TlsIoUringPair>) return "tls_io_uring";
    if constexpr (std::is_same_v<P, TlsTcpPair>) return "tls_tcp";
    if constexpr (std::is_same_v<P, TlsLoopbackPair>) return "tls_loopback";
    if constexpr (std::is_same_v<P, TlsFaultyTcpPair>) return "tls_faulty_tcp";
    if constexpr (std::is_same_v<P, ThreadedTlsTcpPair>) return "threaded_tls_tcp";
    if constexpr (std::is_same_v<P, ThreadedTlsIoUringPair>) return "threaded_tls_io_uring";
    if constexpr (std::is_same_v<P, ThreadedTlsLoopbackPair>) return "threaded_tls_loopback";
#ifdef NFX_WITH_AF_XDP
    if constexpr (std::is_same_v<P, XdpServerPair>) return "af_xdp_server";
    if constexpr (std::is_same_v<P, XdpClientPair>) return "af_xdp_client";
    if constexpr (std::is_same_v<P, RoughXdpServerPair>) return "rough_af_xdp_server";
    if constexpr (std::is_same_v<P, RoughXdpClientPair>) return "rough_af_xdp_client";
    if constexpr (std::is_same_v<P, TlsXdpPair>) return "tls_rough_af_xdp";
#endif
    return "tls_faulty_loopback";
  }
};
TYPED_TEST_SUITE(EveryTransport, Pairs, PairNames);

TYPED_TEST(EveryTransport, names_the_port_it_was_given_for_port_zero) {
  const auto listener = this->pair().server.listen({"127.0.0.1", 0}, this->pair().socket);
  ASSERT_TRUE(listener.has_value());
  EXPECT_NE(this->pair().server.local_endpoint(*listener)->port, 0);
}

TYPED_TEST(EveryTransport, carries_bytes_both_ways) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  EXPECT_FALSE(pair.server_sink.peer.empty());
  EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("ping")).sent, 4U);
  EXPECT_EQ(pair.server.try_send(ids.server, bytes_of("pong!")).sent, 5U);
  EXPECT_TRUE(pair.turn_until([&] {
    return pair.server_sink.received[ids.server] == "ping" && pair.client_sink.received[ids.client] == "pong!";
  }));
}

TYPED_TEST(EveryTransport, reports_a_refused_connect_as_a_close) {
  auto& pair = this->pair();
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  const Endpoint nobody = *pair.server.local_endpoint(*listener);
  pair.server.close_listener(*listener);
  EXPECT_EQ(pair.server.local_endpoint(*listener), std::nullopt);
  const auto id = pair.client.connect(nobody, pair.socket);
  ASSERT_TRUE(id.has_value());
  EXPECT_TRUE(pair.client_sink.closed.empty());
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(*id); }));
  EXPECT_EQ(pair.client_sink.closed[*id], CloseReason::refused);
  EXPECT_TRUE(pair.client_sink.connected.empty());
}

TYPED_TEST(EveryTransport, holds_back_what_a_held_connection_receives) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  pair.server.hold(ids.server, true);
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of("wait")).sent, 4U);
  ASSERT_EQ(pair.server.try_send(ids.server, bytes_of("reply")).sent, 5U);
  EXPECT_TRUE(pair.turn_until([&] { return pair.client_sink.received[ids.client] == "reply"; }));
  pair.turns(50);
  EXPECT_EQ(pair.server_sink.receive_calls, 0U);
  pair.server.hold(ids.server, false);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.received[ids.server] == "wait"; }));
}

TYPED_TEST(EveryTransport, tells_of_a_held_connections_end_only_when_it_goes_on) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  pair.server.hold(ids.server, true);
  pair.client.close(ids.client);
  pair.turns(50);
  EXPECT_TRUE(pair.server_sink.closed.empty());
  pair.server.hold(ids.server, false);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.closed.contains(ids.server); }));
}

TYPED_TEST(EveryTransport, takes_no_bytes_before_the_connection_stands) {
  auto& pair = this->pair();
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  const auto id = pair.client.connect(*pair.server.local_endpoint(*listener), pair.socket);
  const SendResult result = pair.client.try_send(*id, bytes_of("early"));
  EXPECT_EQ(result.sent, 0U);
  EXPECT_FALSE(result.closed);
}

TYPED_TEST(EveryTransport, echoes_ten_megabytes_with_short_sends) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  const std::string sent = pattern(10'000'000);
  std::size_t at = 0;
  std::size_t short_sends = 0;
  const auto pump = [&] {
    while (at < sent.size()) {
      const auto result = pair.client.try_send(ids.client, bytes_of(sent).subspan(at));
      ASSERT_FALSE(result.closed);
      at += result.sent;
      if (at < sent.size()) {
        ++short_sends;
        return;  // on_writable continues
      }
    }
  };
  std::string backlog;
  const auto echo = [&] {
    const auto result = pair.server.try_send(ids.server, bytes_of(backlog));
    backlog.erase(0, result.sent);
  };
  pair.client_sink.when_writable = [&](ConnectionId) { pump(); };
  pair.server_sink.when_writable = [&](ConnectionId) { echo(); };
  pair.server_sink.when_received = [&](ConnectionId, std::span<const char> bytes) {
    const bool idle = backlog.empty();
    backlog.append(bytes.data(), bytes.size());
    if (idle) echo();
  };
  pump();
  EXPECT_TRUE(pair.turn_until([&] { return pair.client_sink.received[ids.client].size() >= sent.size(); }));
  EXPECT_TRUE(pair.client_sink.received[ids.client] == sent);
  EXPECT_GT(short_sends, 0U);
}

TYPED_TEST(EveryTransport, delivers_what_was_sent_before_a_close_and_then_the_end) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  const std::string last = pattern(20'000);
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of(last)).sent, last.size());
  pair.client.close(ids.client);
  ASSERT_TRUE(pair.turn_until([&] { return pair.server_sink.closed.contains(ids.server); }));
  EXPECT_TRUE(pair.server_sink.received[ids.server] == last);
  EXPECT_EQ(pair.server_sink.closed[ids.server], CloseReason::peer_closed);
  EXPECT_TRUE(pair.client_sink.closed.empty());
  EXPECT_TRUE(pair.turn_until([&] { return pair.client.lingering() == 0; }));
}

TYPED_TEST(EveryTransport, delivers_what_was_sent_before_a_close_although_input_lies_unread) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  const std::string unread = pattern(30'000);
  const std::string last = pattern(10'000);
  ASSERT_EQ(pair.server.try_send(ids.server, bytes_of(unread)).sent, unread.size());
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of(last)).sent, last.size());
  pair.client.close(ids.client);
  ASSERT_TRUE(pair.turn_until([&] { return pair.server_sink.closed.contains(ids.server); }));
  EXPECT_TRUE(pair.server_sink.received[ids.server] == last);
  EXPECT_EQ(pair.server_sink.closed[ids.server], CloseReason::peer_closed);
}

TYPED_TEST(EveryTransport, tells_a_closer_nothing_more) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  ASSERT_EQ(pair.server.try_send(ids.server, bytes_of("late")).sent, 4U);
  pair.client.close(ids.client);
  const std::string log = pair.client_sink.log;
  pair.turns(50);
  EXPECT_EQ(pair.client_sink.log, log);
}

TYPED_TEST(EveryTransport, ignores_stale_and_invented_ids) {
  auto& pair = this->pair();
  const auto first = pair.join();
  pair.client.close(first.client);
  ASSERT_TRUE(
      pair.turn_until([&] { return pair.server_sink.closed.contains(first.server) && pair.client.lingering() == 0; }));
  const auto second = pair.join();
  EXPECT_NE(first.client, second.client);
  for (const ConnectionId stale :
       {first.client, no_connection, ConnectionId{UINT64_MAX}, ConnectionId{slot_of(second.client)}}) {
    const SendResult result = pair.client.try_send(stale, bytes_of("lost"));
    EXPECT_EQ(result.sent, 0U);
    EXPECT_TRUE(result.closed);
    pair.client.close(stale);
  }
  EXPECT_EQ(pair.client.try_send(second.client, bytes_of("alive")).sent, 5U);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.received[second.server] == "alive"; }));
}

TYPED_TEST(EveryTransport, lets_a_callback_close_its_own_connection) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  pair.server_sink.when_received = [&](ConnectionId id, std::span<const char>) { pair.server.close(id); };
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of("x")).sent, 1U);
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(ids.client); }));
  EXPECT_EQ(pair.client_sink.closed[ids.client], CloseReason::peer_closed);
  EXPECT_TRUE(pair.server_sink.closed.empty());
}

TYPED_TEST(EveryTransport, lets_a_callback_close_all_other_connections) {
  auto& pair = this->pair();
  std::vector<typename TypeParam::Ids> all;
  for (int i = 0; i < 5; ++i) all.push_back(pair.join());
  ConnectionId survivor = no_connection;
  pair.server_sink.when_received = [&](ConnectionId id, std::span<const char>) {
    EXPECT_EQ(survivor, no_connection) << "heard of a closed connection";
    survivor = id;
    for (const auto& ids : all) {
      if (ids.server != id) pair.server.close(ids.server);
    }
  };
  for (const auto& ids : all) ASSERT_EQ(pair.client.try_send(ids.client, bytes_of("x")).sent, 1U);
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.size() == 4; }));
  pair.turns(50);
  EXPECT_EQ(pair.client_sink.closed.size(), 4U);
  EXPECT_TRUE(pair.server_sink.closed.empty());
}

TYPED_TEST(EveryTransport, lets_a_close_callback_connect_again) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  const Endpoint endpoint = *pair.server.local_endpoint(*pair.listener);
  pair.client_sink.when_closed = [&](ConnectionId id) {
    EXPECT_TRUE(pair.client.try_send(id, bytes_of("x")).closed);
    EXPECT_TRUE(pair.client.connect(endpoint, pair.socket).has_value());
  };
  pair.server.close(ids.server);
  EXPECT_TRUE(pair.turn_until([&] { return pair.client_sink.connected.size() == 2; }));
}

TYPED_TEST(EveryTransport, finds_out_on_sending_that_the_peer_has_gone) {
  auto& pair = this->pair();
  const auto ids = pair.join();
  pair.server.close(ids.server);
  EXPECT_TRUE(pair.turn_until([&] { return pair.client_sink.closed.contains(ids.client); }));
  EXPECT_TRUE(pair.client.try_send(ids.client, bytes_of("x")).closed);
}

}  // namespace
}  // namespace nfx
