// Specific to TCP, over every TCP transport: resets, half-close, descriptors, options.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <expected>
#include <optional>
#include <thread>

#include "transport/tcp_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

template <class Kind>
class TcpTransport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = Kind::missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
};
using Kinds = ::testing::Types<EpollKind, IoUringKind, PlainIoUringKind>;
TYPED_TEST_SUITE(TcpTransport, Kinds, KindNames);

TYPED_TEST(TcpTransport, reports_a_reset_by_the_peer) {
  ServerOver<TypeParam> server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  client.reset();
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.closed.empty(); }));
  EXPECT_EQ(server.sink.closed.begin()->second, CloseReason::reset);
}

TYPED_TEST(TcpTransport, reports_a_half_close_as_the_peers_end_after_its_last_bytes) {
  ServerOver<TypeParam> server;
  RawClient client(server.port);
  client.send("last words");
  client.end_sending();
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.closed.empty(); }));
  EXPECT_EQ(server.sink.closed.begin()->second, CloseReason::peer_closed);
  EXPECT_EQ(server.sink.received.begin()->second, "last words");
}

TYPED_TEST(TcpTransport, says_closed_on_a_send_after_a_reset_and_reports_the_close_from_poll) {
  ServerOver<TypeParam> server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  const ConnectionId id = server.sink.accepted.front();
  client.reset();
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (!server.transport.try_send(id, bytes_of("x")).closed) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  EXPECT_TRUE(server.sink.closed.empty());
  EXPECT_TRUE(server.transport.try_send(id, bytes_of("x")).closed);
  server.transport.poll(server.sink, 0ns);
  ASSERT_TRUE(server.sink.closed.contains(id));
  EXPECT_EQ(server.sink.closed[id], CloseReason::reset);
}

TYPED_TEST(TcpTransport, may_close_a_connection_that_a_send_found_broken) {
  ServerOver<TypeParam> server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  const ConnectionId id = server.sink.accepted.front();
  client.reset();
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (!server.transport.try_send(id, bytes_of("x")).closed) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  server.transport.close(id);
  for (int i = 0; i < 50; ++i) server.transport.poll(server.sink, 0ns);
  EXPECT_TRUE(server.sink.closed.empty());
}

// The other transport receives all bytes that the first one has not delivered, without loss or duplication.
TYPED_TEST(TcpTransport, gives_up_a_held_connections_socket_with_all_of_its_bytes) {
  ServerOver<TypeParam> server;
  RawClient client(server.port);
  server.sink.when_received = [&](ConnectionId id, std::span<const char>) { server.transport.hold(id, true); };
  client.send("first,");
  ASSERT_TRUE(server.poll_until([&] { return server.sink.received.size() == 1; }));
  const ConnectionId id = server.sink.accepted.front();
  client.send("second,");
  std::string received = server.sink.received[id];
  std::expected<int, NotDetached> socket = server.transport.detach(id, received);
  ASSERT_TRUE(server.poll_until([&] {
    if (!socket && socket.error() == NotDetached::not_yet) socket = server.transport.detach(id, received);
    return socket.has_value();
  }));
  EXPECT_EQ(server.transport.connection_count(), 0U);
  client.send("third");
  client.end_sending();
  EpollTransport other;
  RecordingSink sink;
  const std::optional<ConnectionId> adopted = other.adopt(*socket);
  ASSERT_TRUE(adopted.has_value());
  EXPECT_EQ(other.try_send(*adopted, bytes_of("answer")).sent, 6U);
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (sink.closed.empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    server.transport.poll(server.sink, 0ns);
    other.poll(sink, 1ms);
  }
  EXPECT_EQ(received + sink.received[*adopted], "first,second,third");
  std::array<char, 16> answer{};
  EXPECT_EQ(::recv(client.fd(), answer.data(), answer.size(), 0), 6);
  EXPECT_TRUE(server.sink.closed.empty()) << "it is another one's connection";
}

TYPED_TEST(TcpTransport, gives_up_no_socket_of_a_connection_that_has_ended) {
  ServerOver<TypeParam> server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  client.close();
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.closed.empty(); }));
  std::string received;
  EXPECT_EQ(server.transport.detach(server.sink.accepted.front(), received).error(), NotDetached::gone);
}

TEST(EpollTransport, adopts_no_socket_beyond_its_limit) {
  EpollTransport transport({.max_connections = 1});
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  EXPECT_TRUE(transport.adopt(ends[0]).has_value());
  EXPECT_FALSE(transport.adopt(ends[1]).has_value());
  EXPECT_EQ(::close(ends[1]), 0) << "still the caller's";
}

// A peer that never stops sending gets one buffer per poll, and its neighbour is served in the same poll.
TYPED_TEST(TcpTransport, keeps_two_hundred_connections_apart) {
  PairOver<TypeParam> pair;
  std::vector<typename PairOver<TypeParam>::Ids> all;
  for (int i = 0; i < 200; ++i) all.push_back(pair.join());
  EXPECT_EQ(pair.server.connection_count(), 200U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_GT(pair.client.try_send(all[i].client, bytes_of("connection " + std::to_string(i))).sent, 0U);
  }
  ASSERT_TRUE(pair.turn_until([&] { return pair.server_sink.received.size() == 200; }));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(pair.server_sink.received[all[i].server], "connection " + std::to_string(i));
  }
}

TYPED_TEST(TcpTransport, ends_a_wait_when_another_thread_wakes_it) {
  typename TypeParam::Transport transport(TypeParam::adjusted({}));
  RecordingSink sink;
  std::thread other([&] { transport.wake(); });
  EXPECT_EQ(transport.poll(sink, 24h), 0U);
  other.join();
}

TYPED_TEST(TcpTransport, waits_as_long_as_it_was_told) {
  typename TypeParam::Transport transport(TypeParam::adjusted({}));
  RecordingSink sink;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(transport.poll(sink, 20ms), 0U);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 19ms);
}

TYPED_TEST(TcpTransport, turns_away_connections_beyond_its_limit_and_counts_them) {
  ServerOver<TypeParam> server(typename TypeParam::Options{.max_connections = 2});
  RawClient first(server.port);
  RawClient second(server.port);
  RawClient third(server.port);
  ASSERT_TRUE(server.poll_until([&] { return server.transport.counters().refused_full == 1; }));
  EXPECT_EQ(server.sink.accepted.size(), 2U);
  EXPECT_EQ(server.transport.counters().accepted, 2U);
  char byte = 0;
  EXPECT_EQ(::recv(third.fd(), &byte, 1, 0), 0);
  const auto refused = server.transport.connect({"127.0.0.1", server.port});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ENOSPC);
}

TYPED_TEST(TcpTransport, accepts_no_more_than_its_limit_per_poll) {
  ServerOver<TypeParam> server(typename TypeParam::Options{.accept_limit = 2});
  RawClient first(server.port);
  RawClient second(server.port);
  RawClient third(server.port);
  std::size_t before = 0;
  EXPECT_TRUE(server.poll_until([&] {
    EXPECT_LE(server.sink.accepted.size() - before, 2U);
    before = server.sink.accepted.size();
    return before == 3;
  }));
}

TYPED_TEST(TcpTransport, pauses_accepting_without_descriptors_and_resumes_when_there_are_some) {
  ServerOver<TypeParam> server(typename TypeParam::Options{.accept_pause = 20ms});
  RawClient client(server.port);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 3;  // fewer than are open, so that no new descriptor is available
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  server.transport.poll(server.sink, 0ns);
  const std::uint64_t pauses = server.transport.counters().accept_pauses;
  server.transport.poll(server.sink, 0ns);
  server.transport.poll(server.sink, 0ns);
  const std::uint64_t pauses_after = server.transport.counters().accept_pauses;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(pauses, 1U);
  EXPECT_EQ(pauses_after, 1U);
  EXPECT_TRUE(server.sink.accepted.empty());
  EXPECT_TRUE(server.poll_until([&] { return server.sink.accepted.size() == 1; }));
}

TYPED_TEST(TcpTransport, gives_up_lingering_after_its_time_when_the_peer_never_ends) {
  ServerOver<TypeParam> server(typename TypeParam::Options{.linger_time = 30ms});
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  server.transport.close(server.sink.accepted.front());
  EXPECT_EQ(server.transport.lingering(), 1U);
  ASSERT_TRUE(server.poll_until([&] { return server.transport.lingering() == 0; }));
  EXPECT_EQ(server.transport.counters().linger_cut_short, 1U);
}

TYPED_TEST(TcpTransport, resets_a_closed_connection_whose_peer_goes_on_sending) {
  constexpr std::size_t most = 64 * 1024;
  ServerOver<TypeParam> server(typename TypeParam::Options{.linger_time = 1h, .linger_bytes = most});
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  server.transport.close(server.sink.accepted.front());
  const std::string flood(16 * 1024, 'x');
  std::size_t sent = 0;
  ASSERT_TRUE(server.poll_until([&] {
    const ssize_t taken = ::send(client.fd(), flood.data(), flood.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (taken > 0) sent += static_cast<std::size_t>(taken);
    return server.transport.lingering() == 0;
  }));
  EXPECT_GT(sent, most);
  EXPECT_EQ(server.transport.counters().linger_flooded, 1U);
  char byte = 0;
  errno = 0;
  while (::recv(client.fd(), &byte, 1, 0) == 0 && ::send(client.fd(), &byte, 1, MSG_NOSIGNAL) == 1) {
  }
  EXPECT_TRUE(errno == ECONNRESET || errno == EPIPE) << errno;
}

TYPED_TEST(TcpTransport, drops_what_a_peer_sends_after_a_close_up_to_the_limit) {
  ServerOver<TypeParam> server(typename TypeParam::Options{.linger_time = 1h, .linger_bytes = 64 * 1024});
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  server.transport.close(server.sink.accepted.front());
  client.send(std::string(64 * 1024, 'x'));
  client.end_sending();
  ASSERT_TRUE(server.poll_until([&] { return server.transport.lingering() == 0; }));
  EXPECT_EQ(server.transport.counters().linger_flooded, 0U);
  char byte = 0;
  EXPECT_EQ(::recv(client.fd(), &byte, 1, 0), 0) << "an end, not a reset";
}

TYPED_TEST(TcpTransport, does_not_linger_when_told_so) {
  ServerOver<TypeParam> server(typename TypeParam::Options{.linger_time = 0ns});
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  server.transport.close(server.sink.accepted.front());
  EXPECT_EQ(server.transport.lingering(), 0U);
}

TYPED_TEST(TcpTransport, gives_the_slot_of_a_lingering_connection_to_one_that_begins) {
  ServerOver<TypeParam> server(typename TypeParam::Options{.max_connections = 1});
  RawClient first(server.port);
  ASSERT_TRUE(server.poll_until([&] { return server.sink.accepted.size() == 1; }));
  server.transport.close(server.sink.accepted.front());
  EXPECT_EQ(server.transport.lingering(), 1U);
  RawClient second(server.port);
  ASSERT_TRUE(server.poll_until([&] { return server.sink.accepted.size() == 2; }));
  EXPECT_EQ(server.transport.lingering(), 0U);
  EXPECT_EQ(slot_of(server.sink.accepted[0]), slot_of(server.sink.accepted[1]));
  EXPECT_NE(server.sink.accepted[0], server.sink.accepted[1]);
}

TYPED_TEST(TcpTransport, hands_on_at_most_one_receive_buffer_at_a_time) {
  PairOver<TypeParam> pair(typename TypeParam::Options{.receive_buffer_size = 100});
  const auto ids = pair.join();
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of(pattern(1000))).sent, 1000U);
  ASSERT_TRUE(pair.turn_until([&] { return pair.server_sink.received[ids.server].size() == 1000; }));
  EXPECT_GE(pair.server_sink.receive_calls, 10U);
}

// The kernel doubles the requested size; what matters is that a small buffer fills sooner than a large one.
TYPED_TEST(TcpTransport, sizes_its_socket_buffers_as_told) {
  const auto room = [](int size) {
    PairOver<TypeParam> pair;
    pair.socket.send_buffer = pair.socket.receive_buffer = size;
    const auto ids = pair.join();
    const std::string chunk(1024, 'x');
    std::size_t sent = 0;
    for (;;) {
      const std::size_t now = pair.client.try_send(ids.client, bytes_of(chunk)).sent;
      sent += now;
      if (now < chunk.size()) return sent;
    }
  };
  EXPECT_LT(4 * room(4096), room(131072));
}

TYPED_TEST(TcpTransport, connects_from_the_address_it_is_told) {
  PairOver<TypeParam> pair;
  pair.socket.from = Endpoint{"127.0.0.7", 0};
  pair.join();
  EXPECT_TRUE(pair.server_sink.peer.starts_with("127.0.0.7:")) << pair.server_sink.peer;
}

TYPED_TEST(TcpTransport, says_so_when_the_address_to_connect_from_is_not_ours) {
  typename TypeParam::Transport transport(TypeParam::adjusted({}));
  SocketOptions socket;
  socket.from = Endpoint{"192.0.2.1", 0};
  const auto id = transport.connect({"127.0.0.1", 9}, socket);
  ASSERT_FALSE(id.has_value());
  EXPECT_EQ(id.error().code, EADDRNOTAVAIL);
}

TYPED_TEST(TcpTransport, a_held_connection_whose_peer_resets_does_not_keep_the_poll_busy) {
  PairOver<TypeParam> pair;
  const auto ids = pair.join();
  pair.server.hold(ids.server, true);
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of("last words")).sent, 10U);
  pair.client.close(ids.client);
  pair.turns(3);
  EXPECT_TRUE(pair.server_sink.received[ids.server].empty());
  pair.server.hold(ids.server, false);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.closed.contains(ids.server); }));
  EXPECT_EQ(pair.server_sink.received[ids.server], "last words");
}

TYPED_TEST(TcpTransport, listens_and_connects_over_ipv6) {
  typename TypeParam::Transport transport(TypeParam::adjusted({}));
  const auto listener = transport.listen({"::1", 0});
  if (!listener) GTEST_SKIP() << "this host has no IPv6: " << listener.error().text();
  RecordingSink sink;
  ASSERT_TRUE(transport.connect(*transport.local_endpoint(*listener)).has_value());
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (sink.accepted.empty() || sink.connected.empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    transport.poll(sink, 1ms);
  }
  EXPECT_TRUE(sink.peer.starts_with("[::1]:")) << sink.peer;
}

TYPED_TEST(TcpTransport, tries_the_further_addresses_of_a_name) {
  const auto addresses = resolve({"localhost", 1});
  if (!addresses || addresses->empty()) GTEST_SKIP() << "this host does not know localhost";
  ServerOver<TypeParam> server;  // only on 127.0.0.1, which may be the second address of the name
  ASSERT_TRUE(server.transport.connect({"localhost", server.port}).has_value());
  EXPECT_TRUE(server.poll_until([&] { return server.sink.connected.size() == 1; }));
  EXPECT_TRUE(server.sink.closed.empty());
}

TYPED_TEST(TcpTransport, names_what_failed_and_why) {
  ServerOver<TypeParam> server;
  typename TypeParam::Transport other(TypeParam::adjusted({}));
  const auto taken = other.listen({"127.0.0.1", server.port});
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, EADDRINUSE);
  EXPECT_EQ(taken.error().text(), "bind 127.0.0.1:" + std::to_string(server.port) + ": Address already in use");
  const auto unknown = other.connect({"no such host", 1});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_TRUE(unknown.error().operation.starts_with("the host no such host")) << unknown.error().text();
}

TYPED_TEST(TcpTransport, has_no_more_listeners_than_its_limit) {
  typename TypeParam::Transport transport(TypeParam::adjusted({.max_listeners = 1}));
  const auto first = transport.listen({"127.0.0.1", 0});
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(transport.listen({"127.0.0.1", 0}).has_value());
  transport.close_listener(*first);
  EXPECT_TRUE(transport.listen({"127.0.0.1", 0}).has_value());
  EXPECT_EQ(transport.local_endpoint(*first), std::nullopt);
}

}  // namespace
}  // namespace nfx
