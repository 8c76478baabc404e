// The sessions of a loop, the owners of their connections, and the requests of other threads.
#include "engine/roster.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/fake_network.hpp"
#include "engine/loop_commands.hpp"
#include "engine/session_runner.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

class QuietApplication final : public Application, public Observer {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_removed(SessionHandle& session) override { removed.push_back(session.id()); }
  void on_notice(SessionHandle&, Notice notice, SeqNum, std::string_view) override { notices.push_back(notice); }

  std::vector<std::size_t> removed;
  std::vector<Notice> notices;
};

SessionSettings acceptor(std::string peer) {
  SessionSettings settings;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = std::move(peer);
  settings.listen = {"venue", 9000};
  settings.store.retain_bytes = 64 * 1024;
  return settings;
}

SessionSettings initiator(std::string peer) {
  SessionSettings settings = acceptor(std::move(peer));
  settings.session.role = Role::initiator;
  settings.listen = {};
  settings.connect = {{"first", 1}, {"second", 2}};
  return settings;
}

class RosterTest : public ::testing::Test {
 protected:
  RosterTest() { config.max_dynamic_sessions = 4; }

  SessionRunner& runner() {
    if (!runner_) {
      runner_ = std::make_unique<SessionRunner>(SessionRunnerOptions{.config = config,
                                                                     .thread = 0,
                                                                     .network = network,
                                                                     .callbacks = application,
                                                                     .stores = memory_stores(),
                                                                     .now = now});
    }
    return *runner_;
  }
  std::unique_ptr<LiveSession> made(SessionSettings settings, std::size_t number) {
    return std::make_unique<LiveSession>(runner(), memory_stores(),
                                         LiveSessionOptions{.settings = std::move(settings),
                                                            .number = number,
                                                            .max_message_size = config.max_message_size,
                                                            .now = now.utc});
  }
  static SessionKey key(std::string_view peer) { return {"venue:9000", "FIX.4.4", "VENUE", peer}; }

  EngineConfig config;
  test::FakeNetwork network;
  QuietApplication application;
  Instant now{UtcTime{24h * 365 * 50}, MonotonicTime{100h}};

 private:
  std::unique_ptr<SessionRunner> runner_;
};

TEST_F(RosterTest, finds_sessions_by_place_by_number_and_by_the_names_in_a_logon) {
  Roster roster{3, 8};
  LiveSession& configured = roster.add(made(acceptor("A"), 1));
  LiveSession& later = roster.add(made(acceptor("B"), 17));
  LiveSession& ours = roster.add(made(initiator("C"), 2));
  EXPECT_EQ(&roster[configured.index], &configured);
  EXPECT_EQ(roster.find(1), &configured);
  EXPECT_EQ(roster.find(17), &later);
  EXPECT_EQ(roster.find(2), &ours);
  EXPECT_EQ(roster.find(std::size_t{0}), nullptr);
  EXPECT_EQ(roster.find(18), nullptr);
  EXPECT_EQ(roster.find(key("A")), &configured);
  EXPECT_EQ(roster.find(key("B")), &later);
  EXPECT_EQ(roster.find(key("C")), nullptr);  // an initiator accepts no Logon of a new connection
}

TEST_F(RosterTest, a_place_is_used_again_and_a_removed_session_is_not_found_any_more) {
  Roster roster{1, 8};
  LiveSession& first = roster.add(made(acceptor("A"), 5));
  const std::uint32_t place = first.index;
  roster.add(made(acceptor("B"), 6));
  roster.remove(place);
  EXPECT_EQ(roster.find(5), nullptr);
  EXPECT_EQ(roster.find(key("A")), nullptr);
  std::size_t there = 0;
  roster.for_each([&](const LiveSession&) { ++there; });
  EXPECT_EQ(there, 1U);
  EXPECT_EQ(roster.places(), 2U);
  LiveSession& next = roster.add(made(acceptor("A"), 7));
  EXPECT_EQ(next.index, place);
  EXPECT_EQ(roster.find(key("A")), &next);
}

TEST_F(RosterTest, commands_give_numbers_that_are_never_used_again_within_the_limit) {
  config.poll_threads = 3;
  config.sessions = {acceptor("A"), acceptor("B")};
  config.max_dynamic_sessions = 2;
  LoopCommands commands{config, 1};
  EXPECT_FALSE(commands.may_exist(2 + 1));
  const std::size_t first = commands.claim("first");
  const std::size_t second = commands.claim("second");
  EXPECT_EQ(first, 2U + 1U);
  EXPECT_EQ(second, 2U + 3U + 1U);
  EXPECT_TRUE(commands.may_exist(first));
  EXPECT_THROW(static_cast<void>(commands.claim("first")), ConfigError);
  EXPECT_THROW(static_cast<void>(commands.claim("third")), ConfigError);
  commands.release("first");
  EXPECT_FALSE(commands.knows("first"));
  EXPECT_EQ(commands.claim("first"), 2U + 6U + 1U);
}

TEST_F(RosterTest, commands_are_taken_in_order_and_a_removal_is_asked_for_once) {
  config.sessions = {acceptor("A")};
  LoopCommands commands{config, 0};
  EXPECT_FALSE(commands.waiting());
  EXPECT_FALSE(commands.remove(7, "no such session"));
  EXPECT_TRUE(commands.remove(0, "enough"));
  EXPECT_TRUE(commands.remove(0, "again"));
  std::jthread{[&] { commands.push({.kind = LoopCommand::Kind::opened, .number = 9, .name = "x"}); }}.join();
  EXPECT_TRUE(commands.waiting());
  const auto taken = commands.take();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].kind, LoopCommand::Kind::remove);
  EXPECT_EQ(taken[0].text, "enough");
  EXPECT_EQ(taken[1].number, 9U);
  EXPECT_FALSE(commands.waiting());
}

TEST_F(RosterTest, a_connection_that_ends_leaves_no_owner_no_bytes_and_a_time_to_connect_again) {
  config.sessions = {initiator("PEER")};
  runner().start();
  LiveSession& session = runner().sessions()[0];
  const ConnectionId id = session.connection.id;
  ASSERT_EQ(network.connects, (std::vector<Endpoint>{{"first", 1}}));
  EXPECT_TRUE(session.connection.connecting);
  runner().attach(session, id);  // its Logon is encoded
  EXPECT_FALSE(session.connection.out.empty());
  EXPECT_EQ(runner().owners().find(id), (ConnectionOwner{ConnectionOwner::Kind::session, session.index}));
  session.drop_connection();
  ASSERT_FALSE(network.closed.empty());
  EXPECT_EQ(network.closed.front(), id);
  EXPECT_EQ(runner().owners().find(id), ConnectionOwner{});
  EXPECT_FALSE(session.connection.exists());
  EXPECT_TRUE(session.connection.out.empty());
  EXPECT_EQ(session.counts.disconnects, 1U);
  EXPECT_EQ(session.reconnect.endpoint(), 1U);
  EXPECT_EQ(runner().deadlines().due(session.index), session.reconnect.at());
  EXPECT_GT(session.reconnect.at(), now.monotonic);
  EXPECT_LE(session.reconnect.at(), now.monotonic + session.settings.reconnect_delay);
}

TEST_F(RosterTest, a_connect_that_takes_too_long_is_closed_and_is_no_disconnect_of_the_session) {
  config.sessions = {initiator("PEER")};
  runner().start();
  LiveSession& session = runner().sessions()[0];
  const ConnectionId id = session.connection.id;
  EXPECT_EQ(runner().deadlines().due(session.index), now.monotonic + session.settings.connect_timeout);
  runner().connect_timed_out(session);
  EXPECT_EQ(network.closed, (std::vector<ConnectionId>{id}));
  EXPECT_EQ(session.counts.disconnects, 0U);
  EXPECT_EQ(application.notices, (std::vector<Notice>{Notice::connect_failed}));
}

TEST_F(RosterTest, a_flush_gives_the_transport_what_it_takes_and_goes_on_when_it_is_writable) {
  config.sessions = {initiator("PEER")};
  runner().start();
  LiveSession& session = runner().sessions()[0];
  runner().attach(session, session.connection.id);
  const std::size_t logon = session.connection.out.pending();
  network.room = 10;
  runner().flush_all(network);
  EXPECT_EQ(network.sent.size(), 10U);
  EXPECT_TRUE(session.connection.out.blocked());
  network.room = SIZE_MAX;
  runner().mark_dirty(session);
  runner().flush_all(network);
  EXPECT_EQ(network.sent.size(), 10U);
  session.connection.out.unblock();
  runner().mark_dirty(session);
  runner().flush_all(network);
  EXPECT_EQ(network.sent.size(), logon);
}

TEST_F(RosterTest, a_removed_session_goes_once_its_connection_has_ended) {
  config.sessions = {initiator("PEER")};
  runner().start();
  LiveSession& session = runner().sessions()[0];
  ASSERT_TRUE(runner().commands().remove(0, "enough"));
  for (LoopCommand& command : runner().commands().take()) EXPECT_FALSE(runner().execute_command(command));
  EXPECT_FALSE(session.connection.exists());  // it was still connecting
  ASSERT_TRUE(runner().has_leaving());
  runner().retire();
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{0}));
  EXPECT_EQ(runner().sessions().find(std::size_t{0}), nullptr);
  EXPECT_FALSE(runner().has_leaving());
  EXPECT_FALSE(runner().commands().knows(identity(config.sessions[0].session)));
}

}  // namespace
}  // namespace nfx
