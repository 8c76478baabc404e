// The seed's random numbers, identical with every standard library.
// Thread: one owner.
#pragma once

#include <cstdint>
#include <random>

#include "nexusfix/base/time.hpp"

namespace nfx::simulation {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_(seed) {}

  // 0 to `limit` - 1.
  std::uint64_t below(std::uint64_t limit) { return generator_() % limit; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  // True with a probability of `in_thousand` in a thousand.
  bool chance(std::uint64_t in_thousand) { return below(1000) < in_thousand; }
  bool coin() { return below(2) == 0; }
  // Up to twice the mean, and never zero.
  Duration wait(Duration mean) { return Duration{static_cast<std::int64_t>(1 + below(2 * count(mean)))}; }
  Duration between(Duration least, Duration most) {
    return least + Duration{static_cast<std::int64_t>(below(1 + count(most - least)))};
  }
  std::uint64_t next() { return generator_(); }

 private:
  static std::uint64_t count(Duration duration) { return static_cast<std::uint64_t>(duration.count()); }
  std::mt19937_64 generator_;
};

}  // namespace nfx::simulation
