// Messages that must not be answered, and messages that are too large: neither may repeat for ever.
#include <gtest/gtest.h>

#include "nexusfix/dictionary/load.hpp"
#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

const Dictionary& fix44() {
  static const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  return dictionary;
}

SessionConfig checked() { return acceptor_config({.dictionary = &fix44()}); }

TEST(ReceivedReject, is_never_answered_whatever_is_wrong_with_it) {
  for (const std::string wrong :
       {"45=x|", "58=no RefSeqNum|", "45=1|373=abc|", "45=1|45=1|", "45=|", "45=1|40=1|44=+1|", "45=1|43=Y|"}) {
    SessionRig rig = logged_on(checked());
    say(rig, "35=3|34=2|" + wrong);
    EXPECT_EQ(rig.take(), "nothing") << wrong;
    EXPECT_EQ(rig.session.next_inbound(), SeqNum{3}) << wrong;
    EXPECT_TRUE(rig.session.logged_on()) << wrong;
    say(rig, "35=1|34=3|112=x|");
    EXPECT_EQ(rig.take(), "35=0|34=2|112=x|") << wrong;
  }
}

TEST(ReceivedReject, with_a_fault_reaches_the_application_and_the_log) {
  SessionRig rig = logged_on(checked());
  say(rig, "35=3|34=2|58=why|");
  ASSERT_FALSE(rig.notices.empty());
  EXPECT_EQ(rig.notices.back().notice, Notice::reject_not_answered);
  EXPECT_EQ(rig.notices.back().text, "Required tag missing");
  EXPECT_EQ(rig.rejects.size(), 1U);
}

// Two of our engines, each with a dictionary that the other's Rejects do not match.
TEST(ReceivedReject, does_not_start_a_conversation_between_two_sides_that_reject_everything) {
  SessionRig rig = logged_on({.dictionary = &fix44(), .validation = ValidationPolicy::strict()});
  say(rig, "35=D|34=2|11=x|");
  EXPECT_TRUE(rig.take().starts_with("35=3|"));
  for (int seq = 3; seq < 100; ++seq) {
    say(rig, "35=3|34=" + std::to_string(seq) + "|45=2|9999=unknown|");
    ASSERT_EQ(rig.take(), "nothing");
  }
}

TEST(ReceivedReject, of_another_sender_ends_the_session_with_the_reason_in_the_logout) {
  SessionRig rig = logged_on();
  const SessionRig stranger{acceptor_config({.target_comp_id = "ELSE"})};
  rig.receive(peer_message(stranger, "35=3|34=2|45=1|"));
  EXPECT_EQ(rig.take(), "35=5|34=2|58=CompID problem|");
}

TEST(BusinessMessageReject, is_not_refused_by_one_of_its_kind) {
  SessionRig rig = logged_on();
  const std::string bytes = peer_message(rig, "35=j|34=2|45=1|372=D|380=0|");
  rig.receive(bytes);
  const auto answer = rig.reject_business(bytes, BusinessRejectReason::other, "no");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), SendError::bad_message);
  EXPECT_EQ(rig.take(), "nothing");
}

TEST(BusinessMessageReject, beyond_the_throttle_gets_no_answer) {
  SessionRig rig = logged_on({.throttle_rate = 1});
  for (int seq = 2; seq < 6; ++seq) say(rig, "35=j|34=" + std::to_string(seq) + "|45=1|372=D|380=0|");
  EXPECT_EQ(rig.take(), "nothing");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{6});
}

TEST(OurLogon, rejected_by_the_peer_shows_its_text_and_tag) {
  for (const std::string type : {"3", "j"}) {
    SessionRig rig{initiator_config()};
    rig.connect();
    rig.sent.clear();
    say(rig, "35=" + type + "|34=1|45=1|371=554|58=Invalid API key|");
    EXPECT_TRUE(rig.closed);
    EXPECT_EQ(rig.close_text, "the peer rejected our Logon: Invalid API key (RefTagID 554)");
  }
  SessionRig rig{initiator_config()};
  rig.connect();
  say(rig, "35=3|34=1|45=1|");
  EXPECT_EQ(rig.close_text, "the peer rejected our Logon: it gave no Text");
}

class TooLarge : public testing::Test {
 protected:
  // The engine's input: the first fields of a message that it did not store.
  void receive(std::string_view fields) {
    std::string bytes = peer_message(rig, fields);
    bytes.resize(bytes.find("\00110=") + 1);
    static_cast<void>(head_.parse_leniently(bytes));
    rig.receive_too_large(head_, "70000 bytes, max_message_size = 65536");
  }

  SessionRig rig{acceptor_config()};

 private:
  MessageView head_;
};

TEST_F(TooLarge, counts_as_received_and_is_reported_once_with_the_limit) {
  log_on_acceptor(rig);
  receive("35=W|34=2|262=x|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{3});
  EXPECT_EQ(rig.take(), "nothing") << "no ResendRequest: it would bring the same message";
  ASSERT_EQ(rig.notices.size(), 1U);
  EXPECT_EQ(rig.notices[0].notice, Notice::too_large);
  EXPECT_EQ(rig.notices[0].text, "70000 bytes, max_message_size = 65536");
  say(rig, "35=1|34=3|112=x|");
  EXPECT_EQ(rig.take(), "35=0|34=2|112=x|");
}

TEST_F(TooLarge, ahead_of_a_gap_is_taken_when_the_gap_is_filled) {
  log_on_acceptor(rig);
  receive("35=W|34=4|262=x|");
  EXPECT_EQ(rig.take(), "35=2|34=2|7=2|16=0|");
  say(rig, "35=4|34=2|43=Y|123=Y|36=4|" + original_time(rig));
  receive("35=W|34=4|43=Y|262=x|" + original_time(rig));
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{5});
  EXPECT_FALSE(rig.session.gap_open());
}

TEST_F(TooLarge, possible_duplicate_is_ignored_and_a_low_number_ends_the_session) {
  log_on_acceptor(rig);
  receive("35=W|34=1|43=Y|262=x|" + original_time(rig));
  EXPECT_EQ(rig.take(), "nothing");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  receive("35=W|34=1|262=x|");
  EXPECT_TRUE(rig.closed);
}

TEST_F(TooLarge, without_a_sequence_number_is_garbled) {
  log_on_acceptor(rig);
  receive("35=W|262=x|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  ASSERT_EQ(rig.notices.size(), 1U);
  EXPECT_EQ(rig.notices[0].notice, Notice::garbled_message);
}

TEST_F(TooLarge, instead_of_a_logon_ends_the_connection_with_the_limit) {
  rig.connect();
  receive("35=A|34=1|98=0|");
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.refusal, LogonRefusalReason::too_long);
  EXPECT_EQ(rig.close_text, "the first message is too large: 70000 bytes, max_message_size = 65536");
}

}  // namespace
}  // namespace nfx::test
