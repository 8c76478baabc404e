// Counts of latencies in buckets whose upper bounds are fixed, as a Prometheus histogram has them.
// Thread: one writer; a copy can be made on any thread. The copy may have a latency in its sum that its buckets lack,
// or the reverse; count() is made from the buckets. Cost: record is a table look-up and two additions; 216 bytes.
// Errors: none.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

namespace detail {

// 100 ns to 10 s in steps of 1, 2.5 and 5. A latency that equals a bound is in that bound's bucket; the last bucket has
// no bound.
struct LatencyBounds {
  static constexpr std::size_t count = 25;
  static constexpr std::uint64_t none = UINT64_MAX;

  static constexpr std::array<std::uint64_t, count + 1> ns = [] {
    std::array<std::uint64_t, count + 1> bounds{};
    std::uint64_t decade = 100;
    for (std::size_t i = 0; i < count; ++i) {
      constexpr std::array<std::uint64_t, 3> halves{2, 5, 10};
      bounds[i] = decade * halves[i % 3] / 2;
      if (i % 3 == 2) decade *= 10;
    }
    bounds[count] = none;
    return bounds;
  }();

  // By the number of bits of a latency: the first bound that is not below the least such latency.
  static constexpr std::array<std::uint8_t, 65> first = [] {
    std::array<std::uint8_t, 65> index{};
    for (std::size_t bits = 1; bits < index.size(); ++bits) {
      const std::uint64_t least = std::uint64_t{1} << (bits - 1);
      while (ns[index[bits]] < least) ++index[bits];
    }
    return index;
  }();

  // Each bound is at least twice the one before it, so at most one is among the latencies of one number of bits.
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t latency_ns) noexcept {
    const std::size_t bucket = first[static_cast<std::size_t>(std::bit_width(latency_ns))];
    return bucket + (ns[bucket] < latency_ns ? 1 : 0);
  }
};
static_assert(LatencyBounds::ns[0] == 100 && LatencyBounds::ns[LatencyBounds::count - 1] == 10'000'000'000);
static_assert([] {
  for (std::size_t i = 0; i < LatencyBounds::count; ++i) {
    const std::uint64_t bound = LatencyBounds::ns[i];
    if (LatencyBounds::bucket_of(bound) != i || LatencyBounds::bucket_of(bound + 1) != i + 1) return false;
    if (LatencyBounds::ns[i + 1] / 2 < bound) return false;
  }
  return LatencyBounds::bucket_of(0) == 0 && LatencyBounds::bucket_of(UINT64_MAX) == LatencyBounds::count;
}());

}  // namespace detail

class LatencyCounts {
 public:
  // The last bucket, without a bound, is not among them.
  [[nodiscard]] static constexpr std::span<const std::uint64_t> bounds_ns() noexcept {
    return std::span{detail::LatencyBounds::ns}.first<detail::LatencyBounds::count>();
  }

  LatencyCounts() noexcept = default;
  LatencyCounts(const LatencyCounts& other) noexcept { *this = other; }
  LatencyCounts& operator=(const LatencyCounts& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i].store(read(other.buckets_[i]), relaxed);
    sum_ns_.store(read(other.sum_ns_), relaxed);
    return *this;
  }
  ~LatencyCounts() = default;

  // A negative latency counts as 0.
  void record(Duration latency) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<Duration::rep>(latency.count(), 0));
    const std::size_t bucket = detail::LatencyBounds::bucket_of(ns);
    NFX_ASSERT(bucket < buckets_.size());
    add(buckets_[bucket], 1);
    add(sum_ns_, ns);
  }

  // How many were at most bounds_ns()[bound]; all of them for the number of bounds.
  [[nodiscard]] std::uint64_t count_up_to(std::size_t bound) const noexcept {
    NFX_ASSERT(bound < buckets_.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i <= bound; ++i) sum += read(buckets_[i]);
    return sum;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_up_to(buckets_.size() - 1); }
  [[nodiscard]] std::uint64_t sum_ns() const noexcept { return read(sum_ns_); }

 private:
  using Number = std::atomic<std::uint64_t>;
  static_assert(Number::is_always_lock_free);
  static constexpr auto relaxed = std::memory_order_relaxed;

  static std::uint64_t read(const Number& number) noexcept { return number.load(relaxed); }
  // A plain addition: there is one writer.
  static void add(Number& number, std::uint64_t more) noexcept { number.store(read(number) + more, relaxed); }

  std::array<Number, detail::LatencyBounds::count + 1> buckets_{};
  Number sum_ns_{0};
};

}  // namespace nfx
