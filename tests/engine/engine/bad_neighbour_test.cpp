// A peer that floods, garbles or does not read harms its own session at most.
#include <gtest/gtest.h>

#include <tuple>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

class BadNeighbour : public ::testing::Test {
 protected:
  static constexpr std::size_t stream_buffer = 16 * 1024;
  static constexpr std::size_t send_buffer = 256 * 1024;

  // Session 0 is the bad neighbour's, session 1 belongs to the trader, whose orders are echoed.
  BadNeighbour()
      : rig({.stream_buffer = stream_buffer}), bad(rig.network, rig.clock, "BAD", {.stream_buffer = stream_buffer}) {
    rig.venue.config.sessions = {acceptor("BAD"), acceptor()};
    for (SessionSettings& each : rig.venue.config.sessions) each.send_buffer_size = send_buffer;
    rig.trader.config.sessions = {initiator()};
    rig.venue.application.when_message = [](SessionHandle& session, const MessageView& message) {
      if (session.id() == 1)
        std::ignore =
            session.send({.msg_type = "8", .body = std::string_view{field(11, message.get_view(Tag::ClOrdID))}});
    };
    rig.start_both();
    bad.connect();
    rig.turn();
    bad.send(bad.logon());
    rig.turn();
    bad.read();
    EXPECT_TRUE(rig.venue.session(0).logged_on());
  }

  // The good session's round trip takes four iterations at most, whatever its neighbour does: each message may wrap
  // around the end of a stream's ring.
  void expect_prompt_echo() {
    const std::size_t before = rig.trader.application.at().orders.size();
    ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = std::string_view{order(before)}}).has_value());
    rig.turn(4);
    ASSERT_EQ(rig.trader.application.at().orders.size(), before + 1);
  }

  LoopRig rig;
  RawPeer bad;
};

TEST_F(BadNeighbour, message_beyond_the_maximum_delays_nobody_and_ends_at_the_next_one) {
  bad.send(
      "8=FIX.4.4\x01"
      "9=9999999\x01"
      "35=D\x01");
  expect_prompt_echo();
  EXPECT_EQ(rig.venue.session(0).counters().garbled, 0U);
  bad.send(bad.next("0"));
  expect_prompt_echo();
  EXPECT_TRUE(rig.venue.session(0).logged_on());
  EXPECT_EQ(rig.venue.session(0).counters().garbled, 1U);
  EXPECT_EQ(rig.venue.application.count(Notice::garbled_message), 1U);
  EXPECT_TRUE(rig.venue.session(1).logged_on());
}

TEST_F(BadNeighbour, message_of_the_maximum_size_passes_in_whatever_pieces) {
  const std::size_t overhead = bad.message("D", field(58, ""), bad.seq).size() + 4;  // BodyLength grows by four digits
  std::string largest = bad.next("D", field(58, std::string(rig.venue.config.max_message_size - overhead, 'x')));
  ASSERT_EQ(largest.size(), rig.venue.config.max_message_size);
  std::string_view rest = largest;
  for (int i = 0; i < 1000 && !rest.empty(); ++i) {
    rest.remove_prefix(bad.send(rest.substr(0, 3001)));
    rig.turn();
  }
  rig.turn(2);
  EXPECT_EQ(rig.venue.application.at(0).orders.size(), 1U);
  EXPECT_EQ(rig.venue.session(0).counters().garbled, 0U);
}

TEST_F(BadNeighbour, flood_of_messages_does_not_hold_up_another_session) {
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += bad.next("D", order(1));
  std::string_view rest = flood;
  while (!rest.empty()) {
    rest.remove_prefix(bad.send(rest));
    expect_prompt_echo();
  }
  rig.turn(2);
  EXPECT_EQ(rig.venue.application.at(0).orders.size(), 1000U);
}

TEST_F(BadNeighbour, flood_of_garbage_does_not_hold_up_another_session) {
  const std::string garbage = std::string(500, '\x01') +
                              "8=FIX.4.4\x01"
                              "9=abc\x01" +
                              std::string(100, '8');
  for (int i = 0; i < 200; ++i) {
    bad.send(garbage);
    bad.send(garbage);
    expect_prompt_echo();
  }
  EXPECT_GE(rig.venue.session(0).counters().garbled, 400U);
  EXPECT_TRUE(rig.venue.session(0).logged_on()) << "garbage is ignored";
}

class PeerThatDoesNotRead : public BadNeighbour {
 protected:
  std::size_t fill() {
    std::size_t taken = 0;
    const std::string body = order(1) + field(58, std::string(1000, 'x'));
    while (rig.venue.session(0).send({.msg_type = "8", .body = body}).has_value()) {
      if (++taken > send_buffer) break;
      if (taken % 10 == 0) rig.turn();
    }
    return taken;
  }
};

TEST_F(PeerThatDoesNotRead, is_sent_a_bounded_amount_and_then_nothing_more) {
  const std::size_t taken = fill();
  EXPECT_GE(taken * 1000, send_buffer / 2);
  EXPECT_LE(taken * 1000, send_buffer + 2 * stream_buffer);
  EXPECT_EQ(rig.venue.session(0)
                .send({.msg_type = "8", .body = std::string_view{order(1) + field(58, std::string(1000, 'x'))}})
                .error(),
            SendError::would_block);
  EXPECT_EQ(rig.venue.session(0).counters().send_refused, 2U);
  expect_prompt_echo();
}

TEST_F(PeerThatDoesNotRead, is_still_answered_by_the_session_itself) {
  fill();
  const auto before = rig.venue.session(0).next_outbound();
  bad.send(bad.next("1", field(112, "ALIVE")));
  expect_prompt_echo();
  EXPECT_EQ(rig.venue.session(0).next_outbound(), next(before)) << "there was space for the Heartbeat";
  EXPECT_TRUE(rig.venue.session(0).logged_on());
}

TEST_F(PeerThatDoesNotRead, is_disconnected_once_the_session_itself_has_no_room) {
  fill();
  int asked = 0;
  for (; asked < 1000 && rig.venue.session(0).logged_on(); ++asked) {
    bad.send(bad.next("1", field(112, std::string(100, 'x'))));
    expect_prompt_echo();
  }
  EXPECT_GT(asked, 50);
  EXPECT_LT(asked, 400);
  ASSERT_EQ(rig.venue.application.at(0).logouts.size(), 1U);
  EXPECT_TRUE(rig.venue.application.at(0).logouts[0].contains("does not read"));
}

TEST_F(PeerThatDoesNotRead, gets_everything_in_order_once_it_reads_again) {
  const std::size_t taken = fill();
  for (int i = 0; i < 1000 && bad.messages().size() < taken + 1; ++i) {
    bad.read();
    rig.turn();
  }
  const auto numbers = bad.all(Tag::MsgSeqNum);
  ASSERT_EQ(numbers.size(), taken + 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], std::to_string(i + 1));
  EXPECT_TRUE(rig.venue.session(0).send({.msg_type = "8", .body = std::string_view{order(1)}}).has_value());
}

TEST_F(PeerThatDoesNotRead, takes_large_messages_as_soon_as_there_is_room_for_them) {
  const std::string large = order(1) + field(58, std::string(50'000, 'x'));
  fill();
  // Half is read: the free space is before and after what waits.
  for (int i = 0; i < 12; ++i) {
    bad.read();
    rig.turn();
  }
  EXPECT_TRUE(rig.venue.session(0).send({.msg_type = "8", .body = large}).has_value());
}

}  // namespace
}  // namespace nfx::test
