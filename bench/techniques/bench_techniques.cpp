// Single techniques, each compared with what it replaces, in one run: the index of a message store, io_uring's flags,
// the scan for delimiters, the costs of copies, cache misses and migrations, and all together from an order to its
// report. bench_techniques --help. Exit status 1 when an answer is wrong, 2 when the run cannot be done.
#include <cstdio>
#include <iterator>

#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "techniques/rows.hpp"

namespace {

using namespace nfx::bench;

struct NamedGroups {
  const char* name;
  std::vector<RepeatedGroup> (*measure)(const TechniqueOptions&, const TechniqueTools&);
};

constexpr NamedGroups all_groups[] = {{"message_index", message_index_groups},
                                      {"io_uring", ring_groups},
                                      {"scan", scan_groups},
                                      {"costs", cost_groups},
                                      {"path", path_groups}};

int run(TechniqueOptions options, const std::string& only, const std::string& json_file) {
  const std::vector<int> cpus = nfx::CpuAffinity::get().members();
  const auto core = pin_to_core(std::nullopt);
  if (!core) throw std::runtime_error(core.error());
  options.core = *core;
  options.other = static_cast<unsigned>(cpus.front());
  RunFacts facts;
  facts.benchmark = "techniques";
  facts.machine = this_machine();
  facts.clock = calibrate_clock();
  facts.own_cost_ticks = stamp_cost_ticks();
  const PerfCounters counters;
  facts.counters = counters.describe();
  facts.core = *core;
  facts.seed = options.seed;
  facts.options.repeats = options.repeats;
  facts.options.rounds = 1;
  print_facts(stdout, facts);
  const TechniqueTools tools{facts.clock, facts.own_cost_ticks, counters};
  std::vector<RepeatedGroup> results;
  for (const NamedGroups& named : all_groups) {
    if (!only.empty() && only != named.name) continue;
    if (const auto pinned = pin_to_core(*core); !pinned) throw std::runtime_error(pinned.error());
    for (RepeatedGroup& group : named.measure(options, tools)) {
      print_table(stdout, group);
      results.push_back(std::move(group));
    }
  }
  if (!json_file.empty()) write_file(json_file, to_json(facts, results));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  TechniqueOptions options;
  std::string only, json_file;
  bool quick = false;
  const nfx::cli::Command program{
      .name = "bench_techniques",
      .summary = "Single techniques, each compared with what it replaces, and all together",
      .options =
          {{.names = "--repeats", .target = &options.repeats, .help = "Medians are over these", .range = {{1, 100}}},
           {.names = "--operations",
            .target = &options.operations,
            .help = "Of each row and repeat",
            .range = {{1000, 100'000'000}}},
           {.names = "--largest",
            .target = &options.largest,
            .help = "Messages of the largest store",
            .range = {{1000, 10'000'000}}},
           {.names = "--seed", .target = &options.seed, .help = "Of messages and of their order"},
           {.names = "--only",
            .target = &only,
            .help = "One group",
            .one_of = {"message_index", "io_uring", "scan", "costs", "path"}},
           {.names = "--json",
            .target = &json_file,
            .help = "Also write everything to this file",
            .kind = nfx::cli::Kind::file},
           {.names = "--quick", .target = &quick, .help = "One repeat of 1,000 operations, stores of 1,000 messages"}},
  };
  return run_program(program, argc, argv, [&] {
    if (quick) options.repeats = 1, options.operations = 1000, options.largest = 1000;
    return run(options, only, json_file);
  });
}
