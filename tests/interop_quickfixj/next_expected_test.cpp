// NextExpectedMsgSeqNum(789) with QuickFIX/J: messages lost by a cut arrive after the Logons, without a ResendRequest.
#include "engine_rig.hpp"

namespace nfx::interop {
namespace {

class NextExpected : public EngineAgainstQuickFix {
 protected:
  static RigOptions both_say_it() {
    return {.peer = {"--next-expected"},
            .adjust = [](SessionConfig& config) { config.send_next_expected_seq_num = true; }};
  }

  static void expect_no_request(EngineRig& rig) {
    EXPECT_EQ(rig.ours().traffic(Direction::in, "2"), 0U) << rig.story();
    EXPECT_EQ(rig.ours().traffic(Direction::out, "2"), 0U) << rig.story();
  }
};

TEST_P(NextExpected, orders_of_ours_that_a_cut_kept_back_come_without_a_request) {
  constexpr std::size_t count = 200;
  EngineRig rig(GetParam(), both_say_it());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.ours().ask_orders(count, count / 2);
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().reports_in() >= 2 * count; })) << rig.story();
  EXPECT_EQ(rig.peer().count("ORDER "), count);
  EXPECT_TRUE(rig.ours().every_report_came_once(count));
  EXPECT_GE(rig.ours().resent(Direction::out), 1U);
  expect_no_request(rig);
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(NextExpected, what_the_peer_sent_while_we_were_away_comes_without_a_request) {
  constexpr std::size_t count = 50;
  EngineRig rig(GetParam(), both_say_it());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.session().logout({});
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
  rig.send_command("order " + std::to_string(count));
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("APP-OUT D ") == count; })) << rig.story();
  rig.session().logon();
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 2 * count; })) << rig.story();
  EXPECT_TRUE(rig.ours().every_order_came_once(count));
  EXPECT_EQ(rig.ours().resent(Direction::in), count);
  expect_no_request(rig);
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

INSTANTIATE_TEST_SUITE_P(Matchups, NextExpected,
                         testing::Values(Matchup{Role::acceptor, "FIX.4.4"}, Matchup{Role::initiator, "FIX.4.4"}),
                         matchup_name);

}  // namespace
}  // namespace nfx::interop
