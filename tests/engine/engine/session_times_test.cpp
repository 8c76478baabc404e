// When a session did what, and how it ended last, as operators see it.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "config/doc_table.hpp"
#include "config/schedule_config.hpp"
#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

class SessionTimesOf : public ::testing::Test {
 protected:
  SessionTimesOf() {
    rig.venue.config.sessions = {acceptor()};
    rig.trader.config.sessions = {initiator()};
  }
  SessionStatus shown(LoopSide& side, const SessionCommand& command = {}) {
    CommandOutcome outcome;
    const auto call =
        std::make_shared<LoopCall>([&](OperatorRequests& requests) { outcome = requests.command(0, command); });
    EXPECT_TRUE(side.loop->push(call));
    rig.turn();
    EXPECT_TRUE(call->wait(Duration::zero()));
    return outcome.session;
  }
  SessionStatus venue(const SessionCommand& command = {}) { return shown(rig.venue, command); }
  SessionStatus trader(const SessionCommand& command = {}) { return shown(rig.trader, command); }
  void log_on() {
    rig.start_both();
    rig.pass(1s);
    ASSERT_TRUE(rig.venue.session().logged_on() && rig.trader.session().logged_on());
  }
  // The venue and a peer of the test, which has logged on.
  void log_on(RawPeer& peer) {
    rig.venue.start();
    peer.connect();
    rig.turn();
    peer.send(peer.logon());
    rig.turn(2);
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  [[nodiscard]] UtcTime now() const { return rig.clock.now().utc; }

  LoopRig rig;
};

TEST_F(SessionTimesOf, a_session_that_never_connected_has_no_times_and_no_end) {
  rig.venue.start();
  const SessionStatus status = venue();
  EXPECT_FALSE(status.times.logged_on_since || status.times.last_in || status.times.last_out);
  EXPECT_FALSE(status.last_end.exists());
  EXPECT_TRUE(status.times.in_hours) << "without a schedule it always is";
}

TEST_F(SessionTimesOf, the_last_messages_have_the_times_of_their_events_and_survive_the_connection) {
  RawPeer peer{rig.network, rig.clock};
  log_on(peer);
  const UtcTime logged_on = now();
  EXPECT_EQ(venue().times.logged_on_since, logged_on);
  EXPECT_EQ(venue().times.last_in, logged_on);
  rig.pass(5s);
  peer.send(peer.next("1", field(112, "hello")));
  rig.turn(2);
  const UtcTime answered = now();
  rig.pass(3s);
  EXPECT_EQ(venue().times.last_in, answered);
  EXPECT_EQ(venue().times.last_out, answered);
  peer.close();
  rig.turn(2);
  const SessionStatus after = venue();
  EXPECT_FALSE(after.times.logged_on_since);
  EXPECT_EQ(after.times.last_in, answered);
  EXPECT_EQ(after.times.last_out, answered);
  EXPECT_EQ(after.last_end.reason(), EndReason::connection_lost);
  EXPECT_EQ(after.last_end.at(), now());
}

TEST_F(SessionTimesOf, a_logout_of_the_peer_is_told_from_one_of_this_side) {
  log_on();
  static_cast<void>(trader({.kind = SessionCommandKind::logout, .text = "back at noon"}));
  rig.pass(1s);
  EXPECT_EQ(trader().last_end.reason(), EndReason::logged_out);
  EXPECT_EQ(venue().last_end.reason(), EndReason::peer_logged_out);
  EXPECT_EQ(venue().last_end.text(), "back at noon");
}

TEST_F(SessionTimesOf, a_dropped_connection_is_lost_to_the_other_side) {
  log_on();
  EXPECT_EQ(venue({.kind = SessionCommandKind::drop}).last_end.reason(), EndReason::dropped);
  rig.turn(2);
  EXPECT_EQ(trader().last_end.reason(), EndReason::connection_lost);
}

TEST_F(SessionTimesOf, a_silent_peer_is_named_as_that) {
  RawPeer peer{rig.network, rig.clock};
  log_on(peer);
  rig.pass(120s, 1s);
  EXPECT_EQ(venue().last_end.reason(), EndReason::peer_silent);
}

TEST_F(SessionTimesOf, a_refused_logon_has_the_text_of_the_refusal) {
  rig.venue.config.sessions[0].session.username = "desk";
  rig.venue.config.sessions[0].session.password = "right";
  rig.venue.start();
  RawPeer peer{rig.network, rig.clock};
  peer.connect();
  rig.turn();
  peer.send(peer.logon(field(553, "desk") + field(554, "wrong")));
  rig.turn(2);
  const SessionStatus status = venue();
  EXPECT_EQ(status.last_end.reason(), EndReason::logon_refused);
  EXPECT_FALSE(status.last_end.text().empty());
}

TEST_F(SessionTimesOf, a_logon_that_the_peer_answers_with_logout_is_refused_by_it) {
  rig.venue.config.sessions[0].session.heartbeat_interval = std::chrono::seconds{10};
  rig.venue.config.sessions[0].session.max_heartbeat_interval = std::chrono::seconds{10};
  rig.trader.config.sessions[0].session.heartbeat_interval = std::chrono::seconds{600};
  rig.start_both();
  rig.pass(1s);
  EXPECT_EQ(trader().last_end.reason(), EndReason::refused_by_peer);
  EXPECT_EQ(venue().last_end.reason(), EndReason::logon_refused);
  EXPECT_EQ(trader().last_end.text(), venue().last_end.text()) << "the Text of the peer's Logout";
}

TEST_F(SessionTimesOf, a_peer_that_is_not_there_is_no_connection_with_the_reason) {
  rig.trader.start();
  rig.pass(1s);
  const SessionStatus status = trader();
  EXPECT_EQ(status.last_end.reason(), EndReason::not_connected);
  EXPECT_FALSE(status.last_end.text().empty());
}

TEST_F(SessionTimesOf, a_connection_that_a_callback_ended_says_so) {
  rig.venue.application.when_message = [](SessionHandle&, const MessageView&) { throw std::runtime_error{"planted"}; };
  log_on();
  ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}}));
  rig.pass(1s);
  EXPECT_EQ(venue().last_end.reason(), EndReason::callback_threw);
}

TEST_F(SessionTimesOf, a_text_longer_than_its_place_is_cut) {
  const SessionEnd end{UtcTime{}, EndReason::dropped, std::string(1000, 'x')};
  EXPECT_EQ(end.text(), std::string(160, 'x'));
}

// From 12:00.
TEST_F(SessionTimesOf, in_hours_follows_the_schedule_and_its_end_is_the_schedules) {
  ScheduleTexts texts;
  texts.start_time = "12:05:00";
  texts.end_time = "12:10:00";
  for (LoopSide* side : {&rig.venue, &rig.trader}) side->config.sessions[0].schedule = make_schedule(texts);
  rig.start_both();
  EXPECT_FALSE(venue().times.in_hours || trader().times.in_hours);
  rig.pass(5min + 1s, 1s);
  EXPECT_TRUE(venue().times.in_hours && trader().times.in_hours);
  ASSERT_TRUE(rig.venue.session().logged_on());
  rig.pass(5min + 1s, 1s);
  EXPECT_FALSE(venue().times.in_hours || trader().times.in_hours);
  const auto by_schedule = [](const SessionStatus& status) { return status.last_end.reason() == EndReason::schedule; };
  EXPECT_TRUE(by_schedule(venue()) || by_schedule(trader())) << "of the side whose Logout was first";
}

TEST_F(SessionTimesOf, an_end_of_one_connection_is_not_the_reason_of_the_next) {
  log_on();
  static_cast<void>(trader({.kind = SessionCommandKind::drop}));
  rig.pass(60s);
  ASSERT_TRUE(rig.trader.session().logged_on());
  static_cast<void>(venue({.kind = SessionCommandKind::drop}));
  rig.turn(2);
  EXPECT_EQ(trader().last_end.reason(), EndReason::connection_lost);
}

TEST(SessionEnds, the_documentation_has_every_reason) {
  std::string table = "| `reason` | ended | meaning |\n|---|---|---|\n";
  for (const EndReasonRow& row : end_reason_rows) {
    if (row.reason != EndReason::none)
      table += "| `" + std::string{row.name} + "` | " + std::string{row.text} + " | " + std::string{row.help} + " |\n";
  }
  expect_table_in("docs/metrics.md", table);
}

}  // namespace
}  // namespace nfx::test
