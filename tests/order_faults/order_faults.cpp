// Random markets, models and venues by seed: no order may leave on a stale book, through a gap, past a limit or after
// the kill switch. One line for each finding, then what was sent and refused.
//   build/release/tests/order_faults/order_faults --seeds 1..10000
#include <cstdio>
#include <string>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "order_faults/day.hpp"

namespace {

using nfx::order_faults::DayResult;
using nfx::order_faults::Plant;
using nfx::order_faults::PlantRow;
using nfx::test::SeedRange;

// How many seeds found something, or this.
unsigned long long run(const SeedRange& seeds, Plant plant, bool print, DayResult& sum,
                       std::string_view expected = {}) {
  unsigned long long findings = 0;
  for (unsigned long long seed = seeds.first; seed <= seeds.last; ++seed) {
    const DayResult day = nfx::order_faults::run_day(seed, plant);
    if (!day.finding.empty() && day.finding.starts_with(expected) && ++findings && print)
      std::printf("seed %llu: %s\n", seed, day.finding.c_str());
    sum.events += day.events;
    sum.sent += day.sent;
    nfx::add_counters(sum.counters, day.counters);
  }
  return findings;
}

// Whether every check that is taken out is found, by that check's own finding.
int run_plants(const SeedRange& seeds) {
  int missed = 0;
  for (const PlantRow& row : nfx::order_faults::plant_rows) {
    DayResult sum;
    const unsigned long long found = run(seeds, row.plant, false, sum, row.finding);
    std::printf("without %-9.*s found in %llu of %llu seeds\n", static_cast<int>(row.name.size()), row.name.data(),
                found, seeds.count());
    if (found == 0) ++missed;
  }
  return missed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string text = "1..100";
  std::string plant;
  const nfx::cli::Command program{
      .name = "order_faults",
      .summary = "Orders of random models in a random market with planted faults, compared with rules written twice",
      .options = {{.names = "--seeds", .target = &text, .help = "The days", .value = "FIRST..LAST"},
                  {.names = "--plant",
                   .target = &plant,
                   .help = "'all': each check is taken out in turn, and must be found missing",
                   .value = "all"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  const auto range = nfx::test::read_seeds(text);
  if (!range) return 2;
  const SeedRange& seeds = *range;
  if (!plant.empty()) return run_plants(seeds);
  DayResult sum;
  const unsigned long long findings = run(seeds, Plant::none, true, sum);
  std::printf("%llu seeds, %llu findings, %llu events, %llu requests sent\n", seeds.count(), findings,
              static_cast<unsigned long long>(sum.events), static_cast<unsigned long long>(sum.sent));
  for (const auto& row : nfx::counter_rows<nfx::strategy::RiskCounters>) {
    std::printf("  %-34.*s %-16.*s %12llu\n", static_cast<int>(row.metric.size()), row.metric.data(),
                static_cast<int>(row.label_value.size()), row.label_value.data(),
                static_cast<unsigned long long>(sum.counters.*row.member));
  }
  // A check that never refused anything was not tested.
  for (const auto& row : nfx::strategy::refusal_rows) {
    if (sum.counters.*row.counter != 0 || seeds.last - seeds.first < 50) continue;
    std::printf("nothing was refused for this: %.*s\n", static_cast<int>(row.text.size()), row.text.data());
    return 1;
  }
  return findings == 0 ? 0 : 1;
}
