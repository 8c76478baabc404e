// From one sample to the next, where one in a number is taken: at random, so that what repeats in a fixed order is not
// sampled at one place of it. Thread: one owner. Pure: the seed is an argument.
#pragma once

#include <cstdint>

#include "nexusfix/base/assert.hpp"

namespace nfx {

class SampleInterval {
 public:
  explicit SampleInterval(std::uint32_t every = 1, std::uint64_t seed = 1) noexcept
      : most_(2 * every - 1), state_(seed) {
    NFX_ASSERT(every >= 1);
  }

  // From 1 to 2 * every - 1, each equally often.
  [[nodiscard]] std::uint32_t next() noexcept {
    state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;  // Knuth's, MMIX
    return 1 + static_cast<std::uint32_t>((state_ >> 32) * most_ >> 32);
  }

 private:
  std::uint32_t most_;
  std::uint64_t state_;
};

}  // namespace nfx
