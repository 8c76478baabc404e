// The metrics format and its file.
#include "engine/metrics.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "concurrent/snapshot_box.hpp"
#include "histogram_text.hpp"
#include "log/log_folder.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

TEST(MetricsPage, puts_samples_of_one_name_together_behind_their_kind) {
  MetricsPage page;
  page.counter({"nfx_messages_total", "Messages."}, 3, {{"session", "A"}, {"direction", "in"}});
  page.gauge({"nfx_sessions", "Sessions logged on."}, 2.5);
  page.counter({"nfx_messages_total", "Messages."}, 4, {{"session", "B"}, {"direction", "in"}});
  EXPECT_EQ(page.text(),
            "# HELP nfx_messages_total Messages.\n"
            "# TYPE nfx_messages_total counter\n"
            "nfx_messages_total{session=\"A\",direction=\"in\"} 3\n"
            "nfx_messages_total{session=\"B\",direction=\"in\"} 4\n"
            "# HELP nfx_sessions Sessions logged on.\n"
            "# TYPE nfx_sessions gauge\n"
            "nfx_sessions 2.5\n");
}

TEST(MetricsPage, escapes_what_would_end_a_label_or_a_line) {
  MetricsPage page;
  page.gauge({"x", "a\\b\nc"}, 1, {{"session", "a\"b\\c\nd"}});
  EXPECT_EQ(page.text(), "# HELP x a\\\\b\\nc\n# TYPE x gauge\nx{session=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST(MetricsPage, shows_no_control_character_of_a_label) {
  MetricsPage page;
  page.gauge({"x", "a"}, 1, {{"session", "a\x1b[2J\xc2\x9b"}});
  EXPECT_TRUE(page.text().ends_with("x{session=\"a\\\\x1b[2J\\\\xc2\\\\x9b\"} 1\n")) << page.text();
}

TEST(MetricsPage, shows_a_histogram_in_seconds_with_counts_that_add_up) {
  LatencyHistogram latencies;
  for (const std::uint64_t ns : {100U, 1000U, 1500U, 4'000'000U}) latencies.record(ns);
  const std::uint64_t bounds[] = {1000, 2000};
  const MetricLabel labels[] = {{"thread", "poll0"}};
  MetricsPage page;
  page.histogram({"turn_seconds", "An iteration."}, labels, latencies, bounds);
  EXPECT_EQ(page.text(),
            "# HELP turn_seconds An iteration.\n# TYPE turn_seconds histogram\n"
            "turn_seconds_bucket{thread=\"poll0\",le=\"1e-06\"} 2\n"
            "turn_seconds_bucket{thread=\"poll0\",le=\"2e-06\"} 3\n"
            "turn_seconds_bucket{thread=\"poll0\",le=\"+Inf\"} 4\n"
            "turn_seconds_sum{thread=\"poll0\"} 0.0040026\n"
            "turn_seconds_count{thread=\"poll0\"} 4\n");
}

TEST(MetricsPage, shows_latency_counts_by_their_bounds) {
  LatencyCounts latencies;
  for (const auto& latency : {Duration{100}, Duration{115}, Duration{1us}, Duration{13s}}) latencies.record(latency);
  const MetricLabel labels[] = {{"thread", "poll0"}};
  MetricsPage page;
  page.histogram({"turn_seconds", "An iteration."}, labels, latencies);
  const std::string text = page.text();
  const test::HistogramText histogram = test::read_histogram(text, "turn_seconds", "thread=\"poll0\"");
  EXPECT_EQ(histogram.buckets.size(), 26U);
  EXPECT_EQ(histogram.in_bucket(100e-9), 1U);
  EXPECT_EQ(histogram.in_bucket(250e-9), 1U);
  EXPECT_EQ(histogram.in_bucket(1e-6), 1U);
  EXPECT_EQ(histogram.in_bucket(10), 0U);
  EXPECT_EQ(histogram.in_bucket(HUGE_VAL), 1U);
  EXPECT_EQ(histogram.sum_s, 13.000001215);
  EXPECT_NE(text.find("\nturn_seconds_bucket{thread=\"poll0\",le=\"2.5e-07\"} 2\n"), std::string::npos) << text;
}

// As clients in Go and Python write them: a selector such as le="0.0001" compares text.
TEST(MetricsPage, shows_bounds_as_other_exporters_do) {
  const std::uint64_t bounds[] = {1,          10'000,        100'000,       500'000,
                                  25'000'000, 1'000'000'000, 2'500'000'000, 10'000'000'000};
  MetricsPage page;
  page.histogram({"t", "Time."}, {}, LatencyHistogram{}, bounds);
  std::vector<std::string> shown;
  const std::string text = page.text();
  for (std::size_t at = text.find("le=\""); at != std::string::npos; at = text.find("le=\"", at + 1))
    shown.push_back(text.substr(at + 4, text.find('"', at + 4) - at - 4));
  EXPECT_EQ(shown,
            (std::vector<std::string>{"1e-09", "1e-05", "0.0001", "0.0005", "0.025", "1.0", "2.5", "10.0", "+Inf"}));
}

TEST(LatencyHistogram, counts_what_is_at_most_a_bound) {
  const auto latencies = std::make_unique<LatencyHistogram>();
  EXPECT_EQ(latencies->count_up_to(10), 0U);
  latencies->record(std::uint64_t{10});
  latencies->record(std::uint64_t{1'000'000});
  latencies->record(UINT64_MAX / 2);
  EXPECT_EQ(latencies->count_up_to(9), 0U);
  EXPECT_EQ(latencies->count_up_to(10), 1U);
  EXPECT_EQ(latencies->count_up_to(980'000), 1U);
  EXPECT_EQ(latencies->count_up_to(1'000'000), 2U);
  EXPECT_EQ(latencies->count_up_to(LatencyHistogram::highest_trackable - (std::uint64_t{1} << 40)), 2U);
  EXPECT_EQ(latencies->count_up_to(UINT64_MAX), 3U);
}

TEST(MetricsFile, is_replaced_whole_each_period) {
  const LogFolder folder;
  std::uint64_t count = 0;
  MetricsFileOptions options;
  options.path = folder.path() / "nfx.prom";
  options.period = 10s;
  MetricsFile file{options, [&](MetricsPage& page) { page.counter({"n_total", "N."}, ++count); }};
  const MonotonicTime begin{1h};
  EXPECT_TRUE(file.step(begin));
  EXPECT_FALSE(file.step(begin + 9s));
  EXPECT_TRUE(file.step(begin + 10s));
  EXPECT_EQ(folder.text("nfx.prom"), "# HELP n_total N.\n# TYPE n_total counter\nn_total 2\n");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"nfx.prom"});
}

TEST(MetricsFile, that_cannot_be_written_keeps_the_old_one_and_says_so_once) {
  const LogFolder folder;
  std::vector<std::string> reports;
  std::uint64_t count = 0;
  MetricsFileOptions options;
  options.path = folder.path() / "nfx.prom";
  options.on_failure = [&](std::string_view text) { reports.emplace_back(text); };
  MetricsFile file{options, [&](MetricsPage& page) { page.counter({"n_total", "N."}, ++count); }};
  EXPECT_TRUE(file.write());
  const std::string old = folder.text("nfx.prom");
  {
    const FullDisk full{10};
    EXPECT_FALSE(file.write());
    EXPECT_FALSE(file.write());
  }
  EXPECT_EQ(folder.text("nfx.prom"), old);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"nfx.prom"});
  EXPECT_EQ(file.failures(), 2U);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("nfx.prom.tmp: File too large"), std::string::npos) << reports[0];
  EXPECT_TRUE(file.write());
}

TEST(MetricsFile, refuses_a_path_that_cannot_be_one) {
  const LogFolder folder;
  const auto nothing = [](MetricsPage&) {};
  MetricsFileOptions options;
  options.path = folder.path() / "missing" / "nfx.prom";
  EXPECT_THROW((MetricsFile{options, nothing}), std::runtime_error);
  options.path = folder.path() / "nfx.prom";
  options.period = 0s;
  EXPECT_THROW((MetricsFile{options, nothing}), std::runtime_error);
}

TEST(SnapshotBox, gives_a_value_only_to_who_asked_and_only_once_it_is_whole) {
  SnapshotBox<int> box;
  EXPECT_FALSE(box.wanted());
  EXPECT_EQ(box.look(), nullptr);
  box.ask();
  EXPECT_TRUE(box.wanted());
  EXPECT_EQ(box.look(), nullptr);
  box.publish(7);
  EXPECT_FALSE(box.wanted());
  ASSERT_NE(box.look(), nullptr);
  EXPECT_EQ(*box.look(), 7);
  box.ask();
  EXPECT_EQ(box.look(), nullptr);
}

}  // namespace
}  // namespace nfx
