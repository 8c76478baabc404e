// Operator requests to a session: compare and set sequence numbers, resets, requesting messages again, hold.
#include <gtest/gtest.h>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

OperatorResult set(SessionRig& rig, NextNumbers wanted) {
  return rig.ask([&](Actions& out) { return rig.session.set_numbers(wanted, rig.now, out); });
}

TEST(OperatorRequest, sets_both_numbers_without_a_connection) {
  SessionRig rig{acceptor_config()};
  EXPECT_EQ(set(rig, {.in = SeqNum{7}, .out = SeqNum{12}}), OperatorResult::done);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{7});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{12});
  EXPECT_EQ(set(rig, {.in = SeqNum{3}}), OperatorResult::done);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{3});
  EXPECT_TRUE(rig.sent.empty());
}

TEST(OperatorRequest, compares_the_numbers_that_are_given) {
  SessionRig rig{acceptor_config()};
  EXPECT_EQ(set(rig, {.out = SeqNum{7}}), OperatorResult::done);
  EXPECT_TRUE(rig.session.has_numbers({}));
  EXPECT_TRUE(rig.session.has_numbers({.in = SeqNum{1}}));
  EXPECT_TRUE(rig.session.has_numbers({.in = SeqNum{1}, .out = SeqNum{7}}));
  EXPECT_FALSE(rig.session.has_numbers({.in = SeqNum{2}, .out = SeqNum{7}}));
  EXPECT_FALSE(rig.session.has_numbers({.in = SeqNum{1}, .out = SeqNum{1}}));
}

TEST(OperatorRequest, takes_no_number_that_cannot_be_sent) {
  SessionRig rig{acceptor_config()};
  for (const SeqNum bad : {SeqNum{0}, Session::seq_num_limit}) {
    EXPECT_EQ(set(rig, {.in = bad}), OperatorResult::bad_number);
    EXPECT_EQ(set(rig, {.out = bad}), OperatorResult::bad_number);
  }
  EXPECT_EQ(set(rig, {.in = SeqNum{1}}), OperatorResult::nothing_to_do);
}

TEST(OperatorRequest, while_logged_on_a_higher_number_leaves_a_gap_that_is_filled) {
  SessionRig rig = logged_on();
  EXPECT_EQ(set(rig, {.out = SeqNum{10}}), OperatorResult::done);
  ASSERT_TRUE(rig.send("D", "11=x\x01"));
  EXPECT_NE(rig.take().find("34=10|"), std::string::npos);
  say(rig, "35=2|34=2|7=2|16=9|");
  EXPECT_NE(rig.take().find("35=4|34=2|43=Y|36=10|123=Y|"), std::string::npos);
}

TEST(OperatorRequest, while_logged_on_refuses_what_would_end_the_session) {
  SessionRig rig = logged_on();
  EXPECT_EQ(set(rig, {.out = SeqNum{1}}), OperatorResult::would_end_session);
  EXPECT_EQ(set(rig, {.in = SeqNum{9}}), OperatorResult::would_end_session);
  EXPECT_EQ(set(rig, {.in = SeqNum{1}, .out = SeqNum{1}}), OperatorResult::would_end_session);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
  EXPECT_TRUE(rig.sent.empty());
}

TEST(OperatorRequest, while_logged_on_a_lower_expected_number_requests_the_messages_again) {
  SessionRig rig = logged_on();
  say(rig, "35=D|34=2|11=a|");
  say(rig, "35=D|34=3|11=b|");
  ASSERT_EQ(rig.delivered.size(), 2U);
  EXPECT_EQ(set(rig, {.in = SeqNum{2}}), OperatorResult::done);
  EXPECT_NE(rig.take().find("35=2|34=2|7=2|16=0|"), std::string::npos);
  say(rig, "35=D|34=2|43=Y|" + original_time(rig) + "11=a|");
  say(rig, "35=D|34=3|43=Y|" + original_time(rig) + "11=b|");
  EXPECT_EQ(rig.delivered.size(), 4U);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{4});
  EXPECT_FALSE(rig.session.gap_open());
}

TEST(OperatorRequest, messages_requested_again_include_those_of_an_open_gap) {
  SessionRig rig = logged_on();
  say(rig, "35=D|34=2|11=a|");
  say(rig, "35=D|34=5|11=d|");  // 3 and 4 are missing
  rig.sent.clear();
  EXPECT_EQ(rig.ask([&](Actions& out) { return rig.session.request_again(SeqNum{2}, rig.now, out); }),
            OperatorResult::done);
  EXPECT_NE(rig.take().find("7=2|"), std::string::npos);
  for (const char* text : {"34=2|43=Y|", "34=3|43=Y|", "34=4|43=Y|"})
    say(rig, std::string{"35=D|"} + text + original_time(rig) + "11=a|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{6}) << "the message after the gap was in the queue";
}

TEST(OperatorRequest, requests_nothing_again_that_has_not_come) {
  SessionRig rig{acceptor_config()};
  const auto again = [&](std::uint64_t from) {
    return rig.ask([&](Actions& out) { return rig.session.request_again(SeqNum{from}, rig.now, out); });
  };
  EXPECT_EQ(again(1), OperatorResult::not_logged_on);
  log_on_acceptor(rig);
  EXPECT_EQ(again(0), OperatorResult::bad_number);
  EXPECT_EQ(again(2), OperatorResult::bad_number);
  EXPECT_TRUE(rig.sent.empty());
}

TEST(OperatorRequest, changes_no_number_while_a_logon_or_logout_is_under_way) {
  SessionRig rig{initiator_config()};
  rig.connect();
  EXPECT_EQ(set(rig, {.out = SeqNum{9}}), OperatorResult::not_now);
  say(rig, "35=A|34=1|98=0|108=30|");
  ASSERT_TRUE(rig.session.logged_on());
  rig.ask([&](Actions& out) {
    rig.session.logout({}, rig.now, out);
    return OperatorResult::done;
  });
  EXPECT_EQ(set(rig, {.out = SeqNum{9}}), OperatorResult::not_now);
  EXPECT_EQ(rig.ask([&](Actions& out) { return rig.session.reset_numbers(rig.now, out); }), OperatorResult::not_now);
}

TEST(OperatorRequest, resets_on_the_open_session_and_without_a_connection) {
  SessionRig rig{acceptor_config()};
  const auto reset = [&] { return rig.ask([&](Actions& out) { return rig.session.reset_numbers(rig.now, out); }); };
  EXPECT_EQ(reset(), OperatorResult::nothing_to_do);
  log_on_acceptor(rig);
  EXPECT_EQ(reset(), OperatorResult::done);
  EXPECT_NE(rig.take().find("35=A|34=1|98=0|108=30|141=Y|"), std::string::npos);
  EXPECT_EQ(reset(), OperatorResult::not_now) << "the peer has not answered";
  rig.cut();
  EXPECT_EQ(reset(), OperatorResult::done);
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{1});
  SessionRig old = logged_on(acceptor_config("FIX.4.0"));
  EXPECT_EQ(old.ask([&](Actions& out) { return old.session.reset_numbers(old.now, out); }),
            OperatorResult::not_possible);
}

TEST(OperatorRequest, sends_one_test_request_at_a_time) {
  SessionRig rig{acceptor_config()};
  const auto test = [&] { return rig.ask([&](Actions& out) { return rig.session.test_peer(rig.now, out); }); };
  EXPECT_EQ(test(), OperatorResult::not_logged_on);
  log_on_acceptor(rig);
  EXPECT_EQ(test(), OperatorResult::done);
  EXPECT_NE(rig.take().find("35=1|34=2|112=TEST|"), std::string::npos);
  EXPECT_EQ(test(), OperatorResult::nothing_to_do);
  say(rig, "35=0|34=2|112=TEST|");
  EXPECT_EQ(test(), OperatorResult::done);
}

TEST(OperatorRequest, hold_refuses_messages_of_the_program_and_answers_the_peer) {
  SessionRig rig = logged_on();
  EXPECT_EQ(rig.session.hold_sending(true), OperatorResult::done);
  EXPECT_EQ(rig.session.hold_sending(true), OperatorResult::nothing_to_do);
  EXPECT_EQ(rig.send("D", "11=x\x01").error(), SendError::on_hold);
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
  say(rig, "35=1|34=2|112=hello|");
  EXPECT_NE(rig.take().find("35=0|34=2|112=hello|"), std::string::npos);
  EXPECT_EQ(rig.session.hold_sending(false), OperatorResult::done);
  EXPECT_TRUE(rig.send("D", "11=x\x01"));
}

TEST(OperatorRequest, hold_survives_the_connection) {
  SessionRig rig{acceptor_config()};
  EXPECT_EQ(rig.session.hold_sending(true), OperatorResult::done);
  EXPECT_EQ(rig.send("D", "11=x\x01").error(), SendError::not_logged_on);
  log_on_acceptor(rig);
  EXPECT_EQ(rig.send("D", "11=x\x01").error(), SendError::on_hold);
}

}  // namespace
}  // namespace nfx::test
