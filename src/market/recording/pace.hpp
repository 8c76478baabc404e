// When each packet of a recording is due in a replay: spaced as the receive times, at a multiple of that speed.
// Thread: a value. Cost: some additions. Time is an argument.
#pragma once

#include <algorithm>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::market {

class ReplayPace {
 public:
  // 2.0 replays an hour in half of one.
  explicit ReplayPace(double speed) noexcept : speed_(speed) { NFX_ASSERT(speed > 0); }

  // The first packet is due now. A packet is never due before the one before it, whatever the clocks of their lines
  // were.
  [[nodiscard]] MonotonicTime due(UtcTime received, MonotonicTime now) noexcept {
    if (!begun_) {
      begun_ = true;
      first_ = received;
      start_ = now;
      last_ = now;
    }
    const double since = static_cast<double>((received - first_).count()) / speed_;
    last_ = std::max(last_, start_ + Duration{static_cast<Duration::rep>(since)});
    return last_;
  }

 private:
  double speed_;
  bool begun_ = false;
  UtcTime first_{};
  MonotonicTime start_{};
  MonotonicTime last_{};
};

}  // namespace nfx::market
