// A delay whose second half is random, from SplitMix64 with any seed.
#include "base/jitter.hpp"

#include "nexusfix/base/assert.hpp"

namespace nfx {

Duration Jitter::spread(Duration delay) noexcept {
  NFX_ASSERT(delay >= Duration::zero());
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t x = state_;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  x ^= x >> 31;
  const std::int64_t half = delay.count() / 2;
  const std::int64_t random = half == 0 ? 0 : static_cast<std::int64_t>(x % static_cast<std::uint64_t>(half));
  NFX_ASSERT(random >= 0 && random <= half);
  return Duration{delay.count() - half + random};
}

}  // namespace nfx
