// Counts of latencies from 0 to about an hour, none further off than 1 % when read back.
// Thread: one writer; readers take a copy on the writer's thread. Cost: record is a bit scan and two increments, never
// an allocation; 36 KiB per histogram, fixed.
//
// Below 256 ns each value has its own bucket; above, each power of two is split into 128 (base/latency_buckets.hpp).
// LatencyCounts has the same buckets with an eighth of the resolution, and can be read by other threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/latency_buckets.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

namespace detail {

using LatencyBuckets = LogLinearBuckets<8, 42>;

}  // namespace detail

class LatencyHistogram {
 public:
  // Values above are counted in the last bucket, and max() stays exact. About 73 minutes.
  static constexpr std::uint64_t highest_trackable_ns = detail::LatencyBuckets::highest_value;

  void record(std::uint64_t latency_ns) noexcept {
    const std::size_t bucket = detail::LatencyBuckets::bucket_of(std::min(latency_ns, highest_trackable_ns));
    NFX_ASSERT(bucket < buckets_.size());
    ++buckets_[bucket];
    ++count_;
    sum_ += latency_ns;
    min_ = std::min(min_, latency_ns);
    max_ = std::max(max_, latency_ns);
    overflow_count_ += latency_ns > highest_trackable_ns ? 1 : 0;
  }

  // A negative duration (clocks of two cores may disagree by a little) counts as 0.
  void record(Duration latency) noexcept {
    record(latency.count() < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(latency.count()));
  }

  // Many values by their buckets, for callers that compute several together (detail::LatencyBuckets). add_counted()
  // adds what the buckets do not have, before the histogram is read. Each value is at most highest_trackable_ns.
  void count_in(std::size_t bucket, std::uint64_t times) noexcept {
    NFX_ASSERT(bucket < buckets_.size());
    buckets_[bucket] += times;
  }
  struct Counted {
    std::uint64_t count = 0, sum = 0, min = UINT64_MAX, max = 0;
  };
  void add_counted(const Counted& counted) noexcept {
    count_ += counted.count;
    sum_ += counted.sum;
    min_ = std::min(min_, counted.min);
    max_ = std::max(max_, counted.max);
  }

  void merge(const LatencyHistogram& other) noexcept {
    NFX_ASSERT(other.count_ == 0 || other.min_ <= other.max_);
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    overflow_count_ += other.overflow_count_;
  }

  // The latency that `percent` of the recorded ones do not exceed, at most 1 % too high and never too low; 0 when
  // empty.
  [[nodiscard]] std::uint64_t percentile(double percent) const noexcept;

  // How many were at most `latency_ns`; those within 1 % above it may be counted too.
  [[nodiscard]] std::uint64_t count_up_to(std::uint64_t latency_ns) const noexcept;

  [[nodiscard]] std::uint64_t in_bucket(std::size_t bucket) const noexcept { return buckets_[bucket]; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  void clear() noexcept { *this = LatencyHistogram(); }

  friend bool operator==(const LatencyHistogram&, const LatencyHistogram&) = default;

 private:
  std::array<std::uint64_t, detail::LatencyBuckets::bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  std::uint64_t overflow_count_ = 0;  // of the last bucket, those above highest_trackable_ns
};

}  // namespace nfx
