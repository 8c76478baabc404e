// Spreads the delays of retries, so that peers do not all come back at the same time.
// Thread: one owner. Pure: the seed is an argument.
#pragma once

#include <cstdint>

#include "nexusfix/base/time.hpp"

namespace nfx {

// The random half of a back-off, with the caller's seed.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) noexcept : state_(seed) {}
  // Between half of `delay` and all of it.
  [[nodiscard]] Duration spread(Duration delay) noexcept;

 private:
  std::uint64_t state_;
};

}  // namespace nfx
