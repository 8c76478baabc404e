// Which gateway has which session, and that little moves when the list of gateways changes.
#include "cluster/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace nfx::cluster {
namespace {

std::vector<std::string> many_sessions() {
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("FIX.4.4:DESK" + std::to_string(i) + "->VENUE");
  return names;
}

TEST(Assignment, is_the_same_for_every_order_of_the_list) {
  const std::vector<Gateway> one{{"a"}, {"b"}, {"c"}}, other{{"c"}, {"a"}, {"b"}};
  for (const std::string& session : many_sessions())
    EXPECT_EQ(one[assign(session, one, {}).gateway].name, other[assign(session, other, {}).gateway].name);
}

TEST(Assignment, spreads_sessions_evenly) {
  const std::vector<Gateway> gateways{{"a"}, {"b"}, {"c"}};
  std::array<int, 3> count{};
  for (const std::string& session : many_sessions()) ++count[assign(session, gateways, {}).gateway];
  for (const int each : count) {
    EXPECT_GT(each, 850);
    EXPECT_LT(each, 1150);
  }
}

TEST(Assignment, of_a_lost_gateway_moves_its_own_sessions_only) {
  const std::vector<Gateway> all{{"a"}, {"b"}, {"c"}}, without_b{{"a"}, {"b", false}, {"c"}};
  int moved = 0;
  for (const std::string& session : many_sessions()) {
    const Assignment before = assign(session, all, {}), after = assign(session, without_b, {});
    EXPECT_NE(after.gateway, 1U);
    if (before.gateway != 1) {
      EXPECT_EQ(before, after);
    }
    moved += before.gateway == 1 ? 1 : 0;
  }
  EXPECT_GT(moved, 0);
}

TEST(Assignment, of_a_draining_gateway_moves_while_another_is_alive) {
  const std::vector<Gateway> one_left{{"a", true, true}, {"b"}}, all_drain{{"a", true, true}, {"b", true, true}};
  for (const std::string& session : many_sessions()) {
    EXPECT_EQ(assign(session, one_left, {}), (Assignment{1, AssignedBy::weight}));
    EXPECT_EQ(assign(session, all_drain, {}).by, AssignedBy::draining);
  }
}

TEST(Assignment, follows_a_pin_while_its_gateway_takes_sessions) {
  const std::array<Pin, 1> pins{{{"S", "b"}}};
  EXPECT_EQ(assign("S", std::vector<Gateway>{{"a"}, {"b"}}, pins), (Assignment{1, AssignedBy::pin}));
  EXPECT_EQ(assign("S", std::vector<Gateway>{{"a"}, {"b", false}}, pins), (Assignment{0, AssignedBy::weight}));
  EXPECT_EQ(assign("S", std::vector<Gateway>{{"a"}, {"b", true, true}}, pins), (Assignment{0, AssignedBy::weight}));
  EXPECT_EQ(assign("S", std::vector<Gateway>{{"a"}}, pins), (Assignment{0, AssignedBy::weight}));
}

TEST(Assignment, without_a_living_gateway_has_no_owner) {
  EXPECT_EQ(assign("S", {}, {}), Assignment{});
  EXPECT_EQ(assign("S", std::vector<Gateway>{{"a", false}}, {}), Assignment{});
}

TEST(Assignment, is_explained_with_its_reason_and_each_gateway) {
  const std::array<Pin, 1> pins{{{"S", "b"}}};
  const std::vector<std::string> lines =
      explain("S", std::vector<Gateway>{{"a"}, {"b", false}, {"c", true, true}}, pins);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "S: a (the highest weight of the gateways that are alive)");
  EXPECT_EQ(lines[1], "  pinned to b, which is not alive");
  EXPECT_TRUE(
      std::ranges::any_of(lines, [](const std::string& line) { return line.ends_with("  c  alive, draining"); }));
  EXPECT_EQ(explain("S", {}, {}), std::vector<std::string>{"S: no owner (no gateway is alive)"});
}

TEST(Assignment, weights_are_part_of_the_contract_between_versions) {
  EXPECT_NE(weight_of("ab", "c"), weight_of("a", "bc"));
  EXPECT_EQ(weight_of("FIX.4.4:DESK->VENUE", "gateway-1"), 15044607815922396301U);
}

}  // namespace
}  // namespace nfx::cluster
