// What a run prints and writes identifies what was measured.
#include <gtest/gtest.h>

#include <limits>

#include "harness/json.hpp"
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

TEST(Json, separates_members_and_nests) {
  Json json;
  json.begin_object().member("a", 1U).key("b").begin_array().value("x").value(true).value(1.5).end_array();
  json.key("c").begin_object().end_object().end_object();
  EXPECT_EQ(without_space(json.text()), R"({"a":1,"b":["x",true,1.5],"c":{}})");
}

TEST(Json, escapes_what_would_end_a_string) {
  Json json;
  json.value("a\"b\\c\x01\n");
  EXPECT_EQ(json.text(), R"("a\"b\\c\u0001\u000a")");
}

TEST(Json, writes_null_for_what_is_no_number) {
  Json json;
  json.begin_array()
      .value(std::numeric_limits<double>::infinity())
      .value(std::numeric_limits<double>::quiet_NaN())
      .end_array();
  EXPECT_EQ(without_space(json.text()), "[null,null]");
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
        R"("instruction_sets":["scalar","avx2"])", R"("hz":2.5e+09)", R"("own_cost_ns":20)", R"("seed":42)",
        R"("digest":"0000000000000abc")", R"("ns_median":12.5)", R"("ns_of_repeats":[12.5])"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }
}

}  // namespace
