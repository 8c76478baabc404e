// How many bytes a peer may have resent: every stored byte twice without a limit, so that a peer that lost a whole day
// gets it at full speed; what it requests beyond that at `rate` bytes per second, whatever ranges it requests.
// Thread: one owner. Cost: a few integer operations, no allocation. Errors: none; a rate of 0 means no limit.
#pragma once

#include <cstdint>

#include "nexusfix/session/token_bucket.hpp"

namespace nfx {

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
