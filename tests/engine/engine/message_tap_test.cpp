// Copies of a session's messages for another thread: only while it requests them, never more than the queue holds.
#include "engine/message_tap.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engine/engine_operations.hpp"
#include "engine/loop_rig.hpp"
#include "engine/operator_requests.hpp"
#include "nexusfix/engine/engine.hpp"

namespace nfx::test {
namespace {

struct Copied {
  Direction direction{};
  std::size_t size = 0;
  std::string bytes;
};

std::vector<Copied> taken(MessageTap& tap) {
  std::vector<Copied> all;
  tap.take([&](UtcTime, Direction direction, std::size_t size, std::string_view bytes) {
    all.push_back({direction, size, std::string{bytes}});
  });
  return all;
}

class TappedLoop : public ::testing::Test {
 protected:
  void begin() {
    rig.venue.config.sessions = {acceptor(), acceptor("OTHER")};
    rig.trader.config.sessions = {initiator()};
    rig.start_both();
    rig.pass(1s);
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  void on_venue(const LoopCall::Work& work) {
    const auto call = std::make_shared<LoopCall>(work);
    ASSERT_TRUE(rig.venue.loop->push(call));
    rig.turn();
    ASSERT_TRUE(call->wait(Duration::zero()));
  }
  void attach(MessageTap& to) {
    on_venue([&to](OperatorRequests& requests) { ASSERT_EQ(requests.attach(to), CommandStatus::done); });
  }
  void send_order(std::size_t number) {
    const std::string body = order(number);
    ASSERT_TRUE(rig.trader.session().send({.msg_type = msg_type::new_order_single, .body = body}));
    rig.turn(3);
  }

  MessageTap tap{0};  // before the loops, which may have it
  MessageTap other{1};
  LoopRig rig;
};

TEST_F(TappedLoop, copies_nothing_without_a_request) {
  begin();
  send_order(1);
  EXPECT_FALSE(tap.attached());
  EXPECT_TRUE(taken(tap).empty());
  attach(tap);  // but its time has not been extended
  EXPECT_TRUE(tap.attached());
  send_order(2);
  EXPECT_TRUE(taken(tap).empty());
  EXPECT_FALSE(tap.attached());
}

TEST_F(TappedLoop, copies_both_directions_of_its_session_alone) {
  begin();
  tap.extend(rig.clock.now().monotonic + 10s);
  other.extend(rig.clock.now().monotonic + 10s);
  attach(tap);
  attach(other);
  send_order(1);
  std::ignore = rig.venue.session().send({.msg_type = msg_type::execution_report, .body = std::string_view{order(2)}});
  rig.turn(3);
  const auto copied = taken(tap);
  ASSERT_EQ(copied.size(), 2U);
  EXPECT_EQ(copied[0].direction, Direction::in);
  EXPECT_NE(copied[0].bytes.find("\x01"
                                 "35=D\x01"),
            std::string::npos)
      << copied[0].bytes;
  EXPECT_EQ(copied[0].size, copied[0].bytes.size());
  EXPECT_EQ(copied[1].direction, Direction::out);
  EXPECT_NE(copied[1].bytes.find("\x01"
                                 "35=8\x01"),
            std::string::npos)
      << copied[1].bytes;
  EXPECT_TRUE(taken(other).empty());
  on_venue([this](OperatorRequests& requests) { requests.detach(tap); });
  EXPECT_FALSE(tap.attached());
  EXPECT_TRUE(other.attached());
  send_order(3);
  EXPECT_TRUE(taken(tap).empty());
}

TEST_F(TappedLoop, ends_by_itself_without_further_requests) {
  begin();
  tap.extend(rig.clock.now().monotonic + 10s);
  attach(tap);
  rig.pass(9s);
  send_order(1);
  EXPECT_TRUE(tap.attached());
  static_cast<void>(taken(tap));
  rig.pass(2s);
  send_order(2);
  EXPECT_FALSE(tap.attached());
  EXPECT_TRUE(taken(tap).empty());
}

TEST(MessageTapQueue, counts_what_does_not_fit_and_continues_when_it_was_read) {
  MessageTap tap{0};
  const std::string message(1000, 'm');
  constexpr std::size_t offered = 2 * RecentMessages::queue_bytes / 1000;
  for (std::size_t i = 0; i < offered; ++i) tap.record(Direction::in, UtcTime{}, message);
  const std::uint64_t dropped = tap.dropped();
  EXPECT_GT(dropped, 0U);
  EXPECT_EQ(taken(tap).size() + dropped, offered);
  tap.record(Direction::out, UtcTime{}, message);
  EXPECT_EQ(taken(tap).size(), 1U);
  EXPECT_EQ(tap.dropped(), dropped);
}

TEST(MessageTapQueue, copies_only_the_beginning_of_a_long_message) {
  MessageTap tap{0};
  tap.record(Direction::in, UtcTime{}, std::string(100'000, 'm'));
  const auto copied = taken(tap);
  ASSERT_EQ(copied.size(), 1U);
  EXPECT_EQ(copied[0].size, 100'000U);
  EXPECT_EQ(copied[0].bytes.size(), RecentMessages::most_bytes);
}

// An engine on its own thread.
class TappedEngine : public ::testing::Test {
 protected:
  TappedEngine() {
    EngineConfig config;
    for (std::size_t i = 0; i < RecentMessages::most_sessions + 1; ++i) {
      config.sessions.push_back(acceptor("PEER" + std::to_string(i)));
      config.sessions.back().listen = {"127.0.0.1", 0};
    }
    engine.emplace(config, application);
    engine->start();
    thread = std::jthread{[this] { engine->run(); }};
  }
  ~TappedEngine() override {
    engine->stop();
    thread.join();
  }

  // However long the engine's thread takes to begin.
  RecentMessages read(std::size_t session) {
    return EngineOperations{*engine}.recent_messages(session, 0, RecentMessages::most_messages, 60s);
  }

  RecordingApplication application;
  std::optional<Engine> engine;
  std::jthread thread;
};

TEST_F(TappedEngine, says_when_copying_begins_and_which_sessions_there_are_not) {
  EXPECT_TRUE(read(0).began);
  const RecentMessages again = read(0);
  EXPECT_EQ(again.status, CommandStatus::done);
  EXPECT_FALSE(again.began);
  EXPECT_EQ(read(77).status, CommandStatus::no_such_session);
}

TEST_F(TappedEngine, copies_so_many_sessions_at_a_time) {
  for (std::size_t i = 0; i < RecentMessages::most_sessions; ++i) EXPECT_EQ(read(i).status, CommandStatus::done);
  EXPECT_EQ(read(RecentMessages::most_sessions).status, CommandStatus::busy);
  EXPECT_EQ(read(0).status, CommandStatus::done);
}

}  // namespace
}  // namespace nfx::test
