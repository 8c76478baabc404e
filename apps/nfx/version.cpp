#include <iostream>

#include "command.hpp"
#include "nexusfix/wire/scan.hpp"

namespace nfx::app {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

}  // namespace

void add_version(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("version", "Show the version, the compiler and the instruction set in use");
  command->footer("Example:\n  nfx version");
  command->callback([&exit_code] {
    std::cout << "nfx " NFX_VERSION "\ncompiler  " << compiler << "\nkernel    " << active_kernel_name() << "  (of "
              << available_kernel_names() << "; NFX_ISA chooses)\n";
    exit_code = exit_done;
  });
}

}  // namespace nfx::app
