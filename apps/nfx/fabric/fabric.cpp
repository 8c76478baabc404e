// nfx fabric: pages between hosts over many network cards, planned, simulated and measured.
#include "fabric/fabric.hpp"

#include "command.hpp"

namespace nfx::app {

cli::Command fabric_command() {
  using namespace fabric;
  return {
      .name = "fabric",
      .summary = "Plan, simulate and measure pages between hosts over many network cards",
      .commands = {plan_command(), simulate_command(), bench_command(), ladder_command()},
      .exit_codes = "0 done, 1 failed or refused, 2 wrong usage",
      .examples =
          {{.line = "nfx fabric plan", .about = "which cards of this machine each thread would poll, and where"},
           {.line = "nfx fabric simulate", .about = "what each technique gives on thirty-two cards, computed"},
           {.line = "nfx fabric bench --rails 4 --groups 2", .about = "pages between two processes of this host"},
           {.line = "nfx fabric ladder", .about = "each published technique, one after the other, on this host"}},
  };
}

}  // namespace nfx::app
