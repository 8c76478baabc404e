// Checks that the simulation finds defects: removes each protection of the owner in turn. Prints one line for each,
// with the simulated hours until it was found; status 1 if one is not found.
//   build/release/tests/cluster_simulate/cluster_simulate_planted --seeds 1..20 --hours 5
#include <cstdio>
#include <string>

#include "cluster_simulate/world.hpp"
#include "plants/find_bugs.hpp"
#include "seed_program.hpp"

namespace {

using nfx::plants::Search;
using nfx::test::SeedRange;

Search search(const SeedRange& seeds, double hours_of_each) {
  double hours = 0;
  const auto simulated = [&hours] {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f simulated hours", hours);
    return std::string{text};
  };
  for (unsigned long long seed = seeds.first; seed <= seeds.last; ++seed) {
    const auto result = nfx::cluster_simulate::run_world({.seed = seed, .hours = hours_of_each});
    hours += result.hours;
    if (!result.finding.empty())
      return {true, "by seed " + std::to_string(seed) + " after " + simulated() + ": " + result.finding};
  }
  return {false, "in " + simulated()};
}

}  // namespace

int main(int argc, char** argv) {
  double hours = 5;
  std::string only;
  const nfx::cli::Command program{
      .name = "cluster_simulate_planted",
      .summary = "Whether the simulation finds each protection of an owner that is taken away",
      .options = {{.names = "--hours", .target = &hours, .help = "Of virtual time, each", .value = "H"},
                  nfx::plants::only_option(only)},
  };
  return nfx::test::run_seed_program(program, "1..20", argc, argv, [&](const SeedRange& seeds) {
    return nfx::plants::find_bugs(nfx::plants::planted_bugs("simulate", [&] { return search(seeds, hours); }), only);
  });
}
