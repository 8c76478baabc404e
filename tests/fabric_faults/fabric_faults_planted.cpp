// Checks that the storms find defects: removes each protection of the link in turn, and violates each rule of the rail
// interface. Prints one line for each, with the first seed that finds it; status 1 if one is not found.
//   build/release/tests/fabric_faults/fabric_faults_planted --seeds 1..300
#include <string>
#include <vector>

#include "fabric_faults/storm.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "plants/find_bugs.hpp"
#include "seed_program.hpp"

namespace {

using nfx::fabric::RailBreak;
using nfx::plants::Bug;
using nfx::plants::Search;
using nfx::test::SeedRange;

// Runs until a seed finds it; with `count`, counts the seeds that do.
Search storms_with(RailBreak broken, const SeedRange& seeds, bool count) {
  unsigned long long found = 0;
  std::string first;
  for (unsigned long long seed = seeds.first; seed <= seeds.last && (count || found == 0); ++seed) {
    const auto result = nfx::fabric_faults::run_storm({.seed = seed, .broken = broken});
    if (result.finding.empty()) continue;
    if (found++ == 0) first = "by seed " + std::to_string(seed) + ": " + result.finding;
  }
  const std::string all = " of " + std::to_string(seeds.count()) + " seeds";
  if (found == 0) return {false, "by any" + all};
  return {true, count ? "by " + std::to_string(found) + all + ", first " + first : first};
}

}  // namespace

int main(int argc, char** argv) {
  std::string only;
  bool count = false;
  const nfx::cli::Command program{
      .name = "fabric_faults_planted",
      .summary =
          "Whether random faults find each protection of a link that is taken away, and each rule that a rail breaks",
      .options = {nfx::plants::only_option(only),
                  {.names = "--count", .target = &count, .help = "Continue after the first seed that finds it"}},
  };
  return nfx::test::run_seed_program(program, "1..300", argc, argv, [&](const SeedRange& seeds) {
    std::vector<Bug> bugs =
        nfx::plants::planted_bugs("faults", [&] { return storms_with(RailBreak::none, seeds, count); });
    for (const RailBreak broken : nfx::enum_values<RailBreak>()) {
      if (broken == RailBreak::none) continue;
      bugs.push_back({std::string{to_string(broken)}, [&, broken] { return storms_with(broken, seeds, count); }});
    }
    return nfx::plants::find_bugs(bugs, only);
  });
}
