// Compares every kernel that this machine can run with the scalar one, for as long as asked.
//   build/release/tests/differential/differential --executions 500000000
// Exits with 1 at a difference, with 77 when the machine has the scalar kernel only.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <thread>

#include "differential/differential_run.hpp"
#include "differential/kernel_comparer.hpp"

int main(int argc, char** argv) {
  nfx::test::DifferentialOptions options;
  options.kernels = nfx::test::KernelComparer::available();
  options.executions = 10'000'000;
  options.threads = std::max(1u, std::thread::hardware_concurrency());

  CLI::App app{"Compares every kernel with the scalar one on generated messages"};
  auto* const executions =
      app.add_option("--executions", options.executions, "Messages times kernels")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "Run so long instead")->check(CLI::PositiveNumber)->excludes(executions);
  app.add_option("--seed", options.seed, "Other seeds, other messages");
  app.add_option("--threads", options.threads, "One per processor unless told")->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);

  if (options.kernels.empty()) {
    std::puts("this machine has the scalar kernel only: nothing to compare");
    return 77;
  }
  return nfx::test::run_differential(options);
}
