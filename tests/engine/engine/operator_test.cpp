// Commands of an operator through the loop: requests from other threads, their effects on the session, and the records
// in the store.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

// The answer to a command that the loop takes in its next iteration.
class Asked {
 public:
  Asked(LoopSide& side, SessionCommand command, std::size_t session = 0)
      : call_(std::make_shared<LoopCall>([this, command = std::move(command), session](OperatorRequests& requests) {
          outcome_ = requests.command(session, command);
        })),
        taken_(side.loop->push(call_)) {}
  [[nodiscard]] bool taken() const noexcept { return taken_; }
  [[nodiscard]] const CommandOutcome& outcome() {
    EXPECT_TRUE(call_->wait(Duration::zero()));
    return outcome_;
  }

 private:
  CommandOutcome outcome_;
  std::shared_ptr<LoopCall> call_;
  bool taken_;
};

class Operator : public ::testing::Test {
 protected:
  CommandOutcome ask(LoopSide& side, const SessionCommand& command) {
    Asked asked{side, command};
    rig.turn();
    return asked.outcome();
  }
  CommandOutcome ask(const SessionCommand& command) { return ask(rig.venue, command); }
  void begin() {
    rig.venue.config.sessions = {acceptor()};
    rig.trader.config.sessions = {initiator()};
    rig.start_both();
    rig.pass(1s);
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  void run(const LoopCall::Work& work) {
    const auto call = std::make_shared<LoopCall>(work);
    ASSERT_TRUE(rig.venue.loop->push(call));
    rig.turn();
    EXPECT_TRUE(call->wait(Duration::zero()));
  }
  void decide_during_a_drain(SessionCommandKind kind) {
    begin();
    run([](OperatorRequests& requests) { requests.drain(""); });
    rig.pass(5s);
    EXPECT_EQ(ask({.kind = kind}).status, CommandStatus::done);
    EXPECT_EQ(ask({.kind = kind}).status, CommandStatus::nothing_to_do);
    run([](OperatorRequests& requests) { requests.end_drain(); });
    rig.pass(60s);
    EXPECT_FALSE(rig.venue.session().logged_on());
    EXPECT_TRUE(ask({.kind = SessionCommandKind::enable}));
    rig.pass(60s);
    EXPECT_TRUE(rig.venue.session().logged_on());
  }
  void cut_and_keep_off() {
    ASSERT_EQ(ask(rig.trader, {.kind = SessionCommandKind::disable}).status, CommandStatus::done);
    ASSERT_EQ(ask({.kind = SessionCommandKind::drop}).status, CommandStatus::done);
    rig.pass(1s);
    ASSERT_FALSE(rig.venue.session().logged_on());
  }

  LoopRig rig;
};

TEST_F(Operator, sets_the_numbers_of_a_session_that_is_not_connected) {
  begin();
  cut_and_keep_off();
  const SeqNum in = rig.venue.session().next_inbound(), out = rig.venue.session().next_outbound();
  const CommandOutcome set = ask({.kind = SessionCommandKind::set,
                                  .numbers = {.out = SeqNum{50}},
                                  .expected = {.in = in, .out = out},
                                  .who = "a"});
  EXPECT_EQ(set.status, CommandStatus::done);
  EXPECT_EQ(set.session.next_out, SeqNum{50});
  EXPECT_EQ(set.session.next_in, in);
  EXPECT_EQ(rig.venue.application.count(Notice::operator_command), 2U);  // drop, and this
}

TEST_F(Operator, the_peer_gets_a_gap_fill_for_numbers_that_were_left_out) {
  begin();
  cut_and_keep_off();
  ASSERT_TRUE(ask({.kind = SessionCommandKind::set, .numbers = {.out = SeqNum{50}}}));
  ASSERT_TRUE(ask(rig.trader, {.kind = SessionCommandKind::logon}));
  rig.pass(2s);
  ASSERT_TRUE(rig.venue.session().logged_on());
  EXPECT_EQ(rig.trader.session().next_inbound(), rig.venue.session().next_outbound());
  EXPECT_GT(rig.trader.session().next_inbound(), SeqNum{50});
}

TEST_F(Operator, of_two_operators_who_saw_the_same_numbers_one_is_refused) {
  begin();
  cut_and_keep_off();
  const SeqNum out = rig.venue.session().next_outbound();
  Asked first{rig.venue, {.kind = SessionCommandKind::set, .numbers = {.out = SeqNum{50}}, .expected = {.out = out}}};
  Asked second{rig.venue, {.kind = SessionCommandKind::set, .numbers = {.out = SeqNum{60}}, .expected = {.out = out}}};
  rig.turn();
  EXPECT_EQ(first.outcome().status, CommandStatus::done);
  EXPECT_EQ(second.outcome().refusal, OperatorResult::numbers_differ);
  EXPECT_EQ(second.outcome().session.next_out, SeqNum{50});
}

TEST_F(Operator, a_request_that_is_not_waited_for_any_more_is_not_carried_out) {
  begin();
  CommandOutcome outcome;
  const auto call = std::make_shared<LoopCall>(
      [&](OperatorRequests& requests) { outcome = requests.command(0, {.kind = SessionCommandKind::drop}); });
  ASSERT_TRUE(rig.venue.loop->push(call));
  EXPECT_FALSE(call->wait(Duration::zero()));
  rig.turn();
  EXPECT_TRUE(rig.venue.session().logged_on());
  EXPECT_EQ(outcome.status, CommandStatus::timed_out);
}

TEST_F(Operator, takes_so_many_requests_and_refuses_the_next) {
  begin();
  std::vector<std::unique_ptr<Asked>> asked;
  for (std::size_t i = 0; i < LoopCommands::max_waiting_calls; ++i) {
    asked.push_back(std::make_unique<Asked>(rig.venue, SessionCommand{}));
    EXPECT_TRUE(asked.back()->taken());
  }
  EXPECT_FALSE((Asked{rig.venue, SessionCommand{}}.taken()));
  rig.turn();
  for (const auto& each : asked) EXPECT_EQ(each->outcome().status, CommandStatus::done);
  Asked later{rig.venue, SessionCommand{}};
  EXPECT_TRUE(later.taken());
  rig.turn();
  EXPECT_EQ(later.outcome().status, CommandStatus::done);
}

TEST_F(Operator, a_disabled_acceptor_keeps_its_connection_and_refuses_the_next_logon) {
  begin();
  EXPECT_EQ(ask({.kind = SessionCommandKind::disable}).status, CommandStatus::done);
  EXPECT_EQ(ask({.kind = SessionCommandKind::disable}).status, CommandStatus::nothing_to_do);
  rig.pass(1s);
  EXPECT_TRUE(rig.venue.session().logged_on());
  ask({.kind = SessionCommandKind::drop});
  rig.pass(10s);
  EXPECT_FALSE(rig.venue.session().logged_on());
  EXPECT_EQ(rig.venue.application.refusals.at(0).reason, LogonRefusalReason::disabled);
  EXPECT_EQ(ask({.kind = SessionCommandKind::enable}).status, CommandStatus::done);
  rig.pass(30s);
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(Operator, logs_out_with_a_text_and_on_again) {
  begin();
  EXPECT_TRUE(ask(rig.trader, {.kind = SessionCommandKind::logout, .text = "back at noon"}));
  rig.pass(1s);
  EXPECT_FALSE(rig.trader.session().logged_on());
  EXPECT_NE(rig.trader.application.at().traffic_out.back().find("58=back at noon"), std::string::npos);
  rig.pass(60s);
  EXPECT_FALSE(rig.trader.session().logged_on());
  EXPECT_TRUE(ask(rig.trader, {.kind = SessionCommandKind::logon}));
  rig.pass(1s);
  EXPECT_TRUE(rig.trader.session().logged_on());
}

TEST_F(Operator, logon_ends_the_wait_between_two_attempts_to_connect) {
  rig.venue.config.sessions = {acceptor()};
  rig.trader.config.sessions = {initiator()};
  rig.trader.config.sessions[0].reconnect_delay = 60s;
  rig.trader.config.sessions[0].reconnect_delay_max = 60s;
  rig.start_both();
  rig.pass(1s);
  ask({.kind = SessionCommandKind::drop});
  rig.pass(1s);
  ASSERT_FALSE(rig.trader.session().logged_on());
  EXPECT_EQ(ask(rig.trader, {.kind = SessionCommandKind::logon}).status, CommandStatus::done);
  rig.pass(1s);
  EXPECT_TRUE(rig.trader.session().logged_on());
}

TEST_F(Operator, messages_that_are_kept_are_sent_after_a_hold) {
  begin();
  ASSERT_TRUE(ask(rig.trader, {.kind = SessionCommandKind::hold}));
  const std::string body = field(11, "kept");
  EXPECT_TRUE(rig.trader.loop->submit(0, {.msg_type = "D", .body = body}, {.while_logged_off = WhileLoggedOff::keep}));
  EXPECT_TRUE(rig.trader.loop->submit(0, {.msg_type = "D", .body = std::string_view{field(11, "not")}}));
  rig.pass(1s);
  EXPECT_TRUE(rig.venue.application.at().orders.empty());
  EXPECT_EQ(rig.trader.session().send({.msg_type = "D", .body = body}).error(), SendError::on_hold);
  ASSERT_TRUE(ask(rig.trader, {.kind = SessionCommandKind::release}));
  rig.pass(1s);
  EXPECT_EQ(rig.venue.application.at().orders, std::vector<std::string>{"kept"});
}

TEST_F(Operator, messages_requested_again_reach_the_program_as_duplicates) {
  begin();
  for (std::size_t i = 1; i <= 3; ++i)
    std::ignore = rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(i)}});
  rig.pass(1s);
  ASSERT_EQ(rig.venue.application.at().orders.size(), 3U);
  const SeqNum next = rig.venue.session().next_inbound();
  const SeqNum from{value(next) - 2};
  EXPECT_TRUE(ask({.kind = SessionCommandKind::resend, .from = from}));
  rig.pass(1s);
  EXPECT_EQ(rig.venue.application.at().orders.size(), 5U);
  EXPECT_EQ(rig.venue.application.at().duplicates.size(), 2U);
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(Operator, a_drain_ends_all_sessions_and_its_end_lets_them_come_back) {
  begin();
  run([](OperatorRequests& requests) { requests.drain("maintenance"); });
  rig.pass(60s);
  EXPECT_FALSE(rig.venue.session().logged_on());
  EXPECT_EQ(ask({.kind = SessionCommandKind::enable}).status, CommandStatus::stopping);
  run([](OperatorRequests& requests) { requests.end_drain(); });
  rig.pass(60s);
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(Operator, the_end_of_a_drain_does_not_enable_what_was_disabled_meanwhile) {
  decide_during_a_drain(SessionCommandKind::disable);
}

TEST_F(Operator, the_end_of_a_drain_does_not_log_on_what_was_logged_out_meanwhile) {
  decide_during_a_drain(SessionCommandKind::logout);
}

TEST_F(Operator, every_command_is_refused_whose_caller_has_seen_other_numbers) {
  begin();
  const SeqNum in = rig.venue.session().next_inbound();
  for (const SessionCommandRow& row : session_command_rows) {
    const CommandOutcome outcome = ask({.kind = row.kind, .expected = {.in = next(in)}, .from = SeqNum{1}});
    EXPECT_EQ(outcome.refusal, OperatorResult::numbers_differ) << row.name;
  }
  EXPECT_TRUE(rig.venue.session().logged_on());
  EXPECT_TRUE(ask({.kind = SessionCommandKind::hold, .expected = {.in = in}}));
}

TEST_F(Operator, tells_a_session_that_is_not_there_from_one_that_is_being_removed) {
  begin();
  Asked asked{rig.venue, {}, 7};
  rig.turn();
  EXPECT_EQ(asked.outcome().status, CommandStatus::no_such_session);
  Asked remove{rig.venue, {.kind = SessionCommandKind::remove}};
  Asked after{rig.venue, {}};
  rig.turn();
  EXPECT_EQ(remove.outcome().status, CommandStatus::done);
  EXPECT_EQ(after.outcome().status, CommandStatus::being_removed);
  EXPECT_EQ(after.outcome().session.name, remove.outcome().session.name);
}

TEST_F(Operator, removes_no_session_with_a_connection_where_the_command_is_for_one_without) {
  begin();
  const SessionCommand remove{.kind = SessionCommandKind::remove, .unless_connected = true};
  EXPECT_EQ(ask(remove).status, CommandStatus::refused);
  rig.pass(60s);
  EXPECT_TRUE(rig.venue.session().logged_on());
  EXPECT_EQ(ask({.kind = SessionCommandKind::disable}).status, CommandStatus::done);
  EXPECT_EQ(ask({.kind = SessionCommandKind::drop}).status, CommandStatus::done);
  rig.turn();
  EXPECT_EQ(ask(remove).status, CommandStatus::done);
}

TEST_F(Operator, lists_sessions_in_pieces) {
  for (const char* name : {"A", "B", "C"}) rig.venue.config.sessions.push_back(acceptor(name));
  rig.venue.start();
  std::vector<std::string> names;
  const auto call = std::make_shared<LoopCall>([&](OperatorRequests& requests) {
    std::array<SessionStatus, 2> rows;
    SessionPage page;
    while (!page.end) {
      page = requests.list(page.next_place, rows);
      for (std::size_t i = 0; i < page.count; ++i) names.push_back(rows[i].name);
    }
  });
  ASSERT_TRUE(rig.venue.loop->push(call));
  rig.venue.loop->turn(Duration::zero());
  EXPECT_EQ(names.size(), 3U);
  EXPECT_NE(names.back().find("->C"), std::string::npos);
}

}  // namespace
}  // namespace nfx::test
