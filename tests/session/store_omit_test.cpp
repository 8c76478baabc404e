// Messages that are sent but not stored, because they carry passwords.
#include <gtest/gtest.h>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

TEST(OmittedMessages, are_sent_and_not_stored_and_gap_filled_in_a_resend) {
  SessionConfig config = acceptor_config();
  config.store_omit_types = {"BE"};
  config.store_omit_fields = {Tag{925}};
  SessionRig rig{config};
  log_on_acceptor(rig);
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

}  // namespace
}  // namespace nfx::test
