// The guarantee of the receive and send path: once connections are established, no poll and no send allocates.
#include <gtest/gtest.h>

#include "base/count_allocations.hpp"
#include "transport/tls_testing.hpp"
#include "transport/transport_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

struct CountingSink {
  ConnectionId accepted = no_connection;
  ConnectionId connected = no_connection;
  std::size_t bytes = 0;
  void on_accept(ListenerId, ConnectionId id, std::string_view) { accepted = id; }
  void on_connect(ConnectionId id) { connected = id; }
  void on_receive(ConnectionId, std::span<const char> received) { bytes += received.size(); }
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) {}
};

template <class Transport>
void expect_no_allocation(Transport& transport) {
  SocketOptions small;
  small.send_buffer = 8192;
  CountingSink sink;
  const auto listener = transport.listen({"127.0.0.1", 0}, small);
  ASSERT_TRUE(transport.connect(*transport.local_endpoint(*listener), small).has_value());
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (sink.accepted == no_connection || sink.connected == no_connection) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    transport.poll(sink, 1ms);
  }
  const std::string chunk(100'000, 'x');  // larger than the send buffer, to include short sends and on_writable
  const std::size_t before = test::allocations;
  EXPECT_GT(before, 0U);
  for (int i = 0; i < 500; ++i) {
    (void)transport.try_send(sink.connected, bytes_of(chunk));
    transport.poll(sink, 0ns);
  }
  transport.close(sink.connected);
  for (int i = 0; i < 100; ++i) transport.poll(sink, 0ns);
  EXPECT_EQ(test::allocations, before);
  EXPECT_GT(sink.bytes, chunk.size());
}

TEST(EpollTransport, allocates_nothing_while_bytes_flow_and_a_connection_ends) {
  for (const std::size_t direct_receive_limit : {0U, 8U}) {
    EpollTransport transport({.direct_receive_limit = direct_receive_limit});
    expect_no_allocation(transport);
  }
}

TEST(IoUringTransport, allocates_nothing_while_bytes_flow_and_a_connection_ends) {
  if (const std::string missing = IoUringKind::missing(); !missing.empty()) GTEST_SKIP() << missing;
  for (const bool multishot : {false, true}) {
    IoUringOptions options;
    options.allow_multishot_receive = multishot;
    IoUringTransport transport(options);
    expect_no_allocation(transport);
  }
}

// OpenSSL allocates with malloc, which is not counted here; its allocations per record are its own concern.
template <class P>
void expect_no_allocation_of_its_own() {
  P pair;
  pair.socket.send_buffer = 8192;
  const auto ids = pair.join();
  CountingSink sink;
  const std::string chunk(100'000, 'x');
  // Includes short sends, on_writable and partial records; the vectors have already grown.
  const auto flow = [&](std::size_t bytes) {
    const std::size_t target = sink.bytes + bytes;
    const auto deadline = std::chrono::steady_clock::now() + 10min;
    while (sink.bytes < target && std::chrono::steady_clock::now() < deadline) {
      (void)pair.client.try_send(ids.client, bytes_of(chunk));
      pair.client.poll(sink, 0ns);
      pair.server.poll(sink, 100us);
    }
    return sink.bytes >= target;
  };
  ASSERT_TRUE(flow(500'000));
  const std::size_t before = test::allocations;
  EXPECT_TRUE(flow(2'000'000));
  EXPECT_EQ(test::allocations, before);
}

TEST(TlsTransport, allocates_nothing_of_its_own_while_bytes_flow) { expect_no_allocation_of_its_own<TlsTcpPair>(); }

TEST(TlsTransport, allocates_nothing_of_its_own_after_a_handshake_on_another_thread) {
  expect_no_allocation_of_its_own<ThreadedTlsTcpPair>();
}

}  // namespace
}  // namespace nfx
