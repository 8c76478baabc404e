// Random faults of rails and peers by seed: every page and record arrives exactly once and whole, or the failure is
// reported. Prints one line for each finding, then totals of sent and failed items.
//   build/release/tests/fabric_faults/fabric_faults --seeds 1..10000
#include <algorithm>
#include <cstdio>

#include "fabric_faults/storm.hpp"
#include "seed_program.hpp"

namespace {

using nfx::fabric::RailFaultCounters;
using nfx::fabric_faults::StormResult;
using nfx::test::CountRow;
using nfx::test::SeedRange;

constexpr CountRow<StormResult> rows[] = {
    {"transfers", &StormResult::transfers},
    {"received completely", &StormResult::complete},
    {"reported as failed", &StormResult::failed},
    {"pages received", &StormResult::pages},
    {"records received", &StormResult::records},
    {"peers killed", &StormResult::restarts},
    {"links lost and begun again", &StormResult::losses},
};

constexpr CountRow<RailFaultCounters> fault_rows[] = {
    {"writes", &RailFaultCounters::writes},
    {"faults: again", &RailFaultCounters::again},
    {"faults: errors", &RailFaultCounters::errors},
    {"faults: numbers twice", &RailFaultCounters::duplicates},
    {"faults: losses of numbers and completions", &RailFaultCounters::losses},
    {"faults: spells of slowness and silence", &RailFaultCounters::spells},
    {"faults: connections cut", &RailFaultCounters::cuts},
    {"writes under way when their sender closed", &RailFaultCounters::late},
    {"writes done before they arrived", &RailFaultCounters::early},
    {"writes that a closed end did not take", &RailFaultCounters::fenced},
};

int run(const SeedRange& seeds) {
  StormResult sum;
  const unsigned long long findings = nfx::test::run_seeds(seeds, [&sum](unsigned long long seed) {
    const StormResult result = nfx::fabric_faults::run_storm({.seed = seed});
    nfx::test::add_counts(rows, sum, result);
    nfx::test::add_counts(fault_rows, sum.faults, result.faults);
    nfx::add_counters(sum.counters, result.counters);
    return result.finding;
  });
  std::printf("%llu seeds, %llu findings\n", seeds.count(), findings);
  nfx::test::print_counts(rows, sum);
  nfx::test::print_counts(fault_rows, sum.faults);
  nfx::test::print_counters(sum.counters);
  // A fault that never happened was not tested.
  const bool all_happened =
      std::ranges::all_of(fault_rows, [&](const auto& row) { return sum.faults.*row.value != 0; }) &&
      sum.restarts != 0 && sum.counters.pages_sent_again != 0 && sum.counters.records_sent_again != 0;
  if (!all_happened && seeds.last - seeds.first >= 50) {
    std::printf("a kind of fault did not happen: see the zeros\n");
    return 1;
  }
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const nfx::cli::Command program{
      .name = "fabric_faults",
      .summary = "Pages and records over rails with random faults, compared with rules written twice",
  };
  return nfx::test::run_seed_program(program, "1..100", argc, argv, run);
}
