// Gaps, resends and resets between our engine and QuickFIX, started by either side.
#include "engine_rig.hpp"

namespace nfx::interop {
namespace {

class EngineSequence : public EngineAgainstQuickFix {};

TEST_P(EngineSequence, numbers_the_peer_left_out_are_asked_for_once_and_gap_filled) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_trades(2)) << rig.story();
  rig.send_command("skip 5");
  ASSERT_TRUE(rig.peer_trades(1)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(rig.ours().traffic(Direction::out, "2"), 1U) << rig.story();
  EXPECT_EQ(rig.peer().count("ADMIN-OUT 4 4 Y new=9 gapfill=Y"), 1U) << rig.story();
  EXPECT_TRUE(rig.ours().every_order_came_once(3));
  EXPECT_TRUE(rig.ours().noticed(Notice::gap_detected));
}

TEST_P(EngineSequence, two_gaps_with_messages_between_are_both_closed) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.send_command("skip 3");
  rig.send_command("order 5");
  rig.send_command("skip 7");
  rig.send_command("order 5");
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 20; })) << rig.story();
  EXPECT_TRUE(rig.ours().every_order_came_once(10));
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(value(rig.session().next_inbound()), 22U);
}

TEST_P(EngineSequence, requests_in_chunks_fetch_every_message_of_a_long_gap) {
  EngineRig rig(GetParam(), {.peer = {}, .adjust = [](SessionConfig& config) { config.resend_chunk_size = 50; }});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.send_command("order 400 cut 10");
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 800; })) << rig.story();
  EXPECT_TRUE(rig.ours().every_order_came_once(400));
  EXPECT_GE(rig.ours().traffic(Direction::out, "2"), 7U) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(EngineSequence, a_resend_brings_reports_as_possible_duplicates_and_heartbeats_as_gap_fill) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_trades(3)) << rig.story();  // our 2 to 7
  rig.send_command("test-request here");           // our 8
  ASSERT_TRUE(rig.peer_says("ADMIN-IN 0 8 N id=here")) << rig.story();
  rig.send_command("set-in 4");
  rig.send_command("order 1");  // our 9 and 10
  ASSERT_TRUE(rig.peer_says("ADMIN-OUT 2 7 N begin=4 end=0")) << rig.story();
  ASSERT_TRUE(rig.peer_says("EXEC id-2 0 0 4 Y")) << rig.story();
  ASSERT_TRUE(rig.peer_says("EXEC id-3 ")) << rig.story();
  ASSERT_TRUE(rig.peer_says("ADMIN-IN 4 8 Y new=9 gapfill=Y")) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(rig.ours().resent_without_original_time(), 0U);
  EXPECT_GE(rig.ours().resent(Direction::out), 4U);
  EXPECT_EQ(rig.peer().count("REJECT"), 0U) << rig.story();
}

TEST_P(EngineSequence, a_logon_beyond_a_gap_of_ours_has_the_peer_fetch_what_it_missed) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.we_trade(20)) << rig.story();
  rig.send_command("set-in 2");
  rig.send_command("cut");
  ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_says("ORDER our-20 21 Y")) << rig.story();
  EXPECT_EQ(rig.peer().count("ADMIN-OUT 2 "), 1U) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(rig.ours().resent(Direction::out), 20U);
}

TEST_P(EngineSequence, a_sequence_reset_of_the_peer_is_followed_without_a_request) {
  for (const char* command : {"sequence-reset 50", "gap-fill 50"}) {
    EngineRig rig(GetParam());
    ASSERT_TRUE(rig.logged_on()) << rig.story();
    rig.send_command(command);
    ASSERT_TRUE(rig.peer_trades(1)) << rig.story();
    EXPECT_EQ(rig.ours().received().back().seq, 50U) << command;
    EXPECT_EQ(value(rig.session().next_inbound()), 51U) << command;
    EXPECT_EQ(rig.ours().traffic(Direction::out, "2"), 0U) << command;
    EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  }
}

TEST_P(EngineSequence, a_number_below_the_expected_one_ends_the_session_with_its_reason) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_trades(5)) << rig.story();
  rig.send_command("set-out 3");
  rig.send_command("order 1");
  EXPECT_EQ(rig.peer_says("LOGOUT"), "LOGOUT MsgSeqNum too low, expecting 7 but received 3") << rig.story();
  // With numbers ahead instead it may come back, and the gap closes.
  rig.send_command("set-out 20");
  ASSERT_TRUE(rig.pump_until([&] { return rig.session().logged_on(); })) << rig.story();
  ASSERT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_GE(value(rig.session().next_inbound()), 21U);
}

TEST_P(EngineSequence, a_number_of_ours_that_is_too_low_for_the_peer_reaches_the_application_as_logout) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.send_command("set-in 50");
  rig.send_command("seq");
  ASSERT_TRUE(rig.peer_says("SEQ 2 50")) << rig.story();
  rig.ours().ask_orders(1);
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  EXPECT_EQ(rig.ours().logouts().front(), "MsgSeqNum too low, expecting 50 but received 2") << rig.story();
}

TEST_P(EngineSequence, a_reset_inside_the_session_by_the_peer_starts_both_sides_at_one) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  rig.send_command("reset-live");
  ASSERT_TRUE(rig.peer_says("ADMIN-IN A 1 N heartbeat=30 reset=Y")) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(value(rig.session().next_outbound()), 2U);
  // QuickFIX as acceptor sends one more Logon after our answer.
  EXPECT_EQ(value(rig.session().next_inbound()), we_connect() ? 3U : 2U);
  EXPECT_EQ(rig.ours().noticed(Notice::unexpected_message), we_connect());
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(rig.ours().logouts().size(), 0U) << rig.story();
}

TEST_P(EngineSequence, a_reset_inside_the_session_by_us_starts_both_sides_at_one) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  rig.session().reset_sequence_numbers();
  ASSERT_TRUE(rig.peer_says("ADMIN-OUT A 1 N heartbeat=30 reset=Y")) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(value(rig.session().next_outbound()), 2U);
  EXPECT_EQ(value(rig.session().next_inbound()), 2U);
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(rig.ours().logouts().size(), 0U);
}

TEST_P(EngineSequence, nothing_of_before_a_reset_is_resent_after_it) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.we_trade(10)) << rig.story();
  rig.session().reset_sequence_numbers();
  ASSERT_TRUE(rig.peer_says("ADMIN-OUT A 1 ")) << rig.story();
  ASSERT_TRUE(rig.numbers_agree()) << rig.numbers();
  ASSERT_TRUE(rig.we_trade(2)) << rig.story();  // our 2 and 3
  rig.send_command("set-in 1\nseq");
  ASSERT_TRUE(rig.peer_says("SEQ ")) << rig.story();  // carried out before our next order can arrive
  ASSERT_TRUE(rig.we_trade(1)) << rig.story();
  ASSERT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(rig.peer().count("ADMIN-IN 4 1 Y new=2 gapfill=Y"), 1U) << rig.story();
  EXPECT_EQ(rig.peer().count("ORDER our-11 2 Y"), 1U) << rig.story();
  EXPECT_EQ(rig.peer().count("ORDER our-1 "), 1U) << rig.story();
}

TEST_P(EngineSequence, reset_on_logout_on_both_sides_starts_the_next_session_at_one) {
  EngineRig rig(GetParam(), {.peer = {"--reset-on-logout"},
                             .adjust = [](SessionConfig& config) { config.reset_on_logout = true; }});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  rig.session().logout({});
  ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  rig.session().logon();
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(value(rig.session().next_outbound()), 2U);
}

INSTANTIATE_TEST_SUITE_P(Matchups, EngineSequence, testing::ValuesIn(every_matchup()), matchup_name);

}  // namespace
}  // namespace nfx::interop
