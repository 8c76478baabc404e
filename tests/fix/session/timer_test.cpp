// next_deadline and on_timer: neither early nor late, and always with progress.
#include <gtest/gtest.h>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Deadline, is_never_while_nothing_can_happen) {
  SessionRig rig{quiet_config()};
  EXPECT_EQ(rig.session.next_deadline(), MonotonicTime::max());
  log_on_acceptor(rig, 0);
  EXPECT_EQ(rig.session.next_deadline(), MonotonicTime::max());
  rig.advance(std::chrono::hours{24});
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_TRUE(rig.session.logged_on());
}

TEST(Deadline, of_the_logon_is_exact) {
  SessionRig rig{initiator_config()};
  rig.connect();
  rig.sent.clear();
  EXPECT_EQ(rig.session.next_deadline(), rig.now.monotonic + seconds{10});
  rig.move_clock_to(rig.now.monotonic + seconds{10} - Duration{1});
  rig.fire_timer();
  EXPECT_FALSE(rig.closed);
  rig.move_clock_to(rig.now.monotonic + Duration{1});
  rig.fire_timer();
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.logged_out_text, "no Logon within the timeout");
}

TEST(Deadline, of_the_heartbeat_moves_with_everything_sent) {
  SessionRig rig = logged_on({}, 10);
  const MonotonicTime start = rig.now.monotonic;
  EXPECT_EQ(rig.session.next_deadline(), start + seconds{10});
  rig.advance(seconds{4});
  ASSERT_TRUE(rig.send("8", "11=x\x01"));
  EXPECT_EQ(rig.session.next_deadline(), start + seconds{12});  // the TestRequest comes first now
  say(rig, "35=2|34=2|7=2|16=2|");
  EXPECT_EQ(rig.session.next_deadline(), start + seconds{14});
  rig.advance(seconds{3});
  rig.sent.clear();
  say(rig, "35=2|34=3|7=2|16=2|");  // resent messages count as sent
  EXPECT_EQ(rig.session.next_deadline(), start + seconds{17});
}

TEST(Deadline, early_timers_do_nothing) {
  SessionRig rig = logged_on({}, 10);
  for (int i = 0; i < 9999; ++i) {
    rig.move_clock_to(rig.now.monotonic + milliseconds{1});
    rig.fire_timer();
  }
  EXPECT_TRUE(rig.sent.empty());
  rig.move_clock_to(rig.now.monotonic + milliseconds{1});
  rig.fire_timer();
  EXPECT_EQ(rig.take(), "35=0|34=2|");
}

TEST(Deadline, of_a_late_timer_still_does_everything_due_once) {
  SessionRig rig = logged_on({}, 10);
  rig.move_clock_to(rig.now.monotonic + seconds{500});
  rig.fire_timer();
  EXPECT_EQ(rig.take(), "35=0|34=2|");
  EXPECT_EQ(rig.take(), "35=1|34=3|112=TEST|");
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_FALSE(rig.closed);
  // The TestRequest was sent only now, so the peer has its time to answer.
  EXPECT_GT(rig.session.next_deadline(), rig.now.monotonic);
}

TEST(Deadline, is_in_the_future_after_the_timer_has_run) {
  SessionRig rig = logged_on({.resend_timeout = seconds{3}}, 7);
  say(rig, "35=0|34=9|");
  int fired = 0;
  while (!rig.closed) {
    const MonotonicTime due = rig.session.next_deadline();
    ASSERT_NE(due, MonotonicTime::max());
    ASSERT_GE(due, rig.now.monotonic);
    rig.move_clock_to(due);
    rig.fire_timer();
    ASSERT_GT(rig.session.next_deadline(), due) << "nothing happened at its deadline";
    ASSERT_LT(++fired, 100);
  }
  EXPECT_GT(fired, 3);
}

TEST(TestRequest, stops_heartbeats_and_is_sent_once_per_silence) {
  SessionRig rig = logged_on({}, 10);
  rig.advance(milliseconds{23'999});
  EXPECT_EQ(rig.take(), "35=0|34=2|");
  EXPECT_EQ(rig.take(), "35=1|34=3|112=TEST|");
  EXPECT_TRUE(rig.sent.empty());
  rig.advance(milliseconds{1});
  EXPECT_TRUE(rig.closed);
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_EQ(rig.logged_out_count, 1);
}

TEST(TestRequest, pending_on_one_connection_does_not_affect_the_next) {
  SessionRig rig = logged_on({}, 10);
  rig.advance(seconds{12});
  rig.cut();
  rig.advance(seconds{100});
  log_on_acceptor(rig, 10);
  rig.advance(seconds{10});
  EXPECT_EQ(rig.take().substr(0, 5), "35=0|");
  EXPECT_FALSE(rig.closed);
}

TEST(TestRequest, asks_a_silent_peer_without_heartbeats_after_the_idle_time_and_ends_after_as_long_again) {
  SessionRig rig = logged_on({.allow_no_heartbeats = true, .idle_test_interval = seconds{60}}, 0);
  rig.advance(seconds{60} - Duration{1});
  EXPECT_TRUE(rig.sent.empty());
  rig.advance(Duration{1});
  EXPECT_EQ(rig.take(), "35=1|34=2|112=TEST|");
  say(rig, "35=0|34=2|112=TEST|");
  rig.advance(seconds{60});
  EXPECT_EQ(rig.take(), "35=1|34=3|112=TEST|");
  rig.advance(seconds{60} - Duration{1});
  EXPECT_FALSE(rig.closed);
  rig.advance(Duration{1});
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.logged_out_text, "the peer is silent: TestRequest unanswered");
}

TEST(Probe, ends_a_session_whose_peer_does_not_answer_in_time) {
  for (const int heartbeat : {0, 30}) {
    SessionRig rig = logged_on(quiet_config(), heartbeat);
    rig.probe(seconds{5});
    EXPECT_EQ(rig.take(), "35=1|34=2|112=TEST|");
    EXPECT_TRUE(rig.session.probing());
    rig.advance(seconds{5} - Duration{1});
    EXPECT_FALSE(rig.closed);
    rig.advance(Duration{1});
    EXPECT_TRUE(rig.closed) << heartbeat;
  }
}

TEST(Probe, is_over_with_any_message_and_sends_one_test_request_only) {
  SessionRig rig = logged_on();
  rig.probe(seconds{5});
  rig.probe(seconds{9});
  EXPECT_EQ(rig.sent.size(), 1u);
  say(rig, "35=0|34=2|");
  EXPECT_FALSE(rig.session.probing());
  rig.advance(seconds{20});
  EXPECT_FALSE(rig.closed);
}

TEST(Probe, shortens_the_time_of_a_test_request_that_is_under_way_already) {
  SessionRig rig = logged_on();
  rig.advance(seconds{36});
  ASSERT_TRUE(rig.session.probing());
  rig.probe(seconds{5});
  rig.advance(seconds{5});
  EXPECT_TRUE(rig.closed);
}

TEST(LogoutTimer, is_not_delayed_by_a_peer_that_keeps_talking) {
  SessionRig rig = logged_on();
  rig.logout();
  const MonotonicTime due = rig.session.next_deadline();
  EXPECT_EQ(due, rig.now.monotonic + seconds{2});
  for (int seq = 2; seq < 12; ++seq) {
    rig.advance(milliseconds{100});
    say(rig, "35=1|34=" + std::to_string(seq) + "|112=x|");
    EXPECT_EQ(rig.session.next_deadline(), due);
  }
  rig.advance(seconds{1});
  EXPECT_TRUE(rig.closed);
}

TEST(Connection, lost_while_waiting_for_the_logout_answer_ends_the_session_once) {
  SessionRig rig = logged_on();
  rig.logout();
  rig.cut();
  rig.cut();
  EXPECT_EQ(rig.logged_out_count, 1);
  EXPECT_EQ(rig.session.next_deadline(), MonotonicTime::max());
}

}  // namespace
}  // namespace nfx::test
