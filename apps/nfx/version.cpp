// nfx version: prints what a bug report needs: the version, the compiler and the instruction set in use.

#include "command.hpp"
#include "output.hpp"
#include "wire/scan.hpp"

namespace nfx::app {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

int show_version() {
  print("nfx " NFX_VERSION "\ncompiler  {}\nkernel    {}  (of {}; NFX_ISA chooses)\n", compiler, active_kernel_name(),
        available_kernel_names());
  return exit_done;
}

}  // namespace

cli::Command version_command() {
  return {.name = "version",
          .summary = "Show the version, the compiler and the instruction set in use",
          .run = show_version,
          .examples = {{.line = "nfx version", .about = "what a bug report should name"}}};
}

}  // namespace nfx::app
