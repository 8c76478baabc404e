// Shared by programs that run by seeds, FIRST..LAST: the command line, a line for each finding, and tables of totals.
// Thread: one. Errors: wrong usage is exit code 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "nexusfix/base/counter_rows.hpp"

namespace nfx::test {

// Parses the command line, with --seeds added, and returns the result of `run` for the range.
template <class Run>
int run_seed_program(cli::Command program, std::string seeds, int argc, char** argv, const Run& run) {
  program.options.insert(program.options.begin(),
                         {.names = "--seeds", .target = &seeds, .help = "What to run", .value = "FIRST..LAST"});
  if (const auto exit_code = cli::parse(program, argc, argv)) return *exit_code;
  const auto range = read_seeds(seeds);
  return range ? run(*range) : cli::exit_wrong_usage;
}

// Returns the number of seeds with a finding: `run` returns the finding of a seed, or nothing.
template <class Run>
unsigned long long run_seeds(const SeedRange& seeds, const Run& run) {
  unsigned long long findings = 0;
  for (unsigned long long seed = seeds.first; seed <= seeds.last; ++seed) {
    const std::string finding = run(seed);
    if (finding.empty()) continue;
    ++findings;
    std::printf("seed %llu: %s\n", seed, finding.c_str());
  }
  return findings;
}

inline void print_count(std::string_view name, std::uint64_t value) {
  std::printf("  %-46.*s %14llu\n", static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(value));
}

// A count in a result, with its name.
template <class Result>
struct CountRow {
  const char* name;
  std::uint64_t Result::* value;
};
template <class Result, std::size_t size>
void add_counts(const CountRow<Result> (&rows)[size], Result& sum, const Result& more) {
  for (const CountRow<Result>& row : rows) sum.*row.value += more.*row.value;
}
template <class Result, std::size_t size>
void print_counts(const CountRow<Result> (&rows)[size], const Result& sum) {
  for (const CountRow<Result>& row : rows) print_count(row.name, sum.*row.value);
}
// Counters with rows of their own.
template <class Counters>
void print_counters(const Counters& counters) {
  for (const auto& row : counter_rows<Counters>) {
    const std::string name{row.metric};
    print_count(row.label_value.empty() ? name : name + ' ' + std::string{row.label_value}, counters.*row.member);
  }
}

}  // namespace nfx::test
