// Market data on the thread of a session: a descriptor of the program's wakes the poll thread, and an order leaves
// before on_turn() returns.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>

#include "engine/poll_thread.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

// Longer than anything takes; what is broken fails after it.
constexpr auto long_enough = 10s;

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_NONBLOCK | O_CLOEXEC) != 0) std::abort();
  }
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  void put() const { ASSERT_EQ(::write(ends_[1], "x", 1), 1); }
  [[nodiscard]] bool take() const {
    char byte;
    return ::read(ends_[0], &byte, 1) == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

struct Venue final : Application {
  Handled on_message(SessionHandle&, const MessageView& message) override {
    last = message.get_int(Tag::ClOrdID).value_or(0);
    arrived.release();
    return Handled::done;
  }
  std::int64_t last = 0;
  std::counting_semaphore<> arrived{0};
};

// Sends an order for each byte in the pipe.
struct Trader final : Application {
  Trader(const Pipe& feed, Venue& venue) : feed_(feed), venue_(venue) {}
  void on_logon(SessionHandle& session) override {
    session_ = &session;
    logged_on.release();
  }
  void on_logout(SessionHandle&, std::string_view) override { session_ = nullptr; }
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  Duration on_turn(Instant) override {
    while (session_ != nullptr && feed_.take()) {
      std::array<char, 64> space;
      FieldWriter body{space};
      body.append(Tag::ClOrdID, ++sent);
      ASSERT_TRUE_OR_ABORT(session_->send({.msg_type = "D", .body = body.view()}));
      if (flush_each) {
        session_->flush();
        left_within_turn = venue_.arrived.try_acquire_for(long_enough);
        flushed.release();
      }
    }
    return Duration::max();
  }
  static void ASSERT_TRUE_OR_ABORT(const std::expected<SeqNum, SendError>& result) {
    if (!result) std::abort();
  }

  std::int64_t sent = 0;
  bool flush_each = false;
  bool left_within_turn = false;
  std::binary_semaphore logged_on{0};
  std::binary_semaphore flushed{0};  // and left_within_turn is set

 private:
  const Pipe& feed_;
  Venue& venue_;
  SessionHandle* session_ = nullptr;
};

SessionSettings settings_of(Role role) {
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = role == Role::acceptor ? "VENUE" : "T";
  settings.session.target_comp_id = role == Role::acceptor ? "T" : "VENUE";
  settings.session.heartbeat_interval = 3600s;
  settings.reconnect_delay = 10ms;
  return settings;
}

struct Rig {
  explicit Rig(TransportKind transport) {
    EngineConfig config;
    config.idle = IdleMode::block;
    config.transport = transport;
    config.sessions = {settings_of(Role::acceptor)};
    config.sessions[0].listen = {"127.0.0.1", 0};
    venue_engine.emplace(config, venue);
    venue_engine->start();
    config.sessions = {settings_of(Role::initiator)};
    config.sessions[0].connect = {*venue_engine->local_endpoint(0)};
    trader_engine.emplace(config, trader);
    trader_engine->wake_when_readable(feed.reader());
  }
  void run() {
    venue_thread = std::jthread{[this] { venue_engine->run(); }};
    trader_thread = std::jthread{[this] { trader_engine->run(); }};
    ASSERT_TRUE(trader.logged_on.try_acquire_for(long_enough));
  }
  void stop() {
    trader_engine->stop();
    trader_thread.join();
    venue_engine->stop();
    venue_thread.join();
  }

  Pipe feed;
  Venue venue;
  Trader trader{feed, venue};
  std::optional<Engine> venue_engine;
  std::optional<Engine> trader_engine;
  std::jthread venue_thread;
  std::jthread trader_thread;
};

class FeedOnPollThread : public ::testing::TestWithParam<TransportKind> {
  void SetUp() override {
    EngineConfig config;
    config.transport = GetParam();
    if (const TransportChoice choice = choose_transport(config); choice.kind != GetParam()) GTEST_SKIP() << choice.text;
  }
};

TEST_P(FeedOnPollThread, wakes_a_sleeping_poll_thread_each_time) {
  Rig rig{GetParam()};
  ASSERT_NO_FATAL_FAILURE(rig.run());
  for (int i = 1; i <= 20; ++i) {
    rig.feed.put();
    ASSERT_TRUE(rig.venue.arrived.try_acquire_for(long_enough)) << "order " << i;
  }
  rig.stop();
  EXPECT_EQ(rig.venue.last, 20);
}

TEST_P(FeedOnPollThread, sends_an_order_before_on_turn_returns) {
  Rig rig{GetParam()};
  rig.trader.flush_each = true;
  ASSERT_NO_FATAL_FAILURE(rig.run());
  rig.feed.put();
  EXPECT_TRUE(rig.trader.flushed.try_acquire_for(2 * long_enough));
  rig.stop();
  EXPECT_TRUE(rig.trader.left_within_turn);
  EXPECT_EQ(rig.trader.sent, 1);
}

INSTANTIATE_TEST_SUITE_P(transports, FeedOnPollThread, ::testing::Values(TransportKind::epoll, TransportKind::io_uring),
                         [](const auto& transport) { return std::string{to_string(transport.param)}; });

TEST(WakeWhenReadable, names_a_poll_thread_that_does_not_exist) {
  Venue venue;
  EngineConfig config;
  config.sessions = {settings_of(Role::acceptor)};
  config.sessions[0].listen = {"127.0.0.1", 0};
  Engine engine{config, venue};
  EXPECT_THROW(engine.wake_when_readable(0, 1), ConfigError);
  EXPECT_THROW(engine.wake_when_readable(-1), std::system_error);
}

}  // namespace
}  // namespace nfx
