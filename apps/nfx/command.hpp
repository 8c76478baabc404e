// The commands of nfx. Each adds its subcommand to `app`; when that is chosen, its callback runs it and sets exit_code:
// 0 done, 1 failed, 2 wrong usage or configuration.
// Errors: a callback may throw; main prints the one line and takes 2 for ConfigError and DictionaryError, 1 for others.
#pragma once

#include <CLI/CLI.hpp>

namespace nfx::app {

void add_demo(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_connect(CLI::App& app, int& exit_code);
void add_decode(CLI::App& app, int& exit_code);
void add_config(CLI::App& app, int& exit_code);
void add_schedule(CLI::App& app, int& exit_code);
void add_dict(CLI::App& app, int& exit_code);
void add_codegen(CLI::App& app, int& exit_code);
void add_host(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);
void add_tls(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_usage = 2;

}  // namespace nfx::app
