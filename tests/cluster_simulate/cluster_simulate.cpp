// Simulates sessions on a stream under random faults by seed. No message is released before it is stored, none is lost,
// none is sent twice, and no stale owner stores a record. Prints one line for each finding, then a summary.
//   build/release/tests/cluster_simulate/cluster_simulate --seeds 1..1000 --hours 10
#include <cstdio>
#include <string>

#include "cluster_simulate/world.hpp"
#include "seed_program.hpp"

namespace {

using nfx::cluster_simulate::WorldResult;
using nfx::test::SeedRange;

constexpr nfx::test::CountRow<WorldResult> rows[] = {
    {"steps of owners", &WorldResult::steps},
    {"frames stored", &WorldResult::frames},
    {"records released", &WorldResult::records},
    {"of those before they were stored (async)", &WorldResult::early},
    {"takeovers", &WorldResult::takeovers},
    {"frames read by candidates before a takeover", &WorldResult::followed},
    {"owners fenced", &WorldResult::fenced},
    {"claims lost to another gateway", &WorldResult::lost_claims},
    {"owners retired", &WorldResult::retired},
    {"takeovers without useful answers", &WorldResult::unreadable},
    {"faults: gateways killed", &WorldResult::kills},
    {"faults: gateways paused", &WorldResult::pauses},
    {"faults: gateways cut off", &WorldResult::cuts},
    {"faults: elections", &WorldResult::elections},
    {"faults: answers from an old state", &WorldResult::old_answers},
    {"faults: reads with holes", &WorldResult::holes},
    {"faults: messages lost", &WorldResult::lost_messages},
    {"compactions that removed frames", &WorldResult::purges},
    {"frames removed by them", &WorldResult::purged},
};

int run(const SeedRange& seeds, double hours) {
  WorldResult sum;
  const unsigned long long findings = nfx::test::run_seeds(seeds, [&](unsigned long long seed) {
    const WorldResult result = nfx::cluster_simulate::run_world({.seed = seed, .hours = hours});
    sum.hours += result.hours;
    nfx::test::add_counts(rows, sum, result);
    return result.finding.empty() ? std::string{}
                                  : "after " + std::to_string(result.hours) + " hours: " + result.finding;
  });
  std::printf("seeds %llu..%llu, %.1f hours, %llu findings\n", seeds.first, seeds.last, sum.hours, findings);
  nfx::test::print_counts(rows, sum);
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  double hours = 1;
  const nfx::cli::Command program{
      .name = "cluster_simulate",
      .summary = "Owners of sessions on a stream under random faults in virtual time, compared with rules of their own",
      .options = {{.names = "--hours", .target = &hours, .help = "Of virtual time, each", .value = "H"}},
  };
  return nfx::test::run_seed_program(program, "1..100", argc, argv,
                                     [&hours](const SeedRange& seeds) { return run(seeds, hours); });
}
