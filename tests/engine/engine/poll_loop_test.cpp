// Sessions on a poll loop: coming up, talking, ending.
#include <gtest/gtest.h>

#include <thread>
#include <tuple>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

std::vector<std::string> numbers(std::size_t from, std::size_t to) {
  std::vector<std::string> result;
  for (std::size_t i = from; i <= to; ++i) result.push_back(std::to_string(i));
  return result;
}

class PollLoopTest : public ::testing::Test {
 protected:
  PollLoopTest() {
    rig.venue.config.sessions = {acceptor()};
    rig.trader.config.sessions = {initiator()};
  }
  // A venue alone, with the raw peer as its only session logged on.
  void log_raw_peer_on() {
    rig.venue.start();
    exchange([&] { peer.connect(); });
    exchange([&] { peer.send(peer.logon()); });
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  template <class Act>
  void exchange(Act&& act) {
    act();
    rig.venue.loop->turn(0ns);
    peer.read();
  }

  LoopRig rig;
  RawPeer peer{rig.network, rig.clock};
};

TEST_F(PollLoopTest, both_sides_log_on_and_each_message_arrives_once) {
  rig.start_both();
  ASSERT_TRUE(rig.venue.session().logged_on());
  ASSERT_TRUE(rig.trader.session().logged_on());
  for (std::size_t i = 1; i <= 50; ++i) {
    EXPECT_EQ(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(i)}}), SeqNum{i + 1});
    EXPECT_EQ(rig.venue.session().send({.msg_type = "8", .body = std::string_view{order(i)}}), SeqNum{i + 1});
    if (i % 7 == 0) rig.turn();
  }
  rig.turn(2);
  EXPECT_EQ(rig.venue.application.at().orders, numbers(1, 50));
  EXPECT_EQ(rig.trader.application.at().orders, numbers(1, 50));
  EXPECT_EQ(rig.venue.session().next_inbound(), rig.trader.session().next_outbound());
  EXPECT_EQ(rig.trader.session().next_inbound(), rig.venue.session().next_outbound());
  EXPECT_EQ(rig.venue.session().counters().messages_in, 51U);
  EXPECT_EQ(rig.venue.session().counters().messages_out, 51U);
}

TEST_F(PollLoopTest, what_callbacks_send_leaves_in_the_order_of_its_numbers) {
  rig.venue.application.when_logged_on = [](SessionHandle& session) {
    std::ignore = session.send({.msg_type = "8", .body = std::string_view{order(100)}});
  };
  rig.venue.application.when_message = [](SessionHandle& session, const MessageView& message) {
    std::ignore = session.send({.msg_type = "8", .body = std::string_view{field(11, message.get_view(Tag::ClOrdID))}});
    std::ignore = session.send({.msg_type = "8", .body = std::string_view{field(11, message.get_view(Tag::ClOrdID))}});
  };
  rig.venue.config.sessions[0].session.resend_chunk_size = 2;
  peer.seq = 4;  // a gap of three before the Logon, requested in chunks of two
  log_raw_peer_on();
  peer.seq = 1;
  for (int i = 1; i <= 4; ++i) exchange([&] { peer.send(peer.next("D", order(static_cast<std::size_t>(i)))); });

  EXPECT_EQ(peer.all(Tag::MsgSeqNum), numbers(1, peer.messages().size()));
  // Logon, request for 1 and 2, on_logon's message; the second order's request comes before the echo of it.
  EXPECT_EQ(peer.all(Tag::MsgType),
            (std::vector<std::string>{"A", "2", "8", "8", "8", "2", "8", "8", "8", "8", "8", "8"}));
  const std::vector<std::string> live = peer.all(Tag::ClOrdID);
  peer.received.clear();
  exchange([&] { peer.send(peer.message("2", field(7, "1") + field(16, "0"), 5)); });
  std::vector<std::string> orders_live, orders_again;
  std::ranges::copy_if(live, std::back_inserter(orders_live), [](const auto& id) { return !id.empty(); });
  std::ranges::copy_if(peer.all(Tag::ClOrdID), std::back_inserter(orders_again),
                       [](const auto& id) { return !id.empty(); });
  EXPECT_EQ(orders_again, orders_live) << "what was stored is what was sent";
}

TEST_F(PollLoopTest, callbacks_that_only_look_on_can_neither_send_nor_end_the_session) {
  std::size_t refused = 0;
  const auto meddle = [&](SessionHandle& session) {
    const auto sent = session.send({.msg_type = "8", .body = std::string_view{order(1)}});
    if (!sent && sent.error() == SendError::not_here) ++refused;
    session.logout("no");
    session.drop_connection();
    session.reset_sequence_numbers();
  };
  rig.venue.application.when_traffic = [&](SessionHandle& session, Direction) { meddle(session); };
  rig.venue.application.when_resent = [&](SessionHandle& session, const MessageView&) {
    meddle(session);
    return true;
  };
  log_raw_peer_on();
  std::ignore = rig.venue.session().send({.msg_type = "8", .body = std::string_view{order(7)}});
  exchange([&] { peer.send(peer.next("2", field(7, "1") + field(16, "0"))); });
  EXPECT_EQ(peer.all(Tag::ClOrdID), (std::vector<std::string>{"", "7", "", "7"}));
  EXPECT_GT(refused, 0U);
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(PollLoopTest, several_sessions_share_one_listener) {
  for (const char* name : {"A", "B", "C"}) {
    rig.venue.config.sessions.push_back(acceptor(name));
    rig.trader.config.sessions.push_back(initiator(name));
  }
  rig.start_both();
  for (std::size_t id = 0; id < 4; ++id) {
    ASSERT_TRUE(rig.trader.session(id).send({.msg_type = "D", .body = std::string_view{order(id)}}).has_value());
  }
  rig.turn(2);
  for (std::size_t id = 0; id < 4; ++id) EXPECT_EQ(rig.venue.application.at(id).orders, numbers(id, id));
}

TEST_F(PollLoopTest, an_unknown_identity_is_closed_without_an_answer) {
  rig.venue.start();
  RawPeer stranger{rig.network, rig.clock, "STRANGER"};
  stranger.connect();
  rig.turn();
  stranger.send(stranger.logon());
  rig.turn(2);
  stranger.read();
  EXPECT_TRUE(stranger.closed);
  EXPECT_EQ(stranger.received, "");
  EXPECT_EQ(rig.venue.loop->counters().unknown_session, 1U);
  EXPECT_FALSE(rig.venue.session().logged_on());
}

TEST_F(PollLoopTest, a_session_answers_on_its_own_listener_only) {
  rig.venue.config.sessions.push_back(acceptor("OTHER", 9001));
  rig.venue.start();
  peer.connect(9001);
  rig.turn();
  peer.send(peer.logon());
  rig.turn();
  peer.read();
  EXPECT_TRUE(peer.closed);
  EXPECT_EQ(rig.venue.loop->counters().unknown_session, 1U);
}

TEST_F(PollLoopTest, a_second_connection_of_the_same_identity_is_closed_while_the_first_lives) {
  log_raw_peer_on();
  RawPeer twin{rig.network, rig.clock};
  twin.connect();
  rig.turn();
  twin.send(twin.logon());
  rig.turn();
  twin.read();
  EXPECT_TRUE(twin.closed);
  EXPECT_EQ(twin.received, "");
  EXPECT_TRUE(rig.venue.session().logged_on());
  exchange([&] { peer.send(peer.next("D", order(1))); });
  EXPECT_EQ(rig.venue.application.at().orders, numbers(1, 1));
  exchange([&] { peer.close(); });
  twin.seq = 3;
  twin.connect();
  rig.turn();
  twin.send(twin.logon());
  rig.turn();
  EXPECT_TRUE(rig.venue.session().logged_on()) << "free again once the first has gone";
}

TEST_F(PollLoopTest, dropping_a_connection_sends_no_logout_and_keeps_the_numbers) {
  rig.start_both();
  std::ignore = rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}});
  rig.turn(2);
  const auto sent = rig.trader.application.at().traffic_out.size();
  rig.trader.session().drop_connection();
  EXPECT_FALSE(rig.trader.session().logged_on());
  EXPECT_EQ(rig.trader.application.at().traffic_out.size(), sent);
  EXPECT_EQ(rig.trader.application.at().logouts.size(), 1U);
  rig.pass(2s);
  EXPECT_TRUE(rig.trader.session().logged_on());
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{4});
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{4});
  EXPECT_EQ(rig.trader.session().counters().disconnects, 1U);
  EXPECT_EQ(rig.trader.session().counters().logons, 2U);
}

TEST_F(PollLoopTest, what_was_sent_while_the_connection_was_lost_arrives_after_it_is_back) {
  rig.start_both();
  std::ignore = rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}});
  std::ignore = rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(2)}});
  rig.trader.session().drop_connection();  // before the bytes were sent
  rig.pass(2s);
  EXPECT_EQ(rig.venue.application.at().orders, numbers(1, 2));
  EXPECT_EQ(rig.venue.application.at().duplicates, numbers(1, 2));
}

TEST_F(PollLoopTest, stopping_logs_every_session_out_and_closes_who_has_not_logged_on) {
  rig.venue.config.sessions.push_back(acceptor("B"));
  rig.trader.config.sessions.push_back(initiator("B"));
  rig.start_both();
  peer.connect();
  rig.turn();
  rig.venue.loop->request_stop();
  EXPECT_FALSE(rig.venue.loop->finished());
  rig.turn(4);
  peer.read();
  EXPECT_TRUE(rig.venue.loop->finished());
  EXPECT_TRUE(peer.closed);
  for (const std::size_t id : {0U, 1U}) {
    EXPECT_FALSE(rig.trader.session(id).logged_on());
    EXPECT_TRUE(
        rig.venue.application.at(id).traffic_out.back().contains("\x01"
                                                                 "35=5\x01"));
  }
  RawPeer late{rig.network, rig.clock};
  late.connect();
  rig.turn();
  late.read();
  EXPECT_TRUE(late.closed) << "a stopped loop accepts no peer";
}

TEST_F(PollLoopTest, stopping_does_not_wait_for_ever_for_the_answer_to_its_logout) {
  log_raw_peer_on();
  rig.venue.loop->request_stop();
  rig.turn(2);
  EXPECT_FALSE(rig.venue.loop->finished());
  rig.clock.advance(rig.venue.session().config().logout_timeout);
  rig.turn(2);
  EXPECT_TRUE(rig.venue.loop->finished());
}

TEST_F(PollLoopTest, messages_submitted_by_another_thread_are_sent_in_order) {
  rig.start_both();
  std::jthread producer{[&] {
    for (std::size_t i = 1; i <= 2000; ++i) {
      while (!rig.trader.loop->submit(0, {.msg_type = "D", .body = std::string_view{order(i)}}))
        std::this_thread::yield();
    }
  }};
  while (rig.venue.application.at().orders.size() < 2000) rig.turn();
  EXPECT_EQ(rig.venue.application.at().orders, numbers(1, 2000));
}

TEST_F(PollLoopTest, a_submitted_message_that_cannot_be_sent_becomes_a_notice) {
  rig.start_both();
  ASSERT_TRUE(rig.trader.loop->submit(0, {.msg_type = "D", .body = std::string_view{order(1)}}));
  rig.trader.session().logout("");
  rig.turn();
  EXPECT_EQ(rig.trader.application.count(Notice::not_sent), 1U);
}

TEST_F(PollLoopTest, numbers_start_over_with_every_logon_when_configured) {
  rig.trader.config.sessions[0].session.reset_on_logon = true;
  rig.start_both();
  std::ignore = rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(1)}});
  rig.turn(2);
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{3});
  rig.trader.session().drop_connection();
  rig.pass(2s);
  ASSERT_TRUE(rig.trader.session().logged_on());
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.venue.session().next_outbound(), SeqNum{2});
}

TEST_F(PollLoopTest, numbers_start_over_after_a_logout_when_configured) {
  rig.venue.config.sessions[0].session.reset_on_logout = rig.trader.config.sessions[0].session.reset_on_logout = true;
  rig.start_both();
  rig.trader.session().logout("done");
  rig.turn(3);
  for (LoopSide* side : {&rig.venue, &rig.trader}) {
    EXPECT_EQ(side->session().next_inbound(), SeqNum{1});
    EXPECT_EQ(side->session().next_outbound(), SeqNum{1});
  }
}

TEST_F(PollLoopTest, numbers_start_over_after_a_disconnect_when_configured) {
  rig.venue.config.sessions[0].session.reset_on_disconnect = rig.trader.config.sessions[0].session.reset_on_disconnect =
      true;
  rig.start_both();
  rig.trader.session().drop_connection();
  rig.turn();
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{1});
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{1});
}

TEST_F(PollLoopTest, numbers_start_over_on_the_open_session_when_asked_to_and_nothing_old_is_resent) {
  log_raw_peer_on();
  std::ignore = rig.venue.session().send({.msg_type = "8", .body = std::string_view{order(1)}});
  exchange([&] { rig.venue.session().reset_sequence_numbers(); });
  peer.seq = 1;
  exchange([&] { peer.send(peer.logon(field(141, "Y"))); });
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.venue.session().next_outbound(), SeqNum{2});
  std::ignore = rig.venue.session().send({.msg_type = "8", .body = std::string_view{order(2)}});
  exchange([&] {});
  peer.received.clear();
  exchange([&] { peer.send(peer.next("2", field(7, "1") + field(16, "0"))); });
  EXPECT_EQ(peer.all(Tag::ClOrdID), (std::vector<std::string>{"", "2"}));
}

TEST_F(PollLoopTest, heartbeats_keep_an_idle_session_up) {
  rig.trader.config.sessions[0].session.heartbeat_interval = 5s;
  rig.start_both();
  rig.pass(60s, 500ms);
  EXPECT_TRUE(rig.venue.session().logged_on());
  EXPECT_GE(rig.venue.session().counters().messages_in, 12U);
  EXPECT_LE(rig.venue.session().counters().messages_in, 14U);
  EXPECT_EQ(rig.venue.session().counters().disconnects, 0U);
}

TEST_F(PollLoopTest, a_loop_that_has_nothing_due_says_how_long_it_may_sleep) {
  rig.trader.config.sessions[0].session.heartbeat_interval = 5s;
  rig.start_both();
  EXPECT_GT(rig.venue.loop->until_next_deadline(), 0s);
  EXPECT_LE(rig.venue.loop->until_next_deadline(), 5s);
  rig.venue.loop->turn(0ns);
  EXPECT_GT(rig.venue.loop->until_next_deadline(), 0s);
}

}  // namespace
}  // namespace nfx::test
