// Heartbeats, TestRequests and the fate of a session when one side falls silent.
#include "engine_rig.hpp"

namespace nfx::interop {
namespace {

class EngineSilence : public EngineAgainstQuickFix {
 protected:
  static RigOptions every_second() {
    return {.peer = {"--heartbeat", "1"}, .adjust = [](SessionConfig& config) {
              config.heartbeat_interval = std::chrono::seconds{1};
              config.logout_timeout = std::chrono::seconds{1};
            }};
  }
};

TEST_P(EngineSilence, a_peer_that_stays_silent_is_disconnected_and_may_come_back) {
  EngineRig rig(GetParam(), every_second());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.pause_peer()) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  EXPECT_EQ(rig.ours().traffic(Direction::out, "1"), 1U) << rig.story();
  EXPECT_EQ(rig.ours().logouts().front(), "the peer is silent: TestRequest unanswered");
  rig.send_command("resume");
  ASSERT_TRUE(rig.pump_until([&] { return rig.session().counters().logons >= 2; })) << rig.story();
  ASSERT_TRUE(rig.peer_trades(5)) << rig.story();
  EXPECT_TRUE(rig.ours().every_order_came_once(5));
}

TEST_P(EngineSilence, when_we_stand_still_for_long_the_peer_leaves_and_the_session_comes_back) {
  EngineRig rig(GetParam(), every_second());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_trades(5)) << rig.story();
  ASSERT_TRUE(rig.peer_says_while_we_are_silent("LOGOUT")) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return rig.session().counters().logons >= 2; })) << rig.story();
  ASSERT_TRUE(rig.peer_trades(5)) << rig.story();
  EXPECT_TRUE(rig.ours().every_order_came_once(10));
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(EngineSilence, our_logout_without_an_answer_ends_with_its_timeout) {
  EngineRig rig(GetParam(),
                {.peer = {}, .adjust = [](SessionConfig& config) { config.logout_timeout = std::chrono::seconds{1}; }});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.pause_peer()) << rig.story();
  rig.session().logout({});
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  EXPECT_EQ(rig.ours().logouts().front(), "no answer to Logout within the timeout");
}

TEST_P(EngineSilence, a_logout_of_the_peer_that_we_answer_too_late_still_ends_cleanly_on_our_side) {
  EngineRig rig(GetParam(), {.peer = {"--logout-timeout", "1"}});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.send_command("logout");
  ASSERT_TRUE(rig.peer_says_while_we_are_silent("LOGOUT")) << rig.story();
  rig.send_command("logon");
  ASSERT_TRUE(rig.pump_until([&] { return rig.session().counters().logons >= 2; })) << rig.story();
  EXPECT_EQ(rig.ours().logouts().size(), 1U);
  ASSERT_TRUE(rig.peer_trades(5)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

INSTANTIATE_TEST_SUITE_P(Matchups, EngineSilence, testing::ValuesIn(every_matchup()), matchup_name);

}  // namespace
}  // namespace nfx::interop
