// What it saves to defer work, what the queue under it costs compared with others, and which table finds a session
// fastest: bench_deferred --help. Exit status 1 when an answer is wrong, 2 when the run cannot be done.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "deferred/rows.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::bench {

void pin(unsigned core) {
  // A thread inherits where its maker is confined to, and may leave that again.
  if (const auto pinned = CpuAffinity::pin_to_core(static_cast<int>(core)); !pinned) {
    throw std::runtime_error("cannot run on CPU " + std::to_string(core) + ": " + pinned.message() +
                             "; choose another --core or --other");
  }
}

}  // namespace nfx::bench

namespace {

using namespace nfx::bench;

struct NamedGroup {
  const char* name;
  RepeatedGroup (*measure)(const Options&, const Tools&);
};

constexpr NamedGroup all_groups[] = {{"deferred", defer_group},
                                     {"sizes", size_group},
                                     {"rates", rate_group},
                                     {"spsc", queue_group},
                                     {"lookup", nfx::bench::lookup_group}};

int run(const Options& options, const std::string& only, const std::string& json_file) {
  if (options.core == options.other) throw std::runtime_error("--core and --other are two CPUs");
  pin(options.core);
  RunFacts facts;
  facts.benchmark = "deferred";
  facts.machine = this_machine();
  facts.clock = calibrate_clock();
  facts.own_cost_ticks = stamp_cost_ticks();
  const PerfCounters counters;
  facts.counters = counters.describe();
  facts.core = options.core;
  facts.seed = options.seed;
  facts.options.repeats = options.repeats;
  facts.options.rounds = 1;
  facts.notes.push_back(std::to_string(options.messages) +
                        " messages of a row and repeat; workers and consumers on core " +
                        std::to_string(options.other));
  print_facts(stdout, facts);
  const Tools tools{facts.clock, facts.own_cost_ticks, counters};
  std::vector<RepeatedGroup> results;
  for (const NamedGroup& named : all_groups) {
    if (!only.empty() && only != named.name) continue;
    pin(options.core);
    results.push_back(named.measure(options, tools));
    print_table(stdout, results.back());
  }
  if (!json_file.empty()) write_file(json_file, to_json(facts, results));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string only, json_file;
  const nfx::cli::Command program{
      .name = "bench_deferred",
      .summary = "What it saves to defer work, what queues cost, and which table finds a session",
      .options =
          {{.names = "--repeats", .target = &options.repeats, .help = "Medians are over these", .range = {{1, 1000}}},
           {.names = "--messages",
            .target = &options.messages,
            .help = "Messages of each repeat",
            .range = {{1000, 100'000'000}}},
           {.names = "--seed", .target = &options.seed, .help = "Of the corpus and of orders"},
           {.names = "--core", .target = &options.core, .help = "CPU that submits or produces", .default_text = "0"},
           {.names = "--other", .target = &options.other, .help = "CPU of the worker or consumer"},
           {.names = "--only",
            .target = &only,
            .help = "One group",
            .one_of = {"deferred", "sizes", "rates", "spsc", "lookup"}},
           {.names = "--size",
            .target = &options.size,
            .help = "Bytes of a record, in the groups sizes and spsc: one size",
            .default_text = "all sizes"},
           {.names = "--json",
            .target = &json_file,
            .help = "Also write everything to this file",
            .kind = nfx::cli::Kind::file}},
  };
  return run_program(program, argc, argv, [&] { return run(options, only, json_file); });
}
