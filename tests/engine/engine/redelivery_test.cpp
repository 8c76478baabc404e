// on_message answers "not now": the message is delivered again, first, until it is handled, whatever happens meanwhile.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

using Names = std::vector<std::string>;

class Redelivery : public ::testing::Test {
 protected:
  void start(const LoopbackOptions& options = {}) {
    rig.venue.config.sessions = {settings};
    rig.venue.application.when_asked = [this](SessionHandle& session, const MessageView& message) {
      return answer(session, message);
    };
    rig.venue.start();
    peer.emplace(rig.network, rig.clock, "TRADER", options);
    log_on();
  }
  void log_on() {
    peer->connect();
    peer->send(peer->logon());
    rig.turn(4);
    ASSERT_TRUE(rig.venue.session().logged_on());
  }
  Handled answer(SessionHandle& session, const MessageView& message) {
    if (refusals != 0) {
      --refusals;
      return Handled::not_now;
    }
    const std::string body = field(11, message.get_view(Tag::ClOrdID)) + field(58, std::string(text_size, 'x'));
    return session.send({.msg_type = "8", .body = std::string_view{body}});
  }
  void send_orders(std::size_t count) {
    for (std::size_t i = 1; i <= count; ++i) peer->send(peer->next("D", order(i)));
  }
  // This field of the messages that have it.
  Names received(Tag tag) {
    Names values = peer->all(tag);
    std::erase(values, "");
    return values;
  }
  Names& delivered() { return rig.venue.application.at().orders; }
  Names answered() {
    Names names;
    for (const std::string& each : peer->messages()) {
      if (RawPeer::get(each, Tag::MsgType) == "8") names.push_back(RawPeer::get(each, Tag::ClOrdID));
    }
    return names;
  }
  SessionHandle& session() { return rig.venue.session(); }

  static LoopbackOptions small() {
    LoopbackOptions options;
    options.stream_buffer = 4096;
    return options;
  }

  SessionSettings settings = acceptor();
  LoopRig rig{small()};
  std::optional<RawPeer> peer;
  int refusals = 0;
  std::size_t text_size = 1;
};

TEST_F(Redelivery, comes_before_everything_else_of_the_session) {
  start();
  refusals = 3;
  send_orders(2);
  peer->send(peer->next("1", field(112, "ping")));
  rig.turn(2);
  EXPECT_EQ(delivered(), (Names{"1"}));
  EXPECT_EQ(session().next_inbound(), SeqNum{2});  // it does not count as received
  rig.pass(50ms, 1ms);
  peer->read();
  EXPECT_EQ(delivered(), (Names{"1", "1", "1", "1", "2"}));
  EXPECT_EQ(answered(), (Names{"1", "2"}));
  EXPECT_EQ(received(Tag::TestReqID), (Names{"ping"}));
  EXPECT_EQ(session().next_inbound(), SeqNum{5});
  EXPECT_EQ(session().counters().not_handled, 3U);
  EXPECT_EQ(session().counters().messages_in, 4U);  // once each
}

TEST_F(Redelivery, waits_for_space_in_the_send_buffer) {
  settings.send_buffer_size = 64 * 1024;
  rig.venue.config.max_message_size = 16 * 1024;
  text_size = 8000;
  start(small());
  send_orders(30);
  rig.pass(100ms, 1ms);
  EXPECT_GT(session().counters().not_handled, 0U);
  EXPECT_LT(session().next_inbound(), SeqNum{30});
  for (int i = 0; i < 2000 && answered().size() < 30; ++i) {
    peer->read();
    rig.pass(1ms, 1ms);
  }
  const Names names = answered();
  ASSERT_EQ(names.size(), 30U);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], std::to_string(i + 1));
  EXPECT_EQ(rig.venue.application.count(Notice::not_sent), 0U);
}

TEST_F(Redelivery, is_left_to_the_peers_resend_when_the_connection_ends) {
  start();
  refusals = 1000000;
  send_orders(2);
  rig.pass(20ms, 1ms);
  peer->close();
  rig.pass(20ms, 1ms);
  ASSERT_FALSE(session().logged_on());
  EXPECT_EQ(session().next_inbound(), SeqNum{2});
  refusals = 0;
  peer.emplace(rig.network, rig.clock);
  peer->seq = 4;
  log_on();
  peer->read();
  EXPECT_EQ(received(Tag::BeginSeqNo), (Names{"2"}));
}

TEST_F(Redelivery, keeps_the_order_of_messages_that_waited_for_a_gap) {
  start();
  const std::string first = peer->next("D", order(1)), second = peer->next("D", order(2)),
                    third = peer->next("D", order(3));
  peer->send(second + third);
  rig.turn(2);
  EXPECT_TRUE(delivered().empty());
  refusals = 2;
  peer->send(first);
  rig.pass(50ms, 1ms);
  EXPECT_EQ(delivered(), (Names{"1", "1", "1", "2", "3"}));
  delivered().clear();
  const std::string fourth = peer->next("D", order(4)), fifth = peer->next("D", order(5));
  peer->send(fifth);
  rig.turn(2);
  rig.venue.application.when_asked = [&, left = 2](SessionHandle&, const MessageView& message) mutable {
    return message.get_view(Tag::ClOrdID) == "5" && left-- > 0 ? Handled::not_now : Handled::done;
  };
  peer->send(fourth);
  rig.pass(50ms, 1ms);
  EXPECT_EQ(delivered(), (Names{"4", "5", "5", "5"}));
}

TEST_F(Redelivery, requests_no_gap_again_while_it_lasts) {
  settings.session.resend_timeout = 1s;
  settings.session.max_resend_attempts = 3;
  settings.session.check_heartbeats = false;
  start();
  const std::string first = peer->next("D", order(1));
  static_cast<void>(peer->next("D", order(2)));
  const std::string third = peer->next("D", order(3));
  peer->send(third);
  rig.turn(2);
  refusals = 1000000;
  peer->send(first);
  rig.pass(30s);
  EXPECT_TRUE(session().logged_on());
  refusals = 0;
  rig.pass(20ms, 1ms);
  EXPECT_EQ(session().next_inbound(), SeqNum{3});
  rig.pass(2s);
  EXPECT_EQ(rig.venue.application.count(Notice::gap_request_repeated), 1U);  // the second message is still missing
}

TEST_F(Redelivery, logs_out_after_the_time_allowed) {
  settings.unhandled_timeout = 5s;
  start();
  refusals = 1000000;
  peer->send(peer->next("D", order(1)));
  rig.pass(4s);
  EXPECT_TRUE(session().logged_on());
  rig.pass(2s);
  EXPECT_FALSE(session().logged_on());
  peer->read();
  EXPECT_EQ(received(Tag::Text).back(), "a message was not handled in time");
  rig.pass(20s);
  EXPECT_EQ(session().next_inbound(), SeqNum{2});
}

TEST_F(Redelivery, says_which_answer_was_not_sent) {
  start();
  rig.venue.application.when_asked = [](SessionHandle& its, const MessageView&) {
    return Handled{its.send({.msg_type = "8", .body = "no end"})};
  };
  peer->send(peer->next("D", order(1)));
  rig.turn(2);
  EXPECT_EQ(delivered(), (Names{"1"}));
  EXPECT_EQ(session().next_inbound(), SeqNum{3});
  ASSERT_EQ(rig.venue.application.count(Notice::not_sent), 1U);
  EXPECT_TRUE(rig.venue.application.at().notice_texts.back().starts_with("the answer: "));
}

TEST_F(Redelivery, is_requested_again_after_the_program_has_cut_the_connection) {
  start();
  rig.venue.application.when_asked = [](SessionHandle& its, const MessageView&) {
    its.drop_connection();
    return Handled::not_now;
  };
  peer->send(peer->next("D", order(1)));
  rig.pass(20ms, 1ms);
  EXPECT_EQ(delivered(), (Names{"1"}));
  EXPECT_EQ(session().next_inbound(), SeqNum{2});
}

// A trader whose orders are answered exactly once, whatever is refused, and however often the connection is cut.
void trade(std::uint32_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random{seed};
  const auto one_in = [&](std::uint32_t n) { return random() % n == 0; };
  LoopbackOptions options;
  options.stream_buffer = 512 + random() % 8192;
  LoopRig rig{options};
  SessionSettings venue = acceptor(), trader = initiator();
  for (SessionSettings* each : {&venue, &trader}) {
    each->session.resend_timeout = 1s;
    each->send_buffer_size = 64 * 1024;
    each->reconnect_delay = 1ms;
    each->reconnect_delay_max = 2ms;
  }
  rig.venue.config.max_message_size = rig.trader.config.max_message_size = 16 * 1024;
  rig.venue.config.sessions = {venue};
  rig.trader.config.sessions = {trader};
  std::map<std::string, int> answers;
  rig.venue.application.when_asked = [&](SessionHandle& session, const MessageView& message) -> Handled {
    if (one_in(3)) return Handled::not_now;
    if (one_in(40)) {
      session.drop_connection();
      return Handled::not_now;
    }
    const std::string body =
        field(11, message.get_view(Tag::ClOrdID)) + field(58, std::string(1 + random() % 6000, 'x'));
    return session.send({.msg_type = "8", .body = std::string_view{body}});
  };
  rig.trader.application.when_message = [&](SessionHandle&, const MessageView& message) {
    ++answers[std::string{message.get_view(Tag::ClOrdID)}];
  };
  rig.start_both();
  std::size_t sent = 0;
  constexpr std::size_t orders = 60;
  for (int i = 0; i < 20000 && (sent < orders || answers.size() < orders); ++i) {
    if (sent < orders && rig.trader.session().logged_on() && one_in(2)) {
      const std::string body = order(sent + 1);
      if (rig.trader.session().send({.msg_type = "D", .body = std::string_view{body}})) ++sent;
    }
    if (one_in(400)) (one_in(2) ? rig.venue : rig.trader).session().drop_connection();
    rig.pass(1ms, 1ms);
  }
  EXPECT_EQ(answers.size(), orders);
  for (const auto& [name, count] : answers) EXPECT_EQ(count, 1) << name;
}

TEST(RandomRedelivery, answers_each_order_exactly_once) {
  for (std::uint32_t seed = 1; seed <= 1000 && !::testing::Test::HasFailure(); ++seed) trade(seed);
}

}  // namespace
}  // namespace nfx::test
