// Measures the cost of each way to a socket: round trips of a 176-byte request and a 253-byte answer over TCP on this
// host, each side a thread on its own core. All rows run in alternation, several times (A B C A B C ...), and each is
// compared with the raw sockets of the same repeat that wait the same way. Engines have a journal, synced every 10 ms,
// except in rows with "memory". Exit status 1 if an answer is wrong, 2 if the benchmark cannot run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <vector>

#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/scratch_folder.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "transport/ping_pong.hpp"

namespace {

using namespace nfx;
using namespace nfx::bench;

struct Options {
  std::uint32_t repeats = 5;
  PingPong plan;
  std::string only;
  std::string folder;
  bool quick = false;
};

using Results = std::map<std::string, std::vector<Figures>>;

// Uses the ratio as printed: 1.2503 prints as 1.25, and meets a target of 1.25.
const char* verdict(double ratio) { return std::round(ratio * 100) <= target_ratio * 100 ? "met" : "missed"; }

void print(const std::vector<Condition>& rows, const Results& results) {
  std::printf("%-46s%9s%9s%9s%10s%11s%11s   <= %.2f x raw at p50, p99\n", "round trip, us", "p50", "p99", "p99.9",
              "max", "raw x p50", "raw x p99", target_ratio);
  for (const Condition& row : rows) {
    const auto found = results.find(row.name);
    if (found == results.end()) continue;
    const std::vector<Figures>& own = found->second;
    std::printf("%-46s%9.1f%9.1f%9.1f%10.1f", row.name.c_str(), middle(own, &Figures::p50), middle(own, &Figures::p99),
                middle(own, &Figures::p999), middle(own, &Figures::max));
    const auto baseline = results.find(row.baseline);
    if (baseline == results.end()) {
      std::printf("%11s%11s\n", "1", "1");
      continue;
    }
    const double p50 = middle_ratio(own, baseline->second, &Figures::p50);
    const double p99 = middle_ratio(own, baseline->second, &Figures::p99);
    std::printf("%11.2f%11.2f", p50, p99);
    if (row.has_target) std::printf("   %s, %s", verdict(p50), verdict(p99));
    std::printf("\n");
  }
}

// Rows named by --only, and the rows that they are compared with.
bool is_wanted(const Condition& row, const std::vector<Condition>& rows, const std::string& only) {
  return row.name.contains(only) || std::ranges::any_of(rows, [&](const Condition& other) {
           return other.baseline == row.name && other.name.contains(only);
         });
}

void choose_cores(PingPong& plan) {
  const CpuSet allowed = CpuAffinity::get();
  const std::vector<int> cores = allowed.members();
  if (cores.size() < 2) throw std::runtime_error("needs two cores, one per side");
  plan.client_core = static_cast<unsigned>(cores[0]);
  plan.server_core = static_cast<unsigned>(cores[1]);
  // With only two cores, the flushers share them with the sides, as they would in production on such a machine.
  plan.helper_cores = cores.size() == 2 ? allowed : allowed - CpuSet{cores[0], cores[1]};
}

int run(Options options) {
  const ScratchFolder folder{"transport", options.folder};
  options.plan.folder = folder.path();
  choose_cores(options.plan);
  std::vector<Condition> rows;
  add_raw_rows(rows);
  add_transport_rows(rows);
  add_engine_rows(rows);
  std::printf("# %s\n", describe(this_machine()).c_str());
  std::printf("# cores %u and %u, flushers of journals on %s; %u round trips a repeat after %u, median of %u repeats\n",
              options.plan.client_core, options.plan.server_core, options.plan.helper_cores.to_list().c_str(),
              options.plan.measured, options.plan.warm_up, options.repeats);
  std::printf("# journals in %s, synced every 10 ms; engines validate %s\n# %s\n", folder.describe().c_str(),
              options.plan.dictionary ? "against FIX44.xml" : "the header", probe_io_uring().text.c_str());
  Results results;
  for (std::uint32_t repeat = 1; repeat <= options.repeats; ++repeat) {
    options.plan.seed = repeat;
    for (const Condition& row : rows) {
      if (!is_wanted(row, rows, options.only)) continue;
      if (!row.why_not.empty()) {
        if (repeat == 1) std::printf("# left out: %s: %s\n", row.name.c_str(), row.why_not.c_str());
        continue;
      }
      try {
        results[row.name].push_back(figures_of(row.run(options.plan), 1000));
      } catch (const WrongAnswerError& error) {
        throw WrongAnswerError(row.name + ": " + error.what());
      }
      std::fprintf(stderr, "repeat %u, %-46s p50 %.1f us\n", repeat, row.name.c_str(), results[row.name].back().p50);
    }
  }
  print(rows, results);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_transport",
      .summary = "Round trips over TCP on this host, through every transport and through engines",
      .options = {repeats_option(options.repeats),
                  {.names = "--warm-up",
                   .target = &options.plan.warm_up,
                   .help = "Round trips before each repeat",
                   .range = {{100, 100'000'000}}},
                  {.names = "--measured",
                   .target = &options.plan.measured,
                   .help = "Round trips of each repeat",
                   .range = {{1000, 100'000'000}}},
                  {.names = "--only",
                   .target = &options.only,
                   .help = "Rows whose name contains this, and what they are compared with"},
                  folder_option(options.folder),
                  {.names = "--dictionary",
                   .target = &options.plan.dictionary,
                   .help = "Engines validate against FIX44.xml"},
                  {.names = "--quick", .target = &options.quick, .help = "One repeat of 1,000 round trips"}},
  };
  return run_program(program, argc, argv, [&] {
    if (options.quick) options.repeats = 1, options.plan.warm_up = 200, options.plan.measured = 1'000;
    return run(options);
  });
}
