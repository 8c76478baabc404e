// Every counter of the engine reaches the metrics page, and the documentation names every metric.
#include "engine/engine_metrics.hpp"

#include <gtest/gtest.h>

#include "config/doc_table.hpp"
#include "engine/engine_counter_rows.hpp"
#include "engine/histogram_text.hpp"
#include "engine/metric_table.hpp"

namespace nfx {
namespace {

// Another number for each counter, so that no two samples can be taken for each other.
template <class Counters>
Counters numbered(std::uint64_t first) {
  Counters counters;
  for (const auto& row : counter_rows<Counters>) counters.*row.member = first++;
  return counters;
}

template <class Counters>
void expect_samples(const std::string& page, const Counters& counters, const std::string& label) {
  for (const auto& row : counter_rows<Counters>) {
    std::string sample = '\n' + std::string{row.metric} + '{' + label;
    if (!row.label.empty()) sample += ',' + std::string{row.label} + "=\"" + std::string{row.label_value} + '"';
    sample += "} " + std::to_string(counters.*row.member) + '\n';
    EXPECT_NE(page.find(sample), std::string::npos) << sample << "in" << page;
    EXPECT_NE(page.find("# HELP " + std::string{row.metric} + ' ' + std::string{row.help} + '\n'), std::string::npos);
  }
}

ThreadFigures full_figures() {
  ThreadFigures figures;
  figures.loop = numbered<PollLoopCounters>(100);
  figures.transport = numbered<TransportCounters>(200);
  figures.tls = numbered<TlsCounters>(300);
  SessionFigures session;
  session.identity = "S";
  session.counters = numbered<SessionCounters>(400);
  session.logged_on = true;
  session.next_inbound = SeqNum{7};
  session.next_outbound = SeqNum{8};
  session.journal = numbered<JournalCounters>(500);
  session.journal->longest_sync = std::chrono::milliseconds{250};
  session.store_condition = StoreCondition::full;
  figures.sessions.push_back(session);
  return figures;
}

TEST(Metrics, every_counter_reaches_the_page) {
  const ThreadFigures figures = full_figures();
  const auto log = numbered<DeferredLogCounters>(600);
  MetricsPage page;
  add_poll_thread(page, "T", figures);
  add_log(page, "messages", log);
  const auto log_thread = numbered<LogThreadCounters>(700);
  add_log_thread(page, "L", log_thread);
  const auto hand_on = numbered<HandOnCounters>(800);
  add_hand_on(page, "G", hand_on);
  const std::string text = page.text();
  expect_samples(text, hand_on, "gateway=\"G\"");
  expect_samples(text, figures.loop, "thread=\"T\"");
  expect_samples(text, figures.transport, "thread=\"T\"");
  expect_samples(text, *figures.tls, "thread=\"T\"");
  expect_samples(text, figures.sessions[0].counters, "session=\"S\"");
  expect_samples(text, *figures.sessions[0].journal, "session=\"S\"");
  expect_samples(text, log, "log=\"messages\"");
  expect_samples(text, log_thread, "thread=\"L\"");
  EXPECT_NE(text.find("\nnfx_session_up{session=\"S\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("\nnfx_next_inbound{session=\"S\"} 7\n"), std::string::npos);
  EXPECT_NE(text.find("\nnfx_store_condition{session=\"S\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("\nnfx_store_longest_sync_seconds{session=\"S\"} 0.25\n"), std::string::npos);
}

TEST(Metrics, what_a_session_or_thread_does_not_have_is_not_on_the_page) {
  ThreadFigures figures = full_figures();
  figures.tls.reset();
  figures.sessions[0].journal.reset();
  MetricsPage page;
  add_poll_thread(page, "T", figures);
  add_thread(page, ThreadReport{.name = "T",
                                .planned = {},
                                .cpus = {},
                                .migrations = 3,
                                .voluntary_switches = {},
                                .involuntary_switches = {}});
  const std::string text = page.text();
  EXPECT_EQ(text.find("nfx_tls_"), std::string::npos);
  EXPECT_EQ(text.find("nfx_store_"), std::string::npos);
  EXPECT_EQ(text.find("nfx_thread_worst_gap_seconds"), std::string::npos);
  EXPECT_NE(text.find("\nnfx_thread_migrations_total{thread=\"T\"} 3\n"), std::string::npos);
}

// Records in another bucket for each histogram, so that no two can be taken for each other.
LatencyCounts one_latency(std::size_t bucket) {
  LatencyCounts counts;
  counts.record(Duration{static_cast<Duration::rep>(latency_bounds_ns[bucket])});
  return counts;
}

template <class Source, std::size_t count>
void expect_histograms(const std::string& page, const std::array<HistogramRow<Source>, count>& rows,
                       std::size_t bucket) {
  for (const auto& row : rows) {
    const test::HistogramText text = test::read_histogram(page, std::string{row.metric}, "thread=\"T\"");
    const double bound = static_cast<double>(latency_bounds_ns[bucket++]) / 1e9;
    ASSERT_FALSE(text.buckets.empty()) << row.metric << " is not in " << page;
    EXPECT_EQ(text.in_bucket(bound), 1U) << row.metric;
    EXPECT_EQ(text.count, 1U) << row.metric;
    EXPECT_EQ(text.sum_s, bound) << row.metric;
    EXPECT_NE(page.find("# HELP " + std::string{row.metric} + ' ' + std::string{row.help} + '\n'), std::string::npos);
  }
}

TEST(Metrics, every_histogram_reaches_the_page) {
  ThreadFigures figures;
  figures.latency.handling = one_latency(3);
  figures.latency.poll_gap = one_latency(4);
  HelperFigures flusher;
  flusher.syncs = one_latency(12);
  MetricsPage page;
  add_poll_thread(page, "T", figures);
  add_helper(page, "T", flusher);
  add_helper(page, "WORKER", HelperFigures{});
  const std::string text = page.text();
  expect_histograms(text, loop_histogram_rows, 3);
  expect_histograms(text, helper_histogram_rows, 12);
  EXPECT_EQ(text.find("nfx_flusher_sync_seconds_count{thread=\"WORKER\"}"), std::string::npos);
}

TEST(Metrics, every_stage_reaches_the_page) {
  LatencySet stages;
  LatencyReport report;
  report.sessions.push_back({.session = "S", .poll_thread = 0, .serial = 1, .stages = {}});
  for (std::size_t i = 0; i < session_stage_count; ++i) {
    stages.of[i] = one_latency(i);
    report.sessions[0].stages.of[i].record(Duration{static_cast<Duration::rep>(1023 + (1024 << i))});
  }
  MetricsPage page;
  add_stages(page, "T", stages);
  add_session_latencies(page, report);
  const std::string text = page.text();
  for (std::size_t i = 0; i < session_stage_count; ++i) {
    const test::HistogramText histogram =
        test::read_histogram(text, std::string{latency_stages[i].metric}, "thread=\"T\"");
    EXPECT_EQ(histogram.count, 1U) << latency_stages[i].name;
    EXPECT_EQ(histogram.in_bucket(static_cast<double>(latency_bounds_ns[i]) / 1e9), 1U);
    const std::string labels =
        "nfx_session_latency_seconds{session=\"S\",stage=\"" + std::string{latency_stages[i].name} + "\",percentile=";
    EXPECT_NE(text.find(labels + "\"99.9\"}"), std::string::npos) << text;
  }
  EXPECT_NE(text.find("stage=\"kernel_to_read\",percentile=\"100\"} 2.047e-06\n"), std::string::npos) << text;
}

// As many as requested, the first to have connected, whatever their order in the report.
TEST(Metrics, the_first_sessions_to_connect_have_histograms) {
  std::vector<SessionLatency> sessions;
  for (const std::uint64_t serial : {7U, 3U, 5U}) {
    sessions.push_back({.session = "S" + std::to_string(serial), .poll_thread = 0, .serial = serial, .stages = {}});
    sessions.back().stages[LatencyStage::request_to_answer].record(Duration{250}, serial);
    sessions.back().stages[LatencyStage::request_to_answer].record(Duration{std::chrono::seconds{2}});
  }
  MetricsPage page;
  add_session_stages(page, sessions, 2);
  const std::string text = page.text();
  for (const std::uint64_t serial : {3U, 5U}) {
    const std::string labels = "session=\"S" + std::to_string(serial) + "\",stage=\"request_to_answer\"";
    const test::HistogramText histogram = test::read_histogram(text, std::string{session_stage_metric.name}, labels);
    EXPECT_EQ(histogram.count, serial + 1) << text;
    EXPECT_EQ(histogram.in_bucket(250e-9), serial);  // read_histogram has required that the buckets are cumulative
    EXPECT_EQ(histogram.in_bucket(2.5), 1U);
  }
  EXPECT_EQ(text.find("session=\"S7\""), std::string::npos);
  EXPECT_EQ(text.find("stage=\"in_application\""), std::string::npos);
  EXPECT_NE(text.find("nfx_session_histograms_omitted 1\n"), std::string::npos) << text;
}

TEST(Metrics, sums_add_every_counter) {
  auto sum = numbered<PollLoopCounters>(10);
  add_counters(sum, numbered<PollLoopCounters>(1000));
  std::uint64_t expected = 1010;
  for (const auto& row : counter_rows<PollLoopCounters>) {
    EXPECT_EQ(sum.*row.member, expected) << row.metric;
    expected += 2;
  }
}

class Table : public test::MetricTable {
 public:
  template <class Source, std::size_t count>
  void add_rows(const std::array<MetricRow<Source>, count>& rows, const std::string& label) {
    for (const auto& row : rows)
      add(row.metric, label, row.kind == MetricRow<Source>::Kind::counter ? "counter" : "gauge", row.help);
  }
  template <class Source, std::size_t count>
  void add_rows(const std::array<HistogramRow<Source>, count>& rows, const std::string& label) {
    for (const auto& row : rows) {
      EXPECT_TRUE(row.metric.ends_with("_seconds")) << row.metric;
      add(row.metric, label, "histogram", row.help);
    }
  }
};

TEST(Metrics, the_documentation_has_every_row) {
  Table table;
  table.add_rows(session_metric_rows, "session");
  table.add(session_end_metric.name, "session, reason", "gauge", session_end_metric.help);
  table.add_counters<SessionCounters>("session");
  table.add_counters<JournalCounters>("session");
  table.add_counters<PollLoopCounters>("thread");
  table.add_counters<TransportCounters>("thread");
  table.add_counters<TlsCounters>("thread");
  table.add_rows(loop_metric_rows, "thread");
  table.add_rows(loop_histogram_rows, "thread");
  for (std::size_t i = 0; i < session_stage_count; ++i)
    table.add(latency_stages[i].metric, "thread", "histogram", latency_stages[i].help);
  table.add(session_latency_metric.name, "session, stage, percentile", "gauge", session_latency_metric.help);
  table.add(session_stage_metric.name, "session, stage", "histogram", session_stage_metric.help);
  table.add(session_histograms_omitted_metric.name, "none", "gauge", session_histograms_omitted_metric.help);
  table.add(slow_lost_metric.name, "thread", "counter", slow_lost_metric.help);
  table.add(traces_lost_metric.name, "reason, thread", "counter", traces_lost_metric.help);
  table.add_rows(thread_metric_rows, "thread");
  table.add_rows(helper_metric_rows, "thread");
  table.add_rows(helper_histogram_rows, "thread");
  table.add_counters<DeferredLogCounters>("log");
  table.add_counters<LogThreadCounters>("thread");
  table.add_counters<HandOnCounters>("gateway");
  test::expect_table_in("docs/metrics.md", table.text());
}

}  // namespace
}  // namespace nfx
