// Which effects the ledger excuses, and that it excuses no others: messages made by hand, without an engine.
#include <gtest/gtest.h>

#include "nexusfix/dictionary/validation_policy.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "simulation/ledger.hpp"

namespace nfx::simulation {
namespace {

using namespace std::chrono_literals;

constexpr Instant begin{UtcTime{1'700'000'000s}, MonotonicTime{1h}};
const std::string time_is_off{to_text(SessionRejectReason::sending_time_accuracy_problem)};

[[nodiscard]] SessionConfig config_of(Side side) {
  return {.sender_comp_id = side == Side::venue ? "VENUE" : "TRADER",
          .target_comp_id = side == Side::venue ? "TRADER" : "VENUE"};
}

class LedgerTest : public testing::Test {
 protected:
  void pass(Duration time) {
    now_ += time;
    ledger_.at(now_);
  }
  void set_clock(Side side, Duration offset) {
    offset_[index(side)] = offset;
    ledger_.set_clock(side, offset);
  }

  // A message of this side as its engine would compose it now.
  std::string make(Side from, std::string_view type, std::string_view body, std::uint64_t seq) {
    std::array<char, 512> buffer;
    const UtcTime utc = begin.utc + (now_ - begin.monotonic) + offset_[index(from)];
    const auto size =
        composers_[index(from)].compose({.msg_type = type, .seq = SeqNum{seq}, .body = body}, utc, buffer);
    return {buffer.data(), size.value()};
  }
  std::string make(Side from, std::string_view type, std::string_view body = {}) {
    return make(from, type, body, next_[index(from)]++);
  }
  std::string sent(Side from, std::uint64_t connection, std::string_view type, std::string_view body = {}) {
    std::string message = make(from, type, body);
    ledger_.composed(from, message);
    ledger_.left(from, connection, message);
    return message;
  }
  std::string sent_text(Side from, std::string_view type, std::string_view text) {
    std::array<char, 256> buffer;
    return sent(from, 1, type, FieldWriter{buffer}.append(Tag::Text, text).view());
  }
  void reject(Side from, std::uint64_t seq, std::string_view text) {
    std::array<char, 256> buffer;
    sent(from, 1, msg_type::reject, FieldWriter{buffer}.append(Tag::RefSeqNum, seq).append(Tag::Text, text).view());
  }
  void order_comes() {
    std::array<char, 64> buffer;
    ledger_.received(Side::venue, sent(Side::trader, 1, "D", FieldWriter{buffer}.append(Tag::ClOrdID, 1).view()));
  }
  [[nodiscard]] std::string violation() const { return ledger_.violation().value_or(""); }

  Trace trace_{begin.monotonic};
  Ledger ledger_{trace_, {.begin = begin, .max_latency = 120s, .schedules = {}, .retain_age = 48h}};
  MonotonicTime now_ = begin.monotonic;
  std::array<Duration, 2> offset_{};
  std::array<std::uint64_t, 2> next_{1, 1};
  std::array<Composer, 2> composers_{Composer{config_of(Side::venue)}, Composer{config_of(Side::trader)}};
};

TEST_F(LedgerTest, excuses_a_low_number_in_a_logon_that_a_newer_connection_has_overtaken) {
  const std::string late = sent(Side::trader, 1, msg_type::logon);
  ledger_.received(Side::venue, sent(Side::trader, 2, msg_type::logon));
  ledger_.received(Side::venue, late);
  sent_text(Side::venue, msg_type::logout, "MsgSeqNum too low, expecting 3 but received 1");
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(ledger_.counts().overtaken, 1U);
}

TEST_F(LedgerTest, sees_a_low_number_in_the_logon_of_the_newest_connection) {
  ledger_.received(Side::venue, sent(Side::trader, 1, msg_type::logon));
  ledger_.received(Side::venue, sent(Side::trader, 2, msg_type::logon));
  sent_text(Side::venue, msg_type::logout, "MsgSeqNum too low, expecting 3 but received 2");
  EXPECT_NE(violation().find("logged out: MsgSeqNum too low"), std::string::npos);
}

TEST_F(LedgerTest, sees_a_low_number_in_what_follows_an_overtaken_logon) {
  const std::string late = sent(Side::trader, 1, msg_type::logon);
  const std::string later = sent(Side::trader, 1, msg_type::heartbeat);
  ledger_.received(Side::venue, sent(Side::trader, 2, msg_type::logon));
  ledger_.received(Side::venue, late);
  ledger_.received(Side::venue, later);
  sent_text(Side::venue, msg_type::logout, "MsgSeqNum too low, expecting 4 but received 2");
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, excuses_an_overtaken_logon_once) {
  const std::string late = sent(Side::trader, 1, msg_type::logon);
  ledger_.received(Side::venue, sent(Side::trader, 2, msg_type::logon));
  ledger_.received(Side::venue, late);
  sent_text(Side::venue, msg_type::logout, "MsgSeqNum too low, expecting 3 but received 1");
  sent_text(Side::venue, msg_type::logout, "MsgSeqNum too low, expecting 3 but received 1");
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, excuses_a_logon_that_left_before_the_receiver_s_numbers_started_over) {
  sent(Side::venue, 1, msg_type::heartbeat);
  const std::string late = sent(Side::trader, 2, msg_type::logon);
  ledger_.may_reset(Side::venue, true);
  ledger_.stands(Side::venue, SeqNum{1}, SeqNum{1});
  ledger_.received(Side::venue, late);
  next_[index(Side::venue)] = 1;
  sent_text(Side::venue, msg_type::logout,
            "Tag 789 (NextExpectedMsgSeqNum) is higher than expected. Expected 1, Received 74");
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, excuses_a_low_number_in_the_answer_to_a_logon_that_left_before_the_receiver_s_numbers_started_over) {
  sent(Side::venue, 1, msg_type::heartbeat);
  ledger_.received(Side::venue, sent(Side::trader, 2, msg_type::logon));
  const std::string late = sent(Side::trader, 3, msg_type::logon);
  ledger_.may_reset(Side::venue, true);
  ledger_.stands(Side::venue, SeqNum{3}, SeqNum{1});
  ledger_.received(Side::venue, late);
  sent_text(Side::trader, msg_type::logout, "MsgSeqNum too low, expecting 2 but received 1");
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, sees_a_logon_of_this_session_that_expects_too_high_a_number) {
  sent(Side::venue, 1, msg_type::heartbeat);
  ledger_.received(Side::venue, sent(Side::trader, 2, msg_type::logon));
  sent_text(Side::venue, msg_type::logout,
            "Tag 789 (NextExpectedMsgSeqNum) is higher than expected. Expected 2, Received 74");
  EXPECT_NE(violation().find("logged out: Tag 789 (NextExpectedMsgSeqNum) is higher"), std::string::npos);
}

TEST_F(LedgerTest, sees_a_logon_that_never_left) {
  ledger_.received(Side::venue, make(Side::trader, msg_type::logon));
  EXPECT_NE(violation().find("never left"), std::string::npos);
}

TEST_F(LedgerTest, excuses_a_rejected_message_while_clocks_differ_by_more_than_the_limit) {
  set_clock(Side::trader, -121s);
  order_comes();
  reject(Side::venue, 1, time_is_off);
  ledger_.stands(Side::venue, SeqNum{2}, SeqNum{2});
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(ledger_.counts().rejected, 1U);
}

TEST_F(LedgerTest, sees_a_rejected_message_while_clocks_differ_by_less_than_the_limit) {
  set_clock(Side::trader, -119s);
  order_comes();
  reject(Side::venue, 1, time_is_off);
  EXPECT_NE(violation().find("rejected number 1"), std::string::npos);
}

TEST_F(LedgerTest, sees_a_rejected_message_that_was_sent_when_the_clocks_agreed_again) {
  set_clock(Side::trader, -300s);
  pass(1s);
  set_clock(Side::trader, 0s);
  order_comes();
  reject(Side::venue, 1, time_is_off);
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, sees_a_message_rejected_for_another_reason_while_clocks_differ) {
  set_clock(Side::trader, -300s);
  order_comes();
  reject(Side::venue, 1, to_text(SessionRejectReason::value_is_incorrect));
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, a_rejected_message_from_beyond_a_gap_still_has_to_come) {
  set_clock(Side::trader, -300s);
  order_comes();
  ledger_.acknowledged(Side::trader, SeqNum{1}, 1);
  reject(Side::venue, 1, time_is_off);
  ledger_.stands(Side::venue, SeqNum{1}, SeqNum{2});
  EXPECT_EQ(ledger_.counts().rejected, 0U);
  EXPECT_EQ(ledger_.missing(), 1U);
}

TEST_F(LedgerTest, sees_a_sending_time_that_the_clock_did_not_show) {
  const std::string message = make(Side::trader, msg_type::logon);
  pass(1ms);
  ledger_.composed(Side::trader, message);
  EXPECT_NE(violation().find("is not what its clock shows"), std::string::npos);
}

TEST_F(LedgerTest, sees_a_full_store_while_the_disk_has_room) {
  sent_text(Side::venue, msg_type::logout, "the message store takes no more");
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, excuses_a_full_store_while_the_disk_is_full_and_for_a_moment_longer) {
  ledger_.disk_full(Side::venue, true);
  pass(60s);
  sent_text(Side::venue, msg_type::logout, "the message store takes no more");
  ledger_.disk_full(Side::venue, false);
  sent_text(Side::venue, msg_type::logout, "the message store takes no more");
  EXPECT_EQ(violation(), "");
  pass(60s);
  sent_text(Side::venue, msg_type::logout, "the message store takes no more");
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, sees_a_logout_for_the_time_of_day_without_a_schedule) {
  sent_text(Side::venue, msg_type::logout, "the session's time is over");
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, sees_a_failed_store_that_has_lost_a_number_which_left) {
  sent(Side::venue, 1, msg_type::logon);
  ledger_.stands(Side::venue, SeqNum{1}, SeqNum{1 + 1}, false);
  ledger_.reopened(Side::venue,
                   {.end = End::orderly, .failed = true, .next_inbound = SeqNum{1}, .next_outbound = SeqNum{1}},
                   [](SeqNum) { return std::nullopt; });
  EXPECT_NE(violation().find("has lost those up to 1"), std::string::npos);
}

TEST_F(LedgerTest, excuses_a_number_that_a_failed_store_refused_and_that_never_left) {
  ledger_.composed(Side::venue, make(Side::venue, msg_type::logon));
  ledger_.stands(Side::venue, SeqNum{1}, SeqNum{2}, false);
  ledger_.reopened(Side::venue,
                   {.end = End::orderly, .failed = true, .next_inbound = SeqNum{1}, .next_outbound = SeqNum{1}},
                   [](SeqNum) { return std::nullopt; });
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, sees_a_failed_store_that_has_lost_a_number_from_before_it_failed) {
  ledger_.composed(Side::venue, make(Side::venue, msg_type::logon));
  ledger_.stands(Side::venue, SeqNum{1}, SeqNum{2}, true);
  ledger_.reopened(Side::venue,
                   {.end = End::orderly, .failed = true, .next_inbound = SeqNum{1}, .next_outbound = SeqNum{1}},
                   [](SeqNum) { return std::nullopt; });
  EXPECT_NE(violation(), "");
}

TEST_F(LedgerTest, excuses_a_message_that_a_store_has_removed_for_its_age) {
  order_comes();
  pass(49h);
  ledger_.reopened(Side::trader, {.end = End::killed, .next_inbound = SeqNum{1}, .next_outbound = SeqNum{2}},
                   [](SeqNum) { return std::nullopt; });
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, sees_a_message_that_a_store_has_lost_before_its_time) {
  order_comes();
  pass(47h);
  ledger_.reopened(Side::trader, {.end = End::killed, .next_inbound = SeqNum{1}, .next_outbound = SeqNum{2}},
                   [](SeqNum) { return std::nullopt; });
  EXPECT_NE(violation().find("has lost message 1"), std::string::npos);
}

}  // namespace
}  // namespace nfx::simulation
