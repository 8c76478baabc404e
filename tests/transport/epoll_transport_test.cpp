// What is particular to TCP: resets, half-close, fairness, descriptors, options.
#include "nexusfix/transport/epoll_transport.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "transport/transport_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

// A plain blocking socket, for what a well-behaved transport cannot do.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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

struct Server {
  explicit Server(const EpollOptions& options = {}) : transport(options) {
    const auto made = transport.listen({"127.0.0.1", 0});
    EXPECT_TRUE(made.has_value());
    listener = *made;
    port = transport.local_endpoint(listener)->port;
  }
  template <class Condition>
  [[nodiscard]] bool poll_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      transport.poll(sink, 1ms);
    }
    return true;
  }
  EpollTransport transport;
  ListenerId listener{};
  std::uint16_t port = 0;
  RecordingSink sink;
};

TEST(EpollTransport, reports_a_reset_by_the_peer) {
  Server server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  client.reset();
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.closed.empty(); }));
  EXPECT_EQ(server.sink.closed.begin()->second, CloseReason::reset);
}

TEST(EpollTransport, reports_a_half_close_as_the_peers_end_after_its_last_bytes) {
  Server server;
  RawClient client(server.port);
  client.send("last words");
  client.end_sending();
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.closed.empty(); }));
  EXPECT_EQ(server.sink.closed.begin()->second, CloseReason::peer_closed);
  EXPECT_EQ(server.sink.received.begin()->second, "last words");
}

TEST(EpollTransport, says_closed_on_a_send_after_a_reset_and_reports_the_close_from_poll) {
  Server server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  const ConnectionId id = server.sink.accepted.front();
  client.reset();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!server.transport.try_send(id, bytes_of("x")).closed) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  EXPECT_TRUE(server.sink.closed.empty());
  EXPECT_TRUE(server.transport.try_send(id, bytes_of("x")).closed);
  server.transport.poll(server.sink, 0ns);
  ASSERT_TRUE(server.sink.closed.contains(id));
  EXPECT_EQ(server.sink.closed[id], CloseReason::reset);
}

TEST(EpollTransport, may_close_a_connection_that_a_send_found_broken) {
  Server server;
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  const ConnectionId id = server.sink.accepted.front();
  client.reset();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!server.transport.try_send(id, bytes_of("x")).closed) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  server.transport.close(id);
  for (int i = 0; i < 50; ++i) server.transport.poll(server.sink, 0ns);
  EXPECT_TRUE(server.sink.closed.empty());
}

// A peer that never stops sending gets one buffer per poll, and its neighbour is served in the same one.
TEST(EpollTransport, serves_the_neighbour_of_a_flooding_connection_in_every_poll) {
  for (const std::size_t direct_receive_limit : {0U, 8U}) {
    Server server({.receive_buffer_size = 4096, .direct_receive_limit = direct_receive_limit});
    RawClient flood(server.port);
    RawClient pinger(server.port);
    ASSERT_TRUE(server.poll_until([&] { return server.sink.accepted.size() == 2; }));
    ASSERT_EQ(::fcntl(flood.fd(), F_SETFL, O_NONBLOCK), 0);
    const std::string rubbish(1 << 20, 'x');
    const auto refill = [&] { return ::send(flood.fd(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL); };
    for (int i = 0; i < 1000 && refill() > 0; ++i) continue;
    std::string pings;
    for (int i = 0; i < 200; ++i) {
      refill();
      pinger.send("p");
      pings += 'p';
      server.sink.received.clear();
      const auto neighbour_served = [&] {
        for (const auto& [id, bytes] : server.sink.received) {
          if (bytes == "p") return true;
        }
        return false;
      };
      server.transport.poll(server.sink, 0ns);
      ASSERT_TRUE(neighbour_served()) << "turn " << i << ", direct_receive_limit " << direct_receive_limit;
      for (const auto& [id, bytes] : server.sink.received) ASSERT_LE(bytes.size(), 4096U);
    }
  }
}

TEST(EpollTransport, keeps_two_hundred_connections_apart) {
  TcpPair pair;
  std::vector<TcpPair::Ids> all;
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

TEST(EpollTransport, ends_a_wait_when_another_thread_wakes_it) {
  EpollTransport transport;
  RecordingSink sink;
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { transport.wake(); });
  EXPECT_EQ(transport.poll(sink, 60s), 0U);
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(EpollTransport, waits_no_longer_than_it_was_told) {
  EpollTransport transport;
  RecordingSink sink;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(transport.poll(sink, 20ms), 0U);
  const auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited, 19ms);
  EXPECT_LT(waited, 10s);
}

TEST(EpollTransport, skips_epoll_while_it_spins_over_few_connections) {
  TcpPair pair(EpollOptions{.direct_receive_limit = 2});
  const auto first = pair.join();
  pair.join();
  const auto waits_in = [&](int polls) {
    const std::uint64_t before = pair.client.counters().epoll_waits;
    for (int i = 0; i < polls; ++i) pair.client.poll(pair.client_sink, 0ns);
    return pair.client.counters().epoll_waits - before;
  };
  EXPECT_EQ(waits_in(320), 10U);
  pair.join();  // one more than the limit
  EXPECT_EQ(waits_in(320), 320U);
  pair.client.close(first.client);
  EXPECT_EQ(waits_in(320), 10U);
}

TEST(EpollTransport, never_skips_epoll_when_direct_receiving_is_off) {
  TcpPair pair(EpollOptions{.direct_receive_limit = 0});
  pair.join();
  const std::uint64_t before = pair.client.counters().epoll_waits;
  for (int i = 0; i < 64; ++i) pair.client.poll(pair.client_sink, 0ns);
  EXPECT_EQ(pair.client.counters().epoll_waits - before, 64U);
}

TEST(EpollTransport, turns_away_connections_beyond_its_limit_and_counts_them) {
  Server server({.max_connections = 2});
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

TEST(EpollTransport, accepts_no_more_than_its_limit_per_poll) {
  Server server({.accept_limit = 2});
  RawClient first(server.port);
  RawClient second(server.port);
  RawClient third(server.port);
  server.transport.poll(server.sink, 0ns);
  EXPECT_EQ(server.sink.accepted.size(), 2U);
  EXPECT_TRUE(server.poll_until([&] { return server.sink.accepted.size() == 3; }));
}

TEST(EpollTransport, pauses_accepting_without_descriptors_and_resumes_when_there_are_some) {
  Server server({.accept_pause = 20ms});
  RawClient client(server.port);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 3;  // fewer than are open, so that no new one can be had
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

TEST(EpollTransport, gives_up_lingering_after_its_time_when_the_peer_never_ends) {
  Server server({.linger_time = 30ms});
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  server.transport.close(server.sink.accepted.front());
  EXPECT_EQ(server.transport.lingering(), 1U);
  ASSERT_TRUE(server.poll_until([&] { return server.transport.lingering() == 0; }));
  EXPECT_EQ(server.transport.counters().linger_cut_short, 1U);
}

TEST(EpollTransport, does_not_linger_when_told_so) {
  Server server({.linger_time = 0ns});
  RawClient client(server.port);
  ASSERT_TRUE(server.poll_until([&] { return !server.sink.accepted.empty(); }));
  server.transport.close(server.sink.accepted.front());
  EXPECT_EQ(server.transport.lingering(), 0U);
}

TEST(EpollTransport, gives_the_slot_of_a_lingering_connection_to_one_that_begins) {
  Server server({.max_connections = 1});
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

TEST(EpollTransport, hands_on_at_most_one_receive_buffer_at_a_time) {
  TcpPair pair(EpollOptions{.receive_buffer_size = 100});
  const auto ids = pair.join();
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of(pattern(1000))).sent, 1000U);
  ASSERT_TRUE(pair.turn_until([&] { return pair.server_sink.received[ids.server].size() == 1000; }));
  EXPECT_GE(pair.server_sink.receive_calls, 10U);
}

// The kernel doubles what it is asked for; what counts is that a small buffer fills sooner than a large one.
TEST(EpollTransport, sizes_its_socket_buffers_as_told) {
  const auto room = [](int size) {
    TcpPair pair;
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

TEST(EpollTransport, connects_from_the_address_it_is_told) {
  TcpPair pair;
  pair.socket.from = Endpoint{"127.0.0.7", 0};
  pair.join();
  EXPECT_TRUE(pair.server_sink.peer.starts_with("127.0.0.7:")) << pair.server_sink.peer;
}

TEST(EpollTransport, says_so_when_the_address_to_connect_from_is_not_ours) {
  EpollTransport transport;
  const auto id = transport.connect({"127.0.0.1", 9}, {.from = Endpoint{"192.0.2.1", 0}});
  ASSERT_FALSE(id.has_value());
  EXPECT_EQ(id.error().code, EADDRNOTAVAIL);
}

TEST(EpollTransport, a_held_connection_whose_peer_resets_does_not_keep_the_poll_busy) {
  TcpPair pair;
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

TEST(EpollTransport, listens_and_connects_over_ipv6) {
  EpollTransport transport;
  const auto listener = transport.listen({"::1", 0});
  if (!listener) GTEST_SKIP() << "this host has no IPv6: " << listener.error().text();
  RecordingSink sink;
  ASSERT_TRUE(transport.connect(*transport.local_endpoint(*listener)).has_value());
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (sink.accepted.empty() || sink.connected.empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    transport.poll(sink, 1ms);
  }
  EXPECT_TRUE(sink.peer.starts_with("[::1]:")) << sink.peer;
}

TEST(EpollTransport, tries_the_further_addresses_of_a_name) {
  const auto addresses = resolve({"localhost", 1});
  if (!addresses || addresses->empty()) GTEST_SKIP() << "this host does not know localhost";
  Server server;  // on 127.0.0.1 alone, which may be the second address of the name
  ASSERT_TRUE(server.transport.connect({"localhost", server.port}).has_value());
  EXPECT_TRUE(server.poll_until([&] { return server.sink.connected.size() == 1; }));
  EXPECT_TRUE(server.sink.closed.empty());
}

TEST(EpollTransport, names_what_failed_and_why) {
  Server server;
  EpollTransport other;
  const auto taken = other.listen({"127.0.0.1", server.port});
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, EADDRINUSE);
  EXPECT_EQ(taken.error().text(), "bind 127.0.0.1:" + std::to_string(server.port) + ": Address already in use");
  const auto unknown = other.connect({"no such host", 1});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_TRUE(unknown.error().operation.starts_with("look up no such host")) << unknown.error().text();
}

TEST(EpollTransport, has_no_more_listeners_than_its_limit) {
  EpollTransport transport({.max_listeners = 1});
  const auto first = transport.listen({"127.0.0.1", 0});
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(transport.listen({"127.0.0.1", 0}).has_value());
  transport.close_listener(*first);
  EXPECT_TRUE(transport.listen({"127.0.0.1", 0}).has_value());
  EXPECT_EQ(transport.local_endpoint(*first), std::nullopt);
}

TEST(EpollTransport, rejects_options_out_of_range) {
  EXPECT_THROW(EpollTransport({.receive_buffer_size = 0}), std::invalid_argument);
  EXPECT_THROW(EpollTransport({.direct_receive_limit = 65}), std::invalid_argument);
  EXPECT_THROW(EpollTransport({.max_connections = 0}), std::invalid_argument);
  EXPECT_THROW(EpollTransport({.accept_limit = 0}), std::invalid_argument);
  EXPECT_THROW(EpollTransport({.listen_backlog = 0}), std::invalid_argument);
  EXPECT_THROW(EpollTransport({.linger_time = -1ns}), std::invalid_argument);
  EXPECT_THROW(EpollTransport({.accept_pause = 0ns}), std::invalid_argument);
}

}  // namespace
}  // namespace nfx
