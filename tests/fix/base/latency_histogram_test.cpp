// Accuracy and bounds of histograms.
#include "nexusfix/base/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace nfx {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, is_all_zero_when_nothing_was_recorded) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 0U);
  EXPECT_EQ(histogram.mean(), 0.0);
  EXPECT_EQ(histogram.percentile(99), 0U);
}

TEST(LatencyHistogram, knows_small_values_exactly) {
  LatencyHistogram histogram;
  for (std::uint64_t v = 0; v < 256; ++v) histogram.record(v);
  EXPECT_EQ(histogram.percentile(0), 0U);
  EXPECT_EQ(histogram.percentile(50), 127U);
  EXPECT_EQ(histogram.percentile(100), 255U);
  EXPECT_EQ(histogram.mean(), 127.5);
}

TEST(LatencyHistogram, reads_any_value_back_within_one_percent_and_never_too_low) {
  for (std::uint64_t v = 1; v < 3'600'000'000'000; v = v + v / 97 + 1) {
    LatencyHistogram histogram;
    histogram.record(v);
    histogram.record(LatencyHistogram::highest_trackable);  // so that the maximum does not limit the result
    const std::uint64_t read = histogram.percentile(50);
    ASSERT_GE(read, v);
    ASSERT_LE(static_cast<double>(read - v), 0.01 * static_cast<double>(v)) << v;
  }
}

TEST(LatencyHistogram, agrees_with_sorted_samples) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  LatencyHistogram histogram;
  std::vector<std::uint64_t> samples;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t v = (random() % 1'000'000) >> (random() % 20);
    samples.push_back(v);
    histogram.record(v);
  }
  std::ranges::sort(samples);
  EXPECT_LE(histogram.min(), samples.front());
  EXPECT_GE(static_cast<double>(histogram.min()), 0.99 * static_cast<double>(samples.front()));
  EXPECT_EQ(histogram.max(), samples.back());
  for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(samples.size())));
    const std::uint64_t exact = samples[rank - 1];
    EXPECT_GE(histogram.percentile(percent), exact) << percent;
    EXPECT_LE(static_cast<double>(histogram.percentile(percent)), 1.01 * static_cast<double>(exact)) << percent;
  }
}

TEST(LatencyHistogram, merged_equals_recorded_together) {
  LatencyHistogram first;
  LatencyHistogram second;
  LatencyHistogram together;
  for (std::uint64_t v = 1; v < 1'000'000; v *= 3) {
    first.record(v);
    second.record(v * 2);
    together.record(v);
    together.record(v * 2);
  }
  EXPECT_FALSE(first == together);
  first.add(second);
  EXPECT_TRUE(first == together);
  first.add(LatencyHistogram{});
  EXPECT_TRUE(first == together);
}

TEST(LatencyHistogram, counts_values_beyond_its_range_and_keeps_the_maximum_exact) {
  LatencyHistogram histogram;
  histogram.record(LatencyHistogram::highest_trackable);
  histogram.record(LatencyHistogram::highest_trackable + 5);
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_EQ(histogram.max(), LatencyHistogram::highest_trackable + 5);
  EXPECT_EQ(histogram.percentile(100), LatencyHistogram::highest_trackable + 5);
}

TEST(LatencyHistogram, counts_a_negative_duration_as_zero) {
  LatencyHistogram histogram;
  histogram.record(-3ns);
  histogram.record(7ns);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 7U);
}

TEST(LatencyHistogram, is_as_new_after_clear) {
  LatencyHistogram histogram;
  histogram.record(std::uint64_t{12345});
  histogram.clear();
  EXPECT_TRUE(histogram == LatencyHistogram());
}

}  // namespace
}  // namespace nfx
