// Whether the storms find what they are for: each protection of the link is taken away in turn, and each rule of the
// rails' seam is broken. One line for each, with the first seed that finds it; status 1 when one is not found.
//   build/release/tests/fabric_faults/fabric_faults_planted --seeds 1..300
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "fabric_faults/storm.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "plants/planted.hpp"

namespace {

using nfx::fabric::RailBreak;
using nfx::test::SeedRange;

struct Options {
  SeedRange seeds;
  std::string only;
  bool count = false;
};

struct Bug {
  std::string name;
  int planted = -1;
  RailBreak broken = RailBreak::none;
};

// In the child. The exit status: whether it was found.
int storms_with(const Bug& bug, const Options& options) {
  nfx::plants::planted = bug.planted;
  const SeedRange& seeds = options.seeds;
  unsigned long long found = 0, first = 0;
  std::string finding;
  for (unsigned long long seed = seeds.first; seed <= seeds.last && (options.count || found == 0); ++seed) {
    const auto result = nfx::fabric_faults::run_storm({.seed = seed, .broken = bug.broken});
    if (result.finding.empty()) continue;
    if (found++ != 0) continue;
    first = seed;
    finding = result.finding;
  }
  if (found == 0) {
    std::printf("%-20s NOT FOUND in %llu seeds\n", bug.name.c_str(), seeds.count());
  } else if (options.count) {
    std::printf("%-20s found in %llu of %llu seeds, first in %llu: %s\n", bug.name.c_str(), found, seeds.count(), first,
                finding.c_str());
  } else {
    std::printf("%-20s found by seed %llu: %s\n", bug.name.c_str(), first, finding.c_str());
  }
  return found != 0 ? 0 : 1;
}

// In a process of its own, because a link without a protection may end by an assertion. That is a finding too.
bool is_found(const Bug& bug, const Options& options) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const int status = storms_with(bug, options);
    std::fflush(stdout);
    ::_exit(status);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    std::fprintf(stderr, "%s: no process for it\n", bug.name.c_str());
    return false;
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
  std::printf("%-20s found: the process ended with %s\n", bug.name.c_str(), ::strsignal(WTERMSIG(status)));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string text = "1..300";
  const nfx::cli::Command program{
      .name = "fabric_faults_planted",
      .summary =
          "Whether random faults find each protection of a link that is taken away, and each rule that a rail breaks",
      .options = {{.names = "--seeds", .target = &text, .help = "The storms, at most", .value = "FIRST..LAST"},
                  {.names = "--only", .target = &options.only, .help = "One bug", .value = "NAME"},
                  {.names = "--count",
                   .target = &options.count,
                   .help = "Continue after the first seed that finds it"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;
  const auto range = nfx::test::read_seeds(text);
  if (!range) return 2;
  options.seeds = *range;
  std::vector<Bug> bugs;
  const auto rows = nfx::plants::rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].program == "faults")
      bugs.push_back({.name = std::string{rows[i].name}, .planted = static_cast<int>(i)});
  }
  for (const RailBreak broken : nfx::enum_values<RailBreak>()) {
    if (broken != RailBreak::none) bugs.push_back({.name = std::string{to_string(broken)}, .broken = broken});
  }
  int run = 0, missed = 0;
  for (const Bug& bug : bugs) {
    if (!options.only.empty() && options.only != bug.name) continue;
    ++run;
    if (!is_found(bug, options)) ++missed;
  }
  if (run == 0) {
    std::fprintf(stderr, "--only %s: write one of", options.only.c_str());
    for (const Bug& bug : bugs) std::fprintf(stderr, " %s", bug.name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  std::printf("%d bugs, %d not found\n", run, missed);
  return missed == 0 ? 0 : 1;
}
