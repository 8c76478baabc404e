// Specific to the loopback transport.
#include "transport/loopback_transport.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>

#include "transport/transport_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

TEST(LoopbackTransport, falls_short_when_a_stream_is_full_and_reports_room_once) {
  LoopbackNetwork network;
  LoopbackTransport server(network);
  LoopbackTransport client(network, {.stream_buffer = 10});
  RecordingSink sink;
  const auto listener = server.listen({"here", 0});
  const auto id = client.connect(*server.local_endpoint(*listener));
  client.poll(sink, 0ns);
  EXPECT_EQ(client.try_send(*id, bytes_of("0123456789abc")).sent, 10U);
  EXPECT_EQ(client.try_send(*id, bytes_of("x")).sent, 0U);
  client.poll(sink, 0ns);
  EXPECT_TRUE(sink.writable.empty());
  server.poll(sink, 0ns);
  client.poll(sink, 0ns);
  client.poll(sink, 0ns);
  EXPECT_EQ(sink.writable.size(), 1U);
}

TEST(LoopbackTransport, hands_on_no_more_than_its_receive_limit_at_a_time) {
  LoopbackNetwork network;
  LoopbackTransport server(network, {.receive_limit = 3});
  LoopbackTransport client(network);
  RecordingSink server_sink;
  RecordingSink client_sink;
  const auto listener = server.listen({"here", 0});
  const auto id = client.connect(*server.local_endpoint(*listener));
  client.poll(client_sink, 0ns);
  ASSERT_EQ(client.try_send(*id, bytes_of("1234567")).sent, 7U);
  for (int i = 0; i < 3; ++i) server.poll(server_sink, 0ns);
  EXPECT_EQ(server_sink.receive_calls, 3U);
  EXPECT_EQ(server_sink.received.begin()->second, "1234567");
}

TEST(LoopbackTransport, refuses_connects_beyond_the_backlog) {
  LoopbackNetwork network;
  LoopbackTransport server(network, {.listen_backlog = 1});
  LoopbackTransport client(network);
  RecordingSink sink;
  const auto listener = server.listen({"here", 0});
  const Endpoint endpoint = *server.local_endpoint(*listener);
  (void)client.connect(endpoint);
  const auto second = client.connect(endpoint);
  client.poll(sink, 0ns);
  EXPECT_EQ(sink.connected.size(), 1U);
  ASSERT_TRUE(sink.closed.contains(*second));
  EXPECT_EQ(sink.closed[*second], CloseReason::refused);
}

TEST(LoopbackTransport, resets_what_a_closed_listener_has_not_accepted) {
  LoopbackNetwork network;
  LoopbackTransport server(network);
  LoopbackTransport client(network);
  RecordingSink sink;
  const auto listener = server.listen({"here", 0});
  const auto id = client.connect(*server.local_endpoint(*listener));
  client.poll(sink, 0ns);
  server.close_listener(*listener);
  client.poll(sink, 0ns);
  ASSERT_TRUE(sink.closed.contains(*id));
  EXPECT_EQ(sink.closed[*id], CloseReason::reset);
}

TEST(LoopbackTransport, ends_its_connections_when_it_is_destroyed) {
  LoopbackNetwork network;
  LoopbackTransport client(network);
  RecordingSink sink;
  {
    LoopbackTransport server(network);
    const auto listener = server.listen({"here", 5000});
    ASSERT_TRUE(client.connect(*server.local_endpoint(*listener)).has_value());
    server.poll(sink, 0ns);
    client.poll(sink, 0ns);
  }
  client.poll(sink, 0ns);
  EXPECT_EQ(sink.closed.size(), 1U);
  LoopbackTransport next(network);
  EXPECT_TRUE(next.listen({"here", 5000}).has_value());
}

TEST(LoopbackTransport, bounds_its_connections_and_listeners) {
  LoopbackNetwork network;
  LoopbackTransport end(network, {.max_connections = 1});
  const auto listener = end.listen({"here", 5000});
  ASSERT_TRUE(listener.has_value());
  const auto taken = end.listen({"there", 5000});
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, EADDRINUSE);
  EXPECT_TRUE(end.connect({"here", 5000}).has_value());
  EXPECT_FALSE(end.connect({"here", 5000}).has_value());
  EXPECT_THROW(LoopbackTransport(network, {.stream_buffer = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace nfx
