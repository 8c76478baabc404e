// Limits on a peer's costs: messages of any kind against the throttle, resends, resets, garbage.
#include <gtest/gtest.h>

#include "nexusfix/dictionary/load.hpp"
#include "session/session_fixture.hpp"
#include "wire/wrong_checksum.hpp"

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

std::size_t sent_bytes(const SessionRig& rig) {
  std::size_t bytes = 0;
  for (const std::string& each : rig.sent) bytes += each.size();
  return bytes;
}

std::size_t noticed(const SessionRig& rig, Notice notice) {
  return static_cast<std::size_t>(std::ranges::count(rig.notices, notice, &RigNotice::notice));
}

SessionConfig throttled(ThrottleAction action, const Dictionary* dictionary = nullptr) {
  return acceptor_config({.throttle_rate = 10, .throttle_action = action, .dictionary = dictionary});
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
  SessionRig rig = logged_on(throttled(ThrottleAction::disconnect, &dictionary));
  for (int i = 0; i < 2000 && !rig.closed; ++i) say_next(rig, "ZZ");
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(sent_of_type(rig, "3"), 10U);
  EXPECT_EQ(type_of(rig.sent.back()), "5");
}

TEST(ThrottledPeer, has_no_more_than_the_rate_validated_whatever_it_sends) {
  const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  SessionRig rig = logged_on(throttled(ThrottleAction::reject, &dictionary));
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

// Resends.

class ResendBudgetOfSession : public ::testing::Test {
 protected:
  static constexpr std::size_t count = 300;
  static constexpr std::size_t size = 3000;
  void log_on_and_send(std::uint32_t rate = SessionConfig{}.repeated_resend_rate) {
    rig.emplace(acceptor_config({.repeated_resend_rate = rate}));
    rig->output_space = 64 * 1024;
    log_on_acceptor(*rig);
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(rig->send("8", "58=" + std::string(size, 'x') + "\x01"));
    rig->sent.clear();
  }
  void request(int from) { say_next(*rig, "2", "7=" + std::to_string(from) + "|16=0|"); }

  std::optional<SessionRig> rig;
};

TEST_F(ResendBudgetOfSession, resends_everything_twice_without_a_pause) {
  log_on_and_send();
  for (int time = 0; time < 2; ++time) {
    request(1);
    EXPECT_FALSE(rig->session.replaying());
    EXPECT_EQ(sent_of_type(*rig, "8"), count);
    rig->sent.clear();
  }
  EXPECT_FALSE(rig->noticed(Notice::resend_slowed));
}

TEST_F(ResendBudgetOfSession, bounds_what_requests_from_1_and_2_in_turns_cost) {
  log_on_and_send();
  const std::size_t stored = rig->stored_bytes();
  for (int i = 0; i < 1000; ++i) {
    request(1 + i % 2);
    rig->advance(8ms);
  }
  EXPECT_TRUE(rig->session.logged_on());
  const std::size_t rate = rig->session.config().repeated_resend_rate;
  EXPECT_LE(sent_bytes(*rig), 2 * stored + (8 + 8 + 1) * rate) << "in eight seconds";
  EXPECT_GE(sent_bytes(*rig), 2 * stored + 8 * rate) << "slowed, not refused";
  EXPECT_EQ(noticed(*rig, Notice::resend_slowed), 1U);
}

TEST_F(ResendBudgetOfSession, sends_live_messages_at_once_while_a_resend_is_slowed) {
  log_on_and_send(1000);
  for (int i = 0; i < 20; ++i) request(1 + i % 2);
  ASSERT_TRUE(rig->session.replaying());
  rig->sent.clear();
  ASSERT_TRUE(rig->send("8", "11=live\x01"));
  EXPECT_NE(rig->take().find("11=live"), std::string::npos);
}

TEST_F(ResendBudgetOfSession, bounds_requests_for_messages_that_are_not_stored) {
  rig.emplace(acceptor_config({.repeated_resend_rate = 1000, .throttle_rate = 0}));
  log_on_acceptor(*rig);
  for (int i = 0; i < 2000; ++i) request(1 + i % 2);
  EXPECT_LE(rig->sent.size(), 70U) << "gap fills";
  EXPECT_TRUE(rig->session.logged_on());
}

TEST(ResendBudget, counts_bytes_and_forgets_them_when_the_stored_messages_are_gone) {
  constexpr MonotonicTime start{100h};
  ResendBudget budget{100};
  ASSERT_TRUE(budget.ready(2000, 1000, start));
  budget.spend(2000, 1000, start);
  ASSERT_TRUE(budget.ready(800, 1000, start)) << "the burst of eight seconds";
  budget.spend(800, 1000, start);
  EXPECT_FALSE(budget.ready(1, 1000, start));
  EXPECT_EQ(budget.ready_at(), start + 10ms);
  EXPECT_TRUE(budget.ready(1, 2000, start)) << "more was stored";
  budget.start_over();
  EXPECT_TRUE(budget.ready(2000, 1000, start));
}

TEST(ResendBudget, without_a_rate_lets_everything_through) {
  ResendBudget budget{0};
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(budget.ready(1'000'000, 1, MonotonicTime{}));
    budget.spend(1'000'000, 1, MonotonicTime{});
  }
}

// Resets.

std::string reset_logon() { return "35=A|34=1|98=0|108=30|141=Y|"; }

TEST(Resets, by_logon_are_refused_with_a_text_beyond_the_limit_and_allowed_again_later) {
  SessionRig rig{acceptor_config({.max_resets_per_hour = 6})};
  for (int i = 0; i < 7; ++i) {
    rig.connect();
    say(rig, reset_logon());
    ASSERT_TRUE(rig.session.logged_on()) << i << ": the first had nothing to reset";
    rig.cut();
  }
  ASSERT_EQ(rig.store_resets, 7);
  rig.sent.clear();
  rig.connect();
  say(rig, reset_logon());
  EXPECT_FALSE(rig.session.logged_on());
  EXPECT_EQ(rig.store_resets, 7);
  EXPECT_EQ(rig.refusal, LogonRefusalReason::too_many_resets);
  EXPECT_NE(rig.take().find("58=too many resets"), std::string::npos);
  rig.advance(10min);
  rig.connect();
  say(rig, reset_logon());
  EXPECT_TRUE(rig.session.logged_on());
}

TEST(Resets, within_a_session_count_too) {
  SessionRig rig = logged_on({.max_resets_per_hour = 6});
  for (int i = 0; i < 10; ++i) say(rig, reset_logon());
  EXPECT_EQ(rig.store_resets, 6);
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.refusal, LogonRefusalReason::too_many_resets);
}

TEST(Resets, of_our_own_are_not_limited) {
  SessionRig rig = logged_on({.max_resets_per_hour = 1});
  for (int i = 0; i < 5; ++i) {
    rig.reset();
    say(rig, reset_logon());
    ASSERT_TRUE(rig.session.logged_on()) << i;
  }
}

// Garbage.

TEST(InvalidMessages, disconnect_a_peer_that_sends_too_many_garbled_ones) {
  SessionRig rig = logged_on();
  const std::string bytes = with_wrong_checksum(peer_message(rig, "35=D|34=2|11=x|"));
  for (int i = 0; i < 1000; ++i) rig.receive(bytes);
  EXPECT_FALSE(rig.closed) << "ten seconds' worth at the same moment";
  rig.receive(bytes);
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.close_text, "too many invalid messages");
  EXPECT_EQ(type_of(rig.sent.back()), "5");
  EXPECT_TRUE(rig.noticed(Notice::too_many_invalid));
}

TEST(InvalidMessages, disconnect_a_peer_whose_messages_are_all_rejected) {
  SessionRig rig = logged_on({.max_invalid_rate = 10});
  for (int i = 0; i < 500 && !rig.closed; ++i) say_next(rig, "2", "7=x|");
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(sent_of_type(rig, "3"), 101U);
}

TEST(InvalidMessages, at_the_allowed_rate_are_ignored_for_ever) {
  SessionRig rig = logged_on({.allow_no_heartbeats = true}, 0);
  const std::string bytes = with_wrong_checksum(peer_message(rig, "35=D|34=2|11=x|"));
  for (int i = 0; i < 5000; ++i) {
    rig.receive(bytes);
    rig.advance(10ms);
  }
  EXPECT_FALSE(rig.closed);
}

}  // namespace
}  // namespace nfx::test
