// The output of `nfx t2m` about its runs: tables for people, JSON for programs and reports.
// Thread: any. Errors: std::runtime_error names a file that cannot be written.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/print.hpp"
#include "t2m/run.hpp"

namespace nfx::app::t2m {

// "itch, 4 names, block, not pinned, poisson 10000/s, 2 noisy processes"
[[nodiscard]] std::string conditions(const RunResult& result);

void print_run(SafeText& out, const RunResult& result, std::size_t slowest);

// A compared condition: the same load, with less and less in the receiver's way.
struct Condition {
  std::string_view name;
  bool pin;
  bool isolate;  // and pin
};
inline constexpr std::array<Condition, 3> compared_conditions{
    {{"not pinned", false, false}, {"pinned", true, false}, {"pinned and isolated", true, true}}};

// Rows of a comparison: a condition, with or without noisy processes, and its runs.
struct ComparisonRow {
  Condition condition;
  unsigned noise = 0;
  bool raw = false;  // the baseline of the row before
  std::vector<RunResult> runs{};
  std::string left_out{};  // why there are none

  [[nodiscard]] std::string name() const {
    return (raw ? "raw, " : "") + std::string{condition.name} + (noise == 0 ? "" : " +noise");
  }
};
void print_comparison(SafeText& out, std::span<const ComparisonRow> rows);

// The runs as one JSON document.
[[nodiscard]] std::string to_json(std::span<const RunResult> runs);

}  // namespace nfx::app::t2m
