// Checks and times the rows of a group in alternation, and computes medians and spreads over the passes.
#include "harness/measure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "harness/random.hpp"

namespace nfx::bench {
namespace {

// A batch this long keeps the error from the clock's step and fences below one per cent.
constexpr double batch_ns_wanted = 2'000;
constexpr std::uint32_t batch_items_max = 256;

using Work = std::function<std::uint64_t(Order)>;

struct Timed {
  std::uint64_t ticks;
  std::uint64_t answer;
};

[[gnu::noinline]] Timed time_batch(const Work& run, Order items) {
  const std::uint64_t before = ticks_before();
  const std::uint64_t answer = run(items);
  const std::uint64_t after = ticks_after();
  return {after - before, answer};
}

// The state of one row during the measurement.
struct State {
  std::vector<std::uint64_t> expected;  // by item
  std::uint32_t batch = 1;              // items
  std::uint32_t slice = 1;              // items timed in a row
  std::vector<double> samples;          // ns per message in the current repeat
  PerfCounters::Totals counted{};       // during all slices
  std::uint64_t messages = 0;

  [[nodiscard]] std::uint64_t sum_of(Order items) const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint32_t item : items) sum += expected[item];
    return sum;
  }
};

std::string full_name(const Group& group, const Row& row) {
  return group.name + ": " + (row.section.empty() ? "" : row.section + ": ") + row.name;
}

std::optional<WrongAnswer> check_row(const Group& group, const Row& row, State& state) {
  row.prepare();
  state.expected.resize(group.items);
  for (std::uint32_t item = 0; item < group.items; ++item) {
    const auto answer = row.check(item);
    if (!answer) return WrongAnswer{full_name(group, row), item, "differs from the plain reading"};
    if (row.run(Order{&item, 1}) != *answer) {
      return WrongAnswer{full_name(group, row), item, "what is timed differs from what was checked"};
    }
    state.expected[item] = *answer;
  }
  return {};
}

// Chooses the sizes of a batch and of a slice by a short trial.
void choose_sizes(const Group& group, const Row& row, const MeasureOptions& options, const CycleClock& clock,
                  Order order, State& state) {
  row.prepare();
  const std::uint32_t trial = std::min(group.items, 64U);
  const auto run_trial = [&] {
    return clock.to_ns(static_cast<double>(time_batch(row.run, order.first(trial)).ticks)) / trial;
  };
  const double ns_first = run_trial();
  const double ns = std::max(0.1, std::min(ns_first, run_trial()));
  const auto wanted = static_cast<std::uint32_t>(std::clamp(batch_ns_wanted / ns, 1.0, double{batch_items_max}));
  state.batch = std::min(std::bit_ceil(wanted), std::bit_floor(group.items));
  if (!group.shuffled) {
    state.slice = group.items;
    return;
  }
  const auto slice = static_cast<std::uint32_t>(std::min(options.slice_ns / ns, static_cast<double>(group.items)));
  state.slice = std::max(state.batch, slice / state.batch * state.batch);
}

struct Tools {
  const CycleClock& clock;
  double own_cost = 0;
  PerfCounters counters;
};

// One slice of one row; false if the sum of the answers is wrong.
bool run_slice(const Row& row, State& state, RowResult& result, const Tools& tools, Order order) {
  std::uint64_t sum = 0;
  const Order slice = order.first(state.slice);
  const PerfCounters::Totals before = tools.counters.read();
  for (Order rest = slice; !rest.empty();) {
    const Order batch = rest.first(std::min<std::size_t>(state.batch, rest.size()));
    rest = rest.subspan(batch.size());
    const Timed timed = time_batch(row.run, batch);
    sum += timed.answer;
    const double ticks = std::max(0.0, static_cast<double>(timed.ticks) - tools.own_cost);
    const double ns = tools.clock.to_ns(ticks) / static_cast<double>(batch.size()) / row.messages_per_item;
    state.samples.push_back(ns);
    result.ps.record(static_cast<std::uint64_t>(ns * 1000 + 0.5));
  }
  const PerfCounters::Totals counted = difference(tools.counters.read(), before);
  for (std::size_t i = 0; i < counted.size(); ++i) state.counted[i] += counted[i];
  state.messages += slice.size() * row.messages_per_item;
  return sum == state.sum_of(slice);
}

std::vector<RowResult> empty_results(const Group& group) {
  std::vector<RowResult> results(group.rows.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Row& row = group.rows[i];
    results[i].section = row.section;
    results[i].name = row.name;
    results[i].baseline = row.baseline;
    results[i].bytes_per_message = row.bytes_per_item / row.messages_per_item;
  }
  return results;
}

}  // namespace

double median(std::vector<double> values) noexcept {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string to_string(const WrongAnswer& wrong) {
  return wrong.row + ": message " + std::to_string(wrong.item) + ": " + wrong.what;
}

double own_cost_ticks() noexcept {
  const Work nothing = [](Order items) { return std::uint64_t{items.size()}; };
  const std::uint32_t item = 0;
  std::vector<double> costs(20'001);
  for (double& cost : costs) cost = static_cast<double>(time_batch(nothing, Order{&item, 1}).ticks);
  return undisturbed_mean(costs);
}

std::expected<GroupResult, WrongAnswer> measure(const Group& group, const MeasureOptions& options,
                                                const CycleClock& clock, double own_cost) {
  std::vector<State> states(group.rows.size());
  const Tools tools{clock, own_cost, {}};
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (auto wrong = check_row(group, group.rows[i], states[i])) return std::unexpected(*std::move(wrong));
  }
  Random random{options.seed};
  std::vector<std::uint32_t> order(group.items);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<std::uint32_t> warm_up = order;
  for (std::size_t i = 0; i < states.size(); ++i) {
    choose_sizes(group, group.rows[i], options, clock, order, states[i]);
    states[i].samples.reserve(std::size_t{options.rounds} * (states[i].slice / states[i].batch + 1));
  }

  GroupResult result{group.name, group.title, empty_results(group), clock.ticks_per_ns};
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (State& state : states) state.samples.clear();
    for (std::uint32_t round = 0; round < options.rounds; ++round) {
      // A new order each round, because branch predictors remember thousands of branches of a repeated order.
      if (group.shuffled) {
        random.shuffle(std::span{order});
        random.shuffle(std::span{warm_up});
      }
      for (std::size_t i = 0; i < states.size(); ++i) {
        const Row& row = group.rows[i];
        row.prepare();
        // The caches hold the code and data of the previous row.
        keep(row.run(Order{warm_up}.first(group.shuffled ? states[i].slice : states[i].batch)));
        if (!run_slice(row, states[i], result.rows[i], tools, order)) {
          return std::unexpected(WrongAnswer{full_name(group, row), order[0], "gave another answer while timed"});
        }
      }
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      result.rows[i].ns_of_repeats.push_back(median(states[i].samples));
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    result.rows[i].ns_median = median(result.rows[i].ns_of_repeats);
    result.rows[i].counters = tools.counters.rates(states[i].counted, states[i].messages);
    result.rows[i].messages_per_batch = states[i].batch * group.rows[i].messages_per_item;
  }
  return result;
}

}  // namespace nfx::bench
