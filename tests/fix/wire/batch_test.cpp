// Framing and parsing of a whole receive buffer in one call.
#include "wire/batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/fix_text.hpp"

namespace nfx {
namespace {

struct Seen {
  FrameStatus status;
  WireError error;
  std::string bytes;
  std::size_t bytes_behind;
  bool operator==(const Seen&) const = default;
};

class Batch : public testing::Test {
 protected:
  BatchEnd read(std::string_view buffer, std::size_t stop_after = 100) {
    seen_.clear();
    return read_batch(buffer, reader_, view_, [&](const BatchItem& item) {
      seen_.push_back({item.frame.status, item.error, std::string{item.bytes}, item.bytes_behind});
      if (item.error == WireError::none) {
        EXPECT_EQ(view_.bytes(), item.bytes);
      }
      return seen_.size() < stop_after;
    });
  }

  FrameReader reader_{200};
  MessageView view_;
  std::vector<Seen> seen_;
  const std::string first_ = test::frame("35=0|34=1|");
  const std::string second_ = test::frame("35=1|34=2|112=id|");
};

TEST_F(Batch, hands_over_every_whole_message_and_reports_what_is_wanted_of_the_last) {
  const BatchEnd end = read(first_ + second_ + first_.substr(0, 30));
  const std::vector<Seen> expected{{FrameStatus::complete, WireError::none, first_, second_.size() + 30},
                                   {FrameStatus::complete, WireError::none, second_, 30}};
  EXPECT_EQ(seen_, expected);
  EXPECT_EQ(end.used, first_.size() + second_.size());
  EXPECT_EQ(end.wanted, next_frame(first_.substr(0, 30), 200).size);
}

TEST_F(Batch, continues_after_what_is_not_a_message) {
  std::string wrong_sum = second_;
  wrong_sum[wrong_sum.size() - 2] ^= 1;
  const BatchEnd end = read("noise" + first_ + wrong_sum + second_);
  const std::vector<Seen> expected{
      {FrameStatus::garbled, WireError::not_fix, "noise", first_.size() + wrong_sum.size() + second_.size()},
      {FrameStatus::complete, WireError::none, first_, wrong_sum.size() + second_.size()},
      {FrameStatus::complete, WireError::check_sum_mismatch, wrong_sum, second_.size()},
      {FrameStatus::complete, WireError::none, second_, 0}};
  EXPECT_EQ(seen_, expected);
  EXPECT_EQ(end.used, 5 + first_.size() + wrong_sum.size() + second_.size());
  EXPECT_EQ(end.wanted, 0u);
}

TEST_F(Batch, stops_when_requested_and_leaves_the_rest) {
  const BatchEnd end = read(first_ + second_, 1);
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(end.used, first_.size());
  EXPECT_EQ(end.wanted, 0u);
}

TEST_F(Batch, ends_before_a_message_that_is_too_large_and_has_its_size) {
  const std::string large = test::frame("35=B|58=" + std::string(300, 'x') + "|");
  const BatchEnd end = read(first_ + large + second_);
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(end.used, first_.size());
  EXPECT_EQ(end.wanted, 0u);
  EXPECT_EQ(end.oversized, large.size());
}

TEST_F(Batch, has_nothing_to_do_with_an_empty_buffer) {
  const BatchEnd end = read({});
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(end.used, 0u);
  EXPECT_EQ(end.wanted, 0u);
}

}  // namespace
}  // namespace nfx
