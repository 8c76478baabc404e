// What is particular to epoll: when it is asked, and which options make sense.
#include "nexusfix/transport/epoll_transport.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <stdexcept>

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
