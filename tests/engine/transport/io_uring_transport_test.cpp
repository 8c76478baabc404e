// Specific to io_uring: the fallback steps of features, exhausted buffers, threads, and calls that are avoided.
#include "transport/io_uring_transport.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "transport/forbid_call.hpp"
#include "transport/tcp_testing.hpp"

namespace nfx {
namespace {

using namespace testing;
using Server = ServerOver<IoUringKind>;
using IoUringPair = PairOver<IoUringKind>;

class IoUring : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = IoUringKind::missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

void expect_an_exchange(IoUringPair& pair) {
  const auto ids = pair.join();
  const std::string text = pattern(50'000);
  std::size_t at = 0;
  ASSERT_TRUE(pair.turn_until([&] {
    at += pair.client.try_send(ids.client, bytes_of(text).subspan(at)).sent;
    return pair.server_sink.received[ids.server].size() == text.size();
  }));
  EXPECT_EQ(pair.server_sink.received[ids.server], text);
  pair.client.close(ids.client);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.closed.contains(ids.server); }));
}

TEST_F(IoUring, says_in_one_line_what_it_uses) {
  const IoUringFeatures features = IoUringTransport().features();
  EXPECT_TRUE(features.text.starts_with("io_uring: ")) << features.text;
  EXPECT_EQ(features.defer_taskrun, features.text.find("io_uring: DEFER_TASKRUN") == 0) << features.text;
  EXPECT_EQ(features, probe_io_uring());
}

TEST_F(IoUring, carries_bytes_on_every_step_of_the_ladder) {
  for (int step = 0; step < 16; ++step) {
    IoUringOptions options;
    options.allow_defer_taskrun = (step & 1) != 0;
    options.allow_coop_taskrun = (step & 2) != 0;
    options.allow_multishot_accept = (step & 4) != 0;
    options.allow_multishot_receive = (step & 8) != 0;
    IoUringPair pair(options);
    const IoUringFeatures& features = pair.server.features();
    SCOPED_TRACE(features.text);
    EXPECT_FALSE(features.defer_taskrun && !options.allow_defer_taskrun);
    EXPECT_FALSE(features.coop_taskrun && (!options.allow_coop_taskrun || features.defer_taskrun));
    EXPECT_FALSE(features.multishot_accept && !options.allow_multishot_accept);
    EXPECT_FALSE(features.multishot_receive && !options.allow_multishot_receive);
    const std::string refused = "no multishot receive (not allowed by options)";
    EXPECT_EQ(features.text.find(refused) == std::string::npos, options.allow_multishot_receive);
    expect_an_exchange(pair);
  }
}

TEST_F(IoUring, carries_bytes_with_a_submitting_kernel_thread) {
  IoUringOptions options;
  options.sqpoll = true;
  options.sq_thread_cpu = 0;
  options.sq_thread_idle = 1ms;
  IoUringPair pair(options);
  if (!pair.server.features().sqpoll) GTEST_SKIP() << pair.server.features().text;
  EXPECT_FALSE(pair.server.features().defer_taskrun);
  expect_an_exchange(pair);
}

TEST_F(IoUring, goes_on_without_sqpoll_when_its_cpu_does_not_exist) {
  IoUringOptions options;
  options.sqpoll = true;
  options.sq_thread_cpu = 100'000;
  const IoUringFeatures features = probe_io_uring(options);
  EXPECT_TRUE(features.available);
  EXPECT_FALSE(features.sqpoll);
  EXPECT_NE(features.text.find("; no SQPOLL (no CPU 100000 to pin its thread to)"), std::string::npos) << features.text;
}

// In a child, because the filter cannot be removed again.
int exit_code_without_io_uring() {
  if (!forbid_call(SYS_io_uring_setup)) return 2;
  const IoUringFeatures features = probe_io_uring();
  std::fprintf(stderr, "%s\n", features.text.c_str());
  try {
    IoUringTransport transport;
  } catch (const std::system_error& error) {
    return !features.available && error.code().value() == EPERM ? 0 : 1;
  }
  return 1;
}

TEST(IoUringForbidden, is_said_with_the_reason) {
  EXPECT_EXIT(std::_Exit(exit_code_without_io_uring()), ::testing::ExitedWithCode(0),
              "^io_uring is not available \\(Operation not permitted: .*\\)\n$");
}

// Four floods over eight buffers: each of them can take all.
TEST_F(IoUring, serves_the_neighbour_of_flooding_connections_within_a_few_polls) {
  Server server(IoUringOptions{.receive_buffer_size = 1024, .receive_buffers = 8});
  if (!server.transport.features().multishot_receive) GTEST_SKIP() << server.transport.features().text;
  std::vector<std::unique_ptr<RawClient>> floods;
  for (int i = 0; i < 4; ++i) floods.push_back(std::make_unique<RawClient>(server.port));
  RawClient pinger(server.port);
  ASSERT_TRUE(server.poll_until([&] { return server.sink.accepted.size() == 5; }));
  for (const auto& flood : floods) ASSERT_EQ(::fcntl(flood->fd(), F_SETFL, O_NONBLOCK), 0);
  const std::string rubbish(1 << 16, 'x');
  std::size_t flooded = 0;
  for (int i = 0; i < 200; ++i) {
    pinger.send("p");
    int polls = 0;
    const auto neighbour_served = [&] {
      for (const auto& [id, bytes] : server.sink.received) {
        if (bytes == "p") return true;
      }
      return false;
    };
    server.sink.received.clear();
    while (!neighbour_served()) {
      for (const auto& flood : floods) {
        const ssize_t sent = ::send(flood->fd(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
        if (sent > 0) flooded += static_cast<std::size_t>(sent);
      }
      server.transport.poll(server.sink, 0ns);
      ASSERT_LE(++polls, 6) << "turn " << i;
    }
  }
  EXPECT_GT(server.transport.counters().buffers_empty, 0U);
  EXPECT_GT(flooded, 1'000'000U);
}

TEST_F(IoUring, loses_nothing_when_its_buffers_run_dry) {
  IoUringPair pair(IoUringOptions{.receive_buffer_size = 16, .receive_buffers = 2});
  expect_an_exchange(pair);
  EXPECT_EQ(pair.server.counters().buffers_empty > 0, pair.server.features().multishot_receive);
}

TEST_F(IoUring, hands_on_no_more_completions_per_poll_than_its_limit) {
  IoUringPair pair(IoUringOptions{.receive_buffer_size = 16, .completion_limit = 3});
  const auto ids = pair.join();
  pair.turns(5);
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of(pattern(1000))).sent, 1000U);
  while (pair.server_sink.received[ids.server].size() < 1000) {
    const std::size_t before = pair.server_sink.receive_calls;
    ASSERT_TRUE(pair.turn_until([&] { return pair.server_sink.receive_calls > before; }));
    EXPECT_LE(pair.server_sink.receive_calls - before, 3U);
  }
}

// Bytes that are already in the kernel's buffers arrive after the hold, in order.
TEST_F(IoUring, keeps_what_it_had_received_when_hold_came) {
  IoUringPair pair(IoUringOptions{.receive_buffer_size = 64});
  const auto ids = pair.join();
  const std::string text = pattern(6400);
  pair.server_sink.when_received = [&](ConnectionId id, std::span<const char>) { pair.server.hold(id, true); };
  ASSERT_EQ(pair.client.try_send(ids.client, bytes_of(text)).sent, text.size());
  pair.client.close(ids.client);
  std::size_t calls = 0;
  ASSERT_TRUE(pair.turn_until([&] {
    if (pair.server_sink.receive_calls > calls) {
      EXPECT_EQ(pair.server_sink.receive_calls, ++calls) << "handed on while held";
      pair.turns(3);
      EXPECT_EQ(pair.server_sink.receive_calls, calls) << "handed on while held";
      EXPECT_FALSE(pair.server_sink.closed.contains(ids.server)) << "ended while held";
      pair.server.hold(ids.server, false);
    }
    return pair.server_sink.closed.contains(ids.server);
  }));
  EXPECT_EQ(pair.server_sink.received[ids.server], text);
  EXPECT_EQ(pair.server_sink.closed[ids.server], CloseReason::peer_closed);
}

TEST_F(IoUring, calls_the_kernel_only_when_there_is_something_while_it_spins) {
  IoUringPair pair;
  const auto ids = pair.join();
  if (!pair.client.features().defer_taskrun) GTEST_SKIP() << pair.client.features().text;
  for (int i = 0; i < 10; ++i) pair.client.poll(pair.client_sink, 0ns);
  const std::uint64_t before = pair.client.counters().ring_enters;
  for (int i = 0; i < 1000; ++i) pair.client.poll(pair.client_sink, 0ns);
  EXPECT_EQ(pair.client.counters().ring_enters, before);
  ASSERT_EQ(pair.server.try_send(ids.server, bytes_of("x")).sent, 1U);
  ASSERT_TRUE(pair.turn_until([&] { return pair.client_sink.received[ids.client] == "x"; }));
  EXPECT_EQ(pair.client.counters().ring_enters, before + 1);
}

TEST_F(IoUring, belongs_to_the_thread_that_polls_first) {
  for (const bool defer : {true, false}) {
    IoUringOptions options;
    options.allow_defer_taskrun = defer;
    auto transport = std::make_unique<IoUringTransport>(options);
    const auto listener = transport->listen({"127.0.0.1", 0});
    const Endpoint endpoint = *transport->local_endpoint(*listener);
    ASSERT_TRUE(transport->connect(endpoint).has_value());
    RecordingSink sink;
    std::thread poller([&] {
      const auto deadline = std::chrono::steady_clock::now() + 10min;
      while ((sink.accepted.empty() || sink.connected.empty()) && std::chrono::steady_clock::now() < deadline) {
        transport->poll(sink, 1ms);
      }
    });
    poller.join();
    EXPECT_EQ(sink.accepted.size(), 1U);
    EXPECT_EQ(sink.connected.size(), 1U);
    transport.reset();
    // Nothing of it still listens.
    RecordingSink other_sink;
    IoUringTransport other(options);
    const auto id = other.connect(endpoint);
    const auto deadline = std::chrono::steady_clock::now() + 10min;
    while (other_sink.closed.empty() && other_sink.connected.empty() && std::chrono::steady_clock::now() < deadline) {
      other.poll(other_sink, 1ms);
    }
    EXPECT_EQ(other_sink.closed[*id], CloseReason::refused);
  }
}

TEST_F(IoUring, takes_more_requests_than_its_queue_holds) {
  IoUringPair pair(IoUringOptions{.accept_limit = 600});
  const auto listener = pair.server.listen({"127.0.0.1", 0});
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(pair.client.connect(*pair.server.local_endpoint(*listener)).has_value()) << i;
    if (i % 100 == 99) pair.turns(3);
  }
  ASSERT_TRUE(pair.turn_until(
      [&] { return pair.client_sink.connected.size() == 400 && pair.server_sink.accepted.size() == 400; }));
  for (const ConnectionId id : pair.client_sink.connected) ASSERT_EQ(pair.client.try_send(id, bytes_of("x")).sent, 1U);
  EXPECT_TRUE(pair.turn_until([&] { return pair.server_sink.received.size() == 400; }));
}

TEST_F(IoUring, rejects_options_out_of_range) {
  EXPECT_THROW(IoUringTransport({.receive_buffer_size = 0}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.receive_buffers = 0}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.receive_buffers = 32769}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.max_connections = 0}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.accept_limit = 0}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.completion_limit = 0}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.listen_backlog = 0}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.linger_time = -1ns}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.accept_pause = 0ns}), std::invalid_argument);
  EXPECT_THROW(IoUringTransport({.sq_thread_idle = 0ns}), std::invalid_argument);
}

}  // namespace
}  // namespace nfx
