// The effects of TLS on established connections: encryption, close_notify, bounds, faulty networks.
#include "transport/tls_transport.hpp"

#include <gtest/gtest.h>

#include "transport/tls_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

TEST(TlsTransport, encrypts_what_crosses_the_network) {
  LoopbackNetwork network;
  LoopbackTransport server(network);
  LoopbackTransport inner(network);
  TlsTransport<LoopbackTransport> client(inner);
  RecordingSink server_sink;
  RecordingSink client_sink;
  const auto listener = server.listen({"127.0.0.1", 0});
  SocketOptions socket;
  socket.tls = tls(certificates().client_options());
  ASSERT_TRUE(client.connect(*server.local_endpoint(*listener), socket).has_value());
  for (int i = 0; i < 3; ++i) {
    client.poll(client_sink, 0ns);
    server.poll(server_sink, 0ns);
  }
  ASSERT_EQ(server_sink.accepted.size(), 1U);
  // A handshake record: the ClientHello of TLS.
  EXPECT_TRUE(server_sink.received[server_sink.accepted[0]].starts_with("\x16\x03\x01"));
  EXPECT_TRUE(client_sink.connected.empty());
}

TEST(TlsTransport, leaves_connections_without_a_context_as_they_are) {
  TlsTcpPair pair;
  pair.socket.tls.reset();
  const auto ids = pair.join();
  EXPECT_EQ(pair.client.tls_facts(ids.client), std::nullopt);
  EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("plain")).sent, 5U);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.received[ids.server] == "plain"; }));
  EXPECT_EQ(pair.client.counters(), TlsCounters{});
}

TEST(TlsTransport, reports_a_stream_that_ends_without_goodbye_as_cut) {
  TlsWeatherPair pair(TlsTransportOptions{}, FaultOptions{});
  const auto [served, id] = pair.join();
  EXPECT_EQ(pair.client.try_send(id, bytes_of("35=D")).sent, 4U);
  pair.turns(20);
  pair.inner.client.cut(id);
  pair.turns(20);
  EXPECT_EQ(pair.server_sink.received[served], "35=D");
  ASSERT_TRUE(pair.server_sink.closed.contains(served));
  EXPECT_EQ(pair.server_sink.closed[served], CloseReason::reset);
  EXPECT_EQ(pair.server.counters().truncated, 1U);
}

TEST(TlsTransport, ends_a_connection_whose_bytes_were_changed_on_their_way) {
  LoopbackNetwork network;
  LoopbackTransport middle(network);
  LoopbackTransport inner(network);
  TlsTransport<LoopbackTransport> client(inner);
  RecordingSink middle_sink;
  RecordingSink client_sink;
  // A manual server, so that a bit can be flipped.
  const auto context = tls(certificates().server_options());
  detail::TlsStream stream(*context, detail::TlsSide::server, "", 64 * 1024);
  SocketOptions socket;
  socket.tls = tls(certificates().client_options());
  const auto listener = middle.listen({"127.0.0.1", 0});
  const auto id = client.connect(*middle.local_endpoint(*listener), socket);
  bool established = false;
  middle_sink.when_received = [&](ConnectionId from, std::span<const char> bytes) {
    stream.feed(bytes);
    established = stream.handshake() == detail::TlsStream::Status::done;
    stream.drop_input();
    stream.sent(middle.try_send(from, stream.outgoing()).sent);
  };
  for (int i = 0; i < 10; ++i) {
    client.poll(client_sink, 0ns);
    middle.poll(middle_sink, 0ns);
  }
  ASSERT_TRUE(established && !client_sink.connected.empty());
  ASSERT_EQ(stream.write(bytes_of("35=D|44=100")), 11U);
  std::string record(stream.outgoing().begin(), stream.outgoing().end());
  record.back() = static_cast<char>(record.back() ^ 1);
  (void)middle.try_send(middle_sink.accepted[0], bytes_of(record));
  for (int i = 0; i < 10; ++i) client.poll(client_sink, 0ns);
  EXPECT_TRUE(client_sink.received.empty());
  ASSERT_TRUE(client_sink.closed.contains(*id));
  EXPECT_EQ(client_sink.closed[*id], CloseReason::tls_failed);
  expect_text(client.last_tls_failure().text, "a record was changed on its way");
}

TEST(TlsTransport, goes_on_with_what_waited_while_held_although_nothing_new_comes) {
  TlsLoopbackPair pair(TlsTransportOptions{.receive_buffer = 10});
  const auto [served, id] = pair.join();
  pair.server_sink.when_received = [&](ConnectionId from, std::span<const char>) { pair.server.hold(from, true); };
  const std::string text = pattern(35);
  ASSERT_EQ(pair.client.try_send(id, bytes_of(text)).sent, text.size());
  pair.client.close(id);
  for (std::size_t calls = 1; calls <= 4; ++calls) {
    pair.turns(10);
    EXPECT_EQ(pair.server_sink.receive_calls, calls);
    EXPECT_TRUE(pair.server_sink.closed.empty());
    pair.server.hold(served, false);
  }
  pair.turns(10);
  EXPECT_EQ(pair.server_sink.received[served], text);
  ASSERT_TRUE(pair.server_sink.closed.contains(served));
  EXPECT_EQ(pair.server_sink.closed[served], CloseReason::peer_closed);
}

TEST(TlsTransport, bounds_what_waits_to_leave) {
  TlsLoopbackPair pair(TlsTransportOptions{.send_buffer = 32 * 1024});
  const auto [served, id] = pair.join();
  const std::string text = pattern(1'000'000);
  std::size_t taken = 0;
  for (int i = 0; i < 50; ++i) taken += pair.client.try_send(id, bytes_of(text).subspan(taken)).sent;
  // The loopback network holds 64 KiB in flight.
  EXPECT_GT(taken, 64U * 1024);
  EXPECT_LE(taken, 96U * 1024);
  pair.turns(10);
  EXPECT_EQ(pair.client_sink.writable.size(), 1U);
  EXPECT_TRUE(pair.server_sink.received[served] == text.substr(0, taken));
}

TEST(TlsTransport, gives_up_a_closed_connection_whose_peer_reads_nothing) {
  TlsLoopbackPair pair(TlsTransportOptions{.linger_time = 2s});
  const auto [served, id] = pair.join();
  pair.server.hold(served, true);
  const std::string text = pattern(1'000'000);
  EXPECT_LT(pair.client.try_send(id, bytes_of(text)).sent, text.size());
  pair.client.close(id);
  EXPECT_TRUE(pair.client.try_send(id, bytes_of("x")).closed);
  pair.turns(10);
  EXPECT_EQ(pair.client.lingering(), 1U);
  pair.now += 2s;
  pair.turns(2);
  EXPECT_EQ(pair.client.lingering(), 0U);
  EXPECT_EQ(pair.client.counters().linger_cut_short, 1U);
}

TEST(TlsTransport, refuses_to_listen_without_a_certificate) {
  EpollTransport inner;
  TlsTransport<EpollTransport> server(inner);
  SocketOptions socket;
  socket.tls = tls(certificates().client_options());
  const auto listener = server.listen({"127.0.0.1", 0}, socket);
  ASSERT_FALSE(listener.has_value());
  expect_text(listener.error().text(), "set tls_certificate and tls_key");
  TlsOptions names = certificates().server_options();
  names.peer_names = {"desk"};
  socket.tls = tls(names);
  EXPECT_FALSE(server.listen({"127.0.0.1", 0}, socket).has_value());
}

TEST(TlsTransport, rejects_options_that_make_no_sense) {
  EpollTransport inner;
  using T = TlsTransport<EpollTransport>;
  EXPECT_THROW(T(inner, {.send_buffer = 1000}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.receive_buffer = 0}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.handshakes = {.unknown = 0}}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.handshake_steps = 0}), std::invalid_argument);
  EXPECT_THROW(T(inner, {.handshake_timeout = 0s}), std::invalid_argument);
}

// Cuts, delays and small pieces at any place of handshakes and records: the received bytes are a true prefix, and
// everything ends.
TEST(TlsTransport, survives_rough_networks_with_true_prefixes) {
  std::size_t whole = 0;
  std::size_t cut = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    FaultOptions faults = rough_weather;
    faults.seed = seed;
    faults.cut_probability = 0.5;
    faults.cut_within = 30'000;
    TlsWeatherPair pair(TlsTransportOptions{}, faults);
    const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
    const auto id = pair.client.connect(*pair.server.local_endpoint(*listener), pair.socket);
    const std::string text = pattern(40'000);
    std::size_t at = 0;
    for (int i = 0; i < 600; ++i) {
      if (at < text.size())
        at += pair.client.try_send(*id, bytes_of(text).subspan(at, std::min<std::size_t>(997, text.size() - at))).sent;
      pair.turn();
    }
    const std::string& got =
        pair.server_sink.received.empty() ? std::string{} : pair.server_sink.received.begin()->second;
    EXPECT_TRUE(text.starts_with(got)) << seed;
    if (pair.client_sink.closed.empty()) {
      EXPECT_TRUE(got == text) << seed;
      ++whole;
    } else {
      ++cut;
      EXPECT_EQ(pair.server.handshakes_in_progress(), 0U) << seed;
      EXPECT_EQ(pair.server_sink.closed.size(), pair.server_sink.accepted.size()) << seed;
    }
  }
  EXPECT_GT(whole, 0U);
  EXPECT_GT(cut, 0U);
}

}  // namespace
}  // namespace nfx
