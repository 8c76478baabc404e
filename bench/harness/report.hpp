// The output of a run: a header with the machine, one table per group, and everything as JSON.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/perf_counters.hpp"

namespace nfx::bench {

struct CorpusFacts {
  std::string name;
  std::uint32_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;  // of all bytes, to verify that two runs measured the same
};

struct RunFacts {
  std::string benchmark;
  Machine machine;
  std::vector<std::string> instruction_sets;
  CycleClock clock;
  double own_cost_ticks = 0;
  std::string counters;  // available counters of the processor, or why there are none
  unsigned core = 0;
  std::uint64_t seed = 0;
  MeasureOptions options;
  std::vector<CorpusFacts> corpora;
  std::vector<std::string> notes;  // missing parts, and explanations of rows
};

void print_facts(std::FILE* out, const RunFacts& facts);
void print_table(std::FILE* out, const GroupResult& group);

// How many times longer the baseline of the row's section takes: the median of the repeats' own ratios, because a slow
// phase of the machine slows all rows of a repeat. 0 if the section has no baseline.
[[nodiscard]] double ratio_to_baseline(const GroupResult& group, const RowResult& row);

[[nodiscard]] std::string to_json(const RunFacts& facts, const std::vector<GroupResult>& groups);

// A row whose repeats each have all percentiles, because single operations were timed.
struct RepeatedRow {
  std::string section;
  std::string name;
  bool baseline = false;  // of its section
  std::string unit = "ns";
  std::string note;  // a condition of the row; without repeats, why it was left out
  std::vector<Figures> repeats;
  CounterRates counters;  // of the calling thread during whole repeats, per operation, including set-up and checks
};

// A row without results yet.
[[nodiscard]] inline RepeatedRow empty_row(std::string section, std::string name, bool baseline = false,
                                           std::string note = {}) {
  RepeatedRow row;
  row.section = std::move(section);
  row.name = std::move(name);
  row.baseline = baseline;
  row.note = std::move(note);
  return row;
}

struct RepeatedGroup {
  std::string name;
  std::string title;
  std::vector<RepeatedRow> rows;
};

// At the median; 0 if the section has no baseline, or the row was left out.
[[nodiscard]] double ratio_to_baseline(const RepeatedGroup& group, const RepeatedRow& row);
void print_table(std::FILE* out, const RepeatedGroup& group);
[[nodiscard]] std::string to_json(const RunFacts& facts, const std::vector<RepeatedGroup>& groups);

// Throws std::runtime_error, which names the file.
void write_file(const std::string& path, std::string_view text);

}  // namespace nfx::bench
