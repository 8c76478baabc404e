// The queue of handshake steps: each is run once, in the order of posting, by whichever thread is free.
#include "engine/handshake_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace nfx {
namespace {

struct Numbered final : HandshakeTask {
  explicit Numbered(int of, std::vector<int>& into) : number(of), done(into) {}
  void run() noexcept override { done.push_back(number); }
  int number;
  std::vector<int>& done;
};

TEST(HandshakeQueue, runs_steps_in_the_order_of_posting) {
  std::vector<int> done;
  std::vector<std::unique_ptr<Numbered>> tasks;
  HandshakeQueue queue;
  for (int i = 0; i < 10; ++i) queue.post(*tasks.emplace_back(std::make_unique<Numbered>(i, done)));
  queue.end();
  HelperWatch watch;
  queue.run(IdleMode::block, watch);
  EXPECT_EQ(done, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_GT(watch.longest_turn(), Duration::zero());
}

TEST(HandshakeQueue, runs_at_its_end_what_no_thread_has_run) {
  std::vector<int> done;
  Numbered task{7, done};
  {
    HandshakeQueue queue;
    queue.post(task);
    EXPECT_TRUE(done.empty());
  }
  EXPECT_EQ(done, std::vector{7});
}

struct Counting final : HandshakeTask {
  void run() noexcept override {
    ++runs;
    if (all != nullptr) all->count_down();
  }
  int runs = 0;
  std::latch* all = nullptr;
};

TEST(HandshakeQueue, runs_each_step_once_whoever_posts_it_and_however_its_threads_wait) {
  for (const IdleMode idle : {IdleMode::block, IdleMode::spin}) {
    constexpr std::size_t posters = 3, each = 500;
    std::latch all{posters * each};
    std::array<std::vector<Counting>, posters> tasks;
    for (auto& of_one : tasks) of_one = std::vector<Counting>(each);
    HandshakeQueue queue;
    std::array<HelperWatch, 2> watches;
    std::vector<std::jthread> threads;
    for (HelperWatch& watch : watches) threads.emplace_back([&] { queue.run(idle, watch); });
    for (auto& of_one : tasks) {
      threads.emplace_back([&] {
        for (Counting& task : of_one) {
          task.all = &all;
          queue.post(task);
        }
      });
    }
    all.wait();
    queue.end();
    threads.clear();
    for (const auto& of_one : tasks) {
      for (const Counting& task : of_one) EXPECT_EQ(task.runs, 1);
    }
  }
}

// A thread that has gone to sleep is woken by the next step, not by a later one.
TEST(HandshakeQueue, wakes_a_thread_for_a_single_step) {
  HandshakeQueue queue;
  HelperWatch watch;
  std::jthread worker{[&] { queue.run(IdleMode::block, watch); }};
  for (int i = 0; i < 100; ++i) {
    std::latch done{1};
    Counting task;
    task.all = &done;
    queue.post(task);
    done.wait();
  }
  queue.end();
}

}  // namespace
}  // namespace nfx
