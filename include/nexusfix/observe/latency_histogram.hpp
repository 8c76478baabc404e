// Counts of latencies from 0 to about an hour, none further off than 1 % when read back.
// Thread: one writer; readers take a copy on the writer's thread. Cost: record is a bit scan and two increments, never
// an allocation; 36 KiB per histogram, fixed.
//
// Buckets are linear within a power of two and logarithmic across them. Below 256 ns each value has its own; above,
// each power of two is split into 128:
//
//   value   1 m m m m m m m x x ... x     the seven bits after the leading one choose the bucket; x is lost
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

namespace detail {

struct LatencyBuckets {
  static constexpr unsigned exact_bits = 8;  // values below 2^8 have a bucket each
  static constexpr unsigned value_bits = 42;
  static constexpr std::uint64_t highest_value = (std::uint64_t{1} << value_bits) - 1;
  static constexpr std::size_t buckets_per_power = std::size_t{1} << (exact_bits - 1);
  static constexpr std::size_t bucket_count =
      (std::size_t{1} << exact_bits) + (value_bits - exact_bits) * buckets_per_power;

  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t v) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(v | ((1U << exact_bits) - 1)));
    const unsigned shift = width - exact_bits;  // bits lost: 0 below 2^8
    return shift * buckets_per_power + static_cast<std::size_t>(v >> shift);
  }
  [[nodiscard]] static constexpr std::uint64_t highest_in(std::size_t bucket) noexcept {
    if (bucket < (std::size_t{1} << exact_bits)) return bucket;
    const auto shift = static_cast<unsigned>(bucket / buckets_per_power - 1);
    const std::uint64_t leading = bucket - shift * buckets_per_power;
    return ((leading + 1) << shift) - 1;
  }
};
static_assert(LatencyBuckets::bucket_of(LatencyBuckets::highest_value) == LatencyBuckets::bucket_count - 1);
static_assert(LatencyBuckets::bucket_of(255) == 255 && LatencyBuckets::bucket_of(257) == 256 &&
              LatencyBuckets::bucket_of(258) == 257);
static_assert(LatencyBuckets::highest_in(255) == 255 && LatencyBuckets::highest_in(256) == 257 &&
              LatencyBuckets::highest_in(LatencyBuckets::bucket_count - 1) == LatencyBuckets::highest_value);

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
  void count_in(std::size_t bucket) noexcept {
    NFX_ASSERT(bucket < buckets_.size());
    ++buckets_[bucket];
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
