// Measures rows side by side: all rows of a group run in turn (A B C A B C ...), over a corpus in random order, in
// batches long enough for the clock. Every row's answer is checked for every message before it is timed, and the sum of
// its answers again in every timed pass.
// Thread: the calling one, which should be pinned. Errors: a wrong answer is a value that names row and message.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "harness/perf_counters.hpp"
#include "nexusfix/base/latency_histogram.hpp"

namespace nfx::bench {

// Indexes of corpus messages, in the order in which a row must process them.
using Order = std::span<const std::uint32_t>;

struct Row {
  std::string section;  // rows of one section do the same work and are compared with each other
  std::string name;
  bool baseline = false;  // the row of its section for comparison

  // Called before the row runs, untimed: for example selects an instruction set.
  std::function<void()> prepare = [] {};
  // Processes the given messages and sums an answer for each. Only this is timed.
  std::function<std::uint64_t(Order)> run;
  // Does the same for one message, compares the whole result with an independent reading, and returns the answer that
  // run() must give for it. Empty if the result is wrong.
  std::function<std::optional<std::uint64_t>(std::uint32_t)> check;

  double bytes_per_item = 0;
  std::uint32_t messages_per_item = 1;  // more than 1 if an item of the corpus is a piece of a stream
};

struct Group {
  std::string name;
  std::string title;
  std::uint32_t items = 0;  // number of corpus items that the rows of this group process
  bool shuffled = true;     // otherwise every pass processes all items in order
  std::vector<Row> rows;
};

struct MeasureOptions {
  std::uint32_t repeats = 5;  // results are medians over these
  std::uint32_t rounds = 10;  // slices of every row in a repeat
  double slice_ns = 500'000;  // a slice ends after this time even if the corpus is not finished
  std::uint64_t seed = 1;     // of the order
};

struct RowResult {
  std::string section;
  std::string name;
  bool baseline = false;
  double bytes_per_message = 0;
  double ns_median = 0;               // per message: the median over the repeats of each repeat's median batch
  std::vector<double> ns_of_repeats;  // those medians
  LatencyHistogram ps;                // picoseconds per message of every timed batch
  std::uint32_t messages_per_batch = 0;
  CounterRates counters;  // per message, over all timed slices
};

struct GroupResult {
  std::string name;
  std::string title;
  std::vector<RowResult> rows;
  double ticks_per_ns = 0;  // of the clock
};

struct WrongAnswer {
  std::string row;
  std::uint32_t item = 0;
  std::string what;
};

// "index: avx2: message 17: differs from the plain reading"
[[nodiscard]] std::string to_string(const WrongAnswer& wrong);

// A wrong answer as an exception; run_program turns it into the exit status.
class WrongAnswerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The cost of timing a batch: a fenced pair of readings and the call of a row that does nothing.
[[nodiscard]] double own_cost_ticks() noexcept;

[[nodiscard]] std::expected<GroupResult, WrongAnswer> measure(const Group& group, const MeasureOptions& options,
                                                              const CycleClock& clock, double own_cost);

// The middle value; the mean of the two middle ones if their number is even; 0 without values.
[[nodiscard]] double median(std::vector<double> values) noexcept;

}  // namespace nfx::bench
