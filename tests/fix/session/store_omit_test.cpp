// Messages that are sent but not stored, because they carry passwords.
#include <gtest/gtest.h>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

TEST(OmittedMessages, are_sent_and_not_stored_and_gap_filled_in_a_resend) {
  SessionRig rig = logged_on({.store_omit_types = {"BE"}, .store_omit_fields = {Tag{925}}});
  ASSERT_TRUE(rig.send("D", "11=1\x01"));
  ASSERT_TRUE(rig.send("BE",
                       "923=1\x01"
                       "554=secret\x01"));
  ASSERT_TRUE(rig.send("BF", "925=secret\x01"));
  ASSERT_TRUE(rig.send("BF",
                       "58=x\x01"
                       "925=secret\x01"));
  ASSERT_TRUE(rig.send("BF",
                       "58=925=\x01"
                       "9250=1\x01"
                       "1925=1\x01"));
  EXPECT_EQ(rig.sent.size(), 5U);
  EXPECT_EQ(rig.store.size(), 2U);
  for (const auto& [seq, message] : rig.store) EXPECT_EQ(message.find("secret"), std::string::npos);
  rig.sent.clear();
  say(rig, "35=2|34=2|7=2|16=0|");
  EXPECT_EQ(rig.take(), "35=D|34=2|43=Y|11=1|");
  EXPECT_EQ(rig.take(), "35=4|34=3|43=Y|36=6|123=Y|");
  EXPECT_EQ(rig.take().substr(0, 5), "35=BF");
}

TEST(OmittedMessages, of_the_peer_are_those_and_all_with_passwords) {
  const SessionRig rig{acceptor_config({.store_omit_types = {"BE"}, .store_omit_fields = {Tag{58}}})};
  const auto may_store = [&](std::string_view text) {
    MessageView view;
    const std::string bytes = peer_message(rig, text);
    EXPECT_EQ(view.parse(bytes), WireError::none) << bytes;
    return rig.session.may_store(view);
  };
  EXPECT_TRUE(may_store("35=D|34=2|11=1|"));
  EXPECT_TRUE(may_store("35=B|34=2|95=1|96=x|"));
  EXPECT_FALSE(may_store("35=BE|34=2|11=1|"));
  EXPECT_FALSE(may_store("35=D|34=2|11=1|58=x|"));
  EXPECT_FALSE(may_store("35=A|34=2|553=me|554=secret|"));
  EXPECT_FALSE(may_store("35=A|34=2|95=6|96=secret|"));
  EXPECT_FALSE(may_store("35=BF|34=2|925=secret|"));
  EXPECT_FALSE(may_store("35=A|34=2|1401=6|1402=secret|"));
  EXPECT_FALSE(may_store("35=A|34=2|1403=6|1404=secret|"));
}

}  // namespace
}  // namespace nfx::test
