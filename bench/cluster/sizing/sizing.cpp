// How large a cluster has to be: costs that are measured on one, plans from them, and the loss of a site in virtual
// time: bench_sizing --help.
#include "sizing/sizing.hpp"

#include "nexusfix/engine/program.hpp"

int main(int argc, char** argv) {
  try {
    return nfx::cli::run({.name = "bench_sizing",
                          .summary = "Measure what a cluster costs, plan one, and compute the loss of a site",
                          .commands = {nfx::bench::plan_command(), nfx::bench::simulate_command()}},
                         argc, argv);
  } catch (...) {
    return nfx::report_exception("bench_sizing");
  }
}
