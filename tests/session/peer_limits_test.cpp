// What a session lets its peer cost: messages of any kind against the throttle.
#include <gtest/gtest.h>

#include "nexusfix/dictionary/load.hpp"
#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

std::string next_number(const SessionRig& rig) { return std::to_string(value(rig.session.next_inbound())); }

// In sequence: type, then further fields.
void say_next(SessionRig& rig, std::string_view type, std::string_view fields = {}) {
  say(rig, "35=" + std::string{type} + "|34=" + next_number(rig) + "|" + std::string{fields});
}

std::string type_of(const std::string& message) {
  MessageView view;
  EXPECT_EQ(view.parse(message), WireError::none);
  return std::string{view.msg_type()};
}

std::size_t sent_of_type(const SessionRig& rig, std::string_view type) {
  return static_cast<std::size_t>(
      std::ranges::count_if(rig.sent, [&](const std::string& each) { return type_of(each) == type; }));
}

std::size_t noticed(const SessionRig& rig, Notice notice) {
  return static_cast<std::size_t>(std::ranges::count(rig.notices, notice, &RigNotice::notice));
}

SessionConfig throttled(ThrottleAction action) {
  SessionConfig config = acceptor_config();
  config.throttle_rate = 10;
  config.throttle_action = action;
  return config;
}

class Throttle : public ::testing::TestWithParam<ThrottleAction> {
 protected:
  Throttle() { log_on_acceptor(rig); }
  void exhaust() {
    for (int i = 0; i < 11 && !rig.closed; ++i) say_next(rig, "D", "11=x|");
    rig.sent.clear();
    rig.notices.clear();
  }
  SessionRig rig{throttled(GetParam())};
};
using RejectingThrottle = Throttle;
INSTANTIATE_TEST_SUITE_P(Reject, RejectingThrottle, testing::Values(ThrottleAction::reject));

TEST(ThrottledPeer, is_disconnected_for_messages_of_unknown_type_as_for_valid_ones) {
  const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  SessionConfig config = throttled(ThrottleAction::disconnect);
  config.dictionary = &dictionary;
  SessionRig rig{config};
  log_on_acceptor(rig);
  for (int i = 0; i < 2000 && !rig.closed; ++i) say_next(rig, "ZZ");
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(sent_of_type(rig, "3"), 10U);
  EXPECT_EQ(type_of(rig.sent.back()), "5");
}

TEST(ThrottledPeer, has_no_more_than_the_rate_validated_whatever_it_sends) {
  const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  SessionConfig config = throttled(ThrottleAction::reject);
  config.dictionary = &dictionary;
  SessionRig rig{config};
  log_on_acceptor(rig);
  for (int i = 0; i < 200; ++i) say_next(rig, "ZZ");
  EXPECT_EQ(sent_of_type(rig, "3"), 10U);
  EXPECT_EQ(sent_of_type(rig, "j"), 190U) << "each order that is refused is answered, as FIX requires";
  EXPECT_EQ(noticed(rig, Notice::throttled), 190U);
}

TEST_P(RejectingThrottle, answers_a_test_request_of_a_peer_whose_orders_are_throttled) {
  exhaust();
  say_next(rig, "1", "112=alive|");
  EXPECT_EQ(rig.take(), "35=0|34=" + std::to_string(value(rig.session.next_outbound()) - 1) + "|112=alive|");
}

TEST_P(RejectingThrottle, leaves_a_flood_of_test_requests_unanswered_and_in_sequence) {
  for (int i = 0; i < 500; ++i) say_next(rig, "1", "112=x|");
  EXPECT_EQ(rig.sent.size(), 10U);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{502});
  EXPECT_EQ(noticed(rig, Notice::throttled), 490U);
  rig.sent.clear();
  rig.advance(1s);
  say_next(rig, "1", "112=y|");
  EXPECT_EQ(sent_of_type(rig, "0"), 1U);
}

TEST_P(RejectingThrottle, lets_the_session_go_on_when_it_is_exhausted) {
  ASSERT_TRUE(rig.send("8", "11=1\x01"));
  exhaust();
  for (int i = 0; i < 30; ++i) say_next(rig, "0");
  rig.sent.clear();
  say_next(rig, "2", "7=2|16=2|");
  EXPECT_EQ(type_of(rig.take_sent()), "8");
  say_next(rig, "4", "36=500|123=Y|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{500});
  say_next(rig, "5");
  EXPECT_EQ(type_of(rig.take_sent()), "5");
  EXPECT_TRUE(rig.closed);
}

TEST_P(RejectingThrottle, does_not_count_resent_messages_that_were_requested) {
  say(rig, "35=D|34=52|11=x|");
  ASSERT_EQ(sent_of_type(rig, "2"), 1U);
  for (int i = 0; i < 50; ++i) say_next(rig, "D", "43=Y|" + original_time(rig) + "11=x|");
  EXPECT_EQ(rig.delivered.size(), 51U);
  EXPECT_EQ(noticed(rig, Notice::throttled), 0U);
}

TEST_P(RejectingThrottle, counts_messages_that_only_claim_to_be_resent) {
  for (int i = 0; i < 50; ++i) say_next(rig, "D", "43=Y|" + original_time(rig) + "11=x|");
  EXPECT_EQ(rig.delivered.size(), 10U);
  EXPECT_EQ(noticed(rig, Notice::throttled), 40U);
}

}  // namespace
}  // namespace nfx::test
