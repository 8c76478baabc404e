// The two clocks of the host. Thread: any. Cost: two clock reads.
#pragma once

#include <chrono>

#include "nexusfix/base/time.hpp"

namespace nfx::app::market {

inline Instant clock_now() noexcept {
  return {std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()),
          std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now())};
}

}  // namespace nfx::app::market
