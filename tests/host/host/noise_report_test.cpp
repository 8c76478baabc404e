// The formats of the noise report, and its comparison with an earlier one.
#include "host/noise_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace nfx {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t us = 1'000;

// CPU 1 has windows of 1 to 1,000 us and three stalls, CPU 3 could not be measured.
NoiseReport sample() {
  NoiseReport report{.kernel = "6.18.0",
                     .clock = "TSC, invariant, 2.5000 GHz",
                     .seconds = 1,
                     .attributed = true,
                     .trace_clock = "x86-tsc",
                     .trace_events = 42,
                     .notes = {"a note with <angle> brackets"}};
  CpuNoise cpu{.hiccups = {.cpu = 1, .duration_ns = 1'000'000 * us}};
  for (std::uint64_t i = 1000; i > 0; --i) cpu.hiccups.window_worst_ns.push_back(i * us);
  cpu.hiccups.gaps = {{10 * us, 30 * us, 1, 1}, {500 * us, 900 * us, 1, 1}, {5000 * us, 20 * us, 1, 1}};
  cpu.causes = {{NoiseKind::timer, "", 3 * us, 0},
                {NoiseKind::task, "evil\"\\\n<b>\xff", 800 * us, 0},
                {NoiseKind::timer, "", 4 * us, 0}};
  cpu.hiccups.over = {10, 3, 1, 1, 0, 0};
  cpu.hiccups.lost_ns = 10'000 * us;
  cpu.hiccups.involuntary_switches = 7;
  cpu.counters.cpu = 1;
  cpu.counters.timer = 250;
  cpu.counters.softirqs = {{"RCU", 5}, {"HI", 0}};
  cpu.counters.steal = 2;
  cpu.summary = summarise(cpu.hiccups);
  report.cpus.push_back(cpu);
  report.cpus.emplace_back().hiccups.error = "CPU 3: Operation not permitted";
  report.cpus.back().hiccups.cpu = 3;
  return report;
}

TEST(NoiseSummaryTest, quantiles_are_those_of_the_sorted_windows) {
  const NoiseSummary summary = sample().cpus[0].summary;
  EXPECT_EQ(summary.windows, 1000U);
  EXPECT_EQ(summary.p50_ns, 500 * us);
  EXPECT_EQ(summary.p90_ns, 900 * us);
  EXPECT_EQ(summary.p99_ns, 990 * us);
  EXPECT_EQ(summary.p999_ns, 999 * us);
  EXPECT_EQ(summary.max_ns, 1000 * us);
  EXPECT_DOUBLE_EQ(summary.lost_percent, 1);
}

TEST(NoiseSummaryTest, nothing_measured_is_all_zero) {
  const NoiseSummary summary = summarise(CpuHiccups{});
  EXPECT_EQ(summary.windows, 0U);
  EXPECT_EQ(summary.max_ns, 0U);
  EXPECT_EQ(summary.lost_percent, 0);
}

TEST(CauseTotalsTest, the_cause_that_took_most_comes_first) {
  const NoiseReport report = sample();
  const std::vector<CauseTotal> totals = cause_totals(report.cpus);
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].kind, NoiseKind::task);
  EXPECT_EQ(totals[1].kind, NoiseKind::timer);
  EXPECT_EQ(totals[1].gaps, 2U);
  EXPECT_EQ(totals[1].total_ns, 50 * us);
  EXPECT_EQ(totals[1].worst_ns, 30 * us);
}

TEST(NoiseReportTest, the_text_shows_quantiles_causes_longest_gaps_and_what_failed) {
  const std::string text = to_text(sample());
  EXPECT_NE(text.find("1 CPU, 1 s, pinned"), std::string::npos) << text;
  EXPECT_NE(text.find("500  900  990    999  1000   1.000"), std::string::npos) << text;
  EXPECT_NE(text.find("not measured: CPU 3: Operation not permitted"), std::string::npos) << text;
  EXPECT_NE(text.find("2      50.0      30.0  timer\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0.000500   900    1  task evil\"\\?<b>?, 800 us of it\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CPU 1: timer 250, softirq RCU 5, stolen ms 20\n"), std::string::npos) << text;
}

TEST(NoiseReportTest, the_text_says_why_gaps_are_not_attributed) {
  NoiseReport report = sample();
  report.attributed = false;
  report.why_not_attributed = "/sys/kernel/tracing/instances: Permission denied";
  for (CpuNoise& cpu : report.cpus) cpu.causes.clear();
  const std::string text = to_text(report);
  EXPECT_TRUE(text.contains("Single stalls cannot be attributed: /sys/kernel/tracing/instances: Permission denied."))
      << text;
  EXPECT_NE(text.find("not attributed\n"), std::string::npos) << text;
}

TEST(NoiseReportTest, json_holds_what_was_measured) {
  const Json json = Json::parse(to_json(sample()));
  EXPECT_EQ(json["schema"], "nexusfix.noise.2");
  EXPECT_EQ(json["cpus"][0]["p99_us"], 990);
  EXPECT_EQ(json["cpus"][0]["stalls_over"]["10us"], 3);
  EXPECT_EQ(json["cpus"][0]["causes"][0]["kind"], "task");
  EXPECT_EQ(json["cpus"][0]["counters"]["steal_ms"], 20);
  EXPECT_EQ(json["cpus"][1]["error"], "CPU 3: Operation not permitted");
  EXPECT_EQ(json["all"]["max_us"], 1000);
  EXPECT_EQ(json["longest_stalls"][0]["us"], 900);
  EXPECT_EQ(json["longest_stalls"][0]["cause"]["kind"], "task");
  EXPECT_EQ(json["attribution"]["done"], true);
}

// The rules of the text format: HELP and TYPE once before the samples of a name, every line a sample or a comment.
TEST(NoiseReportTest, prometheus_text_is_well_formed) {
  std::istringstream lines{to_prometheus(sample())};
  std::set<std::string> typed, samples;
  std::string line, name;
  while (std::getline(lines, line)) {
    if (line.starts_with("# HELP ")) continue;
    if (line.starts_with("# TYPE ")) {
      name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(typed.insert(name).second) << line;
      continue;
    }
    EXPECT_TRUE(line.starts_with(name)) << line;
    EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line << ": twice";
    std::size_t used = 0;
    const std::string value = line.substr(line.rfind(' ') + 1);
    std::stod(value, &used);
    EXPECT_EQ(used, value.size()) << line;
  }
  EXPECT_GE(typed.size(), 8U);
  EXPECT_TRUE(samples.contains("nexusfix_noise_window_worst_stall_seconds{cpu=\"1\",percentile=\"99.9\"}"));
  EXPECT_TRUE(samples.contains(R"(nexusfix_noise_cause_stalls{cpu="1",kind="task",name="evil\"\\?<b>?"})"));
}

TEST(NoiseReportTest, prometheus_buckets_are_cumulative) {
  const std::string text = to_prometheus(sample());
  EXPECT_NE(text.find("nexusfix_noise_stall_seconds_bucket{cpu=\"1\",le=\"1e-05\"} 7\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nexusfix_noise_stall_seconds_bucket{cpu=\"1\",le=\"5e-05\"} 9\n"), std::string::npos);
  EXPECT_NE(text.find("nexusfix_noise_stall_seconds_bucket{cpu=\"1\",le=\"+Inf\"} 10\n"), std::string::npos);
  EXPECT_NE(text.find("nexusfix_noise_stall_seconds_sum{cpu=\"1\"} 0.01\n"), std::string::npos);
  EXPECT_NE(text.find("nexusfix_noise_stall_seconds_count{cpu=\"1\"} 10\n"), std::string::npos);
}

TEST(NoiseReportTest, curves_are_in_the_json_of_a_report_alone) {
  EXPECT_FALSE(Json::parse(to_json(sample()))["cpus"][0].contains("worst_us_by_s"));
  NoiseReport report = sample();
  std::vector<std::uint64_t>& windows = report.cpus[0].hiccups.window_worst_ns;
  windows.assign(10'000, 1 * us);
  windows[357] = 40 * us;
  const Json cpus = Json::parse(to_json(report, true))["cpus"];
  const Json over_time = cpus[0]["worst_us_by_s"], by_rarity = cpus[0]["worst_us_by_rarity"];
  ASSERT_EQ(over_time.size(), 2000U);
  EXPECT_EQ(over_time[71], (Json{0.355, 40.0})) << "the largest of each stretch stays";
  EXPECT_EQ(over_time[72][1], 1.0);
  EXPECT_EQ(by_rarity.front(), (Json{1.0, 1.0}));
  EXPECT_EQ(by_rarity.back(), (Json{10'000.0, 40.0}));
  EXPECT_FALSE(cpus[1].contains("worst_us_by_s")) << "it was not measured";
}

TEST(NoiseReportTest, a_report_of_nothing_measured_is_a_report) {
  EXPECT_TRUE(Json::accept(to_json(NoiseReport{}, true)));
  EXPECT_FALSE(to_text(NoiseReport{}).empty());
}

TEST(CompareTest, ratios_are_now_divided_by_then) {
  const std::string then = to_json(sample());
  NoiseReport now = sample();
  for (std::uint64_t& window : now.cpus[0].hiccups.window_worst_ns) window /= 100;
  now.cpus[0].summary = summarise(now.cpus[0].hiccups);
  const auto text = compare(now, then);
  ASSERT_TRUE(text) << text.error();
  EXPECT_TRUE(text->contains("  CPU 1           0.01       0.01       0.01       0.01          1\n")) << *text;
  EXPECT_NE(text->find("  all             0.01"), std::string::npos) << *text;
  EXPECT_EQ(text->find("CPU 3"), std::string::npos) << "it was not measured";
}

TEST(CompareTest, settings_that_differ_are_named) {
  const std::string then = to_json(sample());
  NoiseReport now = sample();
  EXPECT_EQ(compare(now, then)->find("differs"), std::string::npos);
  now.pinned = false;
  now.fifo_priority = 10;
  const auto text = compare(now, then);
  ASSERT_TRUE(text) << text.error();
  EXPECT_TRUE(text->contains("  differs: pinned was true and is false\n  differs: fifo_priority was 0 and is 10\n"))
      << *text;
}

TEST(CompareTest, reads_reports_of_the_schema_before) {
  std::string then = to_json(sample());
  then.replace(then.find("nexusfix.noise.2"), 16, "nexusfix.noise.1");
  EXPECT_TRUE(compare(sample(), then));
}

TEST(CompareTest, other_files_are_refused) {
  for (const char* const text :
       {"", "{", "[]", "1", "{\"schema\":\"other\"}", "{\"schema\":\"nexusfix.noise.1\",\"all\":1,\"cpus\":[]}",
        "{\"schema\":\"nexusfix.noise.1\",\"all\":{\"p50_us\":\"x\"},\"cpus\":[1,{\"cpu\":1,\"p50_us\":[]}]}"})
    EXPECT_FALSE(compare(sample(), text)) << text;
}

TEST(MeasureNoiseTest, what_would_lock_the_host_out_or_cannot_be_is_refused) {
  const HostFiles files{"/nowhere"};
  HostFacts facts{.online = {0, 1}};
  const std::atomic<bool> stop{true};
  NoiseOptions options;
  EXPECT_THROW(static_cast<void>(measure_noise(files, facts, options, stop)), std::invalid_argument) << "no CPU";
  options.hiccups.cpus = {0, 1};
  options.hiccups.fifo_priority = 1;
  EXPECT_THROW(static_cast<void>(measure_noise(files, facts, options, stop)), std::invalid_argument) << "all CPUs";
  options.hiccups.fifo_priority = 0;
  options.hiccups.cpus = CpuSet::range(0, 2000);
  options.hiccups.duration = std::chrono::hours{1};
  EXPECT_THROW(static_cast<void>(measure_noise(files, facts, options, stop)), std::invalid_argument) << "memory";
}

}  // namespace
}  // namespace nfx
