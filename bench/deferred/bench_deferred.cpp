// What it saves to defer work, what the queue under it costs beside two others, and which table finds a session
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
  CLI::App app{"What it saves to defer work, what queues cost, and which table finds a session.", "bench_deferred"};
  Options options;
  std::string only;
  app.add_option("--repeats", options.repeats)->check(CLI::Range(1u, 1000u))->capture_default_str();
  app.add_option("--messages", options.messages, "of each repeat")
      ->check(CLI::Range(1000u, 100'000'000u))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the corpus and of orders")->capture_default_str();
  app.add_option("--core", options.core, "CPU that submits or produces")->capture_default_str();
  app.add_option("--other", options.other, "CPU of the worker or consumer")->capture_default_str();
  app.add_option("--only", only, "one group")->check(CLI::IsMember({"deferred", "spsc", "lookup"}));
  return run_program(app, argc, argv, [&] { return run(options, only); });
}
