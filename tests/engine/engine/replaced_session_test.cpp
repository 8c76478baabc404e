// Sessions that are removed from a running engine and added again, as a reload replaces them: their place and their
// sequence numbers.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/left_numbers.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

SessionSettings venue_session(const std::string& peer) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = peer;
  settings.listen = {"127.0.0.1", 0};
  settings.store_kind = StoreKind::memory;
  return settings;
}

struct Removals final : Application, Observer {
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_session_message(SessionHandle&, const MessageView& message) override {
    if (message.msg_type() == msg_type::sequence_reset) new_seq = message.get_int(Tag::NewSeqNo).value_or(0);
  }
  void on_removed(SessionHandle&) override { ++removed; }
  int removed = 0;
  std::int64_t new_seq = 0;  // of the last gap fill
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
  void expect_numbers(std::size_t number, std::uint32_t in, std::uint32_t out) {
    ASSERT_NE(engine->session(number), nullptr);
    EXPECT_EQ(engine->session(number)->next_inbound(), SeqNum{in});
    EXPECT_EQ(engine->session(number)->next_outbound(), SeqNum{out});
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

TEST_F(ReplacedSession, with_a_store_in_memory_continues_with_its_numbers) {
  config.sessions[0].next_inbound = SeqNum{50};
  config.sessions[0].next_outbound = SeqNum{60};
  start();
  expect_numbers(0, 50, 60);
  remove(0);
  const std::size_t again = add(venue_session("A"));
  expect_numbers(again, 50, 60);
  remove(1);
  expect_numbers(add(venue_session("B")), 1, 1);
}

TEST_F(ReplacedSession, answers_a_request_for_what_was_sent_before_with_a_gap_fill) {
  config.sessions[0].next_inbound = SeqNum{50};
  config.sessions[0].next_outbound = SeqNum{60};
  start();
  remove(0);
  const std::size_t again = add(venue_session("A"));
  EngineConfig peer_config;
  peer_config.sessions.resize(1);
  SessionSettings& peer = peer_config.sessions[0];
  peer.session.role = Role::initiator;
  peer.session.sender_comp_id = "A";
  peer.session.target_comp_id = "VENUE";
  peer.connect = {*engine->local_endpoint(1)};  // the same address
  peer.next_inbound = SeqNum{41};
  peer.next_outbound = SeqNum{50};
  Removals peer_application;
  Engine peer_engine{peer_config, peer_application};
  for (int i = 0; i < 5000 && peer_application.new_seq == 0; ++i) {
    peer_engine.turn(1ms);
    engine->turn(1ms);
  }
  EXPECT_EQ(peer_application.new_seq, 61) << "the Logon is 60";
  EXPECT_TRUE(engine->session(again)->logged_on());
}

LeftSession left_with(std::uint32_t in, std::uint32_t out, bool has_journal = false) {
  return {.next_inbound = SeqNum{in}, .next_outbound = SeqNum{out}, .begun = UtcTime{1s}, .has_journal = has_journal};
}

TEST(LeftNumbers, are_those_of_the_last_removals_and_since_when_they_count) {
  LeftNumbers numbers{2};
  numbers.remember("FIX.4.4:VENUE->A", left_with(2, 3));
  numbers.remember("FIX.4.4:VENUE->B", left_with(4, 5));
  numbers.remember("FIX.4.4:VENUE->A", left_with(6, 7));
  numbers.remember("FIX.4.4:VENUE->C", left_with(8, 9));
  SessionSettings a = venue_session("A"), b = venue_session("B");
  numbers.continue_with(a);
  numbers.continue_with(b);
  EXPECT_EQ(a.next_inbound, SeqNum{6});
  EXPECT_EQ(a.next_outbound, SeqNum{7});
  EXPECT_EQ(a.numbers_as_of, UtcTime{1s});
  EXPECT_EQ(b.next_outbound, first_seq_num) << "it was removed first";
  numbers.forget("FIX.4.4:VENUE->A");
  SessionSettings forgotten = venue_session("A");
  numbers.continue_with(forgotten);
  EXPECT_EQ(forgotten.next_outbound, first_seq_num);
}

TEST(LeftNumbers, are_a_journal_s_own_where_it_had_them) {
  LeftNumbers numbers{2};
  numbers.remember("FIX.4.4:VENUE->A", left_with(2, 3, true));
  SessionSettings on_disk = venue_session("A");
  on_disk.store_kind = StoreKind::journal;
  numbers.continue_with(on_disk);
  EXPECT_EQ(on_disk.next_outbound, first_seq_num);
  SessionSettings in_memory = venue_session("A");
  numbers.continue_with(in_memory);
  EXPECT_EQ(in_memory.next_outbound, SeqNum{3});
  numbers.remember("FIX.4.4:VENUE->A", left_with(4, 5));
  numbers.continue_with(on_disk);
  EXPECT_EQ(on_disk.next_outbound, SeqNum{5}) << "a journal that is begun now continues what was in memory";
}

}  // namespace
}  // namespace nfx
