// Reading a histogram back: percentiles and cumulative counts.
#include "observe/latency_histogram.hpp"
#include "nexusfix/base/assert.hpp"

#include <cmath>

namespace nfx {

std::uint64_t LatencyHistogram::percentile(double percent) const noexcept {
  if (count_ == 0) return 0;
  const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  const std::uint64_t rank = std::clamp<std::uint64_t>(wanted, 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen < rank) continue;
    // The last bucket also holds what overflowed, so only the exact maximum bounds it.
    return i + 1 == buckets_.size() ? max_ : std::min(detail::LatencyBuckets::highest_in(i), max_);
  }
  NFX_ASSERT(seen == count_);  // the buckets hold everything that was counted
  return max_;
}

std::uint64_t LatencyHistogram::count_up_to(std::uint64_t latency_ns) const noexcept {
  if (latency_ns >= max_) return count_;
  // What overflowed is in the last bucket and is above everything that can be queried here.
  const std::uint64_t within = std::min(latency_ns, highest_trackable_ns);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i <= detail::LatencyBuckets::bucket_of(within); ++i) seen += buckets_[i];
  NFX_ASSERT(seen <= count_ && overflow_count_ <= count_);
  return seen - (detail::LatencyBuckets::bucket_of(within) + 1 == buckets_.size() ? overflow_count_ : 0);
}

}  // namespace nfx
