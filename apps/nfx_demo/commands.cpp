// The demonstration as a separate program. `./dev demo` builds it in a fraction of the time of nfx, because it needs
// only nexusfix::engine.
#include <stdexcept>

#include "command.hpp"
#include "isolation.hpp"

namespace nfx::app {

cli::Command nfx_command() {
  cli::Command nfx{.name = "nfx", .summary = "NexusFIX: the demonstration alone"};
  nfx.commands.push_back(demo_command());
  nfx.exit_codes = "0 done, 1 failed, 2 wrong usage or configuration";
  nfx.version = "nfx " NFX_VERSION;
  return nfx;
}

// [control] and [cluster] are in libraries that this program does not link.
void use_parts() {}

// Changes to the host need nexusfix::host, which this program does not link.
std::unique_ptr<Isolation> isolate(std::uint32_t) {
  throw std::runtime_error("--isolate: this program cannot change the host; use nfx: ./dev build --target nfx");
}

}  // namespace nfx::app
