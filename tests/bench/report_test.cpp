// The output of a run identifies the measurement.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "harness/report.hpp"

namespace {

using namespace nfx::bench;

RowResult row_of(const char* section, const char* name, double ns, bool baseline) {
  RowResult row;
  row.section = section;
  row.name = name;
  row.baseline = baseline;
  row.ns_median = ns;
  row.ns_of_repeats = {ns};
  row.ps.record(static_cast<std::uint64_t>(ns * 1000));
  return row;
}

std::string without_space(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' && c != '\n') result += c;
  }
  return result;
}

TEST(Report, writes_null_for_what_is_no_number) {
  GroupResult group{"g", "t", {row_of("s", "r", 1, false)}};
  group.rows[0].ns_of_repeats = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  EXPECT_NE(without_space(to_json(RunFacts{}, {group})).find(R"("ns_of_repeats":[null,null])"), std::string::npos);
}

TEST(Report, compares_a_row_with_the_baseline_of_its_own_section) {
  const GroupResult group{
      "g",
      "t",
      {row_of("one", "fast", 10, false), row_of("one", "slow", 50, true), row_of("two", "other", 10, false),
       row_of("two", "slower", 90, true), row_of("three", "alone", 10, false)}};
  EXPECT_DOUBLE_EQ(ratio_to_baseline(group, group.rows[0]), 5);
  EXPECT_DOUBLE_EQ(ratio_to_baseline(group, group.rows[1]), 1);
  EXPECT_DOUBLE_EQ(ratio_to_baseline(group, group.rows[2]), 9);
  EXPECT_EQ(ratio_to_baseline(group, group.rows[4]), 0);
}

TEST(Report, compares_within_each_repeat_so_that_a_slow_phase_cancels_out) {
  RowResult fast = row_of("one", "fast", 10, false);
  RowResult slow = row_of("one", "slow", 50, true);
  fast.ns_of_repeats = {10, 20, 10};
  slow.ns_of_repeats = {50, 100, 60};
  const GroupResult group{"g", "t", {fast, slow}};
  EXPECT_DOUBLE_EQ(ratio_to_baseline(group, group.rows[0]), 5);
}

TEST(Report, writes_machine_clock_corpora_and_rows_as_json) {
  RunFacts facts;
  facts.benchmark = "wire";
  facts.machine.cpu_model = "a \"quoted\" processor";
  facts.machine.compiler = "g++ 12";
  facts.instruction_sets = {"scalar", "avx2"};
  facts.clock = CycleClock{"tsc", 2.5, 10};
  facts.own_cost_ticks = 50;
  facts.seed = 42;
  facts.corpora = {{"Heartbeat", 2048, 180'000, 0xABC}};
  const GroupResult group{"index", "t", {row_of("s", "r", 12.5, false)}};
  const std::string text = without_space(to_json(facts, {group}));
  for (const char* part :
       {R"("benchmark":"wire")", R"("cpu":"a\"quoted\"processor")", R"("compiler":"g++12")",
        R"("instruction_sets":["scalar","avx2"])", R"("hz":2500000000.0)", R"("own_cost_ns":20.0)", R"("seed":42)",
        R"("digest":"0000000000000abc")", R"("ns_median":12.5)", R"("ns_of_repeats":[12.5])"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }
}

RepeatedGroup repeated_group() {
  RepeatedGroup group{"g", "t", {}};
  group.rows.push_back(
      {.section = "one", .name = "before", .baseline = true, .note = {}, .repeats = {}, .counters = {}});
  group.rows.back().repeats = {{60, 50, 70, 80, 90}, {120, 100, 140, 160, 180}};
  group.rows.push_back({.section = "one", .name = "after", .note = {}, .repeats = {}, .counters = {}});
  group.rows.back().repeats = {{11, 10, 12, 13, 14}, {21, 20, 22, 23, 24}};
  group.rows.push_back({.section = "one", .name = "absent", .note = "no such library", .repeats = {}, .counters = {}});
  return group;
}

TEST(Report, compares_the_medians_of_the_same_repeat_of_single_operations) {
  const RepeatedGroup group = repeated_group();
  EXPECT_DOUBLE_EQ(ratio_to_baseline(group, group.rows[1]), 5);
  EXPECT_EQ(ratio_to_baseline(group, group.rows[2]), 0);
}

TEST(Report, writes_every_repeat_with_its_percentiles_and_why_a_row_is_left_out) {
  const std::string text = without_space(to_json(RunFacts{}, {repeated_group()}));
  for (const char* part :
       {R"({"mean":60.0,"p50":50.0,"p99":70.0,"p99_9":80.0,"max":90.0})", R"("note":"nosuchlibrary","repeats":[])",
        R"("name":"after","baseline":false,"unit":"ns")"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }
}

TEST(Report, writes_counters_per_message_only_where_the_processor_shows_them) {
  GroupResult group{"g", "t", {row_of("s", "r", 1, false), row_of("s", "hidden", 1, false)}};
  group.rows[0].counters = {
      .instructions = 250.5, .cycles = 100.0, .branch_misses = {}, .cache_misses = {}, .switches = 3, .migrations = 1};
  const std::string text = without_space(to_json(RunFacts{}, {group}));
  EXPECT_NE(text.find(R"("counters":{"instructions":250.5,"cycles":100.0,"switches":3,"migrations":1})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("counters":{"switches":0,"migrations":0})"), std::string::npos);
}

TEST(Report, names_the_file_that_it_cannot_write) {
  try {
    write_file("/proc/no/such/folder/x.json", "{}");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string{error.what()}.find("/proc/no/such/folder/x.json"), std::string::npos);
  }
}

}  // namespace
