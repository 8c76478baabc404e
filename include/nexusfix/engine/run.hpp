// A program around an application: `int main(int argc, char** argv) { return nfx::run<Desk>(argc, argv); }`.
//
//   desk CONFIG             serves until SIGINT or SIGTERM, which log all sessions out; a second one ends immediately
//   desk --check CONFIG     checks the configuration and its addresses, prints what would run, and ends
//   desk --version, --help
//
// CONFIG is TOML or QuickFIX's settings. A session whose `store` is not set has a journal in the folder "store" next to
// CONFIG, so that nothing is lost; store = "memory" does without. SIGHUP reloads certificates, keys and revocation
// lists. Each logon, logout, notice and alert is a line on standard error, written by a thread that the poll threads
// never wait for. Thread: the main one, before any other. Lifetime: the program outlives it. Errors: one line on
// standard error, and the exit code that is returned; see ExitCode. Nothing is thrown. run<Desk>() makes the program
// once the configuration is read, so that --help and --check need none; what its constructor throws is an error too.
#pragma once

#include <optional>

#include "nexusfix/base/language.hpp"
#include "nexusfix/dictionary/package_folder.hpp"
#include "nexusfix/engine/application.hpp"

namespace nfx {

// Exit codes of nfx and of programs that nfx::run makes.
struct ExitCode {
  static constexpr int done = 0;         // all sessions are logged out; or the configuration is right
  static constexpr int failed = 1;       // a store that cannot be opened, a full disk, or what the program has thrown
  static constexpr int wrong_usage = 2;  // of the command line, or a wrong configuration, such as an address in use
};

namespace detail {
[[nodiscard]] int run(int argc, char** argv, Callbacks (*make)(void*), void* place) noexcept;
}

[[nodiscard]] int run(int argc, char** argv, Callbacks program) noexcept;
template <typename Program>
[[nodiscard]] int run(int argc, char** argv) noexcept {
  std::optional<Program> program;
  const auto make = [](void* place) { return Callbacks{static_cast<std::optional<Program>*>(place)->emplace()}; };
  return detail::run(argc, argv, make, &program);
}

}  // namespace nfx
