// Which bucket a latency is counted in.
#include "nexusfix/base/latency_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nfx {
namespace {

using namespace std::chrono_literals;

std::size_t bucket_of(Duration latency) {
  LatencyCounts counts;
  counts.record(latency);
  std::size_t bucket = 0;
  while (counts.count_up_to(bucket) == 0) ++bucket;
  return bucket;
}

TEST(LatencyCounts, bounds_go_from_100_ns_to_10_s_in_steps_of_1_and_2_5_and_5) {
  const auto bounds = LatencyCounts::bounds_ns();
  ASSERT_EQ(bounds.size(), 25U);
  std::uint64_t decade = 100;
  for (std::size_t i = 0; i < bounds.size(); i += 3, decade *= 10) {
    EXPECT_EQ(bounds[i], decade);
    if (i + 2 >= bounds.size()) break;
    EXPECT_EQ(bounds[i + 1], decade * 5 / 2);
    EXPECT_EQ(bounds[i + 2], decade * 5);
  }
  EXPECT_EQ(Duration{static_cast<Duration::rep>(bounds.back())}, Duration{10s});
}

TEST(LatencyCounts, a_latency_is_in_the_bucket_of_the_first_bound_that_is_not_below_it) {
  const auto bounds = LatencyCounts::bounds_ns();
  const auto expect_bucket = [&](std::int64_t ns) {
    const auto expected = std::ranges::lower_bound(bounds, static_cast<std::uint64_t>(ns)) - bounds.begin();
    ASSERT_EQ(bucket_of(Duration{ns}), static_cast<std::size_t>(expected)) << ns << " ns";
  };
  for (const std::uint64_t bound : bounds) {
    for (const std::int64_t off : {-1, 0, 1}) expect_bucket(static_cast<std::int64_t>(bound) + off);
  }
  for (unsigned bits = 0; bits < 63; ++bits) {
    for (const std::int64_t off : {-1, 0, 1}) expect_bucket((std::int64_t{1} << bits) + off);
  }
  expect_bucket(INT64_MAX);
}

TEST(LatencyCounts, a_negative_latency_counts_as_zero) {
  LatencyCounts counts;
  counts.record(Duration{-5});
  EXPECT_EQ(counts.count_up_to(0), 1U);
  EXPECT_EQ(counts.sum_ns(), 0U);
}

TEST(LatencyCounts, a_copy_has_all_counts_and_the_sum) {
  LatencyCounts counts;
  for (const Duration latency : {Duration{300ns}, Duration{2us}, Duration{1h}}) counts.record(latency);
  LatencyCounts copy = counts;
  counts.record(1s);
  EXPECT_EQ(copy.count(), 3U);
  EXPECT_EQ(copy.sum_ns(), 3'600'000'002'300U);
  for (std::size_t i = 0; i < LatencyCounts::bounds_ns().size(); ++i) {
    const std::uint64_t bound = LatencyCounts::bounds_ns()[i];
    EXPECT_EQ(copy.count_up_to(i), (bound >= 300 ? 1U : 0U) + (bound >= 2000 ? 1U : 0U)) << bound;
  }
  copy = counts;
  EXPECT_EQ(copy.count(), 4U);
}

}  // namespace
}  // namespace nfx
