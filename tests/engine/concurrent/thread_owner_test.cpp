// Which thread owns a side of a ring: the first one that uses it, then the one it is handed over to, or any thread
// after the owner has ended.
#include "nexusfix/concurrent/spsc_queue.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace nfx {
namespace {

bool is_of_another_thread(ThreadOwner& owner) {
  bool answer = false;
  std::thread([&] { answer = owner.is_mine(); }).join();
  return answer;
}

TEST(ThreadOwner, is_that_of_the_first_thread_that_asks) {
  ThreadOwner owner;
  EXPECT_TRUE(owner.is_mine());
  EXPECT_TRUE(owner.is_mine());
  EXPECT_FALSE(is_of_another_thread(owner));
  EXPECT_TRUE(owner.is_mine());
}

TEST(ThreadOwner, passes_on_when_it_is_handed_over) {
  ThreadOwner owner;
  ASSERT_TRUE(owner.is_mine());
  owner.hand_over();
  EXPECT_TRUE(is_of_another_thread(owner));
}

TEST(ThreadOwner, passes_on_when_its_thread_has_ended) {
  ThreadOwner owner;
  ASSERT_TRUE(is_of_another_thread(owner));
  EXPECT_TRUE(owner.is_mine());
}

#ifndef NDEBUG

// In a new process, because a forked child lacks the threads of its parent, which then seem to have ended.
class ThreadOwnerDeathTest : public testing::Test {
 protected:
  ThreadOwnerDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

template <class Action>
void on_another_thread(Action action) {
  std::thread(action).join();
}

TEST_F(ThreadOwnerDeathTest, names_a_second_producer_and_a_second_consumer_of_a_ring) {
  SpscRing<int, 4> ring;
  ASSERT_TRUE(ring.try_push(1));
  EXPECT_DEATH(on_another_thread([&] { static_cast<void>(ring.try_push(2)); }), "producer_.is_mine");
  int value = 0;
  ASSERT_TRUE(ring.try_pop(value));
  EXPECT_DEATH(on_another_thread([&] { static_cast<void>(ring.try_pop(value)); }), "is_consumer");
}

TEST_F(ThreadOwnerDeathTest, names_a_second_producer_and_a_second_consumer_of_a_queue) {
  SpscQueue queue({.slot_count = 4, .record_size = 8});
  ASSERT_EQ(queue.try_push_value(1), PushResult::pushed);
  EXPECT_DEATH(on_another_thread([&] { static_cast<void>(queue.try_push_value(2)); }), "producer_.is_mine");
  int value = 0;
  ASSERT_TRUE(queue.try_pop_value(value));
  EXPECT_DEATH(on_another_thread([&] { static_cast<void>(queue.try_pop_value(value)); }), "consumer_.is_mine");
}

#endif

TEST(ThreadOwner, of_a_ring_or_queue_can_hand_it_over) {
  SpscRing<int, 4> ring;
  SpscQueue queue({.slot_count = 4, .record_size = 8});
  ASSERT_TRUE(ring.try_push(1));
  ASSERT_EQ(queue.try_push_value(1), PushResult::pushed);
  ring.hand_over_producer();
  queue.hand_over_producer();
  std::thread([&] {
    EXPECT_TRUE(ring.try_push(2));
    EXPECT_EQ(queue.try_push_value(2), PushResult::pushed);
  }).join();
  int value = 0;
  ASSERT_TRUE(ring.try_pop(value));
  ASSERT_TRUE(queue.try_pop_value(value));
  ring.hand_over_consumer();
  queue.hand_over_consumer();
  std::thread([&] {
    int last = 0;
    EXPECT_TRUE(ring.try_pop(last));
    EXPECT_TRUE(queue.try_pop_value(last));
    EXPECT_EQ(last, 2);
  }).join();
}

}  // namespace
}  // namespace nfx
