// A histogram that one thread records in and any thread reads while it does. Its buckets are linear within a power of
// two and logarithmic across them. Each value below 2^exact_bits has its own bucket. Each power of two above is split
// into 2^(exact_bits - 1).
//
//   value   1 m m m x x ... x     with exact_bits = 4: three bits after the leading one choose the bucket; x is lost
//
// Thread: one writer; a copy can be made on any thread. The copy may have a latency in its sum or maximum that its
// buckets lack, or the reverse; count() is made from the buckets. Cost: record is a bit scan, two additions and a
// comparison; reading goes through all buckets. Errors: none; a value above highest_trackable is in the last bucket,
// and whole in sum and maximum.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

template <unsigned exact_bits_, unsigned value_bits>
class LogLinearHistogram {
 public:
  static constexpr unsigned exact_bits = exact_bits_;
  static constexpr std::uint64_t highest_trackable = (std::uint64_t{1} << value_bits) - 1;
  static constexpr std::size_t buckets_per_power = std::size_t{1} << (exact_bits - 1);
  static constexpr std::size_t bucket_count =
      (std::size_t{1} << exact_bits) + (value_bits - exact_bits) * buckets_per_power;

  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t v) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(v | ((1U << exact_bits) - 1)));
    const unsigned shift = width - exact_bits;  // bits lost: 0 below 2^exact_bits
    return shift * buckets_per_power + static_cast<std::size_t>(v >> shift);
  }
  [[nodiscard]] static constexpr std::uint64_t highest_in(std::size_t bucket) noexcept {
    if (bucket < (std::size_t{1} << exact_bits)) return bucket;
    const auto shift = static_cast<unsigned>(bucket / buckets_per_power - 1);
    const std::uint64_t leading = bucket - shift * buckets_per_power;
    return ((leading + 1) << shift) - 1;
  }

  LogLinearHistogram() noexcept = default;
  LogLinearHistogram(const LogLinearHistogram& other) noexcept { *this = other; }
  LogLinearHistogram& operator=(const LogLinearHistogram& other) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) buckets_[i].store(read(other.buckets_[i]), relaxed);
    sum_.store(read(other.sum_), relaxed);
    max_.store(read(other.max_), relaxed);
    return *this;
  }
  ~LogLinearHistogram() = default;

  // Records the value `times` times. A negative latency counts as 0.
  void record(std::uint64_t value, std::uint64_t times = 1) noexcept {
    add(buckets_[bucket_of(std::min(value, highest_trackable))], times);
    add(sum_, value * times);
    raise_max(value);
  }
  void record(Duration latency, std::uint64_t times = 1) noexcept {
    record(static_cast<std::uint64_t>(std::max<Duration::rep>(latency.count(), 0)), times);
  }

  [[nodiscard]] std::uint64_t in_bucket(std::size_t bucket) const noexcept { return read(buckets_[bucket]); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_in_first(bucket_count); }
  [[nodiscard]] std::uint64_t sum() const noexcept { return read(sum_); }
  [[nodiscard]] double mean() const noexcept {
    const std::uint64_t all = count();
    return all == 0 ? 0.0 : static_cast<double>(sum()) / static_cast<double>(all);
  }
  // How many values were at most `value`; higher values of the same bucket are counted too.
  [[nodiscard]] std::uint64_t count_up_to(std::uint64_t value) const noexcept {
    return count_in_first(bucket_of(std::min(value, highest_trackable)) + 1);
  }
  // The value that `percent` of the values do not exceed: at most the width of its bucket too high, and not too low; 0
  // when the histogram is empty. The maximum of a difference can be as much too high.
  [[nodiscard]] std::uint64_t percentile(double percent) const noexcept {
    const std::uint64_t all = count();
    const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
    const std::uint64_t rank = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(all, 1));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      if ((seen += in_bucket(i)) < rank) continue;
      const std::uint64_t most = read(max_);
      return bucket_of(std::min(most, highest_trackable)) == i ? most : highest_in(i);
    }
    return 0;
  }
  [[nodiscard]] std::uint64_t max() const noexcept { return percentile(100); }
  // At most the width of its bucket too low.
  [[nodiscard]] std::uint64_t min() const noexcept {
    std::size_t i = 0;
    while (i < bucket_count && in_bucket(i) == 0) ++i;
    return i == 0 || i == bucket_count ? 0 : highest_in(i - 1) + 1;
  }

  // Adds the counts of `other`; subtracts the counts of `earlier`, an older copy of this histogram. Not for the
  // writer's hot path: every bucket is written.
  void add(const LogLinearHistogram& other) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) add(buckets_[i], read(other.buckets_[i]));
    add(sum_, other.sum());
    raise_max(read(other.max_));
  }
  void subtract(const LogLinearHistogram& earlier) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) {
      NFX_ASSERT(read(earlier.buckets_[i]) <= read(buckets_[i]));
      add(buckets_[i], std::uint64_t{0} - read(earlier.buckets_[i]));
    }
    add(sum_, std::uint64_t{0} - earlier.sum());
  }
  // For a histogram that is put together from its parts.
  void add_to_bucket(std::size_t bucket, std::uint64_t times) noexcept {
    NFX_ASSERT(bucket < bucket_count);
    add(buckets_[bucket], times);
  }
  void add_to_sum(std::uint64_t more) noexcept { add(sum_, more); }
  void raise_max(std::uint64_t value) noexcept {
    if (value > read(max_)) [[unlikely]]
      max_.store(value, relaxed);
  }
  void clear() noexcept { *this = LogLinearHistogram{}; }

  friend bool operator==(const LogLinearHistogram& a, const LogLinearHistogram& b) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) {
      if (a.in_bucket(i) != b.in_bucket(i)) return false;
    }
    return a.sum() == b.sum() && read(a.max_) == read(b.max_);
  }

 private:
  using Number = std::atomic<std::uint64_t>;
  static_assert(Number::is_always_lock_free);
  static constexpr auto relaxed = std::memory_order_relaxed;

  static std::uint64_t read(const Number& number) noexcept { return number.load(relaxed); }
  // A plain addition: there is one writer.
  static void add(Number& number, std::uint64_t more) noexcept { number.store(read(number) + more, relaxed); }

  [[nodiscard]] std::uint64_t count_in_first(std::size_t buckets) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buckets; ++i) sum += in_bucket(i);
    return sum;
  }

  std::array<Number, bucket_count> buckets_{};
  Number sum_{0}, max_{0};
};

// For a running engine: nanoseconds up to 68 s, none further off than 12.5 % when read back.
using LatencyCounts = LogLinearHistogram<4, 36>;
static_assert(sizeof(LatencyCounts) == 2192);
static_assert(LatencyCounts::bucket_of(15) == 15 && LatencyCounts::bucket_of(17) == 16 &&
              LatencyCounts::bucket_of(18) == 17 && LatencyCounts::highest_in(16) == 17);
// For a benchmark: up to about an hour in nanoseconds, none further off than 1 %; 36 KiB.
using LatencyHistogram = LogLinearHistogram<8, 42>;
static_assert(LatencyHistogram::bucket_of(LatencyHistogram::highest_trackable) == LatencyHistogram::bucket_count - 1 &&
              LatencyHistogram::highest_in(LatencyHistogram::bucket_count - 1) == LatencyHistogram::highest_trackable);

// The bounds of a Prometheus histogram of latencies: 100 ns to 10 s in steps of 1, 2.5 and 5.
inline constexpr std::array<std::uint64_t, 25> latency_bounds_ns = [] {
  std::array<std::uint64_t, 25> steps{};
  std::uint64_t decade = 100;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    constexpr std::array<std::uint64_t, 3> halves{2, 5, 10};
    steps[i] = decade * halves[i % 3] / 2;
    if (i % 3 == 2) decade *= 10;
  }
  return steps;
}();
static_assert(latency_bounds_ns.front() == 100 && latency_bounds_ns.back() == 10'000'000'000);

}  // namespace nfx
