// The engine's actions at the boundaries of a session's time, also at boundaries that it slept through.
#include <gtest/gtest.h>

#include "config/schedule_config.hpp"
#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

std::shared_ptr<const Schedule> daily(std::string start, std::string end) {
  ScheduleTexts texts;
  texts.start_time = std::move(start);
  texts.end_time = std::move(end);
  return make_schedule(texts);
}

// The clock starts at 12:00 UTC.
class Scheduled : public ::testing::Test {
 protected:
  Scheduled() {
    rig.venue.config.sessions = {acceptor()};
    rig.trader.config.sessions = {initiator()};
    both([](SessionSettings& s) {
      s.session.heartbeat_interval = std::chrono::seconds{600};
      s.reconnect_delay = std::chrono::milliseconds{1000};
      s.reconnect_delay_max = std::chrono::milliseconds{1000};
    });
  }
  template <class Change>
  void both(Change change) {
    change(rig.venue.config.sessions[0]);
    change(rig.trader.config.sessions[0]);
  }
  void schedule(const std::string& start, const std::string& end) {
    both([&](SessionSettings& s) { s.schedule = daily(start, end); });
  }
  bool up() { return rig.trader.session().logged_on() && rig.venue.session().logged_on(); }

  LoopRig rig;
};

TEST_F(Scheduled, initiator_waits_for_its_time_and_logs_on_then) {
  schedule("12:10:00", "13:00:00");
  rig.start_both();
  rig.pass(9min, 10s);
  EXPECT_FALSE(up());
  EXPECT_EQ(rig.trader.application.count(Notice::connect_failed), 0U);
  rig.pass(1min + 1s, 1s);
  EXPECT_TRUE(up());
}

TEST_F(Scheduled, session_is_logged_out_at_its_end_and_does_not_come_back) {
  schedule("11:00:00", "12:05:00");
  rig.start_both();
  ASSERT_TRUE(up());
  rig.pass(5min - 1s, 1s);
  EXPECT_TRUE(up());
  rig.pass(2s, 1s);
  EXPECT_FALSE(up());
  ASSERT_EQ(rig.trader.application.at().logouts.size(), 1U);
  rig.pass(10min, 1s);
  EXPECT_EQ(rig.trader.application.at().logons, 1U);
}

TEST_F(Scheduled, acceptor_that_is_enabled_after_it_was_added_is_logged_out_at_its_end) {
  rig.venue.config.max_dynamic_sessions = 1;
  rig.venue.start();
  SessionSettings settings = acceptor("OTHER");
  settings.schedule = daily("11:00:00", "12:05:00");
  const std::size_t added = rig.venue.loop->add(settings, {.enabled = false});
  rig.turn();
  rig.venue.session(added).logon();
  rig.trader.config.sessions = {initiator("OTHER")};
  rig.trader.start();
  rig.pass(1s);
  ASSERT_TRUE(rig.venue.session(added).logged_on());
  rig.pass(5min);
  EXPECT_FALSE(rig.venue.session(added).logged_on());
}

TEST_F(Scheduled, acceptor_refuses_a_logon_outside_its_time) {
  rig.venue.config.sessions[0].schedule = daily("13:00:00", "14:00:00");
  rig.venue.start();
  RawPeer peer{rig.network, rig.clock};
  peer.connect();
  rig.turn();
  peer.send(peer.logon());
  rig.turn(2);
  peer.read();
  EXPECT_TRUE(peer.closed);
  EXPECT_TRUE(peer.received.empty());
  ASSERT_EQ(rig.venue.application.refusals.size(), 1U);
  EXPECT_EQ(rig.venue.application.refusals[0].reason, LogonRefusalReason::outside_schedule);
}

TEST_F(Scheduled, numbers_start_over_with_the_next_days_session) {
  schedule("11:00:00", "12:05:00");
  rig.start_both();
  ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}}).has_value());
  rig.pass(6min, 1s);
  ASSERT_FALSE(up());
  EXPECT_GT(rig.trader.session().next_outbound(), SeqNum{2})
      << "the sequence numbers stay until the next session begins";
  rig.pass(22h + 53min, 30s);
  rig.pass(2min, 1s);
  ASSERT_TRUE(up());
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{2});
  EXPECT_EQ(rig.venue.session().next_outbound(), SeqNum{2});
}

TEST_F(Scheduled, session_of_24_hours_logs_out_and_in_again_with_new_numbers) {
  schedule("12:30:00", "12:30:00");
  rig.start_both();
  ASSERT_TRUE(up());
  ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}}).has_value());
  rig.pass(29min, 1s);
  EXPECT_EQ(rig.trader.application.at().logons, 1U);
  rig.pass(2min, 1s);
  EXPECT_TRUE(up());
  EXPECT_EQ(rig.trader.application.at().logons, 2U);
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{2});
}

TEST_F(Scheduled, numbers_stay_when_a_clock_is_set_back_in_front_of_the_boundary_they_began_with) {
  schedule("12:30:00", "12:30:00");
  rig.start_both();
  rig.pass(31min, 1s);
  ASSERT_TRUE(up());
  ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}}).has_value());
  rig.turn(4);
  const SeqNum before = rig.trader.session().next_outbound();
  const std::size_t notices = rig.venue.application.count(Notice::schedule);
  rig.clock.time.utc -= 5min;
  rig.trader.session().drop_connection();
  rig.pass(10s, 1s);
  EXPECT_TRUE(up());
  EXPECT_GT(rig.trader.session().next_outbound(), before);
  EXPECT_EQ(rig.venue.application.count(Notice::schedule), notices);
}

TEST_F(Scheduled, boundary_that_passed_while_the_process_was_down_resets_at_start) {
  schedule("11:00:00", "13:00:00");
  both([&](SessionSettings& s) {
    s.next_inbound = s.next_outbound = SeqNum{50};
    s.numbers_as_of = rig.clock.now().utc - 24h;
  });
  rig.start_both();
  ASSERT_TRUE(up());
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{2});
}

TEST_F(Scheduled, numbers_of_the_same_session_are_taken_up_again) {
  schedule("11:00:00", "13:00:00");
  both([&](SessionSettings& s) {
    s.next_inbound = s.next_outbound = SeqNum{50};
    s.numbers_as_of = rig.clock.now().utc - 30min;
  });
  rig.start_both();
  ASSERT_TRUE(up());
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{51});
}

TEST_F(Scheduled, reset_time_within_the_session_starts_over_on_the_open_connection) {
  ScheduleTexts texts;
  texts.reset_time = "12:10:00";
  both([&](SessionSettings& s) { s.schedule = make_schedule(texts); });
  rig.start_both();
  ASSERT_TRUE(up());
  ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}}).has_value());
  rig.pass(11min, 1s);
  EXPECT_TRUE(up());
  EXPECT_EQ(rig.trader.application.at().logons, 1U) << "no new connection";
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{2});
  EXPECT_EQ(rig.venue.session().next_outbound(), SeqNum{2});
}

TEST_F(Scheduled, logon_window_ends_before_the_session) {
  ScheduleTexts texts;
  texts.start_time = "11:00:00";
  texts.end_time = "13:00:00";
  texts.logon_time = "11:30:00";
  texts.logout_time = "12:05:00";
  both([&](SessionSettings& s) { s.schedule = make_schedule(texts); });
  rig.start_both();
  ASSERT_TRUE(up());
  rig.pass(6min, 1s);
  EXPECT_FALSE(up());
  EXPECT_GT(rig.trader.session().next_outbound(), SeqNum{2}) << "no reset within the session";
}

}  // namespace
}  // namespace nfx::test
