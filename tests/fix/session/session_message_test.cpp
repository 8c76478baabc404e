// Session messages completed at the moment of sending, and received ones that the program sees.
#include "nexusfix/session/session_message.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

struct Hook final : SessionMessageHook {
  std::function<void(SessionMessage&)> complete;
  void on_sending(SessionMessage& message) noexcept override { complete(message); }
};

// A separate message with these body fields.
struct Draft {
  explicit Draft(std::string_view fields, std::size_t space = SessionMessage::max_body)
      : text(with_soh(fields)), body_space(space) {}
  static std::string with_soh(std::string_view fields) {
    std::string text{fields};
    std::ranges::replace(text, '|', '\x01');
    return text;
  }
  std::string body() const { return with_bars(std::string{message.body()}); }

  std::string text;
  std::vector<char> body_space;
  std::array<char, 64> header_space{};
  SessionMessage message{{.begin_string = "FIX.4.4",
                          .msg_type = "A",
                          .sender_comp_id = "US",
                          .target_comp_id = "PEER",
                          .sending_time = "20240315-12:00:00.000",
                          .own_fields = "50=DESK\x01",
                          .seq = SeqNum{17}},
                         text,
                         body_space,
                         {},
                         header_space};
};

TEST(SessionMessage, gives_the_values_of_header_and_body) {
  Draft draft{"98=0|108=30|553=me|"};
  EXPECT_EQ(draft.message.get_view(Tag::BeginString), "FIX.4.4");
  EXPECT_EQ(draft.message.get_view(Tag::MsgSeqNum), "17");
  EXPECT_EQ(draft.message.get_view(Tag::SenderSubID), "DESK");
  EXPECT_EQ(draft.message.get_view(Tag::Username), "me");
  EXPECT_EQ(draft.message.get_view(Tag::Password), "");
  EXPECT_EQ(join_values(draft.message, {Tag::MsgType, Tag::SenderCompID, Tag::TargetCompID, Tag::MsgSeqNum,
                                        Tag::SendingTime, Tag::Password}),
            "A\x01US\x01PEER\x01"
            "17\x01"
            "20240315-12:00:00.000\x01");
}

TEST(SessionMessage, sets_a_field_where_it_is_or_at_the_end) {
  Draft draft{"98=0|553=me|58=x|"};
  EXPECT_TRUE(draft.message.set(Tag::Username, "another user"));
  EXPECT_TRUE(draft.message.set(Tag{8013}, 'Y'));
  EXPECT_TRUE(draft.message.set(Tag{25000}, 5000));
  EXPECT_EQ(draft.body(), "98=0|553=another user|58=x|8013=Y|25000=5000|");
  EXPECT_TRUE(draft.message.remove(Tag::Username));
  EXPECT_FALSE(draft.message.remove(Tag::Username));
  EXPECT_EQ(draft.body(), "98=0|58=x|8013=Y|25000=5000|");
}

TEST(SessionMessage, data_may_have_an_soh_and_goes_with_its_length) {
  Draft draft{"98=0|"};
  EXPECT_TRUE(draft.message.set_data(Tag::RawDataLength, Tag::RawData,
                                     "a\x01"
                                     "554=b"));
  EXPECT_TRUE(draft.message.set(Tag::Password, "real"));
  EXPECT_EQ(draft.body(), "98=0|95=7|96=a|554=b|554=real|");
  EXPECT_EQ(draft.message.get_view(Tag::Password), "real") << "not the one inside the data";
  EXPECT_TRUE(draft.message.set_data(Tag::RawDataLength, Tag::RawData, "shorter"));
  EXPECT_EQ(draft.body(), "98=0|554=real|95=7|96=shorter|");
  EXPECT_TRUE(draft.message.remove(Tag::RawDataLength));
  EXPECT_EQ(draft.body(), "98=0|554=real|");
  EXPECT_FALSE(draft.message.set_data(Tag::RawDataLength, Tag::EncodedText, "x")) << "not a pair";
}

TEST(SessionMessage, refuses_what_the_session_decides_and_what_cannot_be_sent) {
  Draft draft{"98=0|108=30|", 24};
  const std::string before = draft.body();
  EXPECT_FALSE(draft.message.set(Tag::HeartBtInt, 10));
  EXPECT_FALSE(draft.message.set(Tag::ResetSeqNumFlag, true));
  EXPECT_FALSE(draft.message.set(Tag::SenderCompID, "YOU")) << "of the header";
  EXPECT_FALSE(draft.message.set(Tag::CheckSum, "000")) << "of the trailer";
  EXPECT_FALSE(draft.message.set(Tag::Text, ""));
  EXPECT_FALSE(draft.message.set(Tag::Text, '\0'));
  EXPECT_FALSE(draft.message.set(Tag::Text, static_cast<const char*>(nullptr)));
  EXPECT_FALSE(draft.message.set(Tag::RawData, "no length")) << "set_data() does both";
  EXPECT_FALSE(draft.message.set(Tag::RawDataLength, 3)) << "as above";
  EXPECT_FALSE(draft.message.set(Tag::Text,
                                 "a\x01"
                                 "b"));
  EXPECT_FALSE(draft.message.set(Tag::Text, "more than there is space for"));
  EXPECT_FALSE(draft.message.set_data(Tag::RawDataLength, Tag::RawData, "also more than that"));
  EXPECT_FALSE(draft.message.set_header(Tag::MsgSeqNum, "1"));
  EXPECT_FALSE(draft.message.set_header(Tag::SenderSubID, "x"));
  EXPECT_FALSE(draft.message.remove(Tag::HeartBtInt));
  EXPECT_EQ(draft.body(), before);
}

TEST(SessionMessage, header_fields_ascend_by_tag) {
  Draft draft{""};
  EXPECT_TRUE(draft.message.set_header(Tag::DeliverToCompID, "D"));
  EXPECT_TRUE(draft.message.set_header(Tag::OnBehalfOfCompID, "O"));
  EXPECT_TRUE(draft.message.set_header(Tag::OnBehalfOfSubID, "S"));
  EXPECT_TRUE(draft.message.set_header(Tag::OnBehalfOfCompID, "other"));
  EXPECT_EQ(with_bars(std::string{draft.message.header_fields()}), "115=other|116=S|128=D|");
  EXPECT_EQ(draft.message.get_view(Tag::OnBehalfOfSubID), "S");
}

TEST(SessionMessage, every_type_that_a_session_sends_is_completed_with_the_number_it_gets) {
  SessionConfig config = initiator_config();
  SessionRig rig{config};
  Hook hook;
  std::vector<std::string> completed;
  hook.complete = [&](SessionMessage& message) {
    completed.push_back(std::string{message.msg_type()} + ' ' + std::to_string(value(message.seq())));
    EXPECT_TRUE(message.set(Tag{9001}, "mine"));
    if (message.is_logon()) {
      EXPECT_TRUE(message.set(Tag::Username, "me"));
      EXPECT_TRUE(message.set_header(Tag::OnBehalfOfCompID, "CLIENT"));
    }
  };
  rig.session.set_hook(&hook);
  rig.connect();
  const std::string logon = with_bars(rig.take_sent());
  EXPECT_TRUE(logon.contains("|56=PEER|115=CLIENT|98=0|108=30|9001=mine|553=me|10=")) << logon;
  say(rig, "35=A|34=1|98=0|108=30|");
  ASSERT_TRUE(rig.session.logged_on());
  ASSERT_TRUE(rig.send("D", "11=x\x01"));
  rig.sent.clear();
  say(rig, "35=1|34=2|112=id|");
  say(rig, "35=2|34=3|7=1|16=0|");
  say(rig, "35=0|34=5|");  // a gap
  say(rig, "35=j|34=4|");
  rig.logout("bye");
  const std::vector<std::string> expected{"A 1", "0 3", "4 1", "4 3", "2 4", "5 5"};
  EXPECT_EQ(completed, expected);
  std::string all;
  for (const std::string& each : rig.sent) all += with_bars(each);
  EXPECT_TRUE(all.contains("|112=id|9001=mine|10=")) << all;
  EXPECT_TRUE(all.contains("|36=2|123=Y|9001=mine|10=")) << all;
}

TEST(SessionMessage, a_logon_that_is_cancelled_ends_the_connection_with_the_reason) {
  SessionRig rig{initiator_config()};
  Hook hook;
  hook.complete = [](SessionMessage& message) { message.cancel("no key"); };
  rig.session.set_hook(&hook);
  rig.connect();
  EXPECT_EQ(rig.session.phase(), Phase::disconnected);
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{1});
}

TEST(SessionMessage, of_the_peer_is_shown_once_and_only_when_it_was_accepted) {
  SessionRig rig{initiator_config()};
  rig.connect();
  say(rig, "35=A|34=1|98=0|108=30|");
  say(rig, "35=0|34=2|");
  say(rig, "35=1|34=4|112=x|");  // beyond a gap: later, in its turn
  say(rig, "35=0|34=2|43=Y|");   // again
  say(rig, "35=4|34=3|43=Y|123=Y|36=4|");
  say(rig, "35=3|34=5|45=1|");
  say(rig, "35=2|34=6|7=1|16=0|");
  say(rig, "35=D|34=7|11=x|");
  say(rig, "35=5|34=8|");
  const std::vector<std::string> expected{"A", "0", "4", "1", "3", "2", "5"};
  EXPECT_EQ(rig.session_messages, expected);

  SessionRig refused{acceptor_config()};
  refused.connect();
  say(refused, "35=A|34=1|98=0|108=-1|");
  EXPECT_TRUE(refused.session_messages.empty());
}

}  // namespace
}  // namespace nfx::test
