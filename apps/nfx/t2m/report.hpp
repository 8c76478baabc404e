// What `nfx t2m` prints of its runs: tables and a page for people, JSON for programs.
// Thread: any. Errors: std::runtime_error names a file that cannot be written.
#pragma once

#include <span>
#include <string>

#include "nexusfix/observe/safe_text.hpp"
#include "t2m/run.hpp"

namespace nfx::app::t2m {

// "itch, 4 names, block, not pinned, poisson 10000/s, 2 noisy processes"
[[nodiscard]] std::string conditions(const RunResult& result);

void print_run(SafeText& out, const RunResult& result, std::size_t slowest);

// Rows of a comparison: a condition, and its runs.
struct ComparedCondition {
  std::string name;
  std::vector<RunResult> runs;
  std::string left_out;  // why there are none
};
void print_comparison(SafeText& out, std::span<const ComparedCondition> conditions);

// One page that loads nothing: percentiles, stages, and the slowest messages of each run.
[[nodiscard]] std::string to_html(std::span<const RunResult> runs);

// The charts of a comparison alone: the published ones next to these.
[[nodiscard]] std::string to_svg(std::span<const RunResult> runs);

// The runs as one JSON document.
[[nodiscard]] std::string to_json(std::span<const RunResult> runs);

}  // namespace nfx::app::t2m
