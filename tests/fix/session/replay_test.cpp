// Answering ResendRequests when output space, order or exact bytes matter.
#include <gtest/gtest.h>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

// An acceptor that has sent `count` application messages, numbers 2 to count + 1.
SessionRig busy(int count, SessionConfig config = {}) {
  SessionRig rig = logged_on(std::move(config));
  for (int i = 0; i < count; ++i) EXPECT_TRUE(rig.send("8", "11=order" + std::to_string(i) + '\x01'));
  rig.sent.clear();
  return rig;
}

TEST(Replay, continues_where_it_stopped_when_the_output_space_was_full) {
  SessionRig rig = busy(20);
  rig.answer_resend_requests = false;
  say(rig, "35=2|34=2|7=1|16=0|");
  rig.output_space = 300;  // two messages at a time
  int calls = 0;
  while (rig.session.replaying()) {
    ASSERT_TRUE(rig.replay_step());
    ASSERT_LT(++calls, 30);
  }
  EXPECT_GT(calls, 7);
  EXPECT_EQ(rig.take(), "35=4|34=1|43=Y|36=2|123=Y|");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(rig.take(), "35=8|34=" + std::to_string(i + 2) + "|43=Y|11=order" + std::to_string(i) + "|");
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Replay, waits_without_loss_while_there_is_no_space_at_all) {
  SessionRig rig = busy(2);
  rig.answer_resend_requests = false;
  say(rig, "35=2|34=2|7=2|16=0|");
  rig.output_space = 20;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(rig.replay_step());
  EXPECT_TRUE(rig.session.replaying());
  EXPECT_TRUE(rig.session.logged_on());
  rig.output_space = 4096;
  EXPECT_TRUE(rig.replay_step());
  EXPECT_FALSE(rig.session.replaying());
  EXPECT_EQ(rig.sent.size(), 2U);
}

TEST(Replay, puts_the_final_gap_fill_off_until_it_fits) {
  SessionRig rig = busy(1);
  say(rig, "35=1|34=2|112=x|");
  rig.sent.clear();
  rig.answer_resend_requests = false;
  say(rig, "35=2|34=3|7=2|16=0|");
  rig.output_space = 130;  // the resent message, but not the gap fill after it
  EXPECT_TRUE(rig.replay_step());
  EXPECT_TRUE(rig.session.replaying());
  EXPECT_TRUE(rig.replay_step());
  EXPECT_FALSE(rig.session.replaying());
  EXPECT_EQ(rig.take(), "35=8|34=2|43=Y|11=order0|");
  EXPECT_EQ(rig.take(), "35=4|34=3|43=Y|36=4|123=Y|");
}

TEST(Replay, handles_a_bounded_number_of_messages_in_one_call) {
  SessionRig rig{acceptor_config()};
  rig.session.restore(first_seq_num, SeqNum{10'001});
  log_on_acceptor(rig);
  rig.answer_resend_requests = false;
  say(rig, "35=2|34=2|7=1|16=10000|");
  EXPECT_FALSE(rig.replay_step());
  EXPECT_TRUE(rig.session.replaying());
  EXPECT_FALSE(rig.replay_step());
  EXPECT_TRUE(rig.replay_step());
  EXPECT_FALSE(rig.session.replaying());
  EXPECT_EQ(rig.take(), "35=4|34=1|43=Y|36=10001|123=Y|");
}

TEST(Replay, lets_new_messages_out_between_the_old_ones) {
  SessionRig rig = busy(3);
  rig.answer_resend_requests = false;
  say(rig, "35=2|34=2|7=2|16=0|");
  rig.output_space = 130;
  ASSERT_TRUE(rig.replay_step());
  ASSERT_TRUE(rig.send("8", "11=new\x01"));
  while (rig.session.replaying()) ASSERT_TRUE(rig.replay_step());
  EXPECT_EQ(rig.take(), "35=8|34=2|43=Y|11=order0|");
  EXPECT_EQ(rig.take(), "35=8|34=5|11=new|");
  EXPECT_EQ(rig.take(), "35=8|34=3|43=Y|11=order1|");
  EXPECT_EQ(rig.take(), "35=8|34=4|43=Y|11=order2|");
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Replay, answers_requests_that_come_during_a_replay_one_after_the_other) {
  SessionRig rig = busy(4);
  rig.answer_resend_requests = false;
  say(rig, "35=2|34=2|7=2|16=2|");
  say(rig, "35=2|34=3|7=5|16=5|");
  say(rig, "35=2|34=4|7=3|16=4|");
  while (rig.session.replaying()) ASSERT_TRUE(rig.replay_step());
  for (const char* number : {"2", "5", "3", "4"})
    EXPECT_EQ(rig.take().substr(0, 10), std::string{"35=8|34="} + number + "|");
}

TEST(Replay, covers_every_requested_message_when_requests_pile_up) {
  SessionRig rig = busy(12);
  rig.answer_resend_requests = false;
  // One in progress, four waiting, and the rest merged into the last of these.
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(13 - i);
    say(rig, "35=2|34=" + std::to_string(i + 2) + "|7=" + number + "|16=" + number + "|");
  }
  std::vector<bool> seen(14);
  int calls = 0;
  while (rig.session.replaying()) {
    rig.replay_step();
    ASSERT_LT(++calls, 100);
  }
  while (!rig.sent.empty()) {
    MessageView view;
    const std::string bytes = rig.take_sent();
    ASSERT_EQ(view.parse(bytes), WireError::none);
    EXPECT_EQ(view.msg_type(), "8");
    seen.at(value(*view.get_seq_num(Tag::MsgSeqNum))) = true;
  }
  for (std::size_t number = 2; number <= 13; ++number) EXPECT_TRUE(seen[number]) << number;
}

TEST(Replay, is_forgotten_with_the_connection) {
  SessionRig rig = busy(3);
  rig.answer_resend_requests = false;
  say(rig, "35=2|34=2|7=2|16=0|");
  say(rig, "35=2|34=3|7=2|16=0|");
  rig.cut();
  EXPECT_FALSE(rig.session.replaying());
  log_on_acceptor(rig);
  EXPECT_FALSE(rig.session.replaying());
}

TEST(Replay, keeps_data_fields_byte_for_byte) {
  SessionRig rig = logged_on();
  const std::string data =
      std::string{
          "a\x01"
          "10=000\x01"} +
      '\0' +
      "\xff\x01"
      "8=FIX.4.4\x01"
      "34=99";
  const std::string body =
      "148=head\x01"
      "95=" +
      std::to_string(data.size()) +
      "\x01"
      "96=" +
      data +
      "\x01"
      "58=behind\x01";
  ASSERT_TRUE(rig.send("B", body));
  const std::string first = rig.take_sent();
  say(rig, "35=2|34=2|7=2|16=2|");
  const std::string again = rig.take_sent();
  EXPECT_NE(first.find(body), std::string::npos);
  EXPECT_NE(again.find("\x01" + body + "10="), std::string::npos);
  MessageView view;
  ASSERT_EQ(view.parse(again), WireError::none);
  EXPECT_EQ(view.get_view(Tag{96}), data);
}

TEST(Replay, keeps_data_fields_of_the_header_too) {
  SessionRig rig = logged_on();
  ASSERT_TRUE(rig.send("B", "148=head\x01",
                       "90=3\x01"
                       "91=x\x01y\x01"
                       "212=6\x01"
                       "213=<\x01"
                       "122>\x01"));
  rig.sent.clear();
  say(rig, "35=2|34=2|7=2|16=2|");
  EXPECT_TRUE(with_bars(rig.take_sent())
                  .contains("|56=PEER|90=3|91=x|y|122=20240315-12:00:00.000|212=6|213=<|122>|148=head|10="));
}

TEST(Replay, puts_original_time_among_the_header_fields_by_tag) {
  SessionRig rig = logged_on();
  ASSERT_TRUE(rig.send("8", "11=x\x01",
                       "97=Y\x01"
                       "115=A\x01"
                       "128=B\x01"
                       "145=C\x01"));
  rig.sent.clear();
  rig.advance(std::chrono::milliseconds{1500});
  say(rig, "35=2|34=2|7=2|16=2|");
  EXPECT_NE(with_bars(rig.take_sent())
                .find("|35=8|34=2|43=Y|49=US|52=20240315-12:00:01.500|56=PEER|97=Y|115=A|122=20240315-12:00:00.000|"
                      "128=B|145=C|11=x|10="),
            std::string::npos);
}

TEST(Replay, of_a_message_without_a_body_is_complete) {
  SessionRig rig = logged_on();
  ASSERT_TRUE(rig.send("BC", ""));
  rig.sent.clear();
  say(rig, "35=2|34=2|7=2|16=2|");
  EXPECT_EQ(rig.take(), "35=BC|34=2|43=Y|");
}

TEST(Replay, repeated_keeps_the_first_sending_time_as_original) {
  SessionRig rig = busy(1);
  rig.advance(std::chrono::seconds{1});
  say(rig, "35=2|34=2|7=2|16=2|");
  rig.advance(std::chrono::seconds{1});
  say(rig, "35=2|34=3|7=2|16=2|");
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(with_bars(rig.take_sent()).find("|122=20240315-12:00:00.000|"), std::string::npos);
}

TEST(Replay, gives_no_original_time_after_its_own_when_the_clock_was_set_back) {
  SessionRig rig = busy(1);
  rig.now.utc -= std::chrono::hours{1};
  say(rig, "35=2|34=2|7=2|16=2|");
  const std::string sent = with_bars(rig.take_sent());
  EXPECT_NE(sent.find("|52=20240315-11:00:00.000|"), std::string::npos) << sent;
  EXPECT_NE(sent.find("|122=20240315-11:00:00.000|"), std::string::npos) << sent;
}

TEST(Replay, answers_with_a_gap_fill_for_what_the_store_gives_back_damaged) {
  SessionRig rig = busy(2);
  rig.store[2] =
      "8=FIX.4.4\x01"
      "9=5\x01"
      "35=8\x01"
      "nonsense";
  say(rig, "35=2|34=2|7=2|16=0|");
  EXPECT_EQ(rig.take(), "35=4|34=2|43=Y|36=3|123=Y|");
  EXPECT_EQ(rig.take(), "35=8|34=3|43=Y|11=order1|");
}

TEST(Replay, never_moves_the_outbound_number) {
  SessionRig rig = busy(5);
  const SeqNum before = rig.session.next_outbound();
  say(rig, "35=2|34=2|7=1|16=0|");
  EXPECT_EQ(rig.session.next_outbound(), before);
}

TEST(Replay, in_fix40_writes_whole_seconds_for_both_times) {
  SessionRig rig = busy(1, acceptor_config("FIX.4.0"));
  rig.advance(std::chrono::milliseconds{2999});
  say(rig, "35=2|34=2|7=2|16=999999|");
  EXPECT_TRUE(with_bars(rig.take_sent()).contains("|52=20240315-12:00:02|56=PEER|122=20240315-12:00:00|11="));
}

}  // namespace
}  // namespace nfx::test
