// A spread delay stays within its bounds, and varies.
#include "base/jitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace nfx {
namespace {

TEST(Jitter, stays_between_half_of_the_delay_and_all_of_it_and_varies) {
  Jitter jitter{42};
  constexpr Duration delay = std::chrono::milliseconds{1000};
  Duration least = Duration::max(), most{};
  for (int i = 0; i < 10'000; ++i) {
    const Duration spread = jitter.spread(delay);
    least = std::min(least, spread);
    most = std::max(most, spread);
  }
  EXPECT_GE(least, delay / 2);
  EXPECT_LE(most, delay);
  EXPECT_LT(least, delay * 51 / 100);
  EXPECT_GT(most, delay * 99 / 100);
}

TEST(Jitter, of_next_to_nothing_is_next_to_nothing) {
  Jitter jitter{1};
  EXPECT_EQ(jitter.spread(Duration{0}), Duration{0});
  EXPECT_EQ(jitter.spread(Duration{1}), Duration{1});
}

}  // namespace
}  // namespace nfx
