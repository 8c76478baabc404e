// Values between two threads: in order, intact, and refused when the ring is full.
#include "nexusfix/concurrent/spsc_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace nfx {
namespace {

TEST(SpscRing, gives_values_back_in_order_and_reports_when_it_is_full) {
  SpscRing<int, 4> ring;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(ring.try_push(i));
  EXPECT_FALSE(ring.try_push(4));
  EXPECT_EQ(ring.full_count(), 1U);
  EXPECT_EQ(ring.size(), 4U);
  int value = -1;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(ring.try_pop(value));
    EXPECT_EQ(value, i);
  }
  EXPECT_FALSE(ring.try_pop(value));
}

TEST(SpscRing, shows_nothing_of_a_slot_that_is_claimed_but_not_published) {
  SpscRing<int, 2> ring;
  int* const slot = ring.try_claim();
  ASSERT_NE(slot, nullptr);
  *slot = 7;
  EXPECT_EQ(ring.front(), nullptr);
  EXPECT_EQ(ring.try_claim(), slot);
  ring.publish();
  ASSERT_NE(ring.front(), nullptr);
  EXPECT_EQ(*ring.front(), 7);
  ring.pop();
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(SpscRing, carries_every_value_intact_between_two_threads) {
  struct Value {
    std::array<std::uint64_t, 5> words;
  };
  constexpr std::uint64_t values = 200'000;
  SpscRing<Value, 64> ring;
  std::thread producer([&] {
    for (std::uint64_t n = 0; n < values; ++n) {
      while (!ring.try_push({{n, n + 1, n + 2, n + 3, ~n}})) std::this_thread::yield();
    }
  });
  std::uint64_t broken = 0;
  for (std::uint64_t n = 0; n < values;) {
    Value value{};
    if (!ring.try_pop(value)) {
      std::this_thread::yield();
      continue;
    }
    broken += value.words == std::array<std::uint64_t, 5>{n, n + 1, n + 2, n + 3, ~n} ? 0 : 1;
    ++n;
  }
  producer.join();
  EXPECT_EQ(broken, 0U);
}

// Values with a ready flag in their slot, and values without.
template <class T>
class SpscRingOf : public testing::Test {};
using Kinds = testing::Types<std::uint64_t, std::array<std::uint64_t, 9>>;
TYPED_TEST_SUITE(SpscRingOf, Kinds);

TYPED_TEST(SpscRingOf, never_seems_to_hold_less_than_nothing_to_a_third_thread) {
  SpscRing<TypeParam, 16> ring;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (int n = 0; n < 200'000;) n += ring.try_push(TypeParam{}) ? 1 : 0;
  });
  std::thread watcher([&] {
    while (!done) EXPECT_LT(ring.size(), SIZE_MAX / 2);  // a negative size is a very large number
  });
  TypeParam value{};
  for (int n = 0; n < 200'000;) n += ring.try_pop(value) ? 1 : 0;
  done = true;
  producer.join();
  watcher.join();
  EXPECT_EQ(ring.size(), 0U);
}

}  // namespace
}  // namespace nfx
