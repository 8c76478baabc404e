// Pseudo-random numbers that are the same on every machine for the same seed.
// Thread: one owner. Cost: three multiplications per number.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace nfx::bench {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  // A counter stepped by an odd constant, with its bits mixed until each depends on all others.
  [[nodiscard]] std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  // 0 to limit - 1; limit is far below 2^32, so that the bias is below one in a billion billion.
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * limit) >> 64);
  }

  // low to high, both included.
  [[nodiscard]] std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept {
    return low + below(high - low + 1);
  }

  template <typename Element>
  void shuffle(std::span<Element> elements) noexcept {
    for (std::size_t left = elements.size(); left > 1; --left) {
      std::swap(elements[left - 1], elements[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace nfx::bench
