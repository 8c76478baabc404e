// Logon and sequence number resets in both roles: sent, accepted and refused messages.
#include <gtest/gtest.h>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

TEST(Logon, notifies_the_application_once_and_only_when_complete) {
  SessionRig rig{initiator_config()};
  rig.connect();
  EXPECT_EQ(rig.logged_on_count, 0);
  EXPECT_EQ(rig.session.phase(), Phase::awaiting_logon);
  EXPECT_EQ(rig.send("D", "11=x\x01").error(), SendError::not_logged_on);
  say(rig, "35=A|34=1|98=0|108=30|");
  EXPECT_EQ(rig.logged_on_count, 1);
  EXPECT_TRUE(rig.session.logged_on());
}

TEST(Logon, uses_restored_sequence_numbers) {
  SessionRig rig{initiator_config()};
  rig.session.restore(SeqNum{70}, SeqNum{90});
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=90|98=0|108=30|");
  say(rig, "35=A|34=70|98=0|108=30|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{71});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{91});
}

TEST(Logon, restored_number_zero_counts_as_one) {
  SessionRig rig{acceptor_config()};
  rig.session.restore(SeqNum{}, SeqNum{});
  EXPECT_EQ(rig.session.next_inbound(), first_seq_num);
  EXPECT_EQ(rig.session.next_outbound(), first_seq_num);
}

TEST(Logon, refused_by_an_initiators_peer_gives_its_text) {
  SessionRig rig{initiator_config()};
  rig.connect();
  rig.sent.clear();
  say(rig, "35=5|34=1|58=unknown user|");
  EXPECT_EQ(rig.close_text, "unknown user");
  EXPECT_EQ(rig.logged_out_text, "unknown user");
  EXPECT_EQ(rig.logged_out_count, 1);
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Logon, refused_by_an_acceptor_gives_the_reason_and_to_both) {
  SessionRig rig{acceptor_config()};
  rig.session.restore(SeqNum{5}, SeqNum{5});
  rig.connect();
  say(rig, "35=A|34=2|98=0|108=30|");
  EXPECT_EQ(rig.take(), "35=5|34=5|58=MsgSeqNum too low, expecting 5 but received 2|");
  EXPECT_EQ(rig.close_text, "MsgSeqNum too low, expecting 5 but received 2");
  EXPECT_EQ(rig.logged_out_text, rig.close_text);
  EXPECT_EQ(rig.logged_on_count, 0);
}

TEST(Logon, that_is_a_low_possible_duplicate_is_dropped_without_a_word) {
  SessionRig rig{acceptor_config()};
  rig.session.restore(SeqNum{5}, SeqNum{5});
  rig.connect();
  say(rig, "35=A|34=2|43=Y|" + original_time(rig) + "98=0|108=30|");
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{5});
}

TEST(Logon, without_space_for_the_answer_never_counts_as_complete) {
  SessionRig rig{acceptor_config()};
  rig.connect();
  rig.output_space = 30;
  say(rig, "35=A|34=1|98=0|108=30|");
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.logged_on_count, 0);
  EXPECT_EQ(rig.session.phase(), Phase::disconnected);
}

TEST(Logon, answered_with_another_heartbeat_interval_takes_it_and_reports_it) {
  SessionRig rig{initiator_config()};
  rig.connect();
  say(rig, "35=A|34=1|98=0|108=7|");
  EXPECT_EQ(rig.session.heartbeat_interval(), std::chrono::seconds{7});
  EXPECT_TRUE(rig.noticed(Notice::heartbeat_differs));
}

TEST(Logon, requests_its_own_heartbeat_interval_on_every_connection) {
  SessionRig rig{initiator_config()};
  rig.connect();
  say(rig, "35=A|34=1|98=0|108=7|");
  rig.cut();
  rig.sent.clear();
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=2|98=0|108=30|");
}

TEST(Reset, unasked_in_the_logon_answer_resets_the_store_and_continues_with_two) {
  SessionRig rig{initiator_config()};
  rig.session.restore(SeqNum{30}, SeqNum{40});
  rig.connect();
  rig.sent.clear();
  say(rig, "35=A|34=1|98=0|108=30|141=Y|");
  EXPECT_EQ(rig.store_resets, 1);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
  // A peer that does not count our Logon as number 1 requests it and gets a gap fill.
  say(rig, "35=2|34=2|7=1|16=0|");
  EXPECT_EQ(rig.take(), "35=4|34=1|43=Y|36=2|123=Y|");
}

TEST(Reset, on_logon_happens_once_for_the_initiator) {
  SessionRig rig{initiator_config({.reset_on_logon = true})};
  rig.session.restore(SeqNum{30}, SeqNum{40});
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|141=Y|");
  say(rig, "35=A|34=1|98=0|108=30|141=Y|");
  EXPECT_EQ(rig.store_resets, 1);
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
}

TEST(Reset, on_logon_comes_before_the_answer_is_numbered) {
  SessionRig rig{acceptor_config({.reset_on_logon = true})};
  rig.session.restore(SeqNum{30}, SeqNum{40});
  rig.connect();
  say(rig, "35=A|34=1|98=0|108=30|");
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|");
  EXPECT_EQ(rig.store_resets, 1);
}

TEST(Reset, on_the_open_session_forgets_gap_queue_and_replay) {
  SessionRig rig = logged_on();
  ASSERT_TRUE(rig.send("8", "11=x\x01"));
  rig.answer_resend_requests = false;
  say(rig, "35=D|34=4|11=early|");
  say(rig, "35=2|34=5|7=1|16=0|");
  ASSERT_TRUE(rig.session.replaying());
  rig.sent.clear();
  say(rig, "35=A|34=1|98=0|108=30|141=Y|");
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|141=Y|");
  EXPECT_FALSE(rig.session.replaying());
  EXPECT_EQ(rig.session.queued(), 0U);
  say(rig, "35=D|34=2|11=new|");
  say(rig, "35=D|34=3|11=new|");
  EXPECT_EQ(rig.delivered.size(), 2U);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{4});
}

TEST(Reset, of_ours_ignores_the_old_sequence_until_it_is_answered) {
  SessionRig rig = logged_on();
  rig.reset();
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|141=Y|");
  say(rig, "35=D|34=2|11=old|");
  say(rig, "35=D|34=900|11=old|");
  EXPECT_TRUE(rig.delivered.empty());
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_EQ(rig.session.queued(), 0U);
  say(rig, "35=A|34=1|98=0|108=30|141=Y|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
  EXPECT_EQ(rig.session.next_deadline(), rig.now.monotonic + std::chrono::seconds{30});
}

TEST(Reset, by_both_sides_at_once_ends_with_both_at_two) {
  SessionRig rig = logged_on();
  rig.reset();
  rig.sent.clear();
  // The peer sent its own reset before it received this session's: each side takes the other's as the answer.
  say(rig, "35=A|34=1|98=0|108=30|141=Y|");
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
}

TEST(Reset, does_nothing_before_the_logon_and_in_fix40) {
  SessionRig rig{acceptor_config()};
  rig.reset();
  rig.connect();
  rig.reset();
  EXPECT_TRUE(rig.sent.empty());
  SessionRig old = logged_on(acceptor_config("FIX.4.0"));
  old.reset();
  EXPECT_TRUE(old.sent.empty());
  EXPECT_EQ(old.store_resets, 0);
}

TEST(Disconnect, has_the_transports_reason_where_it_gives_one) {
  for (const std::string_view why : {"", "the certificate has expired"}) {
    SessionRig rig = logged_on();
    rig.cut(why);
    EXPECT_EQ(rig.logged_out_text, why.empty() ? "connection lost" : why);
  }
}

TEST(Reset, on_disconnect_spares_a_session_that_was_never_up) {
  SessionRig rig{acceptor_config({.reset_on_disconnect = true})};
  rig.session.restore(SeqNum{30}, SeqNum{40});
  rig.connect();
  rig.cut();
  EXPECT_EQ(rig.store_resets, 0);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{30});
}

TEST(Reset, on_logout_also_follows_a_logout_that_nobody_answered) {
  for (const bool cut : {true, false}) {
    SessionRig rig = logged_on({.reset_on_logout = true});
    rig.logout("done");
    EXPECT_EQ(rig.store_resets, 0);
    cut ? rig.cut() : rig.advance(rig.session.config().logout_timeout);
    EXPECT_TRUE(rig.closed);
    EXPECT_EQ(rig.store_resets, 1);
    EXPECT_EQ(rig.session.next_outbound(), first_seq_num);
  }
}

TEST(NextExpected, is_ignored_when_the_session_does_not_use_it) {
  SessionRig rig{acceptor_config()};
  rig.session.restore(first_seq_num, SeqNum{10});
  rig.connect();
  say(rig, "35=A|34=1|98=0|108=30|789=3|");
  EXPECT_EQ(rig.take(), "35=A|34=10|98=0|108=30|");
  EXPECT_TRUE(rig.sent.empty());
}

TEST(NextExpected, missing_from_the_peers_logon_leaves_the_resend_request_to_us) {
  SessionRig rig{acceptor_config({.send_next_expected_seq_num = true})};
  rig.connect();
  say(rig, "35=A|34=4|98=0|108=30|");
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|789=1|");
  EXPECT_EQ(rig.take(), "35=2|34=2|7=1|16=0|");
}

TEST(NextExpected, of_two_sessions_fills_gaps_on_both_sides_without_a_resend_request) {
  const SessionConfig ours = acceptor_config({.send_next_expected_seq_num = true});
  SessionConfig theirs = ours;
  theirs.role = Role::initiator;
  std::swap(theirs.sender_comp_id, theirs.target_comp_id);
  SessionRig acceptor{ours}, initiator{theirs};
  acceptor.session.restore(SeqNum{3}, SeqNum{9});   // the initiator has sent up to 7, the acceptor has lost 3 to 7
  initiator.session.restore(SeqNum{6}, SeqNum{8});  // and the other way round 6 to 8
  acceptor.connect();
  initiator.connect();
  std::string traffic;
  for (int round = 0; round < 10; ++round) {
    for (; !initiator.sent.empty(); initiator.sent.pop_front()) {
      traffic += with_bars(initiator.sent.front()) + '\n';
      acceptor.receive(initiator.sent.front());
    }
    for (; !acceptor.sent.empty(); acceptor.sent.pop_front()) {
      traffic += with_bars(acceptor.sent.front()) + '\n';
      initiator.receive(acceptor.sent.front());
    }
  }
  EXPECT_EQ(traffic.find("|35=2|"), std::string::npos) << traffic;
  EXPECT_EQ(acceptor.session.next_inbound(), initiator.session.next_outbound()) << traffic;
  EXPECT_EQ(initiator.session.next_inbound(), acceptor.session.next_outbound()) << traffic;
}

}  // namespace
}  // namespace nfx::test
