// Rates and roles of an interval, and its screen, JSON, metrics and page.
#include "host/watch_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "placement/numbers.hpp"

namespace nfx {
namespace {

using Json = nlohmann::json;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// `cpus` CPUs, the last of them isolated, with one engine thread on it that moved once and was preempted twice.
struct Host {
  explicit Host(int cpus = 2) {
    for (int cpu = 0; cpu < cpus; ++cpu) {
      CpuCounters counters{.cpu = cpu, .softirqs = {{"TIMER", 0}}};
      before.counters.cpus.push_back(counters);
      counters.timer = 250;
      counters.rescheduling = 20;
      counters.function_calls = 10;
      counters.softirqs = {{"TIMER", 100}};
      counters.user = 75;
      counters.idle = 25;
      after.counters.cpus.push_back(counters);
    }
    before.online = after.online = CpuSet::range(0, cpus - 1);
    ThreadSample thread{.pid = 10,
                        .tid = 11,
                        .name = "nfx-poll-0",
                        .state = 'R',
                        .allowed = {cpus - 1},
                        .cpu = cpus - 1,
                        .migrations = 0,
                        .run_ns = 0,
                        .wait_ns = 0};
    before.threads = {thread};
    thread.migrations = 1;
    thread.involuntary_switches = 2;
    thread.run_ns = 500000000;
    thread.wait_ns = 12000000;
    after.threads = {thread};
    after.time = std::chrono::seconds{1};
    isolated_cpus = {cpus - 1};
  }
  WatchInterval interval() const {
    return summarize(
        {.before = before, .after = after, .plan = nullptr, .isolated_cpus = isolated_cpus, .tickless = {}});
  }

  WatchSample before, after;
  CpuSet isolated_cpus;
};

TEST(WatchInterval, turns_counters_into_rates_per_cpu_and_thread) {
  Host host;
  host.after.time = std::chrono::seconds{2};
  const WatchInterval interval = host.interval();
  EXPECT_DOUBLE_EQ(interval.seconds, 2);
  ASSERT_EQ(interval.cpus.size(), 2U);
  const CpuActivity& cpu = interval.cpus[1];
  EXPECT_EQ(cpu.role, CpuRole::isolated);
  EXPECT_EQ(interval.cpus[0].role, CpuRole::housekeeping);
  EXPECT_DOUBLE_EQ(cpu.busy_percent, 75);
  EXPECT_DOUBLE_EQ(cpu.timer, 125);
  EXPECT_DOUBLE_EQ(cpu.ipis(), 15);
  EXPECT_DOUBLE_EQ(cpu.softirqs, 50);
  EXPECT_DOUBLE_EQ(cpu.stall_us, 6000);
  EXPECT_EQ(cpu.threads, std::vector<std::size_t>{0});
  ASSERT_EQ(interval.threads.size(), 1U);
  EXPECT_DOUBLE_EQ(interval.threads[0].run_percent, 25);
  EXPECT_DOUBLE_EQ(interval.threads[0].involuntary_switches, 1);
}

TEST(WatchInterval, roles_come_from_the_plan) {
  Host host{3};
  PlacementPlan plan{.isolated_cpus = {2}, .housekeeping = {0}};
  const WatchInterval interval = summarize(
      {.before = host.before, .after = host.after, .plan = &plan, .isolated_cpus = plan.isolated_cpus, .tickless = {}});
  EXPECT_EQ(interval.cpus[0].role, CpuRole::housekeeping);
  EXPECT_EQ(interval.cpus[1].role, CpuRole::other);
  EXPECT_EQ(interval.cpus[2].role, CpuRole::isolated);
}

TEST(WatchInterval, without_isolated_cpus_and_plan_there_are_no_roles) {
  Host host;
  host.isolated_cpus = {};
  EXPECT_EQ(host.interval().cpus[1].role, CpuRole::other);
}

TEST(WatchInterval, says_what_could_not_be_seen) {
  Host host;
  host.after.unreadable = {"/proc/1/task/1/stat: Permission denied"};
  host.after.threads_left_out = 3;
  host.after.counters.cpus.clear();
  const auto notes = host.interval().notes;
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0], "cannot see /proc/1/task/1/stat: Permission denied");
}

TEST(WatchView, shows_a_row_per_cpu_a_row_per_thread_and_the_alerts) {
  const auto text = lines(to_text(Host{}.interval(), {.title = "process 10"}));
  ASSERT_GE(text.size(), 8U);
  EXPECT_EQ(text[0], "nfx host watch  process 10  1.00 s  1 thread  4 alerts");
  EXPECT_EQ(text[2], "   0 hkeep   75%  0.0%     0    0    0    0  250    0   30    0  100    0");
  EXPECT_EQ(text[3], "   1 isol    75%  0.0%  12ms    1    0    2  250    0   30    0  100    0 poll-0");
  EXPECT_EQ(text[5], "nfx-poll-0           11   1 1         50%  12ms    1    0    2    0    0 OTHER");
  EXPECT_EQ(text[6], "migrated  nfx-poll-0: moved to other CPUs 1/s");
}

TEST(WatchView, heads_stand_over_their_columns) {
  const auto text = lines(to_text(Host{}.interval(), {}));
  // Values are right-aligned, so a heading ends in the same column as its values.
  for (const char* head :
       {"BUSY", "STEAL", "STALL", "MIG", "VOL", "INVO", "TIMR", "DEV", "IPI", "TLB", "SOFT", "FALT"}) {
    const std::size_t end = text[1].find(std::string{head} + ' ') + std::string_view{head}.size();
    ASSERT_LT(end, text[3].size());
    EXPECT_EQ(text[3][end], ' ') << head;
    EXPECT_NE(text[3][end - 1], ' ') << head;
  }
}

TEST(WatchView, is_never_wider_or_higher_than_asked_for) {
  for (const int cpus : {1, 2, 40, 384}) {
    Host host{cpus};
    for (int i = 0; i < 50; ++i) {
      ThreadSample thread = host.after.threads[0];
      thread.tid += i + 1;
      thread.name = "nfx-poll-" + std::to_string(i + 1);
      thread.allowed = CpuSet::range(0, cpus - 1);
      host.after.threads.push_back(thread);
    }
    const WatchInterval interval = host.interval();
    for (const std::size_t width : {40U, 80U, 200U}) {
      for (const std::size_t height : {1U, 3U, 5U, 10U, 24U, 60U, 1000U}) {
        const auto text = lines(to_text(interval, {.title = "t", .width = width, .height = height}));
        EXPECT_LE(text.size(), height) << cpus << " CPUs, height " << height;
        for (const std::string& line : text) EXPECT_LE(line.size(), width);
      }
    }
  }
}

TEST(WatchView, keeps_isolated_cpus_when_there_is_no_room_for_all) {
  const std::string text = to_text(Host{384}.interval(), {.title = "t", .width = 80, .height = 24});
  EXPECT_NE(text.find("\n 383 isol"), std::string::npos) << text;
  EXPECT_NE(text.find("CPUs, which do not fit the screen"), std::string::npos);
  EXPECT_NE(text.find("migrated"), std::string::npos);
}

TEST(WatchView, colours_take_no_room_and_only_appear_when_given) {
  const WatchInterval interval = Host{}.interval();
  EXPECT_EQ(to_text(interval, {}).find('\033'), std::string::npos);
  WatchViewOptions options;
  options.colours = {"\033[0m", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"};
  std::string text = to_text(interval, options);
  EXPECT_NE(text.find("\033[31mmigrated\033[0m"), std::string::npos);
  for (std::size_t at = text.find('\033'); at != std::string::npos; at = text.find('\033'))
    text.erase(at, text.find('m', at) + 1 - at);
  EXPECT_EQ(text, to_text(interval, {}));
}

TEST(WatchView, alerts_alone_are_a_line_each_with_their_time) {
  WatchInterval interval = Host{}.interval();
  interval.utc = "20240102-12:00:00.000";
  interval.notes = {"cannot see it"};
  const auto text = lines(to_text(interval, {.width = 200, .alerts_only = true}));
  ASSERT_EQ(text.size(), interval.drift.alerts.size());
  EXPECT_EQ(text[0], "20240102-12:00:00.000  migrated  nfx-poll-0: moved to other CPUs 1/s");
  interval.drift = {};
  EXPECT_EQ(to_text(interval, {.alerts_only = true}), "");
}

TEST(WatchView, alerts_are_cut_on_a_screen_only) {
  WatchInterval interval = Host{}.interval();
  interval.drift.alerts = {{.drift = Drift::steal, .subject = "cpu1", .text = std::string(200, 'x')}};
  EXPECT_EQ(count(to_text(interval, {.width = 80, .alerts_only = true}), "x"), 200U);
  EXPECT_LT(count(to_text(interval, {.width = 80, .height = 24}), "x"), 80U);
}

TEST(WatchView, thread_that_just_began_has_no_rates) {
  Host host;
  host.before.threads.clear();
  EXPECT_NE(to_text(host.interval(), {}).find("began in this interval"), std::string::npos);
}

TEST(WatchJson, is_one_line_with_cpus_threads_and_alerts) {
  const std::string text = to_json(Host{}.interval());
  EXPECT_EQ(count(text, "\n"), 1U);
  EXPECT_TRUE(text.contains(R"("cpu":1,"role":"isolated","threads":["nfx-poll-0"],"busy_percent":75.0)")) << text;
  EXPECT_TRUE(text.contains(R"("thread":"nfx-poll-0","pid":10,"tid":11,"state":"R","cpu":1,"allowed":"1")"));
  EXPECT_TRUE(text.contains(
      R"({"id":"migrated","subject":"nfx-poll-0","text":"moved to other CPUs 1/s","value":1.0,"limit":0.0)"));
  EXPECT_EQ(to_json(Host{}.interval(), true).find("\"cpus\""), std::string::npos);
}

TEST(WatchJson, unknown_is_null_and_not_zero) {
  Host host;
  host.after.threads[0].run_ns = host.after.threads[0].wait_ns = std::nullopt;
  EXPECT_NE(to_json(host.interval()).find(R"("run_percent":null,"stall_us_per_s":null)"), std::string::npos);
}

TEST(WatchPrometheus, every_metric_is_described_once_and_has_the_prefix) {
  Host host;
  host.after.threads[0].name = R"(a"b\c)";
  const std::string text = to_prometheus(host.after, host.interval());
  EXPECT_NE(text.find("nexusfix_cpu_interrupts_total{cpu=\"1\",kind=\"timer\"} 250\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nexusfix_cpu_softirqs_total{cpu=\"0\",kind=\"TIMER\"} 100\n"), std::string::npos);
  EXPECT_NE(text.find("nexusfix_thread_involuntary_switches_total{thread=\"a\\\"b\\\\c\",pid=\"10\",tid=\"11\"} 2\n"),
            std::string::npos);
  EXPECT_NE(text.find("nexusfix_thread_stall_seconds_total{thread=\"a\\\"b\\\\c\",pid=\"10\",tid=\"11\"} 0.012000\n"),
            std::string::npos);
  EXPECT_NE(text.find("nexusfix_host_alerts{alert=\"cpu-offline\"} 0\n"), std::string::npos);
  std::string name;
  for (const std::string& line : lines(text)) {
    if (line.starts_with("# HELP ")) {
      name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(name.starts_with("nexusfix_")) << name;
      EXPECT_EQ(count(text, "# TYPE " + name + ' '), 1U) << name;
    } else if (!line.starts_with('#')) {
      EXPECT_TRUE(line.starts_with(name + '{')) << line;
    }
  }
}

TEST(WatchPrometheus, unknown_counters_are_left_out) {
  Host host;
  host.after.threads[0].migrations = std::nullopt;
  EXPECT_EQ(to_prometheus(host.after, host.interval()).find("nexusfix_thread_migrations_total{"), std::string::npos);
}

TEST(WatchHistory, has_curves_for_every_cpu_and_each_alert_once) {
  WatchHistory history;
  Host host;
  EXPECT_FALSE(history.alerted());
  for (int i = 0; i < 10; ++i) {
    WatchInterval interval = host.interval();
    interval.time = std::chrono::seconds{5 + i};
    interval.drift.alerts[0].subject = "<b>";
    history.add(interval);
  }
  EXPECT_TRUE(history.alerted());
  const Json json = Json::parse(history.json());
  EXPECT_EQ(json["intervals"], 10);
  EXPECT_EQ(json["seconds"], 10.0);
  ASSERT_EQ(json["cpus"].size(), 2U);
  for (const char* name : {"interrupts", "involuntary", "steal"}) EXPECT_EQ(json["cpus"][1][name].size(), 10U) << name;
  const Json alerts = json["alert_kinds"];
  EXPECT_EQ(std::ranges::count_if(alerts, [](const Json& kind) { return kind["subject"] == "<b>"; }), 1);
}

TEST(WatchHistory, long_watch_is_merged_and_keeps_the_worst) {
  WatchHistory history;
  Host host{1};
  WatchInterval interval = host.interval();
  interval.drift = {};
  for (int i = 0; i < 10000; ++i) {
    interval.time = std::chrono::seconds{i + 1};
    interval.cpus[0].steal_percent = i == 5001 ? 77 : 0;
    history.add(interval);
    ASSERT_LE(history.points(), WatchHistory::max_points);
  }
  const Json json = Json::parse(history.json());
  const Json steal = json["cpus"][0]["steal"];
  EXPECT_EQ(*std::ranges::max_element(steal), 77.0);
  EXPECT_EQ(json["intervals"], 10000);
  EXPECT_EQ(json["seconds"], 10000.0);
  EXPECT_EQ(json["intervals_per_point"], 16);
}

TEST(WatchHistory, report_of_a_big_machine_stays_a_few_megabytes) {
  WatchHistory history;
  Host host{384};
  WatchInterval interval = host.interval();
  for (int i = 0; i < 1000; ++i) {
    interval.time = std::chrono::seconds{i + 1};
    history.add(interval);
  }
  EXPECT_LT(history.json().size(), std::size_t{8} << 20);
}

TEST(WatchHistory, empty_watch_is_a_report_too) {
  EXPECT_TRUE(Json::parse(WatchHistory{}.json())["alert_kinds"].empty());
}

TEST(WatchNumbers, fit_their_columns) {
  for (const double number : {0.0, 0.01, 0.4, 1.0, 9.96, 10.0, 999.4, 999.6, 1234.0, 99999.0, 1e6, 3.3e9, 1e15, 1e30}) {
    EXPECT_LE(compact(number).size(), 4U) << number;
    EXPECT_LE(compact_us(std::min(number, 1e8)).size(), 5U) << number;
  }
  EXPECT_EQ(compact(9940), "9.9k");
  EXPECT_EQ(compact(9960), "10k");
  EXPECT_EQ(compact_us(1234), "1.2ms");
  EXPECT_EQ(compact_us(1e6), "1.0s");
  EXPECT_EQ(rate_text(2.04), "2");
  EXPECT_EQ(rate_text(0.5), "0.5");
}

}  // namespace
}  // namespace nfx
