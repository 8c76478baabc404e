// The program's own row: the text of `nfx --help` around the table of commands.
#include "command.hpp"
#include "nexusfix/control/control.hpp"
#include "nexusfix/gateway/gateway.hpp"

namespace nfx::app {

void use_parts() {
  use_control();
  use_cluster();
}

cli::Command nfx_command() {
  cli::Command nfx{.name = "nfx", .summary = "NexusFIX: a low-latency FIX engine"};
#define NFX_ADD(name) nfx.commands.push_back(name##_command());
  NFX_COMMANDS(NFX_ADD)
#undef NFX_ADD
  nfx.details =
      "The environment variable NFX_ISA chooses the instruction set to parse with; 'nfx version' lists this machine's.";
  nfx.exit_codes =
      "0 done, 1 failed, 2 wrong usage or configuration; 'nfx host', 'nfx tls' and 'nfx store verify' have their own";
  nfx.version = "nfx " NFX_VERSION;
  return nfx;
}

}  // namespace nfx::app
