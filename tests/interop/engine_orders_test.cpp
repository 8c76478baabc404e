// Orders and their answers between our engine and QuickFIX, undisturbed and across cut connections.
#include <set>

#include "engine_rig.hpp"

namespace nfx::interop {
namespace {

constexpr std::size_t thousand = 1000;

class EngineOrders : public EngineAgainstQuickFix {};

// Whether the words at `index` of all lines differ.
[[nodiscard]] bool all_different(const std::vector<std::string>& lines, std::size_t index) {
  std::set<std::string> seen;
  for (const std::string& line : lines) {
    if (!seen.insert(word(line, index)).second) return false;
  }
  return true;
}

TEST_P(EngineOrders, a_thousand_are_answered_by_new_and_filled_and_our_logout_ends_it) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(thousand)) << rig.story();
  EXPECT_TRUE(we_connect() ? rig.ours().every_report_came_once(thousand) : rig.ours().every_order_came_once(thousand));
  EXPECT_EQ(rig.peer().count(we_connect() ? "ORDER" : "EXEC"), we_connect() ? thousand : 2 * thousand);
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  // Logon, then the messages: neither side sent anything else.
  EXPECT_EQ(value(rig.session().next_outbound()), 2 + (we_connect() ? thousand : 2 * thousand));
  EXPECT_EQ(value(rig.session().next_inbound()), 2 + (we_connect() ? 2 * thousand : thousand));
  rig.session().logout("closing for today");
  EXPECT_EQ(rig.peer_says("LOGOUT"), "LOGOUT closing for today") << rig.story();
  EXPECT_TRUE(rig.pump_until([&] { return rig.ours().logouts().size() == 1; })) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(rig.both_finish_cleanly()) << rig.story();
  EXPECT_EQ(rig.peer().count("REJECT"), 0U);
  EXPECT_TRUE(rig.ours().rejects().empty());
}

TEST_P(EngineOrders, of_a_burst_that_the_peer_cuts_none_is_lost_and_none_comes_twice) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  // The peer cuts while it sends, and keeps the messages it could not send.
  rig.send_command("order 1000 cut 400");
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().orders_in() >= thousand; })) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 2 * thousand; })) << rig.story();
  EXPECT_TRUE(rig.ours().every_order_came_once(thousand));
  EXPECT_TRUE(all_different(rig.peer().events("EXEC"), 4)) << "a number came twice";
  EXPECT_EQ(rig.peer().count("EXEC"), 2 * thousand);
  EXPECT_GE(rig.ours().traffic(Direction::out, "2"), 1U);
  EXPECT_GE(rig.ours().resent(Direction::in), 600U) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(rig.both_finish_cleanly()) << rig.story();
}

TEST_P(EngineOrders, five_cuts_by_turns_lose_nothing) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  std::size_t expected = 0;
  for (int cut = 0; cut < 5; ++cut) {
    expected += 100;
    const std::size_t logons = rig.session().counters().logons;
    if (cut % 2 == 0) {
      rig.send_command("order 100 cut 50");
    } else {
      rig.ours().cut_after_orders(50);
      rig.send_command("order 100");
    }
    ASSERT_TRUE(rig.pump_until([&] { return rig.session().counters().logons > logons; })) << cut << rig.story();
    ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 2 * expected; })) << cut << rig.story();
  }
  EXPECT_TRUE(rig.ours().every_order_came_once(expected));
  EXPECT_EQ(rig.peer().count("EXEC"), 2 * expected);
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

INSTANTIATE_TEST_SUITE_P(Matchups, EngineOrders, testing::ValuesIn(every_matchup()), matchup_name);

}  // namespace
}  // namespace nfx::interop
