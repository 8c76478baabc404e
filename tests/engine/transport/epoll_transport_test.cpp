// Specific to epoll: when it is called, and which options are valid.
#include "transport/epoll_transport.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "transport/tcp_testing.hpp"

namespace nfx {
namespace {

using namespace testing;
using Server = ServerOver<EpollKind>;

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

// Sockets that this process's epolls watch.
int watched_descriptors() {
  int watched = 0;
  for (const auto& fd : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone;  // the iterator's own
    if (std::filesystem::read_symlink(fd, gone) != "anon_inode:[eventpoll]") continue;
    std::ifstream info{"/proc/self/fdinfo/" + fd.path().filename().string()};
    for (std::string line; std::getline(info, line);) watched += line.starts_with("tfd:") ? 1 : 0;
  }
  return watched;
}

// A server with two connections that has busy-polled until it reads only these two.
class SpinningServer : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server.poll_until([&] { return server.sink.accepted.size() == 2; }));
    watched_at_first = watched_descriptors();
    spin(5000);
    ASSERT_EQ(watched_descriptors(), watched_at_first - 2);
  }
  void spin(int polls) {
    for (int i = 0; i < polls; ++i) server.transport.poll(server.sink, 0ns);
  }
  [[nodiscard]] ConnectionId accepted(std::size_t i) const { return server.sink.accepted[i]; }
  // By connection, the first before the second.
  [[nodiscard]] std::string received() const {
    std::string all;
    for (const auto& [id, bytes] : server.sink.received) all += bytes;
    return all;
  }

  Server server;
  RawClient first{server.port}, second{server.port};
  int watched_at_first = 0;
};

TEST_F(SpinningServer, still_receives_and_hears_of_the_end) {
  first.send("a");
  second.send("b");
  second.close();
  spin(64);
  EXPECT_EQ(received(), "ab");
  EXPECT_EQ(server.sink.closed.size(), 1U);
}

TEST_F(SpinningServer, is_woken_by_its_connections_once_it_waits_again) {
  first.send("a");
  EXPECT_TRUE(server.poll_until([&] { return received() == "a"; }));
  EXPECT_EQ(watched_descriptors(), watched_at_first);
  second.send("b");
  server.transport.poll(server.sink, 10s);
  EXPECT_EQ(received(), "ab");
}

TEST_F(SpinningServer, accepts_and_soon_asks_the_new_connection_alone_too) {
  RawClient third{server.port};
  spin(64);
  ASSERT_EQ(server.sink.accepted.size(), 3U);
  EXPECT_EQ(watched_descriptors(), watched_at_first - 1);
  spin(5000);
  EXPECT_EQ(watched_descriptors(), watched_at_first - 2);
  third.send("c");
  spin(1);
  EXPECT_EQ(received(), "c");
}

TEST_F(SpinningServer, watches_a_connection_that_it_cannot_write_to_until_it_can) {
  const std::string much(1 << 20, 'x');
  std::size_t sent = 0;
  for (SendResult result{1, false}; result.sent != 0; sent += result.sent)
    result = server.transport.try_send(accepted(0), much);
  EXPECT_EQ(watched_descriptors(), watched_at_first - 1);
  std::string taken(sent, ' ');
  ASSERT_EQ(::recv(first.fd(), taken.data(), taken.size(), MSG_WAITALL), std::ssize(taken));
  spin(64);
  EXPECT_EQ(server.sink.writable.size(), 1U);
}

TEST_F(SpinningServer, holds_and_lets_go) {
  server.transport.hold(accepted(0), true);
  first.send("a");
  second.send("b");
  spin(64);
  EXPECT_EQ(received(), "b");
  server.transport.hold(accepted(0), false);
  spin(64);
  EXPECT_EQ(received(), "ab");
}

TEST_F(SpinningServer, lingers_behind_what_it_closes) {
  server.transport.close(accepted(0));
  EXPECT_EQ(server.transport.lingering(), 1U);
  first.close();
  spin(64);
  EXPECT_EQ(server.transport.lingering(), 0U);
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
