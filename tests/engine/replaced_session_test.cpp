// Sessions that are removed from a running engine and added again, as a reload replaces them: their place.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "nexusfix/engine/engine.hpp"

namespace nfx {
namespace {

SessionSettings venue_session(const std::string& peer) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = peer;
  settings.listen = {"127.0.0.1", 0};
  settings.store_kind = StoreKind::memory;
  return settings;
}

struct Removals final : Application {
  void on_message(SessionHandle&, const MessageView&) override {}
  void on_removed(SessionHandle&) override { ++removed; }
  int removed = 0;
};

class ReplacedSession : public ::testing::Test {
 protected:
  ReplacedSession() {
    config.sessions = {venue_session("A"), venue_session("B"), venue_session("C"), venue_session("D")};
  }
  Engine& start() {
    engine.emplace(config, application);
    engine->start();
    return *engine;
  }
  // As the control plane does: on another thread's behalf, with the poll thread's iterations between.
  void remove(std::size_t number) {
    const int before = application.removed;
    ASSERT_TRUE(engine->remove_session(number, {}));
    for (int i = 0; i < 10 && application.removed == before; ++i) engine->turn(Duration::zero());
    ASSERT_EQ(application.removed, before + 1);
  }
  std::size_t add(SessionSettings settings, AddedSession as = {}) {
    const std::size_t number = engine->add_session(std::move(settings), as);
    engine->turn(Duration::zero());
    return number;
  }

  Removals application;
  EngineConfig config;
  std::optional<Engine> engine;
};

TEST_F(ReplacedSession, of_the_configuration_needs_no_place_of_those_that_come_later) {
  config.max_dynamic_sessions = 1;
  start();
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    remove(i);
    EXPECT_NO_THROW(static_cast<void>(add(config.sessions[i])));
  }
  EXPECT_NO_THROW(static_cast<void>(add(venue_session("LATER"))));
  EXPECT_THROW(static_cast<void>(engine->add_session(venue_session("TOO-MANY"))), ConfigError);
  // Once more: what was added in its place has gone, and the place is still its own.
  remove(*engine->find_session({"FIX.4.4", "VENUE", "A"}));
  EXPECT_THROW(static_cast<void>(engine->add_session(venue_session("TOO-MANY"))), ConfigError);
  EXPECT_NO_THROW(static_cast<void>(add(config.sessions[0])));
}

TEST_F(ReplacedSession, moves_to_another_poll_thread_without_a_place_of_those_that_come_later) {
  config.max_dynamic_sessions = 0;
  config.poll_threads = 2;
  start();
  remove(0);
  SessionSettings moved = config.sessions[0];
  moved.listen = {"127.0.0.2", 0};
  moved.poll_thread = 1;
  EXPECT_NO_THROW(static_cast<void>(engine->add_session(moved)));
}

}  // namespace
}  // namespace nfx
