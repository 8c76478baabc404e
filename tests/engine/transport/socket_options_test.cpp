// SocketOptions that tune a connection, over every TCP transport.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "transport/forbid_call.hpp"
#include "transport/tcp_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

template <class Kind>
class TunedSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = Kind::missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
};
using Kinds = ::testing::Types<EpollKind, IoUringKind, PlainIoUringKind>;
TYPED_TEST_SUITE(TunedSocket, Kinds, KindNames);

// The number that the next descriptor of this process gets.
int next_descriptor() {
  const int fd = ::dup(STDERR_FILENO);
  ::close(fd);
  return fd;
}

int option_of(int fd, int level, int name) {
  int found = -1;
  socklen_t size = sizeof found;
  EXPECT_EQ(::getsockopt(fd, level, name, &found, &size), 0);
  return found;
}

// A client connection that has answered a few messages, so that the kernel delays acknowledgements.
template <class Kind>
int quickack_after_answers(PairOver<Kind>& pair, bool quickack) {
  pair.socket.quickack = quickack;
  const auto listener = pair.server.listen({"127.0.0.1", 0});
  const int fd = next_descriptor();
  const auto id = pair.client.connect(*pair.server.local_endpoint(*listener), pair.socket);
  EXPECT_TRUE(
      pair.turn_until([&] { return !pair.server_sink.accepted.empty() && !pair.client_sink.connected.empty(); }));
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(pair.server.try_send(pair.server_sink.accepted.back(), bytes_of("q")).sent, 1U);
    EXPECT_TRUE(pair.turn_until([&] { return pair.client_sink.received[*id].size() == i; }));
    if (i == 5) break;
    EXPECT_EQ(pair.client.try_send(*id, bytes_of("a")).sent, 1U);
  }
  return option_of(fd, IPPROTO_TCP, TCP_QUICKACK);
}

TYPED_TEST(TunedSocket, acknowledges_at_once_again_after_every_receive) {
  PairOver<TypeParam> quick, ordinary;
  EXPECT_EQ(quickack_after_answers<TypeParam>(quick, true), 1);
  EXPECT_EQ(quickack_after_answers<TypeParam>(ordinary, false), 0);
}

TYPED_TEST(TunedSocket, asks_for_busy_polling) {
  PairOver<TypeParam> pair;
  const auto listener = pair.server.listen({"127.0.0.1", 0});
  SocketOptions socket;
  socket.busy_poll_us = 37;
  const int fd = next_descriptor();
  ASSERT_TRUE(pair.client.connect(*pair.server.local_endpoint(*listener), socket).has_value());
  if (option_of(fd, SOL_SOCKET, SO_BUSY_POLL) != 37) {
    ASSERT_EQ(pair.client.warnings().size(), 1U);
  } else {
    EXPECT_TRUE(pair.client.warnings().empty());
  }
}

TYPED_TEST(TunedSocket, has_the_kernel_ask_a_silent_peer_on_both_sides) {
  PairOver<TypeParam> pair;
  pair.socket.keepalive_s = 20;
  pair.socket.user_timeout_s = 7;
  const auto listener = pair.server.listen({"127.0.0.1", 0}, pair.socket);
  const int fd = next_descriptor();
  ASSERT_TRUE(pair.client.connect(*pair.server.local_endpoint(*listener), pair.socket).has_value());
  const auto expect_watched = [](int socket) {
    EXPECT_EQ(option_of(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option_of(socket, IPPROTO_TCP, TCP_KEEPIDLE), 20);
    EXPECT_EQ(option_of(socket, IPPROTO_TCP, TCP_KEEPINTVL), 5);
    EXPECT_EQ(option_of(socket, IPPROTO_TCP, TCP_KEEPCNT), 4);
    EXPECT_EQ(option_of(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 7000);
  };
  expect_watched(fd);
  const int accepted = next_descriptor();
  ASSERT_TRUE(pair.turn_until([&] { return !pair.server_sink.accepted.empty(); }));
  expect_watched(accepted);
}

// In a child, because the filter that refuses the option cannot be removed. Returns the number of the failed
// expectation.
template <class Kind>
int exit_code_without_busy_poll() {
  if (!forbid_call(SYS_setsockopt, SO_BUSY_POLL)) return 9;
  PairOver<Kind> pair;
  pair.socket.busy_poll_us = 50;
  const auto ids = pair.join();
  pair.join();
  if (pair.client.try_send(ids.client, bytes_of("works")).sent != 5) return 1;
  if (!pair.turn_until([&] { return pair.server_sink.received[ids.server] == "works"; })) return 2;
  if (pair.client.warnings().size() != 1) return 3;
  const TransportWarning& warning = pair.client.warnings().front();
  if (!warning.text.starts_with("SO_BUSY_POLL 50: Operation not permitted; ")) return 4;
  return warning.count == 2 ? 0 : 5;
}

TYPED_TEST(TunedSocket, names_an_option_that_is_refused_once_and_counts_it_and_goes_on) {
  EXPECT_EXIT(std::_Exit(exit_code_without_busy_poll<TypeParam>()), ::testing::ExitedWithCode(0), "");
}

TYPED_TEST(TunedSocket, knows_when_bytes_came_in_if_asked_and_only_while_they_are_handed_on) {
  PairOver<TypeParam> pair;
  pair.socket.timestamps = true;
  const auto ids = pair.join();
  std::vector<std::optional<UtcTime>> stamps;
  pair.server_sink.when_received = [&](ConnectionId, std::span<const char>) {
    stamps.push_back(pair.server.received_at());
  };
  // The kernel starts stamping a moment after the first socket requests it.
  UtcTime before{};
  ASSERT_TRUE(pair.turn_until([&] {
    before = std::chrono::system_clock::now();
    const std::size_t count = stamps.size();
    EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("x")).sent, 1U);
    EXPECT_TRUE(pair.turn_until([&] { return stamps.size() > count; }));
    return stamps.back().has_value();
  }));
  EXPECT_GE(*stamps.back(), before);
  EXPECT_LE(*stamps.back(), std::chrono::system_clock::now());
  EXPECT_EQ(pair.server.received_at(), std::nullopt);
}

// For several segments in one read, the stamp is the last one's.
TYPED_TEST(TunedSocket, stamps_the_last_of_the_bytes) {
  PairOver<TypeParam> pair;
  pair.socket.timestamps = true;
  const auto ids = pair.join();
  std::optional<UtcTime> stamp;
  pair.server_sink.when_received = [&](ConnectionId, std::span<const char>) { stamp = pair.server.received_at(); };
  UtcTime between{};
  ASSERT_TRUE(pair.turn_until([&] {
    pair.server_sink.received.clear();
    EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("first")).sent, 5U);
    between = std::chrono::system_clock::now();
    EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("last")).sent, 4U);
    EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.received[ids.server].size() == 9; }));
    return stamp.has_value() && pair.server_sink.received[ids.server] == "firstlast";
  }));
  EXPECT_GE(*stamp, between);
}

TYPED_TEST(TunedSocket, knows_no_time_of_receipt_unless_asked) {
  PairOver<TypeParam> pair;
  const auto ids = pair.join();
  bool stamped = false;
  pair.server_sink.when_received = [&](ConnectionId, std::span<const char>) {
    stamped = pair.server.received_at().has_value();
  };
  for (std::size_t i = 1; i <= 10; ++i) {
    ASSERT_EQ(pair.client.try_send(ids.client, bytes_of("x")).sent, 1U);
    ASSERT_TRUE(pair.turn_until([&] { return pair.server_sink.received[ids.server].size() == i; }));
    EXPECT_FALSE(stamped);
  }
}

}  // namespace
}  // namespace nfx
