// Both clocks return the host's time.
#include "base/clocks.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace nfx {
namespace {

TEST(Clocks, show_a_time_between_the_reads_before_and_after) {
  const auto utc_before = std::chrono::system_clock::now();
  const auto monotonic_before = std::chrono::steady_clock::now();
  const Instant now = read_clocks();
  EXPECT_GE(now.utc, utc_before);
  EXPECT_LE(now.utc, std::chrono::system_clock::now());
  EXPECT_GE(now.monotonic, monotonic_before);
  EXPECT_LE(now.monotonic, std::chrono::steady_clock::now());
}

}  // namespace
}  // namespace nfx
