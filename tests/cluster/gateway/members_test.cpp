// Who is alive, what operators have set, and which gateway gives a session up.
#include "gateway/members.hpp"

#include <gtest/gtest.h>

namespace nfx::gateway {
namespace {

using namespace std::chrono_literals;
using cluster::GatewayId;

constexpr MonotonicTime start{100s};

ClusterConfig two_gateways(const std::string& own = "a") {
  ClusterConfig config;
  config.gateway = own;
  config.gateways = {"a", "b"};
  config.lease = 4s;
  return config;
}

// A session that the hash gives to this gateway while both are alive.
std::string session_of(const std::string& gateway) {
  for (int i = 0;; ++i) {
    const std::string name = "S" + std::to_string(i);
    if ((cluster::weight_of(name, "a") > cluster::weight_of(name, "b")) == (gateway == "a")) return name;
  }
}

std::string owner_of(const Members& members, const std::string& session, MonotonicTime now = start) {
  const cluster::Assignment owner = members.owner_of(session, now);
  return owner.gateway == cluster::Assignment::no_gateway ? "none" : members.name(owner.gateway);
}

TEST(Members, gateway_is_alive_for_its_lease_and_half_a_second_more) {
  Members members{two_gateways(), GatewayId{1}};
  EXPECT_EQ(owner_of(members, session_of("b")), "a") << "nothing was heard of b";
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  EXPECT_EQ(owner_of(members, session_of("b"), start + 4400ms), "b");
  EXPECT_EQ(owner_of(members, session_of("b"), start + 4500ms), "a");
}

TEST(Members, gateway_that_ends_its_lease_is_not_alive) {
  Members members{two_gateways(), GatewayId{1}};
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  ASSERT_TRUE(members.on_lease(1, GatewayId{}, start + 1s));
  EXPECT_EQ(owner_of(members, session_of("b"), start + 1s), "a");
}

TEST(Members, lease_of_a_session_names_the_gateway_that_has_renewed_its_own) {
  Members members{two_gateways(), GatewayId{1}};
  EXPECT_EQ(members.name_of(GatewayId{2}), "") << "nothing was heard of b";
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  EXPECT_EQ(members.name_of(GatewayId{2}), "b");
  EXPECT_EQ(members.name_of(GatewayId{1}), "a");
  EXPECT_EQ(members.name_of(GatewayId{}), "") << "no gateway has the session";
  ASSERT_TRUE(members.on_lease(1, GatewayId{3}, start));
  EXPECT_EQ(members.name_of(GatewayId{2}), "") << "b was started again";
}

TEST(Members, gateway_is_next_where_the_loss_of_another_one_makes_it_the_owner) {
  ClusterConfig config = two_gateways();
  config.gateways.push_back("c");
  Members members{config, GatewayId{1}};
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  ASSERT_TRUE(members.on_lease(2, GatewayId{3}, start));
  int next = 0, other = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string session = "S" + std::to_string(i);
    Members without_b{config, GatewayId{1}}, without_c{config, GatewayId{1}};
    ASSERT_TRUE(without_b.on_lease(2, GatewayId{3}, start) && without_c.on_lease(1, GatewayId{2}, start));
    const bool expected = owner_of(without_b, session) == "a" || owner_of(without_c, session) == "a";
    EXPECT_EQ(members.is_next(session, start), expected) << session;
    ++(expected ? next : other);
  }
  EXPECT_GT(next, 0);
  EXPECT_GT(other, 0);
}

TEST(Members, rank_is_the_number_of_living_gateways_that_a_session_goes_to_before) {
  Members members{two_gateways(), GatewayId{1}};
  EXPECT_EQ(members.rank(session_of("b"), start), 0U) << "nothing was heard of b";
  EXPECT_TRUE(members.is_alone(start));
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  EXPECT_EQ(members.rank(session_of("b"), start), 1U);
  EXPECT_EQ(members.rank(session_of("a"), start), 0U);
  EXPECT_FALSE(members.is_alone(start));
  members.set({.drains = {"a"}, .moves = {}});
  EXPECT_EQ(members.rank(session_of("a"), start), 1U) << "the one that drains comes last";
}

TEST(Members, session_stays_where_its_gateway_does_not_take_it_until_that_one_starts_again) {
  Members members{two_gateways(), GatewayId{1}};
  const std::string session = session_of("a");
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  members.set({.drains = {}, .moves = {{session, "b"}}});
  EXPECT_FALSE(members.gives_up(session, start, GatewayId{2}));
  ASSERT_TRUE(members.on_lease(1, GatewayId{3}, start));
  EXPECT_TRUE(members.gives_up(session, start, GatewayId{2}));
}

TEST(Members, another_process_of_this_name_is_found) {
  Members members{two_gateways(), GatewayId{1}};
  EXPECT_TRUE(members.on_lease(0, GatewayId{1}, start));
  EXPECT_FALSE(members.on_lease(0, GatewayId{7}, start));
}

TEST(Members, owner_keeps_a_session_that_the_hash_gives_to_another_one) {
  Members members{two_gateways(), GatewayId{1}};
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  EXPECT_FALSE(members.gives_up(session_of("b"), start)) << "no session moves because a gateway has come back";
}

TEST(Members, draining_owner_gives_sessions_up_as_soon_as_another_one_is_alive) {
  ClusterConfig config = two_gateways();
  config.drain = {"a"};
  Members members{config, GatewayId{1}};
  EXPECT_FALSE(members.gives_up(session_of("a"), start));
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  EXPECT_TRUE(members.gives_up(session_of("a"), start));
}

TEST(Members, pinned_session_is_given_up_for_its_gateway) {
  ClusterConfig config = two_gateways();
  const std::string session = session_of("a");
  config.pins = {session + "=b"};
  Members members{config, GatewayId{1}};
  EXPECT_EQ(owner_of(members, session), "a");
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  EXPECT_TRUE(members.gives_up(session, start));
}

TEST(Members, operators_go_before_the_configuration) {
  ClusterConfig config = two_gateways();
  const std::string session = session_of("a");
  config.pins = {session + "=b"};
  Members members{config, GatewayId{1}};
  ASSERT_TRUE(members.on_lease(1, GatewayId{2}, start));
  members.set({.drains = {}, .moves = {{session, "a"}}});
  EXPECT_EQ(owner_of(members, session), "a");
  EXPECT_FALSE(members.gives_up(session, start));
  members.set({.drains = {"a"}, .moves = {}});
  EXPECT_TRUE(members.gives_up(session_of("a"), start));
  members.set({});
  EXPECT_EQ(owner_of(members, session), "b");
}

TEST(OperatorSettings, are_read_as_they_were_written) {
  const OperatorSettings settings{.drains = {"a", "b"}, .moves = {{"DESK-VENUE", "c"}}};
  EXPECT_EQ(to_string(settings), "drain a\ndrain b\nmove DESK-VENUE c\n");
  EXPECT_EQ(parse_settings(to_string(settings) + "\n"), settings);
}

TEST(OperatorSettings, lines_of_a_later_version_and_incomplete_ones_are_ignored) {
  EXPECT_EQ(parse_settings("drain\nmove S\nshed load a\n\n drain  a \n"),
            (OperatorSettings{.drains = {"a"}, .moves = {}}));
}

}  // namespace
}  // namespace nfx::gateway
