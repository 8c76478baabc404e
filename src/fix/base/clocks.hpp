// Reads the host's clocks, for the programs and threads where time enters; everything below takes it as an argument.
// Thread: any. Cost: one clock read, read_clocks() two. Errors: none.
#pragma once

#include <chrono>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

[[nodiscard]] inline UtcTime read_utc() noexcept {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

[[nodiscard]] inline MonotonicTime read_monotonic() noexcept {
  return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

[[nodiscard]] inline Instant read_clocks() noexcept { return {read_utc(), read_monotonic()}; }

}  // namespace nfx
