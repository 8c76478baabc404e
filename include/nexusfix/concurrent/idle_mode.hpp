// How a thread waits while it has nothing to do; idle_strategy.hpp does it.
// Thread: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class IdleMode : std::uint8_t {
  spin,       // busy-polling, never leaves the CPU: lowest latency, for a thread with a CPU of its own
  yield,      // lets other threads run when there is nothing to do
  block,      // sleeps until the kernel wakes the thread: for threads that share CPUs
  automatic,  // of a configuration: "spin" where the placement plan gives the thread a CPU of its own, otherwise block
};

[[nodiscard]] constexpr std::string_view to_string(IdleMode mode) noexcept {
  switch (mode) {
    case IdleMode::spin: return "spin";
    case IdleMode::yield: return "yield";
    case IdleMode::block: return "block";
    case IdleMode::automatic: return "auto";
  }
  return "unknown";
}

}  // namespace nfx
