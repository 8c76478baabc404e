// What happens to a record when the queue for deferred work is full.
// Thread: plain values. The queue counts what it drops.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/time.hpp"

namespace nfx {

enum class WhenFull : std::uint8_t {
  drop,   // immediately
  block,  // after waiting for space, at most block_limit: for producers that may be delayed
  spill,  // only when a second ring with records of variable length, in order, is full too
};

[[nodiscard]] constexpr std::string_view to_string(WhenFull policy) noexcept {
  switch (policy) {
    case WhenFull::drop: return "drop";
    case WhenFull::block: return "block";
    case WhenFull::spill: return "spill";
  }
  return "unknown";
}

struct DeferredOptions {
  WhenFull when_full = WhenFull::drop;
  Duration block_limit{std::chrono::milliseconds{1}};
  std::size_t spill_bytes = std::size_t{1} << 20;  // with WhenFull::spill; rounded up to a power of two
};

}  // namespace nfx
