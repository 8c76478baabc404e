// How every benchmark begins and ends: its command line, and its verdict as an exit status.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "harness/measure.hpp"

namespace nfx::bench {

inline constexpr int wrong_answer = 1;  // exit statuses
inline constexpr int cannot_run = 2;

// Reads the command line of `app`, which has the program's name, and runs. What is thrown becomes words and a status;
// otherwise `run` gives the status.
template <class Run>
int run_program(CLI::App& app, int argc, char** argv, const Run& run) {
  CLI11_PARSE(app, argc, argv);
  try {
    return run();
  } catch (const WrongAnswerError& error) {
    std::fprintf(stderr, "%s: WRONG ANSWER: %s\n", app.get_name().c_str(), error.what());
    return wrong_answer;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return cannot_run;
  }
}

}  // namespace nfx::bench
