// Handshakes whose steps run elsewhere: events on a connection while its step is away.
#include <gtest/gtest.h>

#include <deque>

#include "transport/tls_testing.hpp"

namespace nfx {
namespace {

using namespace testing;

// Runs tasks when a test calls it, so that a step is away for as long as the test needs.
struct HeldExecutor final : HandshakeExecutor {
  std::deque<HandshakeTask*> tasks;
  void post(HandshakeTask& task) noexcept override { tasks.push_back(&task); }
  void run_one() {
    HandshakeTask* const task = tasks.front();
    tasks.pop_front();
    task->run();
  }
  void run_all() {
    while (!tasks.empty()) run_one();
  }
  ~HeldExecutor() { run_all(); }
};

struct AskingSink : RecordingSink {
  std::vector<std::string> failures;
  void on_handshake_failed(std::string_view, std::string_view why) { failures.emplace_back(why); }
};

// A server with such an executor, and a client that computes its handshakes itself.
struct HeldServer {
  explicit HeldServer(const PlaceLimits& handshakes = {})
      : server(std::in_place, server_inner, TlsTransportOptions{.handshakes = handshakes, .executor = &executor},
               [this] { return now; }) {
    socket.tls = context;
    const auto made = server->listen({"127.0.0.1", 0}, socket);
    EXPECT_TRUE(made.has_value());
    listener = *made;
    here = *server->local_endpoint(listener);
  }
  HeldExecutor executor;
  MonotonicTime now{};
  LoopbackNetwork network;
  LoopbackTransport server_inner{network};
  LoopbackTransport client_inner{network};
  std::optional<TlsTransport<LoopbackTransport>> server;
  TlsTransport<LoopbackTransport> client{client_inner, {}, [this] { return now; }};
  AskingSink server_sink;
  RecordingSink client_sink;
  std::shared_ptr<TlsContext> context = tls(certificates().server_options());
  SocketOptions socket;
  ListenerId listener{};
  Endpoint here;

  void turns(int count = 5) {
    for (int i = 0; i < count; ++i) {
      client.poll(client_sink, 0ns);
      if (server) server->poll(server_sink, 0ns);
    }
  }
  // With its ClientHello at the server, whose first step is away.
  ConnectionId begin() {
    const std::size_t before = executor.tasks.size();
    const auto id = client.connect(here, with_client_tls());
    EXPECT_TRUE(id.has_value());
    turns();
    EXPECT_EQ(executor.tasks.size(), before + 1);
    return *id;
  }
  void finish() {
    for (int i = 0; i < 10; ++i) {
      executor.run_all();
      turns();
    }
  }
  // The number of streams not yet freed; a client's streams have a context of their own.
  [[nodiscard]] long streams() const { return context->material().use_count() - 2; }

 private:
  SocketOptions with_client_tls() const {
    static const std::shared_ptr<TlsContext> own = tls(certificates().client_options());
    SocketOptions options;
    options.tls = own;
    return options;
  }
};

TEST(TlsExecutor, computes_each_step_of_a_handshake) {
  HeldServer rig;
  rig.begin();
  rig.turns(20);
  EXPECT_EQ(rig.executor.tasks.size(), 1U) << "one step at a time";
  EXPECT_TRUE(rig.client_sink.log.empty()) << "nothing was computed by poll";
  rig.executor.run_one();
  rig.turns();
  EXPECT_EQ(rig.client_sink.connected.size(), 1U);
  EXPECT_TRUE(rig.server_sink.accepted.empty());
  ASSERT_EQ(rig.executor.tasks.size(), 1U);
  rig.executor.run_one();
  EXPECT_TRUE(rig.server_sink.accepted.empty()) << "the sink is called by poll alone";
  rig.turns(1);
  EXPECT_EQ(rig.server_sink.accepted.size(), 1U);
  EXPECT_EQ(rig.server->counters().handshakes, 1U);
  EXPECT_EQ(rig.server->handshakes_in_progress(), 0U);
}

TEST(TlsExecutor, takes_no_more_steps_back_in_a_poll_than_allowed) {
  HeldServer rig;
  for (int i = 0; i < 3; ++i) rig.begin();
  rig.executor.run_all();
  for (std::size_t polls = 1; polls <= 3; ++polls) {
    rig.server->poll(rig.server_sink, 0ns);
    for (int i = 0; i < 3; ++i) rig.client.poll(rig.client_sink, 0ns);
    EXPECT_EQ(rig.client_sink.connected.size(), polls);
  }
}

TEST(TlsExecutor, computes_the_steps_of_a_client_too) {
  TlsLoopbackPair plain;
  HeldExecutor executor;
  TlsTransport<LoopbackTransport> client{plain.inner.client, {.executor = &executor}};
  const auto listener = plain.server.listen({"127.0.0.1", 0}, plain.socket);
  const auto id = client.connect(*plain.server.local_endpoint(*listener), plain.socket);
  ASSERT_TRUE(id.has_value());
  const auto turns = [&] {
    for (int i = 0; i < 5; ++i) {
      client.poll(plain.client_sink, 0ns);
      plain.server.poll(plain.server_sink, 0ns);
    }
  };
  turns();
  EXPECT_EQ(plain.server.counters(), TlsCounters{});
  EXPECT_EQ(executor.tasks.size(), 1U);
  for (int i = 0; i < 3; ++i) {
    executor.run_all();
    turns();
  }
  EXPECT_EQ(plain.client_sink.connected.size(), 1U);
  EXPECT_EQ(plain.server_sink.accepted.size(), 1U) << plain.server.last_tls_failure().text << plain.client_sink.log;
  EXPECT_EQ(client.tls_peer(*id), nullptr) << "of accepted connections alone";
}

TEST(TlsExecutor, lets_bytes_wait_that_come_while_a_step_is_away) {
  HeldServer rig;
  const ConnectionId id = rig.begin();
  rig.executor.run_one();
  rig.turns();
  // The client is finished, and the server has its Finished message; the rest arrives while the step runs.
  ASSERT_EQ(rig.client_sink.connected.size(), 1U);
  ASSERT_EQ(rig.executor.tasks.size(), 1U);
  const std::string text = pattern(200'000);
  std::size_t sent = 0;
  for (int i = 0; i < 20; ++i) {
    sent += rig.client.try_send(id, bytes_of(text).subspan(sent)).sent;
    rig.turns(1);
  }
  EXPECT_LT(sent, text.size()) << "what waits is bounded by the network";
  EXPECT_TRUE(rig.server_sink.received.empty());
  rig.executor.run_one();
  for (int i = 0; i < 100 && sent < text.size(); ++i) {
    rig.turns(1);
    sent += rig.client.try_send(id, bytes_of(text).subspan(sent)).sent;
  }
  rig.turns();
  ASSERT_EQ(rig.server_sink.accepted.size(), 1U);
  EXPECT_TRUE(rig.server_sink.received[rig.server_sink.accepted[0]] == text);
}

TEST(TlsExecutor, goes_on_with_half_a_message_when_the_other_half_came_while_the_step_was_away) {
  HeldServer rig;
  detail::TlsStream client(*tls(certificates().client_options()), detail::TlsSide::client, "127.0.0.1", 64 * 1024);
  EXPECT_EQ(client.handshake(), detail::TlsStream::Status::wants_input);
  const std::string hello(client.outgoing().begin(), client.outgoing().end());
  const auto id = rig.client_inner.connect(rig.here);
  rig.client_inner.poll(rig.client_sink, 0ns);
  ASSERT_EQ(rig.client_inner.try_send(*id, bytes_of(hello).first(100)).sent, 100U);
  rig.server->poll(rig.server_sink, 0ns);
  ASSERT_EQ(rig.executor.tasks.size(), 1U);
  ASSERT_EQ(rig.client_inner.try_send(*id, bytes_of(hello).subspan(100)).sent, hello.size() - 100);
  for (int i = 0; i < 5; ++i) rig.server->poll(rig.server_sink, 0ns);
  EXPECT_EQ(rig.executor.tasks.size(), 1U);
  for (int i = 0; i < 3; ++i) {
    rig.executor.run_all();
    rig.server->poll(rig.server_sink, 0ns);
  }
  rig.client_inner.poll(rig.client_sink, 0ns);
  EXPECT_TRUE(rig.client_sink.received[*id].starts_with("\x16\x03\x03")) << "the ServerHello";
}

TEST(TlsExecutor, never_sees_a_connection_again_that_was_evicted_while_its_step_was_away) {
  HeldServer rig({.unknown = 1});
  const ConnectionId first = rig.begin();
  EXPECT_EQ(rig.streams(), 1);
  const ConnectionId second = rig.begin();
  EXPECT_EQ(rig.server->counters().handshakes_evicted, 1U);
  EXPECT_EQ(rig.server->handshakes_in_progress(), 1U);
  EXPECT_TRUE(rig.client_sink.closed.contains(first)) << "immediately, not when the step is back";
  EXPECT_EQ(rig.streams(), 2);
  rig.executor.run_one();
  EXPECT_EQ(rig.streams(), 1) << "freed by the executor";
  rig.finish();
  EXPECT_EQ(rig.client_sink.connected, std::vector{second});
  EXPECT_EQ(rig.server_sink.accepted.size(), 1U);
}

TEST(TlsExecutor, never_sees_a_connection_again_that_ended_between_its_step_and_the_next_poll) {
  HeldServer rig;
  const ConnectionId id = rig.begin();
  rig.executor.run_one();
  rig.server->close_listener(rig.listener);
  EXPECT_EQ(rig.server->handshakes_in_progress(), 0U);
  rig.turns();
  EXPECT_EQ(rig.streams(), 0);
  EXPECT_TRUE(rig.client_sink.connected.empty() && rig.client_sink.closed.contains(id));
  EXPECT_TRUE(rig.server_sink.log.empty()) << rig.server_sink.log;
}

TEST(TlsExecutor, does_not_extend_the_time_of_a_handshake) {
  HeldServer rig;
  const ConnectionId id = rig.begin();
  rig.now += 10s;
  rig.turns();
  EXPECT_EQ(rig.server->counters().handshakes_late, 1U);
  ASSERT_EQ(rig.server_sink.failures.size(), 1U);
  expect_text(rig.server_sink.failures[0], "was not finished within 10000 ms");
  EXPECT_TRUE(rig.client_sink.closed.contains(id));
  rig.finish();
  EXPECT_EQ(rig.streams(), 0);
  EXPECT_EQ(rig.server_sink.failures.size(), 1U);
}

TEST(TlsExecutor, gives_back_what_a_client_closes_while_its_step_is_away) {
  TlsLoopbackPair plain;
  HeldExecutor executor;
  TlsTransport<LoopbackTransport> client{plain.inner.client, {.executor = &executor}};
  const auto listener = plain.server.listen({"127.0.0.1", 0});
  const auto id = client.connect(*plain.server.local_endpoint(*listener), plain.socket);
  client.poll(plain.client_sink, 0ns);
  ASSERT_EQ(executor.tasks.size(), 1U);
  EXPECT_EQ(plain.default_tls->material().use_count(), 3);
  EXPECT_FALSE(client.try_send(*id, bytes_of("x")).closed);
  client.hold(*id, true);
  client.close(*id);
  EXPECT_TRUE(client.try_send(*id, bytes_of("x")).closed);
  executor.run_all();
  client.poll(plain.client_sink, 0ns);
  EXPECT_EQ(plain.default_tls->material().use_count(), 2);
  EXPECT_TRUE(plain.client_sink.log.empty()) << plain.client_sink.log;
}

TEST(TlsExecutor, tells_that_the_peer_has_gone_once_the_step_is_back) {
  HeldServer rig;
  const ConnectionId id = rig.begin();
  rig.client.close(id);
  rig.turns();
  EXPECT_EQ(rig.server->handshakes_in_progress(), 1U);
  EXPECT_TRUE(rig.server_sink.failures.empty());
  rig.finish();
  ASSERT_EQ(rig.server_sink.failures.size(), 1U);
  expect_text(rig.server_sink.failures[0], "the peer ended the connection during the handshake");
  EXPECT_EQ(rig.server->handshakes_in_progress(), 0U);
  EXPECT_EQ(rig.streams(), 0);
}

TEST(TlsExecutor, keeps_the_reason_of_a_failed_handshake) {
  HeldServer rig;
  const auto id = rig.client_inner.connect(rig.here);
  rig.client_inner.poll(rig.client_sink, 0ns);
  ASSERT_GT(rig.client_inner.try_send(*id, bytes_of("8=FIX.4.4|")).sent, 0U);
  rig.server->poll(rig.server_sink, 0ns);
  rig.executor.run_all();
  EXPECT_TRUE(rig.server_sink.failures.empty()) << "the sink is called by poll alone";
  rig.server->poll(rig.server_sink, 0ns);
  ASSERT_EQ(rig.server_sink.failures.size(), 1U);
  expect_text(rig.server_sink.failures[0], "does not speak TLS on this port");
  EXPECT_EQ(rig.server->counters().handshakes_failed, 1U);
}

// The steps of evicted connections remain, so that there are more steps than places.
TEST(TlsExecutor, has_no_more_steps_than_twice_the_places_and_the_others_in_order_later) {
  HeldServer rig({.unknown = 2, .per_address = 2, .per_network = 2, .known = 1});
  for (int i = 0; i < 6; ++i) rig.begin();
  EXPECT_EQ(rig.server->counters().handshakes_delayed, 0U);
  const auto seventh = rig.client.connect(rig.here, rig.socket);
  rig.turns();
  const auto eighth = rig.client.connect(rig.here, rig.socket);
  rig.turns();
  EXPECT_EQ(rig.executor.tasks.size(), 6U);
  EXPECT_EQ(rig.server->counters().handshakes_delayed, 2U);
  for (const std::size_t left : {6U, 6U, 5U}) {  // the two waiting ones take the places of two that are back
    rig.executor.run_one();
    rig.turns();
    EXPECT_EQ(rig.executor.tasks.size(), left);
  }
  rig.finish();
  EXPECT_EQ(rig.client_sink.connected, (std::vector{*seventh, *eighth}));
  EXPECT_EQ(rig.server_sink.accepted.size(), 2U);
  EXPECT_EQ(rig.server->counters().handshakes_delayed, 2U);
}

TEST(TlsExecutor, lets_a_connection_end_that_waits_for_its_step_to_begin) {
  HeldServer rig({.unknown = 1, .known = 1});
  for (int i = 0; i < 4; ++i) rig.begin();
  ASSERT_TRUE(rig.client.connect(rig.here, rig.socket).has_value());
  rig.turns();
  EXPECT_EQ(rig.server->counters().handshakes_delayed, 1U);
  rig.server->close_listener(rig.listener);
  rig.finish();
  EXPECT_EQ(rig.streams(), 0);
  EXPECT_TRUE(rig.server_sink.log.empty()) << rig.server_sink.log;
}

TEST(TlsExecutor, frees_the_steps_that_are_away_when_their_transport_ends) {
  HeldServer rig;
  rig.begin();
  rig.begin();
  rig.begin();
  rig.executor.run_one();  // back, but not taken
  rig.executor.run_one();
  rig.server.reset();
  EXPECT_EQ(rig.streams(), 1) << "the one that was not run";
  rig.executor.run_all();
  EXPECT_EQ(rig.streams(), 0);
}

// Connections begin, are evicted, closed and cut while the thread computes; then everything ends in the middle of it.
template <class P>
void expect_to_survive_churn() {
  auto pair =
      std::make_unique<P>(TlsTransportOptions{.handshakes = {.unknown = 6, .per_address = 6, .per_network = 6}});
  const auto listener = pair->server.listen({"127.0.0.1", 0}, pair->socket);
  const Endpoint here = *pair->server.local_endpoint(*listener);
  std::vector<ConnectionId> clients;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto id = pair->client.connect(here, pair->socket);
    ASSERT_TRUE(id.has_value());
    clients.push_back(*id);
    pair->turns(1 + static_cast<int>(i % 4));
    if (i % 3 == 0) pair->client.close(clients[i / 2]);
    if (i % 5 == 0 && !pair->server_sink.accepted.empty()) pair->server.close(pair->server_sink.accepted.back());
    if (i % 2 == 0) pair->client.close(clients[i / 3]);
  }
  const ConnectionId last = clients.back();
  EXPECT_TRUE(pair->turn_until([&] {
    return pair->server.handshakes_in_progress() == 0 &&
           (pair->client_sink.closed.contains(last) || !pair->client_sink.connected.empty());
  }));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(pair->client.connect(here, pair->socket).has_value());
  pair->turns(2);
  const std::shared_ptr<TlsContext> context = pair->default_tls;
  pair.reset();
  EXPECT_EQ(context->material().use_count(), 2) << "a stream was not freed";
}

TEST(TlsExecutor, survives_connections_that_begin_and_end_while_its_thread_computes) {
  expect_to_survive_churn<ThreadedTlsTcpPair>();
  if (IoUringKind::missing().empty()) expect_to_survive_churn<ThreadedTlsIoUringPair>();
  expect_to_survive_churn<ThreadedTlsLoopbackPair>();
}

TEST(TlsExecutor, wakes_a_poll_that_waits) {
  HandshakeThread worker;
  EpollTransport inner;
  TlsTransport<EpollTransport> transport{inner, {.executor = &worker.queue, .handshake_timeout = 24h}};
  SocketOptions socket;
  socket.tls = tls(certificates().server_options());
  const auto listener = transport.listen({"127.0.0.1", 0}, socket);
  ASSERT_TRUE(transport.connect(*transport.local_endpoint(*listener), socket).has_value());
  RecordingSink sink;
  // Without being woken, each of these would wait until the handshake times out.
  while (sink.connected.empty() || sink.accepted.empty()) transport.poll(sink, 24h);
}

}  // namespace
}  // namespace nfx
