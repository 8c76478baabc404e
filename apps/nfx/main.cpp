// nfx: the NexusFIX program. Runs the command chosen on the command line; errors are one line on stderr.
#include <string>

#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/program.hpp"
#include "wire/scan.hpp"

int main(int argc, char** argv) {
  using namespace nfx::app;
  nfx::occupy_standard_descriptors();
  use_parts();
  try {
    if (const std::string error = nfx::kernel_override_error(); !error.empty()) throw nfx::ConfigError(error);
    return nfx::cli::run(nfx_command(), argc, argv);
  } catch (...) {
    return nfx::report_exception("nfx");
  }
}
