// The commands of nfx: one row each. To add a command, add a row here and a file that defines NAME_command(). Exit
// codes: 0 done, 1 failed, 2 wrong usage or configuration, unless the command has its own. Errors: a command may throw;
// main prints the one line and returns 2 for ConfigError and DictionaryError, 1 for others.
#pragma once

#include "cli/command_line.hpp"
#include "nexusfix/engine/run.hpp"

// In the order of help.
#define NFX_COMMANDS(row)                                                                                             \
  row(demo) row(serve) row(connect) row(decode) row(config) row(schedule) row(dict) row(codegen) row(host) row(store) \
      row(session) row(engine) row(top) row(market) row(t2m) row(fabric) row(cluster) row(tls) row(version) row(help) \
          row(completion) row(man)

namespace nfx::app {

// A command's options live as long as the program: each function is called once to run the command, and again to
// describe it.
#define NFX_DECLARE(name) cli::Command name##_command();
NFX_COMMANDS(NFX_DECLARE)
#undef NFX_DECLARE

// The program with all commands.
cli::Command nfx_command();
// Registers parts in separate libraries with the program's engines: the control plane, the gateway of a cluster.
void use_parts();

inline constexpr int exit_done = ExitCode::done;
inline constexpr int exit_failed = ExitCode::failed;
inline constexpr int exit_wrong_usage = ExitCode::wrong_usage;
static_assert(exit_wrong_usage == cli::exit_wrong_usage);

}  // namespace nfx::app
