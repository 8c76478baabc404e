// The harness measures its input in random order, and does not accept a wrong answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <set>

#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/perf_counters.hpp"
#include "harness/random.hpp"

namespace {

using namespace nfx::bench;

constexpr std::uint32_t items = 512;

std::uint64_t answer_of(std::uint32_t item) { return item * 7 + 3; }

Row good_row() {
  Row row;
  row.name = "good";
  row.run = [](Order order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t item : order) sum += answer_of(item);
    return sum;
  };
  row.check = [](std::uint32_t item) { return std::optional{answer_of(item)}; };
  return row;
}

Group group_of(std::vector<Row> rows) { return {"group", "title", items, true, std::move(rows)}; }

MeasureOptions few_rounds() {
  MeasureOptions options;
  options.repeats = 3;
  options.rounds = 2;
  return options;
}

auto measure_it(const Group& group) { return measure(group, few_rounds(), CycleClock{"test", 1, 1}, 0); }

TEST(CycleClock, agrees_with_the_kernel_about_how_long_a_millisecond_is) {
  const CycleClock clock = calibrate_clock();
  EXPECT_GT(clock.ticks_per_ns, 0.0001);
  EXPECT_GT(clock.step_ns, 0);
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t ticks_begin = ticks_before();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds{2}) {
  }
  const double ns = clock.to_ns(static_cast<double>(ticks_after() - ticks_begin));
  const double ns_by_steady_clock =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  // Preemption between the two readings can only increase the second one.
  EXPECT_GE(ns, 1.99e6);
  EXPECT_LE(ns, ns_by_steady_clock * 1.01);
}

TEST(CycleClock, timing_nothing_costs_something_but_less_than_ten_microseconds) {
  const CycleClock clock = calibrate_clock();
  const double cost_ns = clock.to_ns(own_cost_ticks());
  EXPECT_GT(cost_ns, 0);
  EXPECT_LT(cost_ns, 10'000);
}

TEST(CycleClock, a_cost_is_the_mean_of_readings_that_were_not_interrupted) {
  std::vector<double> costs{10, 20, 12, 5000, 14};
  EXPECT_EQ(undisturbed_mean(costs), 14);
  EXPECT_EQ(undisturbed_mean({}), 0);
  EXPECT_LE(stamp_cost_ticks(), own_cost_ticks() * 1.5);
}

TEST(Random, gives_the_same_numbers_for_the_same_seed_and_others_for_another) {
  Random a{1}, b{1}, c{2};
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t number = a.next();
    EXPECT_EQ(number, b.next());
    EXPECT_NE(number, c.next());
    seen.insert(number);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Random, stays_within_its_limits_and_reaches_both) {
  Random random{3};
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.between(5, 9));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{5, 6, 7, 8, 9}));
}

TEST(Random, shuffles_into_another_order_of_the_same_elements) {
  std::vector<std::uint32_t> order(items);
  std::iota(order.begin(), order.end(), 0U);
  const std::vector<std::uint32_t> before = order;
  Random{4}.shuffle(std::span{order});
  EXPECT_NE(order, before);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), before.begin()));
}

TEST(Median, is_the_middle_value_whatever_the_order) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({8, 2, 4, 100}), 6);
}

TEST(Measure, gives_one_median_for_each_repeat_and_the_median_of_those) {
  const auto result = measure_it(group_of({good_row(), good_row()}));
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->rows.size(), 2U);
  for (const RowResult& row : result->rows) {
    EXPECT_EQ(row.ns_of_repeats.size(), 3U);
    EXPECT_EQ(row.ns_median, median(row.ns_of_repeats));
    EXPECT_GT(row.ps.count(), 0U);
    EXPECT_GT(row.messages_per_batch, 0U);
  }
}

TEST(Measure, divides_the_time_of_an_item_by_its_messages) {
  Row one = good_row();
  one.run = [run = one.run](Order order) {
    for (const std::uint32_t item : order) {
      for (int i = 0; i < 2000; ++i) keep(item + static_cast<std::uint32_t>(i));
    }
    return run(order);
  };
  Row hundred = one;
  hundred.messages_per_item = 100;
  const auto result = measure_it(group_of({one, hundred}));
  ASSERT_TRUE(result.has_value());
  EXPECT_GT(result->rows[0].ns_median, 20 * result->rows[1].ns_median);
  EXPECT_EQ(result->rows[1].messages_per_batch % 100, 0U);
}

TEST(Measure, prepares_a_row_before_it_runs_and_never_runs_it_under_anothers_choice) {
  const auto chosen = std::make_shared<int>(-1);
  std::vector<Row> rows;
  for (int choice = 0; choice < 3; ++choice) {
    Row row = good_row();
    row.prepare = [chosen, choice] { *chosen = choice; };
    row.run = [chosen, choice, run = row.run](Order order) { return *chosen == choice ? run(order) : 0; };
    rows.push_back(row);
  }
  EXPECT_TRUE(measure_it(group_of(rows)).has_value());
}

TEST(Measure, visits_the_items_in_random_order_and_all_of_them) {
  const auto visits = std::make_shared<std::vector<std::uint32_t>>();
  Row row = good_row();
  row.run = [visits, run = row.run](Order order) {
    visits->insert(visits->end(), order.begin(), order.end());
    return run(order);
  };
  ASSERT_TRUE(measure_it(group_of({row})).has_value());
  ASSERT_GT(visits->size(), 2 * items);
  // The checks come first, in order; the last pass is a timed one.
  const std::vector<std::uint32_t> last(visits->end() - items, visits->end());
  EXPECT_FALSE(std::ranges::is_sorted(last));
  EXPECT_EQ(std::set<std::uint32_t>(last.begin(), last.end()).size(), items);
}

TEST(Measure, names_the_row_and_message_whose_check_fails) {
  Row bad = good_row();
  bad.name = "bad";
  bad.section = "somewhere";
  bad.check = [](std::uint32_t item) { return item == 77 ? std::nullopt : std::optional{answer_of(item)}; };
  const auto result = measure_it(group_of({good_row(), bad}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().row, "group: somewhere: bad");
  EXPECT_EQ(result.error().item, 77U);
}

TEST(Measure, refuses_a_row_that_times_something_else_than_it_checked) {
  Row bad = good_row();
  bad.run = [run = bad.run](Order order) { return run(order) + (order.front() == 5 ? 1 : 0); };
  const auto result = measure_it(group_of({bad}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().item, 5U);
}

TEST(Measure, refuses_a_row_whose_answer_changes_once_it_is_timed) {
  const auto calls = std::make_shared<std::uint32_t>(0);
  Row bad = good_row();
  bad.run = [calls, run = bad.run](Order order) { return run(order) + (++*calls > items + 10 ? 1 : 0); };
  const auto result = measure_it(group_of({bad}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().what, "gave another answer while timed");
}

TEST(PerfCounters, give_a_rate_for_each_counter_that_there_is_and_the_reason_where_there_are_none) {
  const PerfCounters counters;
  const PerfCounters::Totals before = counters.read();
  std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < 100'000; ++i) keep(value += i);
  const CounterRates rates = counters.rates(difference(counters.read(), before), 100'000);
  if (rates.instructions) {
    EXPECT_GT(*rates.instructions, 1);
    EXPECT_NE(counters.describe().find("instructions"), std::string::npos);
  } else {
    EXPECT_NE(counters.describe().find("no counters"), std::string::npos);
  }
}

TEST(PerfCounters, a_difference_is_never_negative) {
  PerfCounters::Totals begin{}, end{};
  begin[0] = 5;
  end[0] = 7;
  begin[1] = 9;
  end[1] = 8;
  EXPECT_EQ(difference(end, begin)[0], 2U);
  EXPECT_EQ(difference(end, begin)[1], 0U);
}

TEST(PinToCore, refuses_a_core_that_does_not_exist) {
  const auto pinned = pin_to_core(100'000);
  ASSERT_FALSE(pinned.has_value());
  EXPECT_NE(pinned.error().find("100000"), std::string::npos);
}

TEST(ThisMachine, knows_its_compiler_and_kernel) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.compiler.empty());
  EXPECT_NE(machine.kernel.find("Linux"), std::string::npos);
  EXPECT_GT(machine.cores, 0U);
}

TEST(ThisMachine, gives_its_frequency_governor_and_isolation_with_every_run) {
  const Machine machine = this_machine();
  EXPECT_GT(machine.ghz, 0.01);
  EXPECT_LT(machine.ghz, 20);
  const std::string text = describe_state(machine);
  for (const std::string& part : {std::string{" GHz"}, machine.governor, machine.isolated})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
