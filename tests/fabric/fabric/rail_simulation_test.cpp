// Compares the simulation with results computed by hand, and checks the order of the published steps.
#include "fabric/rail_simulation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nfx::fabric {
namespace {

constexpr double ms = 1e6;
// For a program that is limited by links, whatever the defaults are.
constexpr SimulatedCosts cheap{
    .poll_ns = 20, .completion_ns = 30, .post_ns = 120, .refused_post_ns = 40, .shared_line_ns = 60};

SimulatedRun published(std::size_t step, const SimulatedCosts& costs = {}, const SimulatedMachine& machine = {}) {
  return simulate(machine, costs, published_ladder()[step].program, 20 * ms);
}

TEST(RailSimulation, one_card_is_as_fast_as_its_link_and_no_faster) {
  const SimulatedRun run = simulate({}, cheap, {.rails = 1}, 20 * ms);
  EXPECT_GT(run.gbps, 99.0);
  EXPECT_LE(run.gbps, 100.0);
  EXPECT_EQ(run.bottleneck, Bottleneck::links);
}

// 64 KiB in 5.243 us and 15 us until the answer: one page at a time uses a quarter of the link.
TEST(RailSimulation, a_window_of_one_page_pays_the_answer_for_each) {
  const SimulatedRun run = simulate({}, cheap, {.rails = 1, .window = 1}, 20 * ms);
  EXPECT_NEAR(run.gbps, 65536.0 * 8 / (5242.88 + 15000 + 150), 0.4);
  EXPECT_EQ(run.bottleneck, Bottleneck::window);
}

// A page costs only its poll, completion and post in a thread that has more cards than it can serve.
TEST(RailSimulation, one_thread_for_all_cards_is_as_fast_as_its_costs) {
  const SimulatedCosts costs{.poll_ns = 100, .completion_ns = 200, .post_ns = 700};
  const SimulatedRun run = simulate({}, costs, {.thread_per_group = false, .batch = 1}, 50 * ms);
  EXPECT_NEAR(run.gbps, 65536.0 * 8 / 1000, 15);
  EXPECT_EQ(run.bottleneck, Bottleneck::threads);
}

TEST(RailSimulation, a_slow_switch_is_shared_by_its_cards) {
  const SimulatedRun run = simulate({.switch_gbps = 250}, cheap, {}, 20 * ms);
  EXPECT_NEAR(run.gbps, 2000, 20);
  EXPECT_EQ(run.bottleneck, Bottleneck::switches);
}

// Every page needs the cache line twice, so all threads together cannot exceed the limit of one line.
TEST(RailSimulation, a_shared_counter_bounds_all_threads_together) {
  const SimulatedCosts costs{.post_ns = 120, .shared_line_ns = 500};
  const SimulatedRun run = simulate({}, costs, {.sharded = false, .batch = 1}, 20 * ms);
  EXPECT_NEAR(run.gbps, 65536.0 * 8 / 1000, 25);
  EXPECT_GT(run.shared_wait, 0.8);
  EXPECT_GT(simulate({}, costs, {.sharded = true}, 20 * ms).gbps, 3000);
}

TEST(RailSimulation, connections_made_while_time_is_taken_cost_their_time) {
  const SimulatedCosts costs{.connect_ns = 1 * ms};
  const double cold = simulate({}, costs, {.rails = 1, .warmed_up = false}, 10 * ms).gbps;
  EXPECT_NEAR(cold / simulate({}, costs, {.rails = 1}, 10 * ms).gbps, 0.9, 0.01);
}

TEST(RailSimulation, a_slower_thread_that_is_not_pinned_gains_by_being_pinned) {
  const SimulatedCosts costs{.post_ns = 3000, .unpinned_factor = 3.5};
  const double free = simulate({}, costs, {.pinned = false}, 20 * ms).gbps;
  EXPECT_NEAR(simulate({}, costs, {}, 20 * ms).gbps / free, 3.5, 0.1);
}

TEST(RailSimulation, a_full_card_that_is_asked_for_each_page_takes_time_from_the_others) {
  const SimulatedMachine small{.queue = 8};
  SimulatedCosts costs{.post_ns = 900, .refused_post_ns = 500};
  const double lazy = simulate(small, costs, {.batch = 16}, 20 * ms).gbps;
  EXPECT_LT(simulate(small, costs, {.lazy = false, .batch = 16}, 20 * ms).gbps, lazy);
}

TEST(RailSimulation, same_arguments_give_the_same_result) {
  EXPECT_EQ(published(4).pages, published(4).pages);
  EXPECT_EQ(published(4).gbps, published(4).gbps);
}

TEST(RailSimulation, implied_cost_gives_the_rate_that_it_was_computed_from) {
  const auto& step = published_ladder()[2];
  const double post = implied_post_ns({}, cheap, step.program, step.published_gbps, 20 * ms);
  EXPECT_GT(post, 1000);
  SimulatedCosts costs = cheap;
  costs.post_ns = post;
  EXPECT_NEAR(published(2, costs).gbps, step.published_gbps, 3);
  EXPECT_LT(implied_post_ns({}, cheap, step.program, 5000, 20 * ms), 0);  // more than all links
}

TEST(RailSimulation, published_steps_are_those_of_the_series_in_order) {
  const auto& steps = published_ladder();
  int chapter = 6;
  double gbps = 0;
  for (const LadderStep& step : steps) {
    EXPECT_GT(step.chapter, chapter);
    EXPECT_GT(step.published_gbps, gbps);
    chapter = step.chapter;
    gbps = step.published_gbps;
  }
  EXPECT_EQ(steps.front().program.rails, 1U);
  EXPECT_FALSE(steps[6].program.lazy);
  EXPECT_EQ(steps[5].program.batch, 1U);
}

}  // namespace
}  // namespace nfx::fabric
