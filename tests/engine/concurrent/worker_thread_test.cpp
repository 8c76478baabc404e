// A worker reports errors at start, sleeps, wakes, and finishes its work before it ends.
#include "nexusfix/concurrent/worker_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace nfx {
namespace {

using namespace std::chrono_literals;

TEST(WorkerThread, runs_the_start_hook_on_its_own_thread_before_the_constructor_returns) {
  WakeSignal signal;
  std::thread::id hooked;
  WorkerOptions options;
  options.on_start = [&] { hooked = std::this_thread::get_id(); };
  std::thread::id stepped;
  {
    WorkerThread worker(signal,
                        {.step =
                             [&] {
                               stepped = std::this_thread::get_id();
                               return std::size_t{0};
                             },
                         .has_work = {}},
                        options);
    EXPECT_NE(hooked, std::thread::id{});
    EXPECT_NE(hooked, std::this_thread::get_id());
  }
  EXPECT_EQ(stepped, hooked);
}

TEST(WorkerThread, hands_on_what_the_start_hook_throws) {
  WakeSignal signal;
  WorkerOptions options;
  options.on_start = [] { throw std::runtime_error("no such core"); };
  EXPECT_THROW(WorkerThread(signal, {.step = [] { return std::size_t{0}; }, .has_work = {}}, options),
               std::runtime_error);
}

TEST(WorkerThread, does_what_is_left_before_it_stops) {
  for (const IdleMode mode : {IdleMode::spin, IdleMode::yield, IdleMode::block}) {
    WakeSignal signal;
    std::atomic<int> left{1000};
    WorkerOptions options;
    options.idle = mode;
    WorkerThread worker(
        signal, {.step = [&] { return left > 0 ? static_cast<std::size_t>(left--) : 0; }, .has_work = {}}, options);
    worker.stop();
    EXPECT_EQ(left, 0);
  }
}

TEST(WorkerThread, continues_after_steps_that_throw) {
  WakeSignal signal;
  std::atomic<int> steps{0};
  WorkerOptions options;
  options.idle = IdleMode::yield;
  WorkerThread worker(signal,
                      {.step = [&]() -> std::size_t {
                         if (++steps < 3) throw std::runtime_error("once more");
                         return 0;
                       },
                       .has_work = {}},
                      options);
  while (steps < 4) std::this_thread::yield();
  worker.stop();
  EXPECT_GE(steps, 4);
}

// The worker may sleep an hour: every submission must wake it, or this test does not end.
TEST(WorkerThread, that_sleeps_is_woken_by_each_piece_of_work) {
  WakeSignal signal;
  std::atomic<int> given{0}, done{0};
  WorkerOptions options;
  options.longest_sleep = 1h;
  WorkerThread worker(signal,
                      {.step = [&]() -> std::size_t {
                         if (done == given) return 0;
                         ++done;
                         return 1;
                       },
                       .has_work = [&] { return done != given; }},
                      options);
  for (int i = 1; i <= 2000; ++i) {
    given.store(i, std::memory_order_release);
    signal.notify();
    while (done.load(std::memory_order_acquire) != i) std::this_thread::yield();
  }
  worker.stop();
  EXPECT_EQ(done, 2000);
}

}  // namespace
}  // namespace nfx
