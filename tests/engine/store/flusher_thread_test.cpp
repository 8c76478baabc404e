// A flusher's thread calls the given functions. journal_store_test.cpp shows that it flushes.
#include "store/flusher_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace nfx {
namespace {

using namespace std::chrono_literals;

TEST(FlusherThread, begins_once_and_does_the_rest_after_each_turn_on_its_own_thread) {
  JournalFlusher flusher;
  std::atomic<int> begun{0}, done{0};
  std::promise<void> third;
  std::thread::id begun_on, done_on;
  {
    const FlusherThread thread{flusher,
                               {.begin =
                                    [&] {
                                      ++begun;
                                      begun_on = std::this_thread::get_id();
                                    },
                                .also =
                                    [&](Instant now) {
                                      EXPECT_GT(now.monotonic, MonotonicTime{});
                                      EXPECT_EQ(begun.load(), 1);
                                      done_on = std::this_thread::get_id();
                                      if (++done == 3) third.set_value();
                                    },
                                .longest_wait = 1ms}};
    third.get_future().wait();
  }
  EXPECT_EQ(begun.load(), 1);
  EXPECT_EQ(begun_on, done_on);
  EXPECT_NE(begun_on, std::this_thread::get_id());
}

}  // namespace
}  // namespace nfx
