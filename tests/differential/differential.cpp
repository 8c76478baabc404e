// Compares every kernel that this machine can run with the scalar one, for a given time or count.
//   build/release/tests/differential/differential --executions 500000000
// Exits with 1 if there is a difference, and with 77 if the machine only has the scalar kernel.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "cli/command_line.hpp"
#include "differential/differential_run.hpp"
#include "differential/kernel_comparer.hpp"

int main(int argc, char** argv) {
  nfx::test::DifferentialOptions options;
  options.kernels = nfx::test::KernelComparer::available();
  options.executions = 10'000'000;
  options.threads = std::max(1u, std::thread::hardware_concurrency());

  const nfx::cli::Command program{
      .name = "differential",
      .summary = "Compare every kernel with the scalar one on generated messages",
      .options =
          {{.names = "--executions",
            .target = &options.executions,
            .help = "Messages times kernels",
            .range = {{1}},
            .excludes = {"--seconds"}},
           {.names = "--seconds", .target = &options.seconds, .help = "Run for this time instead", .range = {{1}}},
           {.names = "--seed", .target = &options.seed, .help = "Chooses the messages"},
           {.names = "--threads", .target = &options.threads, .help = "How many threads", .range = {{1, 1024}}}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;

  if (options.kernels.empty()) {
    std::puts("this machine has the scalar kernel only: nothing to compare");
    return 77;
  }
  return nfx::test::run_differential(options);
}
