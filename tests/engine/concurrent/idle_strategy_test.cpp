// How long a poll may wait, and the names of the modes in a configuration.
#include "nexusfix/concurrent/idle_strategy.hpp"

#include <gtest/gtest.h>

#include "nexusfix/base/enum_values.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

TEST(IdleMode, reads_what_it_writes) {
  for (const IdleMode mode : {IdleMode::spin, IdleMode::yield, IdleMode::block}) {
    EXPECT_EQ(parse_enum<IdleMode>(to_string(mode)), mode);
  }
  EXPECT_EQ(parse_enum<IdleMode>("Spin"), std::nullopt);
  EXPECT_EQ(parse_enum<IdleMode>(""), std::nullopt);
}

TEST(IdleStrategy, lets_only_a_blocking_loop_wait_in_its_poll) {
  EXPECT_EQ(IdleStrategy(IdleMode::spin).max_wait(5ms), 0ns);
  EXPECT_EQ(IdleStrategy(IdleMode::yield).max_wait(5ms), 0ns);
  EXPECT_EQ(IdleStrategy(IdleMode::block).max_wait(5ms), 5ms);
}

TEST(IdleStrategy, never_waits_for_a_timer_that_is_overdue) {
  EXPECT_EQ(IdleStrategy(IdleMode::block).max_wait(-5ms), 0ns);
}

TEST(IdleStrategy, returns_from_idle_in_every_mode) {
  for (const IdleMode mode : {IdleMode::spin, IdleMode::yield, IdleMode::block}) {
    const IdleStrategy strategy(mode);
    strategy.idle(0);
    strategy.idle(1);
    EXPECT_EQ(strategy.mode(), mode);
  }
}

}  // namespace
}  // namespace nfx
