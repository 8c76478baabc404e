// Counts of latencies that one thread records and any thread reads while it does: 0 to 68 s, none further off than
// 12.5 % when read back.
// Thread: one writer; a copy can be made on any thread. The copy may have a latency in its sum that its buckets lack,
// or the reverse; count() is made from the buckets. Cost: record is a bit scan and two additions; 2,184 bytes.
// Errors: none; what is above highest_ns is in the last bucket, and whole in the sum.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/latency_buckets.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

class LatencyCounts {
 public:
  using Buckets = detail::LogLinearBuckets<4, 36>;
  static constexpr std::uint64_t highest_ns = Buckets::highest_value;
  static constexpr std::size_t bucket_count = Buckets::bucket_count;

  // The bounds of a Prometheus histogram: 100 ns to 10 s in steps of 1, 2.5 and 5.
  [[nodiscard]] static constexpr std::span<const std::uint64_t> bounds_ns() noexcept { return bounds; }

  LatencyCounts() noexcept = default;
  LatencyCounts(const LatencyCounts& other) noexcept { *this = other; }
  LatencyCounts& operator=(const LatencyCounts& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i].store(read(other.buckets_[i]), relaxed);
    sum_ns_.store(read(other.sum_ns_), relaxed);
    return *this;
  }
  ~LatencyCounts() = default;

  // A negative latency counts as 0. `times`: so many had it.
  void record(Duration latency, std::uint64_t times = 1) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<Duration::rep>(latency.count(), 0));
    add(buckets_[Buckets::bucket_of(std::min(ns, highest_ns))], times);
    add(sum_ns_, ns * times);
  }

  [[nodiscard]] std::uint64_t in_bucket(std::size_t bucket) const noexcept { return read(buckets_[bucket]); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_in_first(bucket_count); }
  [[nodiscard]] std::uint64_t sum_ns() const noexcept { return read(sum_ns_); }
  // How many were at most `latency_ns`; those within 12.5 % above it may be counted too.
  [[nodiscard]] std::uint64_t count_up_to_ns(std::uint64_t latency_ns) const noexcept {
    return count_in_first(Buckets::bucket_of(std::min(latency_ns, highest_ns)) + 1);
  }
  // The latency that `percent` of them do not exceed, at most 12.5 % too high and, up to highest_ns, never too low; 0
  // when there are none. 100: the highest.
  [[nodiscard]] std::uint64_t percentile_ns(double percent) const noexcept;

  // Those of `other` besides, and without those that `earlier`, a copy of these made before, has. Not on the writer's
  // thread's path: every bucket is written.
  void add(const LatencyCounts& other) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) add(buckets_[i], read(other.buckets_[i]));
    add(sum_ns_, read(other.sum_ns_));
  }
  void subtract(const LatencyCounts& earlier) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) {
      NFX_ASSERT(read(earlier.buckets_[i]) <= read(buckets_[i]));
      add(buckets_[i], std::uint64_t{0} - read(earlier.buckets_[i]));
    }
    add(sum_ns_, std::uint64_t{0} - read(earlier.sum_ns_));
  }
  // For a histogram that is put together from its buckets.
  void add_to_bucket(std::size_t bucket, std::uint64_t times) noexcept {
    NFX_ASSERT(bucket < bucket_count);
    add(buckets_[bucket], times);
  }
  void add_to_sum(std::uint64_t ns) noexcept { add(sum_ns_, ns); }

 private:
  using Number = std::atomic<std::uint64_t>;
  static_assert(Number::is_always_lock_free);
  static constexpr auto relaxed = std::memory_order_relaxed;

  static constexpr std::array<std::uint64_t, 25> bounds = [] {
    std::array<std::uint64_t, 25> steps{};
    std::uint64_t decade = 100;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      constexpr std::array<std::uint64_t, 3> halves{2, 5, 10};
      steps[i] = decade * halves[i % 3] / 2;
      if (i % 3 == 2) decade *= 10;
    }
    return steps;
  }();
  static_assert(bounds.front() == 100 && bounds.back() == 10'000'000'000);

  static std::uint64_t read(const Number& number) noexcept { return number.load(relaxed); }
  // A plain addition: there is one writer.
  static void add(Number& number, std::uint64_t more) noexcept { number.store(read(number) + more, relaxed); }

  [[nodiscard]] std::uint64_t count_in_first(std::size_t buckets) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buckets; ++i) sum += read(buckets_[i]);
    return sum;
  }

  std::array<Number, bucket_count> buckets_{};
  Number sum_ns_{0};
};
static_assert(sizeof(LatencyCounts) == 2184);

}  // namespace nfx
