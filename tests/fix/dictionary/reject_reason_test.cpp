// The standard texts of SessionRejectReason(373).
#include "nexusfix/dictionary/validation_policy.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nfx {
namespace {

std::string_view text(int code) { return to_text(static_cast<SessionRejectReason>(code)); }

TEST(RejectReason, gives_the_standard_wording_of_each_code) {
  EXPECT_EQ(text(0), "Invalid tag number");
  EXPECT_EQ(text(1), "Required tag missing");
  EXPECT_EQ(text(2), "Tag not defined for this message type");
  EXPECT_EQ(text(4), "Tag specified without a value");
  EXPECT_EQ(text(5), "Value is incorrect (out of range) for this tag");
  EXPECT_EQ(text(6), "Incorrect data format for value");
  EXPECT_EQ(text(9), "CompID problem");
  EXPECT_EQ(text(10), "SendingTime accuracy problem");
  EXPECT_EQ(text(11), "Invalid MsgType");
  EXPECT_EQ(text(13), "Tag appears more than once");
  EXPECT_EQ(text(14), "Tag specified out of required order");
  EXPECT_EQ(text(16), "Incorrect NumInGroup count for repeating group");
}

TEST(RejectReason, no_two_codes_share_a_wording) {
  std::set<std::string_view> texts;
  for (int code = 0; code <= 17; ++code) texts.insert(text(code));
  texts.insert(text(99));
  EXPECT_EQ(texts.size(), 19u);
}

}  // namespace
}  // namespace nfx
