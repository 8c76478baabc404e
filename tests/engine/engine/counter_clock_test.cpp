// The counter clock follows a kernel clock that the test moves, and ignores a counter that cannot be trusted.
#include "engine/counter_clock.hpp"

#include <gtest/gtest.h>

namespace nfx {
namespace {

using namespace std::chrono_literals;

// A kernel clock and a counter that the test advances.
struct World {
  Instant kernel{UtcTime{1'000'000s}, MonotonicTime{500s}};
  std::uint64_t count = 1'000'000;
  int readings = 0;             // of the kernel's
  Duration interrupted_for{0};  // each time that monotonic() is read

  void pass(Duration time, double counts_per_ns = 2.6) {
    kernel.utc += time;
    kernel.monotonic += time;
    count += static_cast<std::uint64_t>(static_cast<double>(time.count()) * counts_per_ns);
  }
};

struct WorldKernel {
  World* world;
  Instant now() const noexcept {
    ++world->readings;
    return world->kernel;
  }
  MonotonicTime monotonic() const noexcept {
    if (world->interrupted_for != 0ns) world->pass(world->interrupted_for);
    return world->kernel.monotonic;
  }
  Instant any_thread_now() const noexcept { return world->kernel; }
};
struct WorldCounter {
  World* world;
  std::uint64_t operator()() const noexcept { return world->count; }
};

using WorldClock = CounterClock<WorldKernel, WorldCounter>;

class CounterClockTest : public ::testing::Test {
 protected:
  // Until the rate is known.
  void warm_up(Duration step = 100us) {
    for (int i = 0; i < 200; ++i) {
      world.pass(step);
      static_cast<void>(clock.now());
    }
    world.readings = 0;
  }
  // How far the clock is from the kernel's.
  [[nodiscard]] Duration error() const {
    const Instant seen = clock.now();
    EXPECT_LE(std::chrono::abs((seen.utc - world.kernel.utc) - (seen.monotonic - world.kernel.monotonic)), 1us);
    return std::chrono::abs(seen.monotonic - world.kernel.monotonic);
  }

  World world;
  WorldClock clock{true, WorldKernel{&world}, WorldCounter{&world}};
};

TEST_F(CounterClockTest, TheFirstReadingIsTheKernels) {
  EXPECT_EQ(clock.now().utc, world.kernel.utc);
  EXPECT_EQ(clock.now().monotonic, world.kernel.monotonic);
}

TEST_F(CounterClockTest, GoesOnWithTheCounterWithinAnInterval) {
  warm_up();
  world.pass(1ms);
  static_cast<void>(clock.now());
  const int readings = world.readings;
  for (int i = 0; i < 99; ++i) {
    world.pass(10us);
    EXPECT_LE(error(), 10ns);
  }
  EXPECT_EQ(world.readings, readings);
}

TEST_F(CounterClockTest, AsksTheKernelOnceInAnInterval) {
  warm_up();
  for (int i = 0; i < 1000; ++i) {
    world.pass(10us);
    static_cast<void>(clock.now());
  }
  EXPECT_GE(world.readings, 9);
  EXPECT_LE(world.readings, 11);
}

TEST_F(CounterClockTest, ACounterThatIsNotTrustedIsNotFollowed) {
  const WorldClock untrusting{false, WorldKernel{&world}, WorldCounter{&world}};
  for (int i = 0; i < 300; ++i) {
    world.pass(100us, i % 7);
    EXPECT_EQ(untrusting.now().utc, world.kernel.utc);
  }
  EXPECT_EQ(world.readings, 300);
}

TEST_F(CounterClockTest, ATimeOfDayThatIsSetIsFollowedWithinAnInterval) {
  warm_up();
  world.kernel.utc += 3h;
  world.pass(1100us);
  EXPECT_EQ(clock.now().utc, world.kernel.utc);
}

TEST_F(CounterClockTest, MonotonicTimeNeverGoesBackWhereTheKernelIsSlewed) {
  warm_up();
  MonotonicTime before = clock.monotonic();
  for (int i = 0; i < 100'000; ++i) {
    world.pass(1us);
    if (i % 3 == 0) world.kernel.monotonic -= 1ns;  // slower than the rate that was measured
    const MonotonicTime now = clock.monotonic();
    ASSERT_GE(now, before);
    before = now;
  }
  EXPECT_LE(error(), 1us);
}

TEST_F(CounterClockTest, ACounterThatJumpsDoesNotMoveTheTime) {
  warm_up();
  for (const std::uint64_t jump : {std::uint64_t{1} << 40, ~std::uint64_t{0} - 5'000'000}) {
    world.count += jump;
    for (int i = 0; i < 100; ++i) {
      world.pass(50us);
      ASSERT_LE(error(), 100ns) << i;
    }
  }
}

TEST_F(CounterClockTest, AnotherRateIsNotBelievedUntilItIsMeasured) {
  warm_up();
  for (int i = 0; i < 40'000; ++i) {  // two seconds: the old rate is found wrong within one
    world.pass(50us, 2.0);
    static_cast<void>(clock.now());
  }
  for (int i = 0; i < 100; ++i) {
    world.pass(50us, 2.0);
    EXPECT_LE(error(), 10ns);
  }
}

TEST_F(CounterClockTest, AReadingThatWasInterruptedIsTheKernelsAlone) {
  warm_up();
  world.pass(2ms);
  world.interrupted_for = 300us;
  EXPECT_GE(clock.now().monotonic, world.kernel.monotonic - world.interrupted_for);
  EXPECT_EQ(world.readings, WorldClock::most_readings);
  world.interrupted_for = 0ns;
  for (int i = 0; i < 50; ++i) {
    world.pass(10us);
    EXPECT_LE(error(), 10ns);
  }
}

TEST(CounterClock, StaysWithTheSystemClock) {
  const CounterClock<> clock;
  const SystemClock system;
  const MonotonicTime end = system.monotonic() + 50ms;
  while (system.monotonic() < end) {
    const Instant before = system.now();
    const Instant between = clock.now();
    const Instant after = system.now();
    // A counter may be read early by some instructions.
    ASSERT_GE(between.monotonic, before.monotonic - 1us);
    ASSERT_LE(between.monotonic, after.monotonic + 1us);
  }
}

}  // namespace
}  // namespace nfx
