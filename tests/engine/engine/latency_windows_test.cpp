// Windows of time, the slowest hundred and their causes, from numbers of the test's own.
#include <gtest/gtest.h>

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "engine/latency_history.hpp"
#include "engine/slow_moments.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

Instant window_time(Duration since) { return {UtcTime{1'795'000'000s} + since, MonotonicTime{1h} + since}; }

class LatencyWindows : public ::testing::Test {
 protected:
  LatencyWindows() {
    all.sessions.push_back({.session = "A", .poll_thread = 0, .serial = 1, .stages = {}});
    all.sessions.push_back({.session = "B", .poll_thread = 0, .serial = 2, .stages = {}});
    all.threads.push_back({});
    history.add(all, window_time(0s));
  }
  void record(std::size_t session, Duration took) {
    all.sessions[session].stages[LatencyStage::in_application].record(took);
    all.threads[0].stages[LatencyStage::in_application].record(took);
    all.threads[0].loop.poll_gap.record(took);
  }
  [[nodiscard]] LatencyReport window(LatencyWindow of, Duration since) const {
    return history.window(of, all, window_time(since).monotonic);
  }
  [[nodiscard]] static const LatencyCounts& counts(const LatencyReport& report, std::size_t session) {
    return report.sessions.at(session).stages[LatencyStage::in_application];
  }

  LatencyReport all;
  LatencyHistory history;
};

TEST_F(LatencyWindows, one_message_is_in_each_window_at_once) {
  record(0, 10us);
  for (const LatencyWindow each : {LatencyWindow::second, LatencyWindow::ten_seconds, LatencyWindow::minute,
                                   LatencyWindow::day, LatencyWindow::since_start})
    EXPECT_EQ(counts(window(each, 1ms), 0).count(), 1U) << to_string(each);
}

TEST_F(LatencyWindows, a_second_has_what_was_recorded_in_it) {
  record(0, 10us);
  LatencyReport second = window(LatencyWindow::second, 1s);
  ASSERT_EQ(second.sessions.size(), 1U) << "B recorded nothing";
  EXPECT_EQ(second.sessions[0].session, "A");
  EXPECT_EQ(counts(second, 0).count(), 1U);
  EXPECT_EQ(second.from, window_time(0s).utc);
  history.add(all, window_time(1s));
  record(1, 30us);
  record(1, 40us);
  second = window(LatencyWindow::second, 2s);
  ASSERT_EQ(second.sessions.size(), 1U);
  EXPECT_EQ(second.sessions[0].session, "B");
  EXPECT_EQ(counts(second, 0).count(), 2U);
  EXPECT_EQ(counts(second, 0).sum(), 70'000U);
  EXPECT_EQ(second.threads.at(0).stages[LatencyStage::in_application].count(), 2U);
  EXPECT_EQ(second.threads.at(0).loop.poll_gap.sum(), 70'000U);
}

TEST_F(LatencyWindows, a_longer_one_is_at_most_a_fifth_longer_than_its_length) {
  // One each second, in the middle of it.
  for (int i = 1; i <= 100; ++i) {
    record(0, 5us);
    history.add(all, window_time(std::chrono::seconds{i}));
    const auto expected = [i](int length) { return i < length ? i : length; };
    for (const auto& [of, length] : {std::pair{LatencyWindow::ten_seconds, 10}, {LatencyWindow::minute, 60}}) {
      const std::uint64_t count = counts(window(of, std::chrono::seconds{i} + 500ms), 0).count();
      EXPECT_GE(count, static_cast<std::uint64_t>(expected(length))) << i;
      EXPECT_LE(count, static_cast<std::uint64_t>(expected(length * 6 / 5))) << i;
    }
  }
  EXPECT_EQ(counts(window(LatencyWindow::day, 100s), 0).count(), 100U) << "while there is less than a day";
}

TEST_F(LatencyWindows, a_session_that_comes_back_begins_at_zero) {
  record(0, 5us);
  record(0, 5us);
  history.add(all, window_time(1s));
  all.sessions[0] = {.session = "A", .poll_thread = 0, .serial = 3, .stages = {}};
  record(0, 5us);
  const LatencyReport second = window(LatencyWindow::second, 2s);
  ASSERT_EQ(second.sessions.size(), 1U);
  EXPECT_EQ(second.sessions[0].serial, 3U);
  EXPECT_EQ(counts(second, 0).count(), 1U);
}

TEST(SlowMoments, are_the_hundred_slowest_that_ended_in_the_window) {
  SlowMoments moments;
  const auto add = [&](Duration since, Duration took) {
    SlowMoment moment;
    moment.ended = window_time(since).utc;
    moment.took = took;
    moments.add(moment, window_time(since).monotonic);
  };
  const auto slowest = [&](LatencyWindow window, Duration since) {
    return moments.slowest(window, window_time(since).utc);
  };
  for (int i = 1; i <= 500; ++i) add(1ms, std::chrono::microseconds{i % 2 == 0 ? i : 1000 - i});
  const auto all = slowest(LatencyWindow::second, 900ms);
  ASSERT_EQ(all.size(), 100U);
  EXPECT_EQ(all.front().took, Duration{999us});
  EXPECT_EQ(all.back().took, Duration{801us});
  add(1500ms, 3us);
  ASSERT_EQ(slowest(LatencyWindow::second, 2s).size(), 1U) << "the others ended earlier";
  EXPECT_EQ(slowest(LatencyWindow::second, 2s)[0].took, Duration{3us});
  EXPECT_EQ(slowest(LatencyWindow::ten_seconds, 2s).size(), 100U);
  EXPECT_EQ(slowest(LatencyWindow::since_start, 1h).front().took, Duration{999us});
  EXPECT_TRUE(slowest(LatencyWindow::second, 60s).empty());
}

TEST(SlowLimit, is_that_of_the_hundredth_and_falls_when_there_are_fewer) {
  std::vector<SlowRecord> records(300);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].took = std::chrono::microseconds{static_cast<std::int64_t>(i) + 1};
  EXPECT_EQ(next_limit(records, 2us), Duration{201us});
  EXPECT_EQ(next_limit(std::span{records}.first(50), 160us), Duration{140us});
}

TEST(SlowRing, offers_what_is_above_the_limit_and_doubles_it_when_full) {
  SlowRing ring;
  ring.offer({.ended = {}, .took = SlowRing::least_limit});
  std::vector<SlowRecord> records;
  ring.take(records);
  EXPECT_TRUE(records.empty());
  for (std::size_t i = 0; i < SlowRing::capacity + 5; ++i) ring.offer({.ended = {}, .took = 3us});
  ring.take(records);
  EXPECT_EQ(records.size(), SlowRing::capacity);
  EXPECT_EQ(ring.lost(), 1U) << "then the limit was above it";
  EXPECT_EQ(ring.limit(), Duration{6us});
}

// Each row can be checked by hand: docs/latency.md has the rule.
TEST(SlowCauses, the_first_that_is_at_least_half_of_the_moment_is_its_cause) {
  struct Case {
    LatencyStage stage;
    SendWait wait;
    Duration waited, stolen;
    SlowCause cause;
  };
  constexpr auto in_application = LatencyStage::in_application, to_socket = LatencyStage::commit_to_socket;
  for (const Case& each : {Case{to_socket, SendWait::disk, 10ms, 10ms, SlowCause::disk},
                           Case{to_socket, SendWait::peer, 10ms, 10ms, SlowCause::peer},
                           Case{in_application, SendWait::nothing, 5ms, 10ms, SlowCause::scheduler},
                           Case{in_application, SendWait::nothing, 4ms, 10ms, SlowCause::steal},
                           Case{in_application, SendWait::nothing, 4ms, 0ms, SlowCause::application},
                           Case{LatencyStage::turn, SendWait::nothing, 4ms, 0ms, SlowCause::none_known}}) {
    const SlowRecord record{.ended = MonotonicTime{1s}, .took = 10ms, .stage = each.stage, .wait = each.wait};
    // Counts of what takes no known time name no cause.
    const HostEvidence host{
        .between = 100ms, .waited = each.waited, .stolen = each.stolen, .interrupts = 9000, .minor_faults = 9000};
    EXPECT_EQ(cause_of(record, host), each.cause) << to_string(each.cause);
  }
}

TEST(SlowCauses, evidence_is_of_the_samples_around_the_moment) {
  std::deque<HostSample> samples;
  for (int i = 0; i < 5; ++i) {
    HostSample sample{MonotonicTime{std::chrono::milliseconds{100 * i}}, {}};
    sample.counted.waited = std::chrono::milliseconds{i * i};
    sample.counted.involuntary_switches = static_cast<std::uint64_t>(i);
    samples.push_back(sample);
  }
  const auto at = [](int ms) { return MonotonicTime{std::chrono::milliseconds{ms}}; };
  EXPECT_EQ(evidence_between(samples, at(210), at(250)).waited, Duration{5ms});
  EXPECT_EQ(evidence_between(samples, at(210), at(250)).between, Duration{100ms});
  EXPECT_EQ(evidence_between(samples, at(150), at(250)).waited, Duration{8ms});
  EXPECT_EQ(evidence_between(samples, at(150), at(250)).involuntary_switches, 2U);
  EXPECT_EQ(evidence_between(samples, at(350), at(900)).waited, Duration{7ms}) << "the last there is";
  EXPECT_EQ(evidence_between({}, at(0), at(1)).waited, Duration{0});
}

}  // namespace
}  // namespace nfx::test
