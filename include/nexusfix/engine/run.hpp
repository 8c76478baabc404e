// A program around an application: `return nfx::run(argc, argv, desk);` is its main.
//
//   desk CONFIG             serves until SIGINT or SIGTERM, which log all sessions out; a second one ends immediately
//   desk --check CONFIG     checks the configuration and its addresses, prints what would run, and ends
//   desk --version, --help
//
// CONFIG is TOML or QuickFIX's settings. A session whose `store` is not set has a journal in the folder "store" next to
// CONFIG, so that nothing is lost; store = "memory" does without. SIGHUP reloads certificates, keys and revocation
// lists. Callbacks that the application does not override write a line of each logon, logout, notice and alert to
// standard error, through a thread that the poll threads never wait for. Thread: the main one, before any other.
// Lifetime: `application` outlives it. Errors: one line on standard error, and the exit code that is returned; see
// ExitCode. Nothing is thrown.
#pragma once

#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/exit_code.hpp"

namespace nfx {

[[nodiscard]] int run(int argc, char** argv, Application& application) noexcept;

}  // namespace nfx
