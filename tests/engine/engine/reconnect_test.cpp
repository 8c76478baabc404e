// When an initiator tries again, where, and when it does not.
#include <gtest/gtest.h>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

class Reconnect : public ::testing::Test {
 protected:
  Reconnect() {
    rig.venue.config.sessions = {acceptor()};
    rig.trader.config.sessions = {initiator()};
    rig.trader.config.sessions[0].reconnect_delay = 100ms;
    rig.trader.config.sessions[0].reconnect_delay_max = 1000ms;
  }

  // Times between the next tries, each of which fails because no process listens.
  std::vector<Duration> gaps_of(std::size_t tries) {
    constexpr Duration step = 1ms;
    std::vector<Duration> gaps;
    std::size_t failed = failures();
    MonotonicTime last = rig.clock.now().monotonic;
    for (int i = 0; i < 20'000 && gaps.size() < tries; ++i) {
      rig.clock.advance(step);
      rig.turn();
      if (failures() == failed) continue;
      failed = failures();
      gaps.push_back(rig.clock.now().monotonic - last);
      last = rig.clock.now().monotonic;
    }
    return gaps;
  }
  std::size_t failures() { return rig.trader.application.count(Notice::connect_failed); }
  bool logged_on() { return rig.trader.session().logged_on(); }

  LoopRig rig;
};

TEST_F(Reconnect, delays_double_up_to_the_maximum_and_vary) {
  rig.trader.start();
  rig.turn();
  ASSERT_EQ(failures(), 1U);
  const std::vector<Duration> gaps = gaps_of(12);
  ASSERT_EQ(gaps.size(), 12U);
  Duration nominal = 100ms;
  for (const Duration gap : gaps) {
    EXPECT_GE(gap, nominal / 2);
    EXPECT_LE(gap, nominal + 2ms);
    nominal = std::min<Duration>(nominal * 2, 1000ms);
  }
  EXPECT_NE(gaps[10], gaps[11]) << "two clients must not meet in step";
}

TEST_F(Reconnect, delays_start_small_again_after_a_logon) {
  rig.trader.start();
  rig.turn();
  gaps_of(8);
  rig.venue.start();
  rig.pass(3s, 10ms);
  ASSERT_TRUE(logged_on());
  rig.trader.session().drop_connection();
  rig.pass(110ms, 1ms);
  EXPECT_TRUE(logged_on());
  EXPECT_EQ(rig.trader.session().counters().logons, 2U);
}

TEST_F(Reconnect, failed_tries_are_no_disconnects) {
  rig.trader.start();
  rig.turn();
  gaps_of(3);
  EXPECT_EQ(rig.trader.session().counters().disconnects, 0U);
}

TEST_F(Reconnect, refused_logon_is_tried_again_later_and_later) {
  rig.venue.config.sessions[0].session.max_heartbeat_interval = 20s;
  rig.venue.config.sessions[0].session.heartbeat_interval = 20s;
  rig.start_both();
  rig.pass(10s, 10ms);
  EXPECT_FALSE(logged_on());
  EXPECT_GE(rig.trader.session().counters().disconnects, 8U);
  EXPECT_LE(rig.trader.session().counters().disconnects, 25U);
}

TEST_F(Reconnect, endpoints_are_tried_in_turn_until_one_logs_on) {
  rig.trader.config.sessions[0].connect = {{"first", 9000}, {"second", 9001}};
  rig.venue.config.sessions = {acceptor("TRADER", 9001)};
  rig.start_both();
  rig.pass(150ms, 1ms);
  EXPECT_TRUE(logged_on());
  EXPECT_EQ(failures(), 1U);
}

TEST_F(Reconnect, fails_over_when_the_place_it_was_connected_to_goes) {
  rig.trader.config.sessions[0].connect = {{"first", 9000}, {"second", 9001}};
  rig.trader.config.sessions[0].session.reset_on_logon = true;  // the backup knows nothing of the first one's numbers
  rig.venue.config.sessions = {acceptor("TRADER", 9001)};       // the backup
  std::optional<LoopSide> primary{std::in_place, rig.network, rig.clock};
  primary->config.sessions = {acceptor()};
  primary->start();
  rig.trader.start();
  for (int i = 0; i < 4; ++i) {
    rig.turn();
    primary->loop->turn(0ns);
  }
  ASSERT_TRUE(primary->session().logged_on());
  ASSERT_TRUE(logged_on());
  primary.reset();
  rig.venue.start();
  rig.pass(150ms, 1ms);
  EXPECT_EQ(rig.trader.session().counters().logons, 2U);
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(Reconnect, logout_keeps_an_initiator_away_until_logon) {
  rig.start_both();
  rig.trader.session().logout("lunch");
  rig.turn(3);
  EXPECT_FALSE(logged_on());
  rig.pass(20s);
  EXPECT_FALSE(logged_on());
  EXPECT_EQ(rig.trader.session().counters().logons, 1U);
  rig.trader.session().logon();
  rig.turn(4);
  EXPECT_TRUE(logged_on());
}

TEST_F(Reconnect, logout_while_waiting_for_the_next_try_keeps_it_away) {
  rig.trader.start();
  rig.turn();
  rig.trader.session().logout({});
  EXPECT_TRUE(gaps_of(1).empty());
  rig.trader.session().logon();
  rig.venue.start();
  rig.turn(4);
  EXPECT_TRUE(logged_on());
}

TEST_F(Reconnect, logout_while_connecting_keeps_it_away) {
  rig.venue.start();
  rig.trader.start();  // the connect is under way
  rig.trader.session().logout({});
  rig.pass(5s);
  EXPECT_FALSE(logged_on());
  EXPECT_EQ(rig.venue.session().counters().messages_in, 0U);
  rig.trader.session().logon();
  rig.turn(4);
  EXPECT_TRUE(logged_on());
}

TEST_F(Reconnect, connection_dropped_while_connecting_is_tried_again) {
  rig.venue.start();
  rig.trader.start();
  rig.trader.session().drop_connection();
  rig.turn(3);
  EXPECT_FALSE(logged_on());
  rig.pass(200ms, 10ms);
  EXPECT_TRUE(logged_on());
}

TEST_F(Reconnect, logon_while_the_logout_is_under_way_waits_without_spinning) {
  rig.start_both();
  rig.trader.session().logout("a moment");
  rig.trader.session().logon();
  rig.trader.loop->turn(0ns);
  EXPECT_GT(rig.trader.loop->until_next_deadline(), 0ns);
  rig.turn(3);
  EXPECT_FALSE(logged_on());
  rig.pass(200ms, 10ms);
  EXPECT_TRUE(logged_on());
}

TEST_F(Reconnect, logged_out_acceptor_lets_its_peer_in_only_after_logon) {
  rig.start_both();
  rig.venue.session().logout("closed");
  rig.pass(3s);
  EXPECT_FALSE(logged_on());
  rig.venue.session().logon();
  rig.pass(2s);
  EXPECT_TRUE(logged_on());
}

TEST_F(Reconnect, stopping_ends_a_connect_under_way) {
  rig.venue.start();
  rig.trader.start();
  rig.trader.loop->request_stop();
  rig.turn(2);
  EXPECT_TRUE(rig.trader.loop->finished());
  rig.pass(5s);
  EXPECT_FALSE(logged_on());
}

}  // namespace
}  // namespace nfx::test
