// How a session protects itself and others: throttle, resend rate, cancel on disconnect, reports, fail-over.
#include <gtest/gtest.h>

#include "engine/venue_and_peer.hpp"
#include "nexusfix/dictionary/load.hpp"

namespace nfx::test {
namespace {

class Limits : public VenueAndPeer {
 protected:
  void begin() {
    rig.venue.start();
    log_on();
  }
  void turns(int count) {
    rig.turn(count);
    peer.read();
  }

  RecordingApplication::Session& seen = rig.venue.application.at();
};

TEST_F(Limits, delaying_throttle_hands_on_everything_in_order_at_its_rate) {
  settings().session.throttle_rate = 10;
  settings().session.throttle_burst = 2;
  settings().session.throttle_action = ThrottleAction::delay;
  begin();
  std::string burst;
  for (std::size_t i = 1; i <= 20; ++i) burst += peer.next("D", order(i));
  peer.send(burst);
  turns(2);
  EXPECT_EQ(seen.orders.size(), 2U);
  rig.pass(99ms, 33ms);
  EXPECT_EQ(seen.orders.size(), 2U);
  rig.pass(1ms, 1ms);
  EXPECT_EQ(seen.orders.size(), 3U);
  rig.pass(1700ms, 10ms);
  ASSERT_EQ(seen.orders.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(seen.orders[i], std::to_string(i + 1));
  EXPECT_TRUE(peer.all(Tag::MsgType) == std::vector<std::string>{"A"}) << "the peer gets no Reject and no Logout";
}

TEST_F(Limits, delayed_messages_in_many_small_pieces_lose_nothing) {
  settings().session.throttle_rate = 100;
  settings().session.throttle_burst = 1;
  settings().session.throttle_action = ThrottleAction::delay;
  begin();
  std::string all;
  for (std::size_t i = 1; i <= 30; ++i) all += peer.next("D", order(i));
  for (std::size_t at = 0; at < all.size(); at += 7) {
    peer.send(std::string_view{all}.substr(at, 7));
    rig.turn();
  }
  rig.pass(400ms, 1ms);
  ASSERT_EQ(seen.orders.size(), 30U);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(seen.orders[i], std::to_string(i + 1));
}

TEST_F(Limits, delayed_peer_that_goes_away_is_forgotten_with_its_messages) {
  settings().session.throttle_rate = 1;
  settings().session.throttle_action = ThrottleAction::delay;
  begin();
  for (std::size_t i = 1; i <= 2; ++i) peer.send(peer.next("D", order(i)));
  rig.turn();
  peer.close();
  rig.pass(5s, 100ms);
  EXPECT_EQ(seen.orders, (std::vector<std::string>{"1", "2"})) << "what came before the end is handed on first";
  EXPECT_FALSE(rig.venue.session().logged_on());
}

TEST_F(Limits, rejecting_throttle_counts_what_it_refused) {
  settings().session.throttle_rate = 1;
  begin();
  for (std::size_t i = 1; i <= 3; ++i) peer.send(peer.next("D", order(i)));
  turns(2);
  EXPECT_EQ(seen.orders, (std::vector<std::string>{"1"}));
  EXPECT_EQ(rig.venue.session().counters().throttled, 2U);
  EXPECT_EQ(peer.all(Tag::MsgType), (std::vector<std::string>{"A", "j", "j"}));
}

TEST_F(Limits, resent_messages_keep_to_the_resend_rate_and_live_ones_do_not_wait) {
  settings().session.resend_rate = 10;
  begin();
  for (std::size_t i = 1; i <= 30; ++i)
    ASSERT_TRUE(rig.venue.session().send({.msg_type = "8", .body = std::string_view{order(i)}}));
  turns(2);
  peer.received.clear();
  peer.send(peer.next(msg_type::resend_request, field(7, "2") + field(16, "0")));
  turns(3);
  EXPECT_EQ(peer.messages().size(), 10U) << "a second's worth in one burst";
  ASSERT_TRUE(rig.venue.session().send({.msg_type = "8", .body = std::string_view{order(99)}}));
  turns(1);
  EXPECT_EQ(peer.all(Tag::ClOrdID).back(), "99");
  EXPECT_GT(rig.venue.loop->until_next_deadline(), 0ns) << "the loop sleeps until the next one may go";
  rig.pass(1s, 50ms);
  peer.read();
  EXPECT_EQ(peer.messages().size(), 21U);
  rig.pass(2s, 50ms);
  peer.read();
  EXPECT_EQ(peer.messages().size(), 31U);
}

TEST_F(Limits, lost_session_cancels_once_when_its_delay_is_over) {
  settings().cancel_on_disconnect = true;
  settings().cancel_delay = 500ms;
  begin();
  peer.close();
  rig.turn(2);
  rig.pass(499ms, 1ms);
  EXPECT_TRUE(seen.cancels.empty());
  rig.pass(2ms, 1ms);
  EXPECT_EQ(seen.cancels, (std::vector<std::string>{"connection lost"}));
  rig.pass(5s);
  EXPECT_EQ(seen.cancels.size(), 1U);
}

TEST_F(Limits, session_that_is_back_in_time_cancels_nothing) {
  settings().cancel_on_disconnect = true;
  settings().cancel_delay = 500ms;
  begin();
  peer.close();
  rig.turn(2);
  rig.pass(100ms);
  log_on();
  ASSERT_TRUE(rig.venue.session().logged_on());
  rig.pass(2s);
  EXPECT_TRUE(seen.cancels.empty());
}

TEST_F(Limits, logout_cancels_only_when_that_is_wanted_too) {
  for (const bool wanted : {false, true}) {
    LoopRig own;
    own.venue.config.sessions = {acceptor()};
    own.venue.config.sessions[0].cancel_on_disconnect = true;
    own.venue.config.sessions[0].cancel_on_logout = wanted;
    own.venue.start();
    RawPeer client{own.network, own.clock};
    client.connect();
    own.turn();
    client.send(client.logon());
    own.turn();
    client.send(client.next(msg_type::logout));
    own.turn(3);
    EXPECT_EQ(own.venue.application.at().cancels.size(), wanted ? 1U : 0U);
  }
}

TEST_F(Limits, connection_that_never_logged_on_cancels_nothing) {
  settings().cancel_on_disconnect = true;
  rig.venue.start();
  peer.connect();
  rig.turn();
  peer.send("8=FIX.4.4");
  peer.close();
  rig.pass(1s);
  EXPECT_TRUE(seen.cancels.empty());
}

TEST_F(Limits, wrong_password_is_told_to_us_and_not_to_the_peer) {
  settings().session.password = "secret";
  begin();
  EXPECT_TRUE(peer.closed);
  EXPECT_TRUE(peer.received.empty());
  ASSERT_EQ(rig.venue.application.refusals.size(), 1U);
  EXPECT_EQ(rig.venue.application.refusals[0].reason, LogonRefusalReason::credentials);
}

TEST_F(Limits, undeclared_tag_is_delivered_with_a_report) {
  const auto dictionary = std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
  settings().dictionary = dictionary;
  settings().session.dictionary = dictionary.get();
  begin();
  peer.send(peer.next("8", order(1) + field(37, "o") + field(17, "e") + field(150, "0") + field(39, "0") +
                               field(55, "X") + field(54, "1") + field(151, "0") + field(14, "0") + field(6, "0") +
                               field(9730, "broker")));
  turns(2);
  EXPECT_EQ(seen.orders, (std::vector<std::string>{"1"}));
  ASSERT_EQ(seen.violations.size(), 1U);
  EXPECT_EQ(seen.violations[0].tag, Tag{9730});
  EXPECT_EQ(rig.venue.session().counters().reported, 1U);
  EXPECT_EQ(rig.venue.session().counters().rejected, 0U);
}

class FailOver : public ::testing::Test {
 protected:
  FailOver() {
    rig.trader.config.sessions = {initiator()};
    rig.trader.config.sessions[0].connect = {{"first", 9000}, {"second", 9001}};
    rig.trader.config.sessions[0].reconnect_delay = 100ms;
    rig.trader.config.sessions[0].reconnect_delay_max = 100ms;
    rig.trader.config.sessions[0].session.reset_on_logon = true;
    rig.trader.config.sessions[0].session.logon_timeout = 1s;
    rig.venue.config.sessions = {acceptor("TRADER", 9001)};
  }
  LoopRig rig;
};

TEST_F(FailOver, host_that_takes_the_connection_but_never_answers_the_logon_is_no_success) {
  LoopbackTransport silent{rig.network, {}};
  ASSERT_TRUE(silent.listen({"first", 9000}).has_value());
  rig.start_both();
  rig.pass(1300ms, 10ms);
  EXPECT_TRUE(rig.trader.session().logged_on()) << "the second host answered";
}

TEST_F(FailOver, priority_begins_with_the_first_host_again_after_a_session) {
  rig.trader.config.sessions[0].host_selection = HostSelection::priority;
  rig.start_both();
  rig.pass(200ms, 10ms);
  ASSERT_TRUE(rig.trader.session().logged_on());
  LoopSide first{rig.network, rig.clock};
  first.config.sessions = {acceptor()};
  first.start();
  rig.trader.session().drop_connection();
  for (int i = 0; i < 40; ++i) {
    rig.pass(10ms, 10ms);
    first.loop->turn(0ns);
  }
  EXPECT_TRUE(first.session().logged_on());
}

TEST_F(FailOver, priority_goes_down_the_list_and_starts_over_after_a_while) {
  rig.trader.config.sessions[0].host_selection = HostSelection::priority;
  rig.trader.config.sessions[0].host_priority_restart = 1s;
  rig.trader.config.sessions[0].connect = {{"first", 9000}, {"second", 9005}, {"third", 9006}};
  rig.trader.start();
  rig.pass(990ms, 10ms);
  LoopSide first{rig.network, rig.clock};
  first.config.sessions = {acceptor()};
  first.start();
  for (int i = 0; i < 60; ++i) {
    rig.pass(10ms, 10ms);
    first.loop->turn(0ns);
  }
  EXPECT_TRUE(first.session().logged_on());
}

}  // namespace
}  // namespace nfx::test
