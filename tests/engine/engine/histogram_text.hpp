// Parses a histogram from a metrics page, and checks that Prometheus would accept it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::test {

struct HistogramText {
  struct Bucket {
    double bound_s = 0;
    std::uint64_t up_to = 0;  // cumulative
  };
  std::vector<Bucket> buckets;
  double sum_s = 0;
  std::uint64_t count = 0;

  // The number in the bucket that ends at `bound_s`; infinity for the last.
  [[nodiscard]] std::uint64_t in_bucket(double bound_s) const {
    std::uint64_t below = 0;
    for (const Bucket& bucket : buckets) {
      if (bucket.bound_s == bound_s) return bucket.up_to - below;
      below = bucket.up_to;
    }
    ADD_FAILURE() << "no bucket ends at " << bound_s;
    return 0;
  }
};

// `label` as on the page: thread="nfx-poll-0". Without buckets, the page has no such histogram.
inline HistogramText read_histogram(const std::string& page, const std::string& name, const std::string& label) {
  HistogramText histogram;
  std::size_t heads = 0;
  bool typed = false, has_sum = false, has_count = false;
  std::istringstream lines{page};
  for (std::string line; std::getline(lines, line);) {
    const auto value_of = [&line](const std::string& begin) -> const char* {
      return line.starts_with(begin) ? line.c_str() + begin.size() : nullptr;
    };
    if (line == "# TYPE " + name + " histogram") typed = true;
    if (line.starts_with("# HELP " + name + ' ')) ++heads;
    if (const char* bound = value_of(name + "_bucket{" + label + ",le=\"")) {
      EXPECT_TRUE(typed && !has_sum) << line;
      char* end = nullptr;
      HistogramText::Bucket bucket{.bound_s = std::strtod(bound, &end), .up_to = 0};
      EXPECT_TRUE(std::string_view{end}.starts_with("\"} ")) << line;
      bucket.up_to = std::strtoull(end + 3, &end, 10);
      EXPECT_EQ(*end, '\0') << line;
      histogram.buckets.push_back(bucket);
    }
    if (const char* sum = value_of(name + "_sum{" + label + "} ")) {
      histogram.sum_s = std::strtod(sum, nullptr);
      has_sum = true;
    }
    if (const char* count = value_of(name + "_count{" + label + "} ")) {
      histogram.count = std::strtoull(count, nullptr, 10);
      has_count = true;
    }
  }
  if (histogram.buckets.empty()) return histogram;
  EXPECT_EQ(heads, 1U) << name;
  EXPECT_TRUE(has_sum && has_count) << name;
  for (std::size_t i = 1; i < histogram.buckets.size(); ++i) {
    EXPECT_LT(histogram.buckets[i - 1].bound_s, histogram.buckets[i].bound_s) << name;
    EXPECT_LE(histogram.buckets[i - 1].up_to, histogram.buckets[i].up_to) << name;
  }
  EXPECT_TRUE(std::isinf(histogram.buckets.back().bound_s)) << name;
  EXPECT_EQ(histogram.buckets.back().up_to, histogram.count) << name;
  return histogram;
}

}  // namespace nfx::test
