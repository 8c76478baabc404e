// The runner itself: a wrong scenario must fail, with the line.
#include <gtest/gtest.h>

#include "run_scenario.hpp"
#include "session_peer.hpp"

namespace nfx::conformance {
namespace {

constexpr std::string_view logon =
    "session begin=FIX.4.4 role=acceptor\n"
    "connect\n"
    "> 35=A|34=1|98=0|108=30\n"
    "< 35=A|34=1|98=0|108=30\n";

std::string outcome(std::string_view steps) {
  const Scenario scenario = parse_scenario(std::string{logon} + std::string{steps}, "inline");
  SessionPeer peer{scenario.setup};
  return run_scenario(scenario, peer).value_or("passed");
}

bool fails_at(std::string_view steps, int line) {
  return outcome(steps).starts_with("inline:" + std::to_string(line) + ": ");
}

TEST(Runner, passes_what_is_true) { EXPECT_EQ(outcome("> 35=1|34=2|112=x\n< 35=0|34=2|112=x\nsilence\n"), "passed"); }

TEST(Runner, fails_on_another_value) { EXPECT_TRUE(fails_at("> 35=1|34=2|112=x\n< 35=0|34=2|112=y\n", 6)); }

TEST(Runner, fails_on_another_order) { EXPECT_TRUE(fails_at("> 35=5|34=1\n< 34=2|35=5|58=*\n", 6)); }

TEST(Runner, fails_on_a_field_too_many_or_too_few) {
  EXPECT_TRUE(fails_at("> 35=1|34=2|112=x\n< 35=0|34=2\n", 6));
  EXPECT_TRUE(fails_at("> 35=1|34=2|112=x\n< 35=0|34=2|112=x|58=more\n", 6));
}

TEST(Runner, fails_on_a_message_that_does_not_come) { EXPECT_TRUE(fails_at("< 35=0|34=2\n", 5)); }

TEST(Runner, fails_on_a_message_nobody_expected) {
  EXPECT_TRUE(fails_at("> 35=1|34=2|112=x\n", 5));
  EXPECT_TRUE(fails_at("> 35=1|34=2|112=x\nsilence\n", 6));
  EXPECT_TRUE(fails_at("> 35=D|34=2|11=x\nsilence\n", 6));
}

TEST(Runner, fails_on_a_connection_that_stays_open) { EXPECT_TRUE(fails_at("disconnects\n", 5)); }

TEST(Runner, fails_on_another_delivery) {
  EXPECT_TRUE(fails_at("> 35=D|34=2|11=x\ndelivers 35=D|11=y\n", 6));
  EXPECT_TRUE(fails_at("delivers 35=D\n", 5));
}

TEST(Runner, fails_on_a_time_that_is_not_the_clocks) {
  EXPECT_TRUE(fails_at("+5s\n> 35=1|34=2|112=x\n+1s\n+1s\n< 35=0|34=2|112=x\n", 9));
}

TEST(Runner, says_what_is_wrong_with_a_scenario) {
  EXPECT_THROW(static_cast<void>(parse_scenario("connect\n", "x")), ScenarioError);
  EXPECT_THROW(static_cast<void>(parse_scenario("session colour=red\n", "x")), ScenarioError);
  EXPECT_THROW(static_cast<void>(parse_scenario("session role=acceptor\nwonders\n", "x")), ScenarioError);
  EXPECT_THROW(static_cast<void>(parse_scenario("session role=acceptor\n+5\n", "x")), ScenarioError);
}

TEST(Runner, knows_how_long_a_scenario_waits) {
  EXPECT_EQ(parse_scenario("session role=acceptor\nconnect\n+250ms\n+3s\n", "x").longest_wait(),
            std::chrono::seconds{3});
}

}  // namespace
}  // namespace nfx::conformance
