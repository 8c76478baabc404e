// What it saves to defer work, what the queue under it costs compared with two others, and which table finds a session
// fastest: bench_deferred --help. Exit status 1 when an answer is wrong, 2 when the run cannot be done.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "rows.hpp"

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

int run(const Options& options, const std::string& only) {
  if (options.core == options.other) throw std::runtime_error("--core and --other are two CPUs");
  std::printf("machine   %s\n", describe(this_machine()).c_str());
  pin(options.core);
  const nfx::bench::CycleClock clock = calibrate_clock();
  const double own_cost = own_cost_ticks();
  std::printf("clock     %s, step %.1f ns, own cost %.1f ns, subtracted from single messages\n", clock.source,
              clock.step_ns, clock.to_ns(own_cost));
  std::printf("measured  %u repeats of %u messages, rows in turn, on CPUs %u and %u\n", options.repeats,
              options.messages, options.core, options.other);
  if (only.empty() || only == "deferred") run_defer(options, clock, own_cost);
  if (only.empty() || only == "spsc") run_queues(options, clock);
  if (only.empty() || only == "lookup") run_lookups(options, clock);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string only;
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
           {.names = "--only", .target = &only, .help = "One group", .one_of = {"deferred", "spsc", "lookup"}}},
  };
  return run_program(program, argc, argv, [&] { return run(options, only); });
}
