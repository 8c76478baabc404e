// Out-of-order messages, and requests for the missing ones.
#include <gtest/gtest.h>

#include "nexusfix/session/session.hpp"
#include "session/session_fixture.hpp"
#include "wire/wrong_checksum.hpp"

namespace nfx::test {
namespace {

TEST(GapQueueOrder, gives_messages_back_by_number_whatever_their_arrival) {
  GapQueue queue{8, 100};
  EXPECT_TRUE(queue.push(SeqNum{7}, "seven"));
  EXPECT_TRUE(queue.push(SeqNum{5}, "five"));
  EXPECT_TRUE(queue.push(SeqNum{6}, "six"));
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.take(SeqNum{4}), std::nullopt);
  EXPECT_EQ(queue.take(SeqNum{5}), "five");
  EXPECT_EQ(queue.take(SeqNum{6}), "six");
  EXPECT_EQ(queue.take(SeqNum{7}), "seven");
  EXPECT_TRUE(queue.empty());
}

TEST(GapQueueOrder, keeps_the_first_of_two_with_one_number) {
  GapQueue queue{8, 100};
  EXPECT_TRUE(queue.push(SeqNum{5}, "first"));
  EXPECT_TRUE(queue.push(SeqNum{5}, "second"));
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.take(SeqNum{5}), "first");
}

TEST(GapQueueOrder, drops_what_lies_below_the_number_taken) {
  GapQueue queue{8, 100};
  EXPECT_TRUE(queue.push(SeqNum{5}, "five"));
  EXPECT_TRUE(queue.push(SeqNum{9}, "nine"));
  EXPECT_EQ(queue.first_from(SeqNum{6}), SeqNum{9});
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.take(SeqNum{9}), "nine");
}

TEST(GapQueueBounds, says_no_beyond_its_messages_or_bytes_and_takes_more_once_drained) {
  GapQueue few{2, 100};
  EXPECT_TRUE(few.push(SeqNum{2}, "a"));
  EXPECT_TRUE(few.push(SeqNum{3}, "b"));
  EXPECT_FALSE(few.push(SeqNum{4}, "c"));
  EXPECT_EQ(few.take(SeqNum{2}), "a");
  EXPECT_EQ(few.take(SeqNum{3}), "b");
  EXPECT_TRUE(few.push(SeqNum{4}, "c"));

  GapQueue small{100, 10};
  EXPECT_TRUE(small.push(SeqNum{2}, "12345678"));
  EXPECT_FALSE(small.push(SeqNum{3}, "901"));
  EXPECT_TRUE(small.push(SeqNum{4}, "90"));

  GapQueue none{0, 0};
  EXPECT_FALSE(none.push(SeqNum{2}, "x"));
  EXPECT_EQ(none.take(SeqNum{2}), std::nullopt);
}

TEST(Gap, drops_what_the_full_queue_cannot_hold_and_reports_it_and_loses_nothing) {
  SessionRig rig = logged_on({.max_queued_messages = 3});
  for (int seq = 3; seq <= 8; ++seq) say(rig, "35=D|34=" + std::to_string(seq) + "|11=n" + std::to_string(seq) + "|");
  EXPECT_EQ(rig.session.queued(), 3U);
  EXPECT_TRUE(rig.noticed(Notice::queue_full));
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=0|");
  // The peer sends everything again: queued messages are delivered from the queue, the others from the wire.
  for (int seq = 2; seq <= 8; ++seq)
    say(rig, "35=D|34=" + std::to_string(seq) + "|43=Y|" + original_time(rig) + "11=n" + std::to_string(seq) + "|");
  ASSERT_EQ(rig.delivered.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_NE(with_bars(rig.delivered[i]).find("|11=n" + std::to_string(i + 2) + "|"), std::string::npos);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{9});
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Gap, request_covers_what_was_dropped_when_the_peer_has_nothing_more_to_send) {
  SessionRig rig = logged_on({.max_queued_messages = 1}, 10);
  say(rig, "35=D|34=3|11=queued|");
  say(rig, "35=D|34=4|11=dropped|");
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=0|");
  say(rig, "35=D|34=2|43=Y|" + original_time(rig) + "11=two|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{4});
  say(rig, "35=0|34=5|");
  EXPECT_EQ(rig.take(), "35=2|34=3|7=4|16=0|");
}

TEST(Gap, retry_is_due_exactly_after_the_timeout_without_progress) {
  SessionRig rig = logged_on(quiet_config({.resend_timeout = std::chrono::seconds{4}}), 0);
  say(rig, "35=0|34=9|");
  rig.take();
  EXPECT_EQ(rig.session.next_deadline(), rig.now.monotonic + std::chrono::seconds{4});
  rig.advance(std::chrono::seconds{3});
  say(rig, "35=0|34=2|43=Y|" + original_time(rig));
  rig.advance(std::chrono::seconds{1});  // there was progress, so it waits once more
  EXPECT_TRUE(rig.sent.empty());
  rig.advance(std::chrono::milliseconds{3999});
  EXPECT_TRUE(rig.sent.empty());
  rig.advance(std::chrono::milliseconds{1});
  EXPECT_EQ(rig.take(), "35=2|34=3|7=3|16=0|");
  EXPECT_TRUE(rig.noticed(Notice::gap_request_repeated));
}

TEST(Gap, gives_up_after_the_configured_number_of_requests) {
  SessionRig rig = logged_on(quiet_config({.max_resend_attempts = 3}), 0);
  say(rig, "35=0|34=9|");
  rig.advance(std::chrono::hours{1});
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=0|");
  EXPECT_EQ(rig.take(), "35=2|34=3|7=2|16=0|");
  EXPECT_EQ(rig.take(), "35=2|34=4|7=2|16=0|");
  EXPECT_EQ(rig.take(), "35=5|34=5|58=resend requested repeatedly without an answer|");
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_TRUE(rig.closed);
}

TEST(Gap, progress_starts_the_count_of_attempts_over) {
  SessionRig rig = logged_on(quiet_config({.resend_timeout = std::chrono::seconds{1}, .max_resend_attempts = 2}), 0);
  say(rig, "35=0|34=9|");
  for (int seq = 2; seq < 8; ++seq) {
    rig.advance(std::chrono::milliseconds{1500});
    ASSERT_TRUE(rig.session.logged_on()) << seq;
    say(rig, "35=0|34=" + std::to_string(seq) + "|43=Y|" + original_time(rig));
  }
  EXPECT_TRUE(rig.session.logged_on());
}

TEST(Gap, chunk_that_ends_at_the_last_missing_number_is_open_ended) {
  SessionRig rig = logged_on({.resend_chunk_size = 3});
  say(rig, "35=0|34=5|");  // 2, 3, 4 are missing: one chunk
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=0|");
}

TEST(Gap, chunk_is_asked_for_after_the_message_that_filled_the_one_before) {
  SessionRig rig = logged_on({.resend_chunk_size = 2});
  say(rig, "35=0|34=5|");
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=3|");
  say(rig, "35=0|34=2|43=Y|" + original_time(rig));
  say(rig, "35=1|34=3|43=Y|" + original_time(rig) + "112=x|");
  EXPECT_EQ(rig.take(), "35=0|34=3|112=x|");
  EXPECT_EQ(rig.take(), "35=2|34=4|7=4|16=0|");
}

TEST(Gap, a_chunk_has_two_messages_at_least) {
  SessionRig rig = logged_on({.resend_chunk_size = 1});
  say(rig, "35=0|34=6|");
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=3|");
  say(rig, "35=4|34=2|43=Y|" + original_time(rig) + "123=Y|36=4|");
  EXPECT_EQ(rig.take(), "35=2|34=3|7=4|16=0|");
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Gap, message_that_closes_a_chunk_is_delivered_even_if_there_is_no_space_to_ask_for_the_next) {
  SessionRig rig = logged_on({.resend_chunk_size = 2});
  say(rig, "35=0|34=5|");
  say(rig, "35=0|34=2|43=Y|" + original_time(rig));
  rig.output_space = 10;
  say(rig, "35=D|34=3|43=Y|" + original_time(rig) + "11=x|");
  EXPECT_EQ(rig.delivered.size(), 1U);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{4});
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.logged_out_count, 1);
}

TEST(Gap, resend_request_that_closes_a_chunk_without_space_for_the_next_leaves_no_replay_behind) {
  SessionRig rig = logged_on({.resend_chunk_size = 2});
  say(rig, "35=0|34=5|");
  say(rig, "35=0|34=2|43=Y|" + original_time(rig));
  rig.output_space = 10;
  say(rig, "35=2|34=3|7=1|16=0|");
  EXPECT_TRUE(rig.closed);
  EXPECT_FALSE(rig.session.replaying());
}

TEST(Gap, queued_message_is_not_judged_by_the_time_it_had_to_wait) {
  SessionRig rig = logged_on(quiet_config({.max_resend_attempts = 100}), 0);
  say(rig, "35=D|34=3|11=early|");
  rig.advance(std::chrono::seconds{300});
  rig.sent.clear();
  say(rig, "35=0|34=2|43=Y|" + original_time(rig));
  EXPECT_EQ(rig.delivered.size(), 1U);
  EXPECT_TRUE(rig.session.logged_on());
}

// Otherwise two sides that miss each other's heartbeats would request each other's ResendRequests for ever.
TEST(Gap, resend_request_answered_ahead_of_its_turn_is_received_when_the_gap_before_it_is_closed) {
  SessionRig rig = logged_on();
  say(rig, "35=0|34=3|");
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=0|");
  say(rig, "35=2|34=4|7=2|16=0|");
  rig.sent.clear();
  // The peer answers our request with the messages it had sent when the request arrived.
  say(rig, "35=4|34=2|43=Y|" + original_time(rig) + "36=4|123=Y|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{5});
  say(rig, "35=0|34=5|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{6});
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Gap, is_forgotten_with_the_connection) {
  SessionRig rig = logged_on();
  say(rig, "35=D|34=5|11=x|");
  rig.cut();
  EXPECT_EQ(rig.session.queued(), 0U);
  EXPECT_EQ(rig.session.next_deadline(), MonotonicTime::max());
  rig.sent.clear();
  rig.connect();
  say(rig, "35=A|34=6|98=0|108=30|");
  EXPECT_EQ(rig.take(), "35=A|34=3|98=0|108=30|");
  EXPECT_EQ(rig.take(), "35=2|34=4|7=2|16=0|");
}

TEST(Gap, filled_without_messages_is_reported_with_its_numbers) {
  SessionRig rig = logged_on();
  say(rig, "35=D|34=14|11=later|");
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=0|");
  say(rig, "35=4|34=2|43=Y|123=Y|36=14|");
  const auto noticed = std::ranges::find(rig.notices, Notice::gap_filled, &RigNotice::notice);
  ASSERT_NE(noticed, rig.notices.end());
  EXPECT_EQ(noticed->seq, SeqNum{2});
  EXPECT_EQ(noticed->text, "12 numbers, 2 to 13");
  EXPECT_EQ(noticed->count, 12U);
  EXPECT_EQ(rig.delivered.size(), 1U);
}

TEST(Gap, fill_that_nobody_asked_for_is_not_reported) {
  SessionRig rig = logged_on();
  say(rig, "35=4|34=2|123=Y|36=14|");
  EXPECT_FALSE(rig.noticed(Notice::gap_filled));
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{14});
}

std::string resent_with_wrong_checksum(const SessionRig& rig, int seq) {
  return with_wrong_checksum(
      peer_message(rig, "35=D|34=" + std::to_string(seq) + "|43=Y|" + original_time(rig) + "11=x|"));
}

TEST(Gap, whose_resent_messages_have_a_wrong_checksum_is_reported_once_and_does_not_count_as_garbage) {
  SessionRig rig = logged_on({.max_invalid_rate = 1});
  const Duration timeout = rig.session.config().resend_timeout;
  say(rig, "35=D|34=500|11=later|");
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (int seq = 2; seq < 500; ++seq) rig.receive(resent_with_wrong_checksum(rig, seq));
    ASSERT_TRUE(rig.session.logged_on()) << attempt;
    rig.advance(timeout);
  }
  EXPECT_EQ(std::ranges::count(rig.notices, Notice::resent_garbled, &RigNotice::notice), 1);
  EXPECT_FALSE(rig.noticed(Notice::garbled_message));
  EXPECT_FALSE(rig.noticed(Notice::too_many_invalid));
  rig.advance(timeout * 5);
  EXPECT_FALSE(rig.session.logged_on());
  EXPECT_NE(with_bars(rig.sent.back()).find("58=resent messages have a wrong CheckSum"), std::string::npos);
}

TEST(Gap, allows_no_more_garbled_messages_than_it_has) {
  SessionRig rig = logged_on({.max_invalid_rate = 1});
  say(rig, "35=D|34=10|11=later|");
  for (int i = 0; i < 100; ++i) rig.receive(resent_with_wrong_checksum(rig, 2));
  EXPECT_TRUE(rig.noticed(Notice::too_many_invalid));
}

TEST(Gap, takes_wrong_checksums_only_of_resent_messages_in_it_and_only_when_told_to) {
  for (const bool verify : {true, false}) {
    SessionRig rig = logged_on({.verify_checksum = verify});
    const auto accepts = [&](const std::string& fields) {
      const std::string bytes = peer_message(rig, fields);
      MessageView view;
      EXPECT_EQ(view.parse(bytes), WireError::none);
      return rig.session.accepts_wrong_check_sum(view);
    };
    const std::string resent = "|43=Y|" + original_time(rig) + "11=x|";
    EXPECT_FALSE(accepts("35=D|34=2" + resent)) << "no gap";
    say(rig, "35=D|34=9|11=later|");
    EXPECT_EQ(accepts("35=D|34=2" + resent), !verify);
    EXPECT_EQ(accepts("35=D|34=8" + resent), !verify);
    EXPECT_FALSE(accepts("35=D|34=9" + resent)) << "beyond the gap";
    EXPECT_FALSE(accepts("35=D|34=1" + resent)) << "before it";
    EXPECT_FALSE(accepts("35=D|34=2|11=x|")) << "not resent";
  }
}

}  // namespace
}  // namespace nfx::test
