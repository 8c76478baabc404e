// Storms by seed: lines that lose, repeat and reorder packets, lag and fail, and servers that do not answer. Prints one
// line for each finding, then recovery times and totals.
//   build/release/tests/feed_storms/feed_storms --seeds 1..1000
#include "feed_storms/storm.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "seed_program.hpp"

namespace {

using nfx::Duration;
using nfx::feed_storms::StormResult;
using nfx::test::SeedRange;

double ms(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

struct Worst {
  Duration time{};
  unsigned long long seed = 0;

  void take(Duration other, unsigned long long of) {
    if (other > time) *this = {other, of};
  }
};

int run(const SeedRange& seeds) {
  StormResult sum;
  Worst recovery, after_storm;
  const unsigned long long findings = nfx::test::run_seeds(seeds, [&](unsigned long long seed) {
    const StormResult result = nfx::feed_storms::run_storm(seed);
    recovery.take(result.worst_recovery, seed);
    after_storm.take(result.after_storm, seed);
    sum.messages += result.messages;
    sum.comparisons += result.comparisons;
    sum.recoveries += result.recoveries;
    nfx::add_counters(sum.mold, result.mold);
    nfx::add_counters(sum.feed, result.feed);
    return result.finding;
  });
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%llu seeds, %llu findings, %llu messages, %llu comparisons of all books\n", seeds.count(), findings,
              number(sum.messages), number(sum.comparisons));
  std::printf(
      "recovered %llu times; the worst within a storm took %.1f ms (seed %llu), after its end %.1f ms (seed %llu)\n",
      number(sum.recoveries), ms(recovery.time), recovery.seed, ms(after_storm.time), after_storm.seed);
  nfx::test::print_counters(sum.mold);
  nfx::test::print_counters(sum.feed);
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const nfx::cli::Command program{
      .name = "feed_storms",
      .summary = "An ITCH feed under loss, in virtual time, whose books must equal its publisher's",
  };
  return nfx::test::run_seed_program(program, "1..100", argc, argv, run);
}
