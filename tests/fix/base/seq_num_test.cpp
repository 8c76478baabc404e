// Sequence numbers and tags are strong types with the arithmetic that FIX needs.
#include "nexusfix/base/seq_num.hpp"

#include <gtest/gtest.h>

#include "nexusfix/base/tag.hpp"

namespace nfx {
namespace {

TEST(seq_num, starts_at_one_and_counts_both_ways) {
  EXPECT_EQ(value(first_seq_num), 1u);
  EXPECT_EQ(value(next(first_seq_num)), 2u);
  EXPECT_EQ(previous(next(first_seq_num)), first_seq_num);
  EXPECT_LT(SeqNum{9}, SeqNum{10});
}

TEST(seq_num, counts_beyond_32_bits) { EXPECT_EQ(value(next(SeqNum{UINT32_MAX})), 4294967296u); }

TEST(tag, any_number_is_a_tag) {
  EXPECT_EQ(value(Tag{20001}), 20001);
  EXPECT_EQ(Tag{35}, Tag::MsgType);
}

}  // namespace
}  // namespace nfx
