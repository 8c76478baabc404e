// A rate limit: `rate` events per second on average, and up to `burst` in one burst.
// Thread: one owner. Cost: a few integer operations, no allocation. Errors: none; a rate of 0 means no limit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

class TokenBucket {
 public:
  TokenBucket() = default;
  // A burst of 0 means `rate`.
  TokenBucket(std::uint32_t rate, std::uint32_t burst) noexcept
      : interval_(rate == 0 ? Duration::zero() : std::max(Duration{1}, Duration{std::chrono::seconds{1}} / rate)),
        allowance_(interval_ * std::max(burst == 0 ? rate : burst, 1U)) {}

  [[nodiscard]] bool limited() const noexcept { return interval_ != Duration::zero(); }

  // When the next token is available: now, or later.
  [[nodiscard]] MonotonicTime ready_at() const noexcept {
    return full_at_ == MonotonicTime{} ? MonotonicTime{} : full_at_ + interval_ - allowance_;
  }
  [[nodiscard]] bool ready(MonotonicTime now) const noexcept { return !limited() || ready_at() <= now; }

  // Takes a token; false when there is none.
  [[nodiscard]] bool take(MonotonicTime now) noexcept {
    if (!limited()) return true;
    if (ready_at() > now) return false;
    full_at_ = std::max(full_at_, now) + interval_;
    NFX_ASSERT(full_at_ <= now + allowance_);  // never more taken than the burst
    return true;
  }

 private:
  Duration interval_{};  // between two tokens; zero: no limit
  Duration allowance_{};
  MonotonicTime full_at_{};  // when all tokens are available again
};

}  // namespace nfx
