// Random markets, models and venues by seed: no order may be sent on a stale book, through a gap, past a limit or after
// the kill switch. Prints one line for each finding, then totals of sent and refused orders.
//   build/release/tests/order_faults/order_faults --seeds 1..10000
#include <cstdio>
#include <string>
#include <vector>

#include "order_faults/day.hpp"
#include "plants/find_bugs.hpp"
#include "seed_program.hpp"

namespace {

using nfx::order_faults::DayResult;
using nfx::order_faults::Plant;
using nfx::order_faults::PlantRow;
using nfx::order_faults::run_day;
using nfx::plants::Bug;
using nfx::test::SeedRange;

// Whether every removed check is found, by that check's own finding.
int run_plants(const SeedRange& seeds) {
  std::vector<Bug> bugs;
  for (const PlantRow& row : nfx::order_faults::plant_rows) {
    bugs.push_back({"without " + std::string{row.name}, [&seeds, &row] {
                      unsigned long long found = 0;
                      for (unsigned long long seed = seeds.first; seed <= seeds.last; ++seed)
                        found += run_day(seed, row.plant).finding.starts_with(row.finding) ? 1 : 0;
                      return nfx::plants::Search{found != 0, "in " + std::to_string(found) + " of " +
                                                                 std::to_string(seeds.count()) + " seeds"};
                    }});
  }
  return nfx::plants::find_bugs(bugs);
}

int run(const SeedRange& seeds) {
  DayResult sum;
  const unsigned long long findings = nfx::test::run_seeds(seeds, [&sum](unsigned long long seed) {
    const DayResult day = run_day(seed, Plant::none);
    sum.events += day.events;
    sum.sent += day.sent;
    nfx::add_counters(sum.counters, day.counters);
    return day.finding;
  });
  std::printf("%llu seeds, %llu findings, %llu events, %llu requests sent\n", seeds.count(), findings,
              static_cast<unsigned long long>(sum.events), static_cast<unsigned long long>(sum.sent));
  nfx::test::print_counters(sum.counters);
  // A check that never refused anything was not tested.
  for (const auto& row : nfx::strategy::refusal_rows) {
    if (sum.counters.*row.counter != 0 || seeds.last - seeds.first < 50) continue;
    std::printf("nothing was refused for this: %.*s\n", static_cast<int>(row.text.size()), row.text.data());
    return 1;
  }
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string plant;
  const nfx::cli::Command program{
      .name = "order_faults",
      .summary = "Orders of random models in a random market with planted faults, compared with rules written twice",
      .options = {{.names = "--plant",
                   .target = &plant,
                   .help = "'all': each check is taken out in turn, and must be found missing",
                   .value = "all"}},
  };
  return nfx::test::run_seed_program(program, "1..100", argc, argv, [&plant](const SeedRange& seeds) {
    return plant.empty() ? run(seeds) : run_plants(seeds);
  });
}
