// A 64-bit hash of the content of a book: a function of the values added and of their order, the same on every machine.
// Thread: one owner. Cost: a multiplication a value. It does not protect against values that were chosen to collide.
#pragma once

#include <cstdint>

namespace nfx::market {

class ContentHash {
 public:
  void add(std::uint64_t number) noexcept {
    state_ = (state_ ^ number) * 0x9E3779B97F4A7C15;
    state_ ^= state_ >> 32;
  }
  [[nodiscard]] std::uint64_t value() const noexcept {
    const std::uint64_t mixed = (state_ ^ state_ >> 29) * 0xBF58476D1CE4E5B9;
    return mixed ^ mixed >> 32;
  }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3;
};

}  // namespace nfx::market
