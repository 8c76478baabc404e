// The command line and exit status of every benchmark.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"
#include "harness/measure.hpp"

namespace nfx::bench {

inline constexpr int wrong_answer = 1;  // exit statuses
inline constexpr int cannot_run = 2;

// Options of several benchmarks. Lifetime: they borrow their targets.
inline cli::Option repeats_option(std::uint32_t& repeats) {
  return {.names = "--repeats",
          .target = &repeats,
          .help = "Of all rows in turn; medians are over these",
          .range = {{1, 1000}}};
}
inline cli::Option core_option(std::optional<std::uint32_t>& core) {
  return {.names = "--core", .target = &core, .help = "The core to pin to", .default_text = "the last allowed one"};
}
inline cli::Option seed_option(std::uint64_t& seed) {
  return {.names = "--seed", .target = &seed, .help = "Of what is generated"};
}
inline cli::Option json_option(std::string& file) {
  return {.names = "--json", .target = &file, .help = "Also write everything to this file", .kind = cli::Kind::file};
}
inline cli::Option folder_option(std::string& folder, std::string_view names = "--folder") {
  return {.names = names,
          .target = &folder,
          .help = "Where files are created and removed: on a disk",
          .kind = cli::Kind::folder,
          .default_text = "the temporary folder"};
}

// Parses the command line of `program` and runs it. An exception becomes a message and a status; otherwise `run`
// returns the status.
template <class Run>
int run_program(const cli::Command& program, int argc, char** argv, const Run& run) {
  if (const auto exit_code = cli::parse(program, argc, argv)) return *exit_code;
  const std::string name{program.name};
  try {
    return run();
  } catch (const WrongAnswerError& error) {
    std::fprintf(stderr, "%s: WRONG ANSWER: %s\n", name.c_str(), error.what());
    return wrong_answer;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return cannot_run;
  }
}

}  // namespace nfx::bench
