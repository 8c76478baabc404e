// Reading latency counts back.
#include "nexusfix/base/latency_counts.hpp"

#include <cmath>

namespace nfx {

std::uint64_t LatencyCounts::percentile_ns(double percent) const noexcept {
  std::array<std::uint64_t, bucket_count> copy;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) all += copy[i] = in_bucket(i);
  if (all == 0) return 0;
  const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
  const std::uint64_t rank = std::clamp<std::uint64_t>(wanted, 1, all);
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while ((seen += copy[bucket]) < rank) ++bucket;
  return Buckets::highest_in(bucket);
}

}  // namespace nfx
