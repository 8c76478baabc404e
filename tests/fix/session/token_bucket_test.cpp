// Rate and burst of the limit, and when the next token is available.
#include "nexusfix/session/token_bucket.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime start{100h};

int taken(TokenBucket& bucket, MonotonicTime now, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += bucket.take(now) ? 1 : 0;
  return count;
}

TEST(TokenBucket, without_a_rate_lets_everything_through) {
  TokenBucket bucket;
  EXPECT_FALSE(bucket.limited());
  EXPECT_EQ(taken(bucket, start, 1000), 1000);
}

TEST(TokenBucket, gives_the_burst_at_once_and_the_rate_from_then_on) {
  TokenBucket bucket{10, 3};
  EXPECT_EQ(taken(bucket, start, 10), 3);
  EXPECT_EQ(taken(bucket, start + 99ms, 10), 0);
  EXPECT_EQ(taken(bucket, start + 100ms, 10), 1);
  EXPECT_EQ(taken(bucket, start + 350ms, 10), 2);
}

TEST(TokenBucket, a_burst_of_zero_is_one_seconds_worth) {
  TokenBucket bucket{5, 0};
  EXPECT_EQ(taken(bucket, start, 10), 5);
}

TEST(TokenBucket, never_saves_up_more_than_the_burst) {
  TokenBucket bucket{10, 3};
  EXPECT_EQ(taken(bucket, start, 10), 3);
  EXPECT_EQ(taken(bucket, start + 1h, 10), 3);
}

TEST(TokenBucket, says_exactly_when_the_next_one_is_ready) {
  TokenBucket bucket{4, 1};
  ASSERT_TRUE(bucket.ready(start));
  ASSERT_TRUE(bucket.take(start));
  EXPECT_EQ(bucket.ready_at(), start + 250ms);
  EXPECT_FALSE(bucket.ready(start + 250ms - 1ns));
  EXPECT_TRUE(bucket.ready(start + 250ms));
}

TEST(TokenBucket, holds_the_average_over_a_long_time) {
  TokenBucket bucket{1000, 10};
  int count = 0;
  for (MonotonicTime now = start; now < start + 10s; now += 300us) count += taken(bucket, now, 3);
  EXPECT_GE(count, 10'000);
  EXPECT_LE(count, 10'010);
}

TEST(TokenBucket, takes_several_tokens_in_advance_and_keeps_the_average) {
  TokenBucket bucket{100, 50};
  ASSERT_TRUE(bucket.take(start, 150));
  EXPECT_FALSE(bucket.ready(start + 1s));
  EXPECT_EQ(bucket.ready_at(), start + 1s + 10ms);
  EXPECT_TRUE(bucket.take(start + 1s + 10ms, 1));
}

TEST(TokenBucket, has_intervals_longer_than_a_second) {
  TokenBucket bucket{Duration{1min}, 2};
  EXPECT_EQ(taken(bucket, start, 10), 2);
  EXPECT_EQ(taken(bucket, start + 59s, 10), 0);
  EXPECT_EQ(taken(bucket, start + 60s, 10), 1);
}

}  // namespace
}  // namespace nfx
