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

#include "host/html.hpp"

namespace nfx {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t us = 1'000;

// CPU 1 has windows of 1 to 1,000 us and three stalls, CPU 3 could not be measured.
NoiseReport sample() {
  NoiseReport report;
  report.kernel = "6.18.0";
  report.clock = "TSC, invariant, 2.5000 GHz";
  report.seconds = 1;
  report.attributed = true;
  report.trace_clock = "x86-tsc";
  report.trace_events = 42;
  report.notes = {"a note with <angle> brackets"};
  CpuNoise cpu;
  cpu.hiccups.cpu = 1;
  cpu.hiccups.duration_ns = 1'000'000 * us;
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

TEST(RecurringPeriodTest, the_longest_period_that_fits_is_found) {
  std::vector<std::uint64_t> moments;
  for (std::uint64_t i = 0; i < 200; ++i) moments.push_back(3'210 * us + i * 10'000 * us);
  EXPECT_EQ(recurring_period_ns(moments), 10'000 * us);
  for (std::uint64_t i = 0; i < 60; ++i) moments.push_back(moments.back() + (i * i * 7919 % 997) * us);
  EXPECT_EQ(recurring_period_ns(moments), 10'000 * us) << "some others in between do not hide it";
}

TEST(RecurringPeriodTest, moments_at_random_recur_at_no_period) {
  std::vector<std::uint64_t> moments{0};
  std::uint64_t seed = 1;
  for (int i = 0; i < 500; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    moments.push_back(moments.back() + (seed >> 33) % (20'000 * us));
  }
  EXPECT_EQ(recurring_period_ns(moments), 0U);
  EXPECT_EQ(recurring_period_ns({}), 0U);
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
  EXPECT_NE(text.find("Single stalls cannot be attributed: /sys/kernel/tracing/instances: Permission denied."),
            std::string::npos)
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

TEST(NoiseReportTest, the_page_needs_nothing_else_and_escapes_names) {
  const std::string page = to_html(sample());
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(page.find("evil&quot;\\?&lt;b&gt;?"), std::string::npos);
  EXPECT_NE(page.find("a note with &lt;angle&gt; brackets"), std::string::npos);
  std::size_t charts = 0;
  for (std::size_t at = page.find("<svg"); at != std::string::npos; at = page.find("<svg", at + 1)) ++charts;
  EXPECT_EQ(charts, 3U);
}

TEST(NoiseReportTest, a_page_of_nothing_measured_is_a_page) {
  EXPECT_NE(to_html(NoiseReport{}).find("</html>"), std::string::npos);
  EXPECT_EQ(to_html(NoiseReport{}).find("nan"), std::string::npos);
  EXPECT_FALSE(to_text(NoiseReport{}).empty());
}

TEST(CompareTest, ratios_are_now_divided_by_then) {
  const std::string then = to_json(sample());
  NoiseReport now = sample();
  for (std::uint64_t& window : now.cpus[0].hiccups.window_worst_ns) window /= 100;
  now.cpus[0].summary = summarise(now.cpus[0].hiccups);
  const auto text = compare(now, then);
  ASSERT_TRUE(text) << text.error();
  EXPECT_NE(text->find("  CPU 1           0.01       0.01       0.01       0.01          1\n"), std::string::npos)
      << *text;
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
  EXPECT_NE(text->find("  differs: pinned was true and is false\n  differs: fifo_priority was 0 and is 10\n"),
            std::string::npos)
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
  HostFacts facts;
  facts.online = {0, 1};
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

TEST(DownsampleTest, the_largest_of_each_stretch_stays) {
  std::vector<std::pair<double, double>> values;
  for (int i = 0; i < 10'000; ++i) values.emplace_back(i, i % 100 == 57 ? i : 0);
  const auto fewer = downsampled_by_max(values, 100);
  ASSERT_EQ(fewer.size(), 100U);
  EXPECT_EQ(fewer[3], (std::pair<double, double>{300, 357}));
  EXPECT_EQ(downsampled_by_max({{1, 2}}, 100).size(), 1U);
}

TEST(SvgSeriesTest, values_that_a_scale_cannot_show_are_left_out) {
  const std::string svg = svg_series({.title = "t",
                                      .x_label = "x",
                                      .y_label = "y",
                                      .log_y = true,
                                      .x_ticks = {},
                                      .lines = {{"a", {{0, 0}, {1, 10}, {2, 1.0 / 0.0}, {3, 100}}}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_NE(svg.find("<path"), std::string::npos);
}

// Prices of a recording are what its sender chose: a step of the axis may be less than the distance of two doubles.
TEST(SvgSeriesTest, an_axis_of_values_that_a_step_does_not_change_ends) {
  for (const double value : {9.2e9, 1e17, 1e300, -1e17}) {
    const double next = std::nextafter(value, std::numeric_limits<double>::infinity());
    const std::string svg = svg_series({.title = "t",
                                        .x_label = "x",
                                        .y_label = "y",
                                        .from_zero = false,
                                        .x_ticks = {},
                                        .lines = {{"a", {{value, value}, {next, next}}}}});
    EXPECT_LT(svg.size(), 20'000U) << value;
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
  }
}

TEST(HtmlTest, a_name_that_others_chose_is_no_markup_and_reorders_nothing) {
  const std::string name = "</title></script><script>alert(1)</script>' onload=\"x\xe2\x80\xae\x1b[2J";
  const std::string page = html_page(name, html_table({.head = {name}, .rows = {{name}}}) +
                                               svg_bars(name, {{.name = name, .value = 1, .label = name}}));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("alert(1)</"), std::string::npos);
  EXPECT_EQ(page.find("' onload"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos) << "a character that reverses the text after it";
}

// Where two texts of a picture are, as far as their widths are known: seven pixels a letter.
struct Placed {
  double x = 0, y = 0, width = 0;
  std::string text;
};
std::vector<Placed> texts_of(const std::string& svg) {
  std::vector<Placed> all;
  for (std::size_t at = svg.find("<text x="); at != std::string::npos; at = svg.find("<text x=", at + 1)) {
    Placed text;
    if (std::sscanf(svg.c_str() + at, "<text x=\"%lf\" y=\"%lf\"", &text.x, &text.y) != 2) continue;
    const std::size_t begin = svg.find('>', at) + 1;
    text.text = svg.substr(begin, svg.find('<', begin) - begin);
    text.width = 7.0 * static_cast<double>(text.text.size());
    if (svg.substr(at, begin - at).contains("\"end\"")) text.x -= text.width;
    if (svg.substr(at, begin - at).contains("\"middle\"")) text.x -= text.width / 2;
    all.push_back(std::move(text));
  }
  return all;
}

TEST(SvgSeriesTest, the_names_of_many_lines_cover_neither_the_title_nor_one_another) {
  SvgChart chart{.title = "A title that is as long as many are, of forty letters",
                 .x_label = "x",
                 .y_label = "y",
                 .x_ticks = {},
                 .lines = {}};
  for (int i = 0; i < 8; ++i)
    chart.lines.push_back({"line number " + std::to_string(i) + " of eight", {{0, 1}, {1, i}}});
  const std::vector<Placed> texts = texts_of(svg_series(chart));
  ASSERT_GT(texts.size(), 9U);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const Placed &a = texts[i], &b = texts[k];
      const bool apart = std::abs(a.y - b.y) >= 10 || a.x + a.width <= b.x || b.x + b.width <= a.x;
      EXPECT_TRUE(apart) << a.text << " covers " << b.text;
    }
  }
}

// The x and the width of each bar, in order.
std::vector<std::pair<double, double>> bars_of(const std::string& svg) {
  std::vector<std::pair<double, double>> bars;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) {
    double x = 0, width = 0;
    const std::size_t place = svg.find(" x=", at), size = svg.find(" width=", at);
    std::sscanf(svg.c_str() + place, " x=\"%lf", &x);
    std::sscanf(svg.c_str() + size, " width=\"%lf", &width);
    bars.emplace_back(x, width);
  }
  return bars;
}

TEST(SvgBarsTest, values_that_span_decades_have_lengths_that_are_seen_and_the_title_says_so) {
  const std::string svg = svg_bars("t", {{"small", 2, "2"}, {"large", 8000, "8000"}, {"middle", 100, "100"}});
  const auto bars = bars_of(svg);
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_GT(bars[0].second, 50);
  EXPECT_GT(bars[2].second, bars[0].second * 1.2);
  EXPECT_GT(bars[1].second, bars[2].second * 1.2);
  EXPECT_TRUE(svg.contains("t (logarithmic)"));
  const auto linear = bars_of(svg_bars("t", {{"a", 2, "2"}, {"b", 4, "4"}}));
  EXPECT_NEAR(linear[1].second, 2 * linear[0].second, 0.2);
}

TEST(SvgBarsTest, losses_are_bars_to_the_other_side_in_a_colour_of_their_own) {
  const std::string svg = svg_bars("t", {{"gain", 20, "20"}, {"loss", -10, "-10"}, {"none", 0, "not stated"}});
  const auto bars = bars_of(svg);
  ASSERT_EQ(bars.size(), 2U) << "what is not known has no bar";
  EXPECT_NEAR(bars[1].first + bars[1].second, bars[0].first, 0.2) << "both end at the same line";
  EXPECT_NEAR(bars[0].second, 2 * bars[1].second, 0.2);
  EXPECT_NE(svg.find("class=\"f0\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"f4\""), std::string::npos);
}

}  // namespace
}  // namespace nfx
