// Whole engines over real TCP on this host: starting, serving on several threads, stopping.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include "engine/engine_operations.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/io_uring_transport.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

SessionSettings acceptor_on(std::string host, std::string peer, std::uint32_t poll_thread) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = std::move(peer);
  settings.listen = {std::move(host), 0};
  settings.poll_thread = poll_thread;
  return settings;
}

SessionSettings initiator_to(const Endpoint& endpoint, std::string name, std::uint32_t poll_thread) {
  SessionSettings settings;
  settings.session.role = Role::initiator;
  settings.session.sender_comp_id = std::move(name);
  settings.session.target_comp_id = "VENUE";
  settings.connect = {endpoint};
  settings.reconnect_delay = 10ms;
  settings.poll_thread = poll_thread;
  return settings;
}

class Echo final : public Application {
 public:
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    std::array<char, 64> buffer;
    FieldWriter body{buffer};
    body.append(Tag::ClOrdID, message.get_view(Tag::ClOrdID));
    std::ignore = session.send({.msg_type = "8", .body = body.view()});
    return Handled::done;
  }
};

// Sends the next number with each answer; signals when the last one has come back.
class Counting final : public Application {
 public:
  Counting(std::size_t sessions, std::int64_t last)
      : done(static_cast<std::ptrdiff_t>(sessions)), counts_(sessions), last_(last) {}
  void on_logon(SessionHandle& session) override { send(session, counts_[session.id()].next); }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    One& one = counts_[session.id()];
    if (message.get_int(Tag::ClOrdID) != one.next) one.wrong = true;
    if (one.next == last_) {
      done.count_down();
    } else {
      send(session, ++one.next);
    }
    return Handled::done;
  }
  void on_logout(SessionHandle&, std::string_view) override { ++logouts; }
  bool all_right() const {
    return std::ranges::all_of(counts_, [this](const One& one) { return !one.wrong && one.next == last_; });
  }

  std::latch done;
  std::atomic<int> logouts{0};

 private:
  struct alignas(64) One {  // each is touched by the session's own poll thread
    std::int64_t next = 1;
    bool wrong = false;
  };
  static void send(SessionHandle& session, std::int64_t number) {
    std::array<char, 64> buffer;
    FieldWriter body{buffer};
    body.append(Tag::ClOrdID, number);
    std::ignore = session.send({.msg_type = "D", .body = body.view()});
  }
  std::vector<One> counts_;
  std::int64_t last_;
};

EngineConfig two_threads(IdleMode idle) {
  EngineConfig config;
  config.poll_threads = 2;
  config.idle = idle;
  return config;
}

TEST(Engine, serves_sessions_on_two_poll_threads_and_stops_cleanly) {
  for (const IdleMode idle : {IdleMode::block, IdleMode::yield}) {
    Echo echo;
    EngineConfig venue_config = two_threads(idle);
    venue_config.sessions = {acceptor_on("127.0.0.1", "A", 0), acceptor_on("127.0.0.2", "B", 1)};
    Engine venue{venue_config, echo};
    venue.start();
    Counting counting{2, 300};
    EngineConfig trader_config = two_threads(idle);
    trader_config.sessions = {initiator_to(*venue.local_endpoint(0), "A", 1),
                              initiator_to(*venue.local_endpoint(1), "B", 0)};
    Engine trader{trader_config, counting};
    std::jthread venue_thread{[&] { venue.run(); }};
    std::jthread trader_thread{[&] { trader.run(); }};
    counting.done.wait();
    trader.stop();
    trader_thread.join();
    venue.stop();
    venue_thread.join();
    EXPECT_TRUE(counting.all_right());
    EXPECT_EQ(counting.logouts, 2);
    EXPECT_TRUE(trader.finished());
    EXPECT_TRUE(venue.finished());
    EXPECT_EQ(venue.counters().pending_accepted, 2U);
    for (const std::size_t id : {0U, 1U}) {
      EXPECT_EQ(venue.session(id)->next_inbound(), trader.session(id)->next_outbound());
      EXPECT_EQ(trader.session(id)->next_inbound(), venue.session(id)->next_outbound());
    }
  }
}

// Signals when the poll thread has reached its loop.
class FirstTurn final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  Duration on_turn(Instant) override {
    if (!std::exchange(seen_, true)) reached.count_down();
    return Duration::max();
  }
  std::latch reached{1};

 private:
  bool seen_ = false;
};

TEST(Engine, is_stopped_by_another_thread_while_it_sleeps) {
  FirstTurn application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Engine engine{config, application};
  std::jthread thread{[&] { engine.run(); }};
  application.reached.wait();
  engine.stop();
  thread.join();  // it sleeps until something comes, and nothing else does
  EXPECT_TRUE(engine.finished());
}

TEST(Engine, stopped_before_it_runs_does_not_run) {
  FirstTurn application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Engine engine{config, application};
  engine.stop();
  engine.run();
  EXPECT_TRUE(engine.finished());
}

TEST(Engine, that_has_ended_runs_no_more_and_takes_nothing) {
  FirstTurn application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Engine engine{config, application};
  engine.stop();
  engine.run();
  engine.run();
  EXPECT_EQ(engine.submit(0, {.msg_type = "8", .body = "11=1\x01"}, {.while_logged_off = WhileLoggedOff::keep}).status,
            SubmitStatus::not_logged_on);
  EXPECT_THROW(engine.add_session(acceptor_on("127.0.0.1", "B", 0)), ConfigError);
  EXPECT_EQ(engine.local_endpoint(7), std::nullopt);
}

struct MisusesItsEngine final : Application {
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  Duration on_turn(Instant) override {
    use();
    return 1ms;
  }
  std::function<void()> use;
};

TEST(Engine, cannot_be_run_by_its_own_callback) {
  MisusesItsEngine application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Engine engine{config, application};
  int refused = 0;
  application.use = [&] {
    EXPECT_THROW(engine.run(), std::logic_error);
    EXPECT_THROW(engine.turn(0ms), std::logic_error);
    if (++refused == 2) engine.stop();
  };
  engine.run();
  EXPECT_GE(refused, 2);
}

TEST(EngineDeathTest, destroyed_by_its_own_callback_ends_the_program_with_the_reason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  MisusesItsEngine application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  auto engine = std::make_unique<Engine>(config, application);
  application.use = [&] { engine.reset(); };
  EXPECT_DEATH(engine->run(), "run_has_returned");
}

TEST(Engine, says_which_port_is_taken_and_what_to_do_before_it_is_made) {
  Echo application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Engine first{config, application};
  first.start();
  config.sessions[0].listen = *first.local_endpoint(0);
  try {
    const Engine second{config, application};
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string{error.what()}, "cannot listen: bind " + to_string(config.sessions[0].listen) +
                                             ": Address already in use; choose a free address for 'listen'");
  }
}

TEST(Engine, does_not_take_the_address_of_a_session_that_another_gateway_owns_for_its_own) {
  Echo application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0), acceptor_on("127.0.0.1", "B", 0)};
  Endpoint taken;
  {
    EpollTransport free;
    taken = free.local_endpoint(free.listen(config.sessions[1].listen).value()).value();
  }
  config.sessions[1].listen = taken;
  config.sessions[1].store_kind = StoreKind::journal;
  config.sessions[1].journal.durability = Durability::replicated;
  config.sessions[1].journal.directory = "no store of it is opened";
  config.cluster.servers = {"nats://127.0.0.1"};
  config.cluster.gateway = "a";
  config.cluster.gateways = {"a", "b"};
  Engine engine{config, application};
  SessionSettings added = acceptor_on("127.0.0.1", "C", 0);
  added.listen = taken;
  EXPECT_NO_THROW(EngineOperations{engine}.check_added(added));
  EpollTransport other;
  ASSERT_TRUE(other.listen(taken));
  EXPECT_THROW(EngineOperations{engine}.check_added(added), ConfigError);
}

TEST(Engine, refuses_a_configuration_that_contradicts_itself) {
  Echo application;
  EngineConfig config;
  config.sessions = {acceptor_on("127.0.0.1", "A", 1)};
  EXPECT_THROW((Engine{config, application}), ConfigError);
}

TEST(Engine, sends_what_other_threads_submit_and_refuses_sessions_that_do_not_exist) {
  Echo echo;
  EngineConfig venue_config;
  venue_config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Engine venue{venue_config, echo};
  venue.start();
  Counting counting{1, 1};
  EngineConfig trader_config;
  trader_config.sessions = {initiator_to(*venue.local_endpoint(0), "A", 0)};
  Engine trader{trader_config, counting};
  std::jthread venue_thread{[&] { venue.run(); }};
  std::jthread trader_thread{[&] { trader.run(); }};
  counting.done.wait();
  EXPECT_EQ(venue.submit(1, {.msg_type = "8", .body = ""}).status, SubmitStatus::unknown_session);
  const std::string too_long(venue_config.submit_queue_bytes / 4 + 1, 'x');
  EXPECT_EQ(venue.submit(0, {.msg_type = "8", .body = too_long}).status, SubmitStatus::too_long);
  EXPECT_TRUE(venue.submit(0, {.msg_type = "8", .body = "11=1\x01"}));
  venue.stop();
  venue_thread.join();
  trader.stop();
  trader_thread.join();
  // Logon, the echo, the submitted message and Logout.
  EXPECT_EQ(venue.session(0)->next_outbound(), SeqNum{5});
}

// Another thread adds sessions on both sides while the engines run, waits until each has exchanged its orders, and
// removes them again.
class Coming final : public Application, public Observer {
 public:
  explicit Coming(std::ptrdiff_t removals) : removed(removals) {}
  void on_logon(SessionHandle& session) override {
    if (session.config().role == Role::initiator) std::ignore = session.send({.msg_type = "D", .body = "11=1\x01"});
  }
  Handled on_message(SessionHandle& session, const MessageView&) override {
    if (session.config().role == Role::acceptor) {
      std::ignore = session.send({.msg_type = "8", .body = "11=1\x01"});
    } else {
      answered.fetch_add(1, std::memory_order_release);
      answered.notify_all();
    }
    return Handled::done;
  }
  void on_removed(SessionHandle&) override { removed.count_down(); }

  std::atomic<int> answered{0};
  std::latch removed;
};

TEST(Engine, takes_sessions_that_other_threads_add_and_remove_while_it_runs) {
  constexpr int rounds = 8;
  Coming at_venue{rounds}, at_trader{rounds};
  EngineConfig config;
  config.poll_threads = 2;
  config.sessions = {acceptor_on("127.0.0.1", "FIXED", 0)};
  Engine venue{config, at_venue};
  venue.start();
  const Endpoint here = *venue.local_endpoint(0);
  EngineConfig trader_config;
  trader_config.poll_threads = 2;
  trader_config.sessions = {initiator_to(here, "FIXED", 0)};
  Engine trader{trader_config, at_trader};
  std::jthread venue_thread{[&] { venue.run(); }};
  std::jthread trader_thread{[&] { trader.run(); }};
  for (int i = 0; i < rounds; ++i) {
    const std::string name = "PEER" + std::to_string(i);
    SessionSettings accepting = acceptor_on("127.0.0.1", name, 0);
    accepting.listen = config.sessions[0].listen;
    accepting.allowed_addresses = {"192.0.2.1", "127.0.0.1"};
    const std::size_t accepted = venue.add_session(accepting);
    EXPECT_THROW(venue.add_session(accepting), ConfigError);
    const std::size_t connected = trader.add_session(initiator_to(here, name, static_cast<std::uint32_t>(i % 2)));
    for (int seen = at_trader.answered.load(); seen < i + 2; seen = at_trader.answered.load()) {
      at_trader.answered.wait(seen);
    }
    EXPECT_TRUE(trader.remove_session(connected, "no longer needed"));
    EXPECT_TRUE(venue.remove_session(accepted, {}));
  }
  at_venue.removed.wait();
  at_trader.removed.wait();
  EXPECT_FALSE(trader.remove_session(1'000'000, {}));
  trader.stop();
  venue.stop();
  trader_thread.join();
  venue_thread.join();
  EXPECT_EQ(at_trader.answered.load(), rounds + 1);
}

TEST(Engine, can_be_turned_by_a_loop_of_the_programs_own) {
  Echo echo;
  EngineConfig venue_config;
  venue_config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Engine venue{venue_config, echo};
  venue.start();
  Counting counting{1, 5};
  EngineConfig trader_config;
  trader_config.sessions = {initiator_to(*venue.local_endpoint(0), "A", 0)};
  Engine trader{trader_config, counting};
  for (int i = 0; i < 20'000 && !counting.done.try_wait(); ++i) {
    trader.turn(1ms);
    venue.turn(1ms);
  }
  EXPECT_TRUE(counting.all_right());
  trader.stop();
  for (int i = 0; i < 5000 && !trader.finished(); ++i) {
    trader.turn(1ms);
    venue.turn(1ms);
  }
  EXPECT_TRUE(trader.finished());
  EXPECT_FALSE(venue.session(0)->logged_on());
}

TEST(Engine, locks_its_memory_or_says_which_limit_is_too_low) {
  EngineConfig config;
  config.lock_memory = true;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Echo echo;
  try {
    const Engine engine{config, echo};
    std::ifstream status{"/proc/self/status"};
    std::string line;
    while (std::getline(status, line) && !line.starts_with("VmLck:")) {
    }
    EXPECT_NE(line.find_first_of("123456789"), std::string::npos) << line;
    EXPECT_EQ(::munlockall(), 0);
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string{error.what()}.find("RLIMIT_MEMLOCK"), std::string::npos) << error.what();
  }
}

TEST(Engine, makes_its_ring_as_it_is_told) {
  EngineConfig config;
  config.transport = TransportKind::io_uring;
  config.io_uring.allow_multishot_receive = config.io_uring.allow_multishot_accept = false;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  const IoUringFeatures wanted = probe_io_uring(config.io_uring);
  if (!wanted.available) GTEST_SKIP() << wanted.text;
  Echo echo;
  const Engine engine{config, echo};
  EXPECT_EQ(engine.transport_text(), wanted.text);
  EXPECT_TRUE(engine.transport_text() != probe_io_uring().text || probe_io_uring() == wanted);
}

TEST(Engine, refuses_a_ring_that_cannot_be_made) {
  EngineConfig config;
  config.transport = TransportKind::io_uring;
  config.io_uring.completion_limit = 0;
  config.sessions = {acceptor_on("127.0.0.1", "A", 0)};
  Echo echo;
  try {
    const Engine engine{config, echo};
    FAIL() << "an engine was made";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "io_uring: transport options: completion_limit: expected at least 1");
  }
}

}  // namespace
}  // namespace nfx
