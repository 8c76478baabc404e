// A rate limit: `rate` tokens per second on average, and up to `burst` in one burst. A token is an event, or a byte.
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
  TokenBucket(std::uint32_t rate, std::uint64_t burst) noexcept
      : TokenBucket(rate == 0 ? Duration::zero() : std::max(Duration{1}, Duration{std::chrono::seconds{1}} / rate),
                    burst == 0 ? rate : burst) {}
  // One token per interval; zero means no limit.
  TokenBucket(Duration interval, std::uint64_t burst) noexcept
      : interval_(interval), allowance_(interval * static_cast<std::int64_t>(std::max(burst, std::uint64_t{1}))) {
    NFX_ASSERT(interval >= Duration::zero() && allowance_ >= interval_);  // no overflow
  }

  [[nodiscard]] bool limited() const noexcept { return interval_ != Duration::zero(); }

  // When the next token is available: now, or later.
  [[nodiscard]] MonotonicTime ready_at() const noexcept {
    return full_at_ == MonotonicTime{} ? MonotonicTime{} : full_at_ + interval_ - allowance_;
  }
  [[nodiscard]] bool ready(MonotonicTime now) const noexcept { return !limited() || ready_at() <= now; }

  // Takes `count` tokens when at least one is available, the missing ones in advance, so that the average holds. False:
  // none is available, and none is taken.
  [[nodiscard]] bool take(MonotonicTime now, std::uint64_t count = 1) noexcept {
    if (!limited()) return true;
    if (ready_at() > now) return false;
    const Duration taken = interval_ * static_cast<std::int64_t>(count);
    full_at_ = std::max(full_at_, now) + taken;
    NFX_ASSERT(full_at_ + interval_ <= now + allowance_ + taken);  // at most the burst, and what is taken in advance
    return true;
  }

 private:
  Duration interval_{};  // between two tokens; zero: no limit
  Duration allowance_{};
  MonotonicTime full_at_{};  // when all tokens are available again
};

// How many bytes a peer may have resent. Every stored byte is resent twice at full speed, so a peer that lost a whole
// day gets it soon. Beyond that it gets `rate` bytes per second, whatever ranges it requests. A rate of 0 means no
// limit.
class ResendBudget {
 public:
  static constexpr std::uint64_t free_resends = 2;   // of every stored byte
  static constexpr std::uint64_t burst_seconds = 8;  // of `rate`, in one burst

  explicit ResendBudget(std::uint32_t rate) noexcept : bucket_(rate, burst_seconds * rate) {}

  // Whether `bytes` may be resent now; `stored` is the size of all stored messages.
  [[nodiscard]] bool ready(std::uint64_t bytes, std::uint64_t stored, MonotonicTime now) const noexcept {
    return is_free(bytes, stored) || bucket_.ready(now);
  }
  // They were resent; ready() was true.
  void spend(std::uint64_t bytes, std::uint64_t stored, MonotonicTime now) noexcept {
    if (is_free(bytes, stored)) {
      resent_ += bytes;
    } else {
      static_cast<void>(bucket_.take(now, bytes));
    }
  }
  // When the next message may be resent, after ready() was false.
  [[nodiscard]] MonotonicTime ready_at() const noexcept { return bucket_.ready_at(); }
  // The stored messages are gone: sequence numbers restarted at 1.
  void start_over() noexcept { resent_ = 0; }

 private:
  [[nodiscard]] bool is_free(std::uint64_t bytes, std::uint64_t stored) const noexcept {
    return resent_ + bytes <= free_resends * stored;
  }

  std::uint64_t resent_ = 0;  // without a limit
  TokenBucket bucket_;
};

}  // namespace nfx
