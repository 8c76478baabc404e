// Storms by seed: lines that lose, repeat and reorder packets, lag and die, and servers that do not answer. One line
// for each finding, then how long recovery took and what happened.
//   build/release/tests/feed_storms/feed_storms --seeds 1..1000
#include "feed_storms/storm.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "nexusfix/base/counter_rows.hpp"

namespace {

using nfx::Duration;
using nfx::feed_storms::StormResult;

double ms(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

struct Worst {
  Duration time{};
  unsigned long long seed = 0;

  void take(Duration other, unsigned long long of) {
    if (other > time) *this = {other, of};
  }
};

template <class Counters>
void print_counters(const Counters& counters) {
  for (const auto& row : nfx::counter_rows<Counters>) {
    std::printf("  %-42.*s %14llu\n", static_cast<int>(row.metric.size()), row.metric.data(),
                static_cast<unsigned long long>(counters.*row.member));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string seeds = "1..100";
  const nfx::cli::Command program{
      .name = "feed_storms",
      .summary = "An ITCH feed under loss, in virtual time, whose books must equal its publisher's",
      .options = {{.names = "--seeds", .target = &seeds, .help = "The storms", .value = "FIRST..LAST"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  const auto range = nfx::test::read_seeds(seeds);
  if (!range) return 2;

  StormResult sum;
  Worst recovery, after_storm;
  unsigned long long findings = 0;
  for (unsigned long long seed = range->first; seed <= range->last; ++seed) {
    const StormResult result = nfx::feed_storms::run_storm(seed);
    if (!result.finding.empty()) {
      ++findings;
      std::printf("seed %llu: %s\n", seed, result.finding.c_str());
    }
    recovery.take(result.worst_recovery, seed);
    after_storm.take(result.after_storm, seed);
    sum.messages += result.messages;
    sum.comparisons += result.comparisons;
    sum.recoveries += result.recoveries;
    nfx::add_counters(sum.mold, result.mold);
    nfx::add_counters(sum.feed, result.feed);
  }
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%llu seeds, %llu findings, %llu messages, %llu comparisons of all books\n", range->count(), findings,
              number(sum.messages), number(sum.comparisons));
  std::printf(
      "recovered %llu times; the worst within a storm took %.1f ms (seed %llu), after its end %.1f ms (seed %llu)\n",
      number(sum.recoveries), ms(recovery.time), recovery.seed, ms(after_storm.time), after_storm.seed);
  print_counters(sum.mold);
  print_counters(sum.feed);
  return findings == 0 ? 0 : 1;
}
