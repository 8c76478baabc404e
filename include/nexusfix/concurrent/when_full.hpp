// What becomes of a record when the queue for deferred work is full.
// Thread: values. What is dropped is counted by whoever drops it, never silently.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/time.hpp"

namespace nfx {

enum class WhenFull : std::uint8_t {
  drop,   // at once
  block,  // after waiting for room, at most block_limit: for producers that may stand still
  spill,  // only when a second ring of exact lengths, which takes it in order, is full too
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
