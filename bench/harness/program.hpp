// How every benchmark begins and ends: its command line, and its result as an exit status.
#pragma once

#include <cstdio>
#include <exception>
#include <string>

#include "cli/command_line.hpp"
#include "harness/measure.hpp"

namespace nfx::bench {

inline constexpr int wrong_answer = 1;  // exit statuses
inline constexpr int cannot_run = 2;

// Reads the command line of `program` and runs. What is thrown becomes words and a status; otherwise `run` gives the
// status.
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
