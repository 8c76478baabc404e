// The sessions of a loop, the owners of their connections, and the requests of other threads.
#include "engine/session_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/fake_network.hpp"
#include "engine/loop_parts.hpp"

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

class SessionTableTest : public ::testing::Test {
 protected:
  SessionTableTest() { config.max_dynamic_sessions = 4; }

  LoopParts& loop() {
    if (!loop_) {
      loop_ = std::make_unique<LoopParts>(LoopOptions{.config = config,
                                                      .thread = 0,
                                                      .network = network,
                                                      .callbacks = application,
                                                      .stores = memory_stores(),
                                                      .now = now});
    }
    return *loop_;
  }
  SessionTable& table() { return loop().sessions; }
  SessionDriver& add(SessionSettings settings) {
    const std::size_t number = table().add(std::move(settings), {});
    loop().take_commands();
    return *table().find(number);
  }
  void remove(SessionDriver& session) {
    table().remove(session, "enough");
    table().retire();
  }
  static SessionKey key(std::string_view peer) { return {"venue:9000", "FIX.4.4", "VENUE", peer}; }

  EngineConfig config;
  test::FakeNetwork network;
  QuietApplication application;
  Instant now{UtcTime{24h * 365 * 50}, MonotonicTime{100h}};

 private:
  std::unique_ptr<LoopParts> loop_;
};

TEST_F(SessionTableTest, finds_sessions_by_place_by_number_and_by_the_names_in_a_logon) {
  config.sessions = {acceptor("other thread"), acceptor("A"), initiator("C")};
  config.sessions[0].poll_thread = 1;
  const std::size_t later = add(acceptor("B")).id();
  EXPECT_EQ(table().find(std::size_t{0}), nullptr);
  ASSERT_NE(table().find(1), nullptr);
  ASSERT_NE(table().find(2), nullptr);
  EXPECT_EQ(&table()[table().find(1)->index()], table().find(1));
  EXPECT_EQ(table().find(later)->settings().session.target_comp_id, "B");
  EXPECT_EQ(table().find(later + 1), nullptr);
  EXPECT_EQ(table().find(key("A")), table().find(1));
  EXPECT_EQ(table().find(key("B")), table().find(later));
  EXPECT_EQ(table().find(key("C")), nullptr);  // an initiator accepts no Logon of a new connection
}

TEST_F(SessionTableTest, a_place_is_used_again_and_a_removed_session_is_not_found_any_more) {
  SessionDriver& first = add(acceptor("A"));
  const std::uint32_t place = first.index();
  const std::size_t number = first.id();
  add(acceptor("B"));
  remove(first);
  EXPECT_EQ(table().find(number), nullptr);
  EXPECT_EQ(table().find(key("A")), nullptr);
  std::size_t there = 0;
  table().for_each([&](const SessionDriver&) { ++there; });
  EXPECT_EQ(there, 1U);
  EXPECT_EQ(table().places(), 2U);
  SessionDriver& next = add(acceptor("A"));
  EXPECT_EQ(next.index(), place);
  EXPECT_NE(next.id(), number);
  EXPECT_EQ(table().find(key("A")), &next);
}

TEST_F(SessionTableTest, commands_give_numbers_that_are_never_used_again_within_the_limit) {
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

TEST_F(SessionTableTest, commands_are_taken_in_order_and_a_removal_is_asked_for_once) {
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

TEST_F(SessionTableTest, a_connection_that_ends_leaves_no_owner_no_bytes_and_a_time_to_connect_again) {
  config.sessions = {initiator("PEER")};
  loop().start();
  SessionDriver& session = table()[0];
  const ConnectionId id = session.connection().id;
  ASSERT_EQ(network.connects, (std::vector<Endpoint>{{"first", 1}}));
  EXPECT_TRUE(session.connection().connecting);
  session.on_connect();  // its Logon is encoded
  EXPECT_FALSE(session.connection().out.empty());
  EXPECT_EQ(loop().context.owners.find(id), (ConnectionOwner{ConnectionOwner::Kind::session, session.index()}));
  session.drop_connection();
  ASSERT_FALSE(network.closed.empty());
  EXPECT_EQ(network.closed.front(), id);
  EXPECT_EQ(loop().context.owners.find(id), ConnectionOwner{});
  EXPECT_FALSE(session.connection().exists());
  EXPECT_TRUE(session.connection().out.empty());
  EXPECT_EQ(session.counters().disconnects, 1U);
  EXPECT_EQ(session.reconnect().endpoint(), 1U);
  EXPECT_EQ(loop().context.deadlines.due(session.index()), session.reconnect().at());
  EXPECT_GT(session.reconnect().at(), now.monotonic);
  EXPECT_LE(session.reconnect().at(), now.monotonic + session.settings().reconnect_delay);
}

TEST_F(SessionTableTest, a_connect_that_takes_too_long_is_closed_and_is_no_disconnect_of_the_session) {
  config.sessions = {initiator("PEER")};
  loop().start();
  SessionDriver& session = table()[0];
  const ConnectionId id = session.connection().id;
  const MonotonicTime due = now.monotonic + session.settings().connect_timeout;
  EXPECT_EQ(loop().context.deadlines.due(session.index()), due);
  loop().context.time.advance_to(due);
  EXPECT_EQ(table().fire_timers(due), 1U);
  EXPECT_EQ(network.closed, (std::vector<ConnectionId>{id}));
  EXPECT_EQ(session.counters().disconnects, 0U);
  EXPECT_EQ(application.notices, (std::vector<Notice>{Notice::connect_failed}));
}

TEST_F(SessionTableTest, a_flush_gives_the_transport_what_it_takes_and_goes_on_when_it_is_writable) {
  config.sessions = {initiator("PEER")};
  loop().start();
  SessionDriver& session = table()[0];
  session.on_connect();
  const std::size_t logon = session.connection().out.pending();
  network.room = 10;
  table().flush_all(network);
  EXPECT_EQ(network.sent.size(), 10U);
  EXPECT_TRUE(session.connection().out.blocked());
  network.room = SIZE_MAX;
  session.flush();
  EXPECT_EQ(network.sent.size(), 10U);
  session.on_writable();
  table().flush_all(network);
  EXPECT_EQ(network.sent.size(), logon);
}

TEST_F(SessionTableTest, a_removed_session_goes_once_its_connection_has_ended) {
  config.sessions = {initiator("PEER")};
  loop().start();
  SessionDriver& session = table()[0];
  ASSERT_TRUE(loop().commands.remove(0, "enough"));
  loop().take_commands();
  EXPECT_FALSE(session.connection().exists());  // it was still connecting
  ASSERT_FALSE(loop().context.leaving.empty());
  table().retire();
  EXPECT_EQ(application.removed, (std::vector<std::size_t>{0}));
  EXPECT_EQ(table().find(std::size_t{0}), nullptr);
  EXPECT_TRUE(loop().context.leaving.empty());
  EXPECT_FALSE(loop().commands.knows(identity(config.sessions[0].session)));
}

}  // namespace
}  // namespace nfx
