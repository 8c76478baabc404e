// Random faults of rails and peers by seed: every page and record arrives once and whole, or the failure is reported.
// One line for each finding, then what was sent and what failed.
//   build/release/tests/fabric_faults/fabric_faults --seeds 1..10000
#include <cstdio>
#include <string>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "fabric_faults/storm.hpp"

namespace {

using nfx::fabric_faults::StormResult;
using nfx::test::SeedRange;

void add(StormResult& sum, const StormResult& more) {
  sum.transfers += more.transfers;
  sum.complete += more.complete;
  sum.failed += more.failed;
  sum.pages += more.pages;
  sum.records += more.records;
  sum.restarts += more.restarts;
  sum.losses += more.losses;
  nfx::add_counters(sum.counters, more.counters);
  sum.faults.writes += more.faults.writes;
  sum.faults.again += more.faults.again;
  sum.faults.errors += more.faults.errors;
  sum.faults.duplicates += more.faults.duplicates;
  sum.faults.losses += more.faults.losses;
  sum.faults.spells += more.faults.spells;
  sum.faults.cuts += more.faults.cuts;
  sum.faults.late += more.faults.late;
  sum.faults.fenced += more.faults.fenced;
  sum.faults.early += more.faults.early;
}

unsigned long long run(const SeedRange& seeds, StormResult& sum) {
  unsigned long long findings = 0;
  for (unsigned long long seed = seeds.first; seed <= seeds.last; ++seed) {
    const StormResult result = nfx::fabric_faults::run_storm({.seed = seed});
    add(sum, result);
    if (result.finding.empty()) continue;
    ++findings;
    std::printf("seed %llu: %s\n", seed, result.finding.c_str());
  }
  return findings;
}

void row(const char* name, std::uint64_t value) {
  std::printf("  %-44s %12llu\n", name, static_cast<unsigned long long>(value));
}

}  // namespace

int main(int argc, char** argv) {
  std::string text = "1..100";
  const nfx::cli::Command program{
      .name = "fabric_faults",
      .summary = "Pages and records over rails with random faults, compared with rules written twice",
      .options = {{.names = "--seeds", .target = &text, .help = "The storms", .value = "FIRST..LAST"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  const auto range = nfx::test::read_seeds(text);
  if (!range) return 2;
  const SeedRange& seeds = *range;
  StormResult sum;
  const unsigned long long findings = run(seeds, sum);
  std::printf("%llu seeds, %llu findings\n", seeds.count(), findings);
  row("transfers", sum.transfers);
  row("received completely", sum.complete);
  row("reported as failed", sum.failed);
  row("pages received", sum.pages);
  row("records received", sum.records);
  row("peers killed", sum.restarts);
  row("links lost and begun again", sum.losses);
  row("writes", sum.faults.writes);
  row("faults: again", sum.faults.again);
  row("faults: errors", sum.faults.errors);
  row("faults: numbers twice", sum.faults.duplicates);
  row("faults: losses of numbers and completions", sum.faults.losses);
  row("faults: spells of slowness and silence", sum.faults.spells);
  row("faults: connections cut", sum.faults.cuts);
  row("writes under way when their sender closed", sum.faults.late);
  row("writes done before they arrived", sum.faults.early);
  row("writes that a closed end did not take", sum.faults.fenced);
  for (const auto& each : nfx::counter_rows<nfx::fabric::LinkCounters>) {
    const std::string name = std::string{each.metric} + ' ' + std::string{each.label_value};
    row(name.c_str(), sum.counters.*each.member);
  }
  // A fault that never happened was not tested.
  const bool all_happened = sum.faults.again != 0 && sum.faults.errors != 0 && sum.faults.duplicates != 0 &&
                            sum.faults.losses != 0 && sum.faults.spells != 0 && sum.faults.cuts != 0 &&
                            sum.faults.late != 0 && sum.faults.fenced != 0 && sum.faults.early != 0 &&
                            sum.restarts != 0 && sum.counters.pages_sent_again != 0 &&
                            sum.counters.records_sent_again != 0;
  if (!all_happened && seeds.last - seeds.first >= 50) {
    std::printf("a kind of fault did not happen: see the zeros\n");
    return 1;
  }
  return findings == 0 ? 0 : 1;
}
