// Whether the simulation finds what it is for: each protection of the owner is taken away in turn. One line for each,
// with the simulated hours until it was found; status 1 when one is not found.
//   build/release/tests/cluster_simulate/cluster_simulate_planted --seeds 1..20 --hours 5
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "cluster_simulate/world.hpp"
#include "plants/planted.hpp"

namespace {

using nfx::plants::PlantRow;
using nfx::test::SeedRange;

struct Options {
  SeedRange seeds;
  double hours = 5;
  std::string only;
};

// In the child. The exit status: whether it was found.
int runs_with(const PlantRow& row, int index, const Options& options) {
  nfx::plants::planted = index;
  double hours = 0;
  for (unsigned long long seed = options.seeds.first; seed <= options.seeds.last; ++seed) {
    const auto result = nfx::cluster_simulate::run_world({.seed = seed, .hours = options.hours});
    hours += result.hours;
    if (result.finding.empty()) continue;
    std::printf("%-24s found by seed %llu after %.2f simulated hours: %s\n", row.name.data(), seed, hours,
                result.finding.c_str());
    return 0;
  }
  std::printf("%-24s NOT FOUND in %.0f simulated hours (%s)\n", row.name.data(), hours, row.what.data());
  return 1;
}

// In a process of its own, because an owner without a protection may end by an assertion. That is a finding too.
bool is_found(const PlantRow& row, int index, const Options& options) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const int status = runs_with(row, index, options);
    std::fflush(stdout);
    ::_exit(status);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    std::fprintf(stderr, "%s: no process for it\n", row.name.data());
    return false;
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
  std::printf("%-24s found: the process ended with %s\n", row.name.data(), ::strsignal(WTERMSIG(status)));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string text = "1..20";
  const nfx::cli::Command program{
      .name = "cluster_simulate_planted",
      .summary = "Whether the simulation finds each protection of an owner that is taken away",
      .options = {{.names = "--seeds", .target = &text, .help = "The runs, at most", .value = "FIRST..LAST"},
                  {.names = "--hours", .target = &options.hours, .help = "Of virtual time, each", .value = "H"},
                  {.names = "--only", .target = &options.only, .help = "One bug", .value = "NAME"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  const auto range = nfx::test::read_seeds(text);
  if (!range) return 2;
  options.seeds = *range;
  const auto rows = nfx::plants::rows();
  int run = 0, missed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].program != "simulate" || (!options.only.empty() && options.only != rows[i].name)) continue;
    ++run;
    if (!is_found(rows[i], static_cast<int>(i), options)) ++missed;
  }
  if (run == 0) {
    std::fprintf(stderr, "--only %s: write one of", options.only.c_str());
    for (const PlantRow& row : rows) std::fprintf(stderr, " %s", row.name.data());
    std::fprintf(stderr, "\n");
    return 2;
  }
  std::printf("%d bugs, %d not found\n", run, missed);
  return missed == 0 ? 0 : 1;
}
