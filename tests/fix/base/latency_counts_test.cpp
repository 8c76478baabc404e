// The accuracy of counted latencies, and the view of other threads.
#include "nexusfix/base/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace nfx {
namespace {

using namespace std::chrono_literals;

TEST(LatencyCounts, bounds_go_from_100_ns_to_10_s_in_steps_of_1_and_2_5_and_5) {
  const auto& bounds = latency_bounds_ns;
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

TEST(LatencyCounts, a_latency_reads_back_at_most_an_eighth_too_high_and_never_too_low) {
  const auto expect_near = [](std::uint64_t ns) {
    LatencyCounts counts;
    counts.record(Duration{static_cast<Duration::rep>(ns)});
    for (const double percent : {0.0, 50.0, 100.0}) {
      const std::uint64_t read = counts.percentile(percent);
      ASSERT_GE(read, ns);
      ASSERT_LE(read, ns + ns / 8);
    }
    ASSERT_EQ(counts.count_up_to(ns), 1U) << ns;
    ASSERT_EQ(counts.count_up_to(ns - ns / 8 - 1), 0U) << ns;
  };
  for (std::uint64_t ns = 1; ns < 5000; ++ns) expect_near(ns);
  for (unsigned bits = 1; bits < 36; ++bits) {
    for (const int off : {-1, 0, 1}) expect_near((std::uint64_t{1} << bits) + static_cast<std::uint64_t>(off));
  }
}

TEST(LatencyCounts, what_is_too_high_is_in_the_last_bucket_and_whole_in_the_sum) {
  LatencyCounts counts;
  counts.record(1h);
  EXPECT_EQ(counts.max(), 3'600'000'000'000U);
  EXPECT_EQ(counts.sum(), 3'600'000'000'000U);
  EXPECT_EQ(counts.in_bucket(LatencyCounts::bucket_count - 1), 1U);
}

TEST(LatencyCounts, percentiles_are_of_the_ranks) {
  LatencyCounts counts;
  EXPECT_EQ(counts.percentile(99), 0U);
  counts.record(10ns, 98);
  counts.record(12ns);
  counts.record(14ns);
  EXPECT_EQ(counts.percentile(98), 10U);
  EXPECT_EQ(counts.percentile(99), 12U);
  EXPECT_EQ(counts.percentile(99.9), 14U);
  EXPECT_EQ(counts.sum(), 980U + 12 + 14);
}

TEST(LatencyCounts, a_difference_has_what_came_after_the_copy) {
  LatencyCounts counts;
  counts.record(300ns);
  const LatencyCounts earlier = counts;
  counts.record(300ns);
  counts.record(7us);
  LatencyCounts since = counts;
  since.subtract(earlier);
  EXPECT_EQ(since.count(), 2U);
  EXPECT_EQ(since.sum(), 7300U);
  since.add(earlier);
  EXPECT_EQ(since.count(), 3U);
  EXPECT_EQ(since.sum(), counts.sum());
}

// For the thread sanitizer, and because a reader must never see more than was recorded.
TEST(LatencyCounts, a_copy_made_while_another_thread_records_is_a_state_in_between) {
  LatencyCounts counts;
  constexpr std::uint64_t records = 200'000;
  std::jthread writer{[&counts] {
    for (std::uint64_t i = 0; i < records; ++i) counts.record(Duration{static_cast<Duration::rep>(i % 1000)});
  }};
  std::uint64_t seen = 0;
  while (seen < records) {
    const LatencyCounts copy = counts;
    ASSERT_GE(copy.count(), seen);
    seen = copy.count();
    ASSERT_LE(seen, records);
  }
}

TEST(LatencyCounts, a_negative_latency_counts_as_zero) {
  LatencyCounts counts;
  counts.record(Duration{-5});
  EXPECT_EQ(counts.count_up_to(0), 1U);
  EXPECT_EQ(counts.sum(), 0U);
}

TEST(LatencyCounts, a_copy_has_all_counts_and_the_sum) {
  LatencyCounts counts;
  for (const Duration latency : {Duration{300ns}, Duration{2us}, Duration{1h}}) counts.record(latency);
  LatencyCounts copy = counts;
  counts.record(1s);
  EXPECT_EQ(copy.count(), 3U);
  EXPECT_EQ(copy.sum(), 3'600'000'002'300U);
  for (const std::uint64_t bound : latency_bounds_ns) {
    EXPECT_EQ(copy.count_up_to(bound), (bound >= 300 ? 1U : 0U) + (bound >= 2000 ? 1U : 0U)) << bound;
  }
  copy = counts;
  EXPECT_EQ(copy.count(), 4U);
}

}  // namespace
}  // namespace nfx
