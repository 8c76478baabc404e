// Answering ResendRequests: everything requested, at a rate that does not delay other sessions.
#include <gtest/gtest.h>

#include <tuple>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

class Resend : public ::testing::Test {
 protected:
  Resend() {
    rig.venue.config.sessions = {acceptor("ASKER"), acceptor()};
    rig.trader.config.sessions = {initiator()};
    rig.venue.application.when_message = [](SessionHandle& session, const MessageView& message) {
      if (session.id() == 1)
        std::ignore =
            session.send({.msg_type = "8", .body = std::string_view{field(11, message.get_view(Tag::ClOrdID))}});
    };
    rig.start_both();
    asker.connect();
    rig.turn();
    asker.send(asker.logon());
    turn();
  }
  void turn() {
    rig.turn();
    asker.read();
  }
  void send_orders(std::size_t count) {
    for (std::size_t i = 1; i <= count; ++i) {
      ASSERT_TRUE(rig.venue.session(0)
                      .send({.msg_type = "8", .body = std::string_view{order(i) + field(58, std::string(60, 'x'))}})
                      .has_value());
      if (i % 100 == 0) turn();
    }
    turn();
    asker.received.clear();
    rig.venue.application.at(0).traffic_out.clear();
  }
  void ask(std::uint64_t from, std::uint64_t to) {
    asker.send(asker.next("2", field(7, std::to_string(from)) + field(16, std::to_string(to))));
  }

  LoopRig rig;
  RawPeer asker{rig.network, rig.clock, "ASKER"};
};

TEST_F(Resend, of_ten_thousand_messages_is_paced_and_holds_nobody_up) {
  constexpr std::size_t count = 10'000;
  send_orders(count);
  ask(2, 0);
  std::size_t turns = 0, most_bytes_a_turn = 0, echoed = 0, out_before = 0;
  bool live_sent = false;
  while (asker.messages().size() < count + 1 && turns < 2000) {
    ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(turns)}}).has_value());
    rig.turn(2);
    asker.read();
    turns += 2;
    ASSERT_EQ(rig.trader.application.at().orders.size(), ++echoed) << "another session waits";
    std::size_t bytes = 0;
    const auto& out = rig.venue.application.at(0).traffic_out;
    for (; out_before < out.size(); ++out_before) bytes += out[out_before].size();
    most_bytes_a_turn = std::max(most_bytes_a_turn, bytes / 2);
    if (turns == 6)
      live_sent = rig.venue.session(0).send({.msg_type = "8", .body = std::string_view{field(11, "LIVE")}}).has_value();
  }
  EXPECT_TRUE(live_sent);
  EXPECT_LE(most_bytes_a_turn, 2 * 64U * 1024U);
  EXPECT_GE(turns, 10U);
  const std::vector<std::string> ids = asker.all(Tag::ClOrdID);
  ASSERT_EQ(ids.size(), count + 1);
  const auto live = std::ranges::find(ids, "LIVE");
  EXPECT_LT(live - ids.begin(), static_cast<std::ptrdiff_t>(count / 2)) << "a live message waits for the whole resend";
  std::size_t expected = 0;
  for (const std::string& id : ids) {
    if (id != "LIVE") {
      ASSERT_EQ(id, std::to_string(++expected));
    }
  }
  EXPECT_EQ(rig.venue.session(0).counters().resent, count);
}

TEST_F(Resend, of_a_peer_that_does_not_read_waits_within_bounds) {
  send_orders(10'000);
  ask(2, 0);
  for (int i = 0; i < 300; ++i) rig.turn();
  std::size_t bytes = 0;
  for (const std::string& each : rig.venue.application.at(0).traffic_out) bytes += each.size();
  EXPECT_LE(bytes, 4 * 64U * 1024U);
  EXPECT_TRUE(rig.venue.session(0).logged_on());
  for (int i = 0; i < 2000 && asker.messages().size() < 10'000; ++i) turn();
  EXPECT_EQ(asker.messages().size(), 10'000U);
}

TEST_F(Resend, that_the_application_vetoes_becomes_a_gap_fill) {
  send_orders(6);
  rig.venue.application.when_resent = [](SessionHandle&, const MessageView& message) {
    const auto id = message.get_view(Tag::ClOrdID);
    return id != "3" && id != "4" && id != "6";
  };
  ask(1, 0);
  turn();
  turn();
  EXPECT_EQ(asker.all(Tag::MsgType), (std::vector<std::string>{"4", "8", "8", "4", "8", "4"}));
  EXPECT_EQ(asker.all(Tag::MsgSeqNum), (std::vector<std::string>{"1", "2", "3", "4", "6", "7"}));
  EXPECT_EQ(asker.all(Tag::NewSeqNo), (std::vector<std::string>{"2", "", "", "6", "", "8"}));
  EXPECT_EQ(rig.venue.session(0).counters().resent, 3U) << "gap fills do not count";
}

class WrongChecksum : public ::testing::Test {
 protected:
  void start(bool verify) {
    rig.venue.config.sessions = {acceptor()};
    rig.venue.config.sessions[0].session.verify_checksum = verify;
    rig.venue.start();
    peer.connect();
    rig.turn();
    peer.send(peer.logon());
    rig.turn(2);
    ASSERT_TRUE(rig.venue.session().logged_on());
    peer.send(peer.message("D", order(5), 5));
    rig.turn(2);
    peer.read();
    ASSERT_EQ(peer.all(Tag::MsgType).back(), "2");
  }
  void send(std::string bytes) {
    bytes[bytes.size() - 2] ^= 1;
    peer.send(bytes);
    rig.turn(2);
  }
  [[nodiscard]] std::string resent(std::size_t number) {
    return peer.message("D", field(43, "Y") + field(122, "20240315-12:00:00") + order(number), number);
  }

  LoopRig rig;
  RawPeer peer{rig.network, rig.clock};
};

TEST_F(WrongChecksum, of_a_resent_message_is_accepted_and_counted_where_the_session_says_so) {
  start(false);
  for (const std::size_t number : {2U, 3U, 4U}) send(resent(number));
  EXPECT_EQ(rig.venue.application.at().orders, (std::vector<std::string>{"2", "3", "4", "5"}));
  EXPECT_EQ(rig.venue.session().counters().check_sum_ignored, 3U);
  EXPECT_EQ(rig.venue.session().counters().garbled, 0U);
  // The gap is closed: what follows is verified.
  send(peer.message("D", order(6), 6));
  EXPECT_EQ(rig.venue.application.at().orders.size(), 4U);
  EXPECT_EQ(rig.venue.session().counters().garbled, 1U);
}

TEST_F(WrongChecksum, of_a_message_that_is_not_resent_is_never_accepted) {
  start(false);
  send(peer.message("D", order(2), 2));
  EXPECT_TRUE(rig.venue.application.at().orders.empty());
  EXPECT_EQ(rig.venue.session().counters().garbled, 1U);
}

TEST_F(WrongChecksum, of_resent_messages_is_reported_once_by_default) {
  start(true);
  for (int i = 0; i < 3; ++i) {
    for (const std::size_t number : {2U, 3U, 4U}) send(resent(number));
    rig.pass(10s);
  }
  EXPECT_TRUE(rig.venue.application.at().orders.empty());
  EXPECT_EQ(rig.venue.application.count(Notice::resent_garbled), 1U);
  EXPECT_EQ(rig.venue.session().counters().garbled, 9U);
}

TEST_F(WrongChecksum, gap_fill_in_answer_to_our_request_is_counted_by_its_numbers) {
  start(true);
  peer.send(peer.message("4", field(43, "Y") + field(123, "Y") + field(36, "5"), 2));
  rig.turn(2);
  EXPECT_EQ(rig.venue.session().counters().gap_filled, 3U);
  EXPECT_EQ(rig.venue.application.count(Notice::gap_filled), 1U);
}

TEST_F(Resend, of_messages_no_longer_kept_becomes_a_gap_fill) {
  LoopRig own;
  own.venue.config.sessions = {acceptor()};
  own.venue.config.sessions[0].store.retain_messages = 3;
  own.venue.start();
  RawPeer peer{own.network, own.clock};
  peer.connect();
  own.turn();
  peer.send(peer.logon());
  own.turn();
  for (std::size_t i = 1; i <= 10; ++i)
    std::ignore = own.venue.session().send({.msg_type = "8", .body = std::string_view{order(i)}});
  own.turn();
  peer.read();
  peer.received.clear();
  peer.send(peer.next("2", field(7, "1") + field(16, "0")));
  own.turn(2);
  peer.read();
  EXPECT_EQ(peer.all(Tag::ClOrdID), (std::vector<std::string>{"", "8", "9", "10"}));
  EXPECT_EQ(peer.all(Tag::NewSeqNo)[0], "9");
}

TEST_F(Resend, under_way_ends_with_its_connection_and_starts_anew_on_the_next) {
  send_orders(5000);
  ask(2, 0);
  turn();
  asker.close();
  rig.turn(3);
  asker.connect();
  rig.turn();
  asker.send(asker.logon());
  turn();
  asker.received.clear();
  ask(2, 4);
  turn();
  turn();
  EXPECT_EQ(asker.all(Tag::ClOrdID), (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(Resend, several_requests_at_once_are_answered_one_after_the_other) {
  send_orders(5);
  ask(2, 3);
  ask(4, 5);
  ask(2, 2);
  turn();
  turn();
  EXPECT_EQ(asker.all(Tag::ClOrdID), (std::vector<std::string>{"1", "2", "3", "4", "1"}));
}

TEST(ResendToAPeerThatDoesNotRead, lets_the_thread_sleep_and_goes_on_when_it_reads) {
  constexpr std::size_t count = 2000;
  LoopbackNetwork network;
  ManualClock clock{engine_test_start()};
  LoopSide side{network, clock, LoopbackOptions{.stream_buffer = 4096}};
  side.config.sessions = {acceptor("ASKER")};
  side.start();
  LoopbackLoop& loop = *side.loop;
  RawPeer asker{network, clock, "ASKER", LoopbackOptions{.stream_buffer = 4096}};
  const auto turn = [&] {
    loop.turn(1h);
    asker.read();
  };
  asker.connect();
  loop.turn(1h);
  asker.send(asker.logon());
  turn();
  for (std::size_t i = 1; i <= count; ++i) {
    ASSERT_TRUE(loop.find(0)
                    ->send({.msg_type = "8", .body = std::string_view{order(i) + field(58, std::string(60, 'x'))}})
                    .has_value());
    turn();
  }
  for (int i = 0; i < 200; ++i) turn();
  ASSERT_EQ(asker.messages().size(), count + 1);
  asker.received.clear();

  asker.send(asker.next("2", field(7, "2") + field(16, "0")));
  for (int i = 0; i < 10; ++i) loop.turn(1h);
  EXPECT_GT(side.transport.wanted_wait(), Duration::zero()) << "the thread busy-polls for a peer that does not read";
  for (int i = 0; i < 1000 && asker.messages().size() < count; ++i) turn();
  EXPECT_EQ(asker.messages().size(), count);
}

}  // namespace
}  // namespace nfx::test
