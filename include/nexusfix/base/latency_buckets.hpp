// The buckets that all counts of latencies use: linear within a power of two, logarithmic across them.
// Thread: any; constants and pure functions. Cost: a bit scan and a shift. Errors: none; a value above highest_value
// has no bucket.
//
// Below 2^exact_bits each value has its own bucket; above, each power of two is split into 2^(exact_bits - 1):
//
//   value   1 m m m x x ... x     with exact_bits = 4: three bits after the leading one choose the bucket; x is lost
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "nexusfix/base/language.hpp"

namespace nfx::detail {

template <unsigned exact_bits_, unsigned value_bits_>
struct LogLinearBuckets {
  static constexpr unsigned exact_bits = exact_bits_;
  static constexpr unsigned value_bits = value_bits_;
  static constexpr std::uint64_t highest_value = (std::uint64_t{1} << value_bits) - 1;
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

  static_assert(bucket_of(highest_value) == bucket_count - 1 && highest_in(bucket_count - 1) == highest_value);
  static_assert([] {
    constexpr std::uint64_t exact = std::uint64_t{1} << exact_bits;
    return bucket_of(exact - 1) == exact - 1 && bucket_of(exact + 1) == exact && bucket_of(exact + 2) == exact + 1 &&
           highest_in(exact - 1) == exact - 1 && highest_in(exact) == exact + 1;
  }());
};

}  // namespace nfx::detail
