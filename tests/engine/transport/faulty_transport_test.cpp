// Faults happen as drawn, and the same seed draws the same faults.
#include "transport/faulty_transport.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "transport/transport_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

// One conversation; everything that both sides saw, and the injected faults.
struct Story {
  std::string log;
  std::string received;
  FaultCounters faults;
  friend bool operator==(const Story&, const Story&) = default;
};

template <class P>
Story converse(const FaultOptions& options, std::size_t bytes) {
  P pair(options);
  const auto ids = pair.join();
  const std::string text = pattern(bytes);
  std::size_t at = 0;
  for (int i = 0; i < 400; ++i) {
    if (at < text.size())
      at += pair.client.try_send(ids.client, bytes_of(text).subspan(at, std::min<std::size_t>(97, text.size() - at)))
                .sent;
    pair.turn();
  }
  return {pair.client_sink.log + "|" + pair.server_sink.log, pair.server_sink.received[ids.server],
          pair.client.counters()};
}

TEST(FaultyTransport, does_nothing_when_no_fault_is_asked_for) {
  const Story story = converse<FaultyLoopbackPair>({}, 10'000);
  EXPECT_TRUE(story.received == pattern(10'000));
  EXPECT_EQ(story.faults, FaultCounters{});
}

TEST(FaultyTransport, repeats_itself_with_the_same_seed_and_differs_with_another) {
  FaultOptions options = rough_weather;
  options.cut_probability = 0.5;
  const Story first = converse<FaultyLoopbackPair>(options, 10'000);
  EXPECT_TRUE(first == converse<FaultyLoopbackPair>(options, 10'000));
  options.seed = 8;
  EXPECT_FALSE(first == converse<FaultyLoopbackPair>(options, 10'000));
}

TEST(FaultyTransport, splits_and_delays_without_losing_or_reordering_a_byte) {
  const Story story = converse<FaultyLoopbackPair>(rough_weather, 20'000);
  EXPECT_TRUE(story.received == pattern(20'000));
  EXPECT_GT(story.faults.small_pieces, 0U);
  EXPECT_GT(story.faults.delayed_pieces, 0U);
}

TEST(FaultyTransport, cuts_a_connection_after_a_true_prefix) {
  std::size_t shorter = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Story story = converse<FaultyLoopbackPair>({.seed = seed, .cut_probability = 1, .cut_within = 5000}, 20'000);
    EXPECT_TRUE(pattern(20'000).starts_with(story.received)) << seed;
    EXPECT_NE(story.log.find("close"), std::string::npos) << seed;
    shorter += story.received.size() < 20'000 ? 1 : 0;
  }
  EXPECT_EQ(shorter, 20U);
}

// The same position over a real network, however the kernel slices the stream.
TEST(FaultyTransport, cuts_at_the_same_byte_over_tcp_and_loopback) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    FaultOptions options{.seed = seed, .cut_probability = 1, .cut_within = 3000};
    EXPECT_EQ(converse<FaultyLoopbackPair>(options, 20'000).received.size(),
              converse<FaultyTcpPair>(options, 20'000).received.size())
        << seed;
  }
}

TEST(FaultyTransport, swallows_without_telling_anyone) {
  std::size_t swallowed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Story story =
        converse<FaultyLoopbackPair>({.seed = seed, .swallow_probability = 1, .swallow_within = 1000}, 20'000);
    EXPECT_TRUE(pattern(20'000).starts_with(story.received));
    EXPECT_EQ(story.log.find("close"), std::string::npos);
    swallowed += story.received.size() < 20'000 ? 1 : 0;
  }
  EXPECT_GT(swallowed, 0U);
}

TEST(FaultyTransport, cuts_on_demand) {
  FaultyLoopbackPair pair(FaultOptions{});
  const auto ids = pair.join();
  pair.client.cut(ids.client);
  EXPECT_TRUE(pair.client.try_send(ids.client, bytes_of("x")).closed);
  ASSERT_TRUE(pair.turn_until(
      [&] { return pair.client_sink.closed.contains(ids.client) && pair.server_sink.closed.contains(ids.server); }));
  EXPECT_EQ(pair.client_sink.closed[ids.client], CloseReason::reset);
}

TEST(FaultyTransport, loses_a_connection_on_one_side_alone) {
  FaultyLoopbackPair pair(FaultOptions{});
  const auto ids = pair.join();
  pair.client.lose(ids.client);
  for (int i = 0; i < 4; ++i) pair.turn();
  EXPECT_EQ(pair.client_sink.closed.size(), 1U);
  EXPECT_TRUE(pair.server_sink.closed.empty());
  EXPECT_TRUE(pair.client.try_send(ids.client, bytes_of("gone")).closed);
  EXPECT_EQ(pair.server.try_send(ids.server, bytes_of("discarded")).sent, 9U);
  for (int i = 0; i < 4; ++i) pair.turn();
  EXPECT_TRUE(pair.client_sink.received.empty());
  EXPECT_EQ(pair.client.counters().losses, 1U);
}

TEST(FaultyTransport, goes_silent_on_demand) {
  FaultyLoopbackPair pair(FaultOptions{});
  const auto ids = pair.join();
  pair.client.swallow(ids.client);
  EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("abc")).sent, 3U);
  EXPECT_EQ(pair.server.try_send(ids.server, bytes_of("abc")).sent, 3U);
  pair.turns(20);
  EXPECT_TRUE(pair.server_sink.received.empty());
  EXPECT_TRUE(pair.client_sink.received.empty());
  EXPECT_EQ(pair.client.counters().swallowed_bytes, 6U);
}

TEST(FaultyTransport, delivers_a_late_piece_when_the_clock_says_so_and_not_before) {
  LoopbackNetwork network;
  LoopbackTransport server(network);
  LoopbackTransport inner(network);
  MonotonicTime now{};
  FaultyTransport<LoopbackTransport> client(inner, {.delay_probability = 1, .max_delay = 10ms}, [&] { return now; });
  RecordingSink server_sink;
  RecordingSink client_sink;
  const auto listener = server.listen({"here", 0});
  const auto id = client.connect(*server.local_endpoint(*listener));
  client.poll(client_sink, 0ns);
  ASSERT_EQ(client.try_send(*id, bytes_of("late")).sent, 4U);
  const auto due = client.next_due();
  ASSERT_TRUE(due.has_value());
  EXPECT_GT(*due, now);
  EXPECT_LE(*due, now + 10ms);
  now = *due - 1ns;
  client.poll(client_sink, 0ns);
  server.poll(server_sink, 0ns);
  EXPECT_TRUE(server_sink.received.empty());
  now = *due;
  client.poll(client_sink, 0ns);
  server.poll(server_sink, 0ns);
  ASSERT_EQ(server_sink.received.size(), 1U);
  EXPECT_EQ(server_sink.received.begin()->second, "late");
  EXPECT_EQ(client.next_due(), std::nullopt);
}

TEST(FaultyTransport, gives_up_what_the_peer_of_a_closed_connection_does_not_read) {
  LoopbackNetwork network;
  LoopbackTransport server(network);
  LoopbackTransport inner(network, {.stream_buffer = 10});
  MonotonicTime now{Duration{1}};
  FaultyTransport<LoopbackTransport> client(inner, {.linger_time = 2s}, [&] { return now; });
  RecordingSink sink;
  const auto listener = server.listen({"here", 0});
  const auto id = client.connect(*server.local_endpoint(*listener));
  client.poll(sink, 0ns);
  ASSERT_EQ(client.try_send(*id, bytes_of("more than ten bytes")).sent, 19U);
  client.close(*id);
  EXPECT_EQ(client.lingering(), 1U);
  EXPECT_EQ(client.next_due(), now + 2s);
  now += 2s - 1ns;
  client.poll(sink, 0ns);
  EXPECT_EQ(client.lingering(), 1U);
  now += 1ns;
  client.poll(sink, 0ns);
  EXPECT_EQ(client.lingering(), 0U);
  EXPECT_EQ(client.next_due(), std::nullopt);
}

TEST(FaultyTransport, falls_short_when_its_send_buffer_is_full_of_late_bytes) {
  FaultyLoopbackPair pair(FaultOptions{.delay_probability = 1, .max_delay = 50ms, .send_buffer = 10});
  const auto ids = pair.join();
  EXPECT_EQ(pair.client.try_send(ids.client, bytes_of("0123456789abc")).sent, 10U);
  EXPECT_TRUE(pair.turn_until([&] { return pair.client_sink.writable.size() == 1; }));
}

TEST(FaultyTransport, stops_reading_while_its_receive_buffer_is_full_of_late_bytes) {
  LoopbackNetwork network;
  LoopbackTransport inner(network, {.receive_limit = 10});
  LoopbackTransport client(network, {.stream_buffer = 100});
  MonotonicTime now{};
  FaultyTransport<LoopbackTransport> server(inner, {.delay_probability = 1, .receive_buffer = 30}, [&] { return now; });
  RecordingSink server_sink;
  RecordingSink client_sink;
  const auto listener = server.listen({"here", 0});
  const auto id = client.connect(*server.local_endpoint(*listener));
  client.poll(client_sink, 0ns);
  const std::string text = pattern(100);
  ASSERT_EQ(client.try_send(*id, bytes_of(text)).sent, 100U);
  for (int i = 0; i < 20; ++i) server.poll(server_sink, 0ns);
  EXPECT_EQ(client.try_send(*id, bytes_of(text)).sent, 30U);  // only what was read freed space
  for (int i = 0; i < 20; ++i) {
    now += 10ms;
    server.poll(server_sink, 0ns);
  }
  EXPECT_EQ(server_sink.received.begin()->second, text + text.substr(0, 30));
}

TEST(FaultyTransport, rejects_options_that_make_no_sense) {
  LoopbackNetwork network;
  LoopbackTransport inner(network);
  const auto make = [&](const FaultOptions& options) {
    FaultyTransport<LoopbackTransport>(inner, options, [] { return MonotonicTime{}; });
  };
  EXPECT_THROW(make({.split_probability = 1.5}), std::invalid_argument);
  EXPECT_THROW(make({.cut_probability = -0.1}), std::invalid_argument);
  EXPECT_THROW(make({.small_piece = 0}), std::invalid_argument);
  EXPECT_THROW(make({.max_delay = 0ns}), std::invalid_argument);
}

}  // namespace
}  // namespace nfx
