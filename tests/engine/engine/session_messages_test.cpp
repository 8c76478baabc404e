// The program completes the Logon of its side, checks the Logon of the other with the same text, and sees the session
// messages that come.
#include <gtest/gtest.h>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

constexpr std::array signed_fields{Tag::MsgType, Tag::SenderCompID, Tag::TargetCompID, Tag::MsgSeqNum,
                                   Tag::SendingTime};

// In place of a signature: the text itself, with its SOH.
void sign(SessionMessage& message) {
  if (!message.is_logon()) return;
  EXPECT_TRUE(message.set(Tag::Username, "api-key"));
  EXPECT_TRUE(message.set_data(Tag::RawDataLength, Tag::RawData, join_values(message, signed_fields)));
}

bool is_signed(const MessageView& logon) {
  return logon.get_view(Tag::Username) == "api-key" &&
         logon.get_view(Tag::RawData) == join_values(logon, signed_fields);
}

struct SignedLogon : ::testing::Test {
  LoopRig rig;
  std::vector<std::string> seen;

  void start() {
    rig.venue.config.sessions = {acceptor()};
    rig.trader.config.sessions = {initiator()};
    rig.venue.application.when_logon_requested = [](const LogonRequest& request) { return is_signed(request.message); };
    rig.trader.application.when_session_message = [this](SessionHandle&, const MessageView& message) {
      seen.push_back(std::string{message.msg_type()} + ' ' + std::string{message.get_view(Tag::Text)});
    };
    rig.trader.application.when_logged_on = [this](SessionHandle&) { seen.emplace_back("logged on"); };
    rig.trader.application.when_logged_out = [this](SessionHandle&) { seen.emplace_back("logged out"); };
    rig.start_both();
    rig.turn(4);
  }
};

TEST_F(SignedLogon, is_accepted_when_both_sides_join_the_same_text) {
  rig.trader.application.when_sending = [](SessionHandle&, SessionMessage& message) { sign(message); };
  rig.venue.application.when_sending = [](SessionHandle&, SessionMessage& message) {
    EXPECT_TRUE(message.set(Tag::Text, message.is_logon() ? "welcome" : "closed for today"));
  };
  start();
  ASSERT_TRUE(rig.trader.session().logged_on());
  rig.venue.session().logout({});
  rig.turn(6);
  const std::vector<std::string> expected{"A welcome", "logged on", "5 closed for today", "logged out"};
  EXPECT_EQ(seen, expected);
}

void flip_one_bit(SessionMessage& message, std::size_t at) {
  std::string text = join_values(message, signed_fields);
  ASSERT_LT(at, text.size());
  text[at] ^= 1;
  EXPECT_TRUE(message.set(Tag::Username, "api-key"));
  EXPECT_TRUE(message.set_data(Tag::RawDataLength, Tag::RawData, text));
}

TEST_F(SignedLogon, is_refused_when_one_bit_differs) {
  rig.trader.application.when_sending = [](SessionHandle&, SessionMessage& message) { flip_one_bit(message, 3); };
  start();
  EXPECT_FALSE(rig.trader.session().logged_on());
  ASSERT_FALSE(rig.venue.application.refusals.empty());
  EXPECT_EQ(rig.venue.application.refusals[0].reason, LogonRefusalReason::application);
}

TEST_F(SignedLogon, that_cannot_be_made_closes_the_connection_and_is_tried_again_later) {
  int attempts = 0;
  rig.trader.application.when_sending = [&](SessionHandle&, SessionMessage& message) {
    if (++attempts == 1) return message.cancel("the key store does not answer");
    sign(message);
  };
  start();
  EXPECT_FALSE(rig.trader.session().logged_on());
  EXPECT_EQ(rig.trader.session().next_outbound(), SeqNum{1});
  EXPECT_EQ(rig.trader.application.at().logouts, std::vector<std::string>{"the key store does not answer"});
  rig.pass(10s);
  EXPECT_TRUE(rig.trader.session().logged_on());
}

TEST_F(SignedLogon, a_callback_of_a_message_being_sent_cannot_use_the_session) {
  std::vector<SendError> errors;
  rig.trader.application.when_sending = [&](SessionHandle& session, SessionMessage& message) {
    sign(message);
    const auto sent = session.send({.msg_type = "D", .body = "11=x\x01"});
    ASSERT_FALSE(sent.has_value());
    errors.push_back(sent.error());
    session.logout("ignored");
    session.drop_connection();
    session.reset_sequence_numbers();
  };
  start();
  EXPECT_TRUE(rig.trader.session().logged_on());
  EXPECT_EQ(errors, std::vector<SendError>{SendError::not_here});
}

}  // namespace
}  // namespace nfx::test
