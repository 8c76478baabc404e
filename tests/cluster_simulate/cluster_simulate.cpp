// Sessions on a stream under random faults by seed: no message is released before it is stored, none is lost, none is
// sent twice, and no stale owner stores a record. One line for each finding, then what happened.
//   build/release/tests/cluster_simulate/cluster_simulate --seeds 1..1000 --hours 10
#include <cstdio>
#include <string>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "cluster_simulate/world.hpp"

namespace {

using nfx::cluster_simulate::WorldResult;

struct Row {
  const char* name;
  std::uint64_t WorldResult::* value;
};

constexpr Row rows[] = {
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

}  // namespace

int main(int argc, char** argv) {
  std::string text = "1..100";
  double hours = 1;
  const nfx::cli::Command program{
      .name = "cluster_simulate",
      .summary = "Owners of sessions on a stream under random faults in virtual time, compared with rules of their own",
      .options = {{.names = "--seeds", .target = &text, .help = "The runs", .value = "FIRST..LAST"},
                  {.names = "--hours", .target = &hours, .help = "Of virtual time, each", .value = "H"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  const auto range = nfx::test::read_seeds(text);
  if (!range) return 2;
  WorldResult sum;
  unsigned long long findings = 0;
  for (unsigned long long seed = range->first; seed <= range->last; ++seed) {
    const WorldResult result = nfx::cluster_simulate::run_world({.seed = seed, .hours = hours});
    sum.hours += result.hours;
    for (const Row& row : rows) sum.*row.value += result.*row.value;
    if (result.finding.empty()) continue;
    ++findings;
    std::printf("seed %llu, after %.3f hours: %s\n", seed, result.hours, result.finding.c_str());
  }
  std::printf("seeds %llu..%llu, %.1f hours, %llu findings\n", range->first, range->last, sum.hours, findings);
  for (const Row& row : rows)
    std::printf("  %-44s %12llu\n", row.name, static_cast<unsigned long long>(sum.*row.value));
  return findings == 0 ? 0 : 1;
}
