// Windows of time, the slowest hundred and their causes, from numbers of the test's own.
#include <gtest/gtest.h>

#include <deque>
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
  [[nodiscard]] static const LatencyCounts& counts(const LatencyReport& report, std::size_t session) {
    return report.sessions.at(session).stages[LatencyStage::in_application];
  }

  LatencyReport all;
  LatencyHistory history;
};

TEST_F(LatencyWindows, a_second_has_what_was_recorded_in_it) {
  record(0, 10us);
  history.add(all, window_time(1s));
  LatencyReport second = history.window(LatencyWindow::second);
  ASSERT_EQ(second.sessions.size(), 1U) << "B recorded nothing";
  EXPECT_EQ(second.sessions[0].session, "A");
  EXPECT_EQ(counts(second, 0).count(), 1U);
  EXPECT_EQ(second.from, window_time(0s).utc);
  EXPECT_EQ(second.to, window_time(1s).utc);
  record(1, 30us);
  record(1, 40us);
  history.add(all, window_time(2s));
  second = history.window(LatencyWindow::second);
  ASSERT_EQ(second.sessions.size(), 1U);
  EXPECT_EQ(second.sessions[0].session, "B");
  EXPECT_EQ(counts(second, 0).count(), 2U);
  EXPECT_EQ(counts(second, 0).sum_ns(), 70'000U);
  EXPECT_EQ(second.threads.at(0).stages[LatencyStage::in_application].count(), 2U);
  EXPECT_EQ(second.threads.at(0).loop.poll_gap.sum_ns(), 70'000U);
}

TEST_F(LatencyWindows, the_first_of_a_longer_window_is_what_there_is_so_far) {
  for (int i = 1; i <= 4; ++i) {
    record(0, 5us);
    history.add(all, window_time(std::chrono::seconds{i}));
  }
  EXPECT_EQ(counts(history.window(LatencyWindow::ten_seconds), 0).count(), 4U);
  for (int i = 5; i <= 13; ++i) {
    record(0, 5us);
    history.add(all, window_time(std::chrono::seconds{i}));
  }
  EXPECT_EQ(counts(history.window(LatencyWindow::ten_seconds), 0).count(), 10U) << "the complete one";
  EXPECT_EQ(counts(history.window(LatencyWindow::minute), 0).count(), 13U);
  EXPECT_EQ(counts(history.window(LatencyWindow::day), 0).count(), 13U);
}

TEST_F(LatencyWindows, a_session_that_comes_back_begins_at_zero) {
  record(0, 5us);
  record(0, 5us);
  history.add(all, window_time(1s));
  all.sessions[0] = {.session = "A", .poll_thread = 0, .serial = 3, .stages = {}};
  record(0, 5us);
  history.add(all, window_time(2s));
  const LatencyReport second = history.window(LatencyWindow::second);
  ASSERT_EQ(second.sessions.size(), 1U);
  EXPECT_EQ(second.sessions[0].serial, 3U);
  EXPECT_EQ(counts(second, 0).count(), 1U);
}

TEST(SlowMoments, keep_the_hundred_slowest_of_a_window_and_begin_anew) {
  SlowMoments moments;
  const MonotonicTime begin = window_time(0s).monotonic;
  moments.turn(begin);
  for (int i = 1; i <= 500; ++i) {
    SlowMoment moment;
    moment.took = std::chrono::microseconds{i % 2 == 0 ? i : 1000 - i};
    moments.add(moment, begin + 1ms);
  }
  EXPECT_EQ(moments.slowest(LatencyWindow::second).size(), 100U) << "of the window under way, while none is complete";
  moments.turn(begin + 1s);
  auto slowest = moments.slowest(LatencyWindow::second);
  ASSERT_EQ(slowest.size(), 100U);
  EXPECT_EQ(slowest.front().took, Duration{999us});
  EXPECT_EQ(slowest.back().took, Duration{801us});
  SlowMoment one;
  one.took = 3us;
  moments.add(one, begin + 1500ms);
  moments.turn(begin + 2s);
  slowest = moments.slowest(LatencyWindow::second);
  ASSERT_EQ(slowest.size(), 1U);
  EXPECT_EQ(slowest[0].took, Duration{3us});
  EXPECT_EQ(moments.slowest(LatencyWindow::since_start).size(), 100U);
  EXPECT_EQ(moments.slowest(LatencyWindow::since_start).front().took, Duration{999us});
  moments.turn(begin + 60s);
  EXPECT_TRUE(moments.slowest(LatencyWindow::second).empty()) << "nothing for most of a minute";
}

TEST(SlowLimit, is_that_of_the_hundredth_and_falls_when_there_are_fewer) {
  SlowLimit limit;
  const MonotonicTime begin = window_time(0s).monotonic;
  static_cast<void>(limit.next({}, 2us, begin));
  std::vector<SlowRecord> records(300);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].took = std::chrono::microseconds{static_cast<std::int64_t>(i) + 1};
  EXPECT_EQ(limit.next(records, 2us, begin + 100ms), Duration{201us});
  EXPECT_LT(limit.next({}, 201us, begin + 1s), Duration{201us}) << "the next second may have fewer";
  EXPECT_EQ(limit.next({}, 160us, begin + 2s), Duration{80us}) << "it had none";
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

TEST(WaitsFound, a_wait_is_the_cause_of_one_moment_and_of_those_at_the_same_time) {
  const MonotonicTime at{1s};
  const SlowRecord first{.ended = at, .took = 28us};
  WaitsFound waits;
  EXPECT_EQ(waits.left_for(first, 33us), Duration{33us});
  waits.add(first);
  const SlowRecord stage{.ended = at - 2us, .took = 20us}, later{.ended = at + 1ms, .took = 27us},
      next{.ended = at + 27us, .took = 27us};
  EXPECT_EQ(waits.left_for(stage, 33us), Duration{33us}) << "another stage of the same message";
  EXPECT_EQ(waits.left_for(later, 33us), Duration{5us});
  EXPECT_EQ(waits.left_for(next, 33us), Duration{5us}) << "it begins when the other one has ended";
  EXPECT_EQ(waits.left_for(later, 20us), Duration{0us}) << "the other one took all of it";
  waits.add(stage);
  EXPECT_EQ(waits.left_for(later, 60us), Duration{32us}) << "two stages have waited once";
  waits.add(later);
  EXPECT_EQ(waits.left_for({.ended = at + 2ms, .took = 9us}, 60us), Duration{5us});
  waits.clear();
  EXPECT_EQ(waits.left_for(later, 33us), Duration{33us});
}

TEST(SlowCauses, the_first_that_accounts_for_half_of_the_time) {
  const SlowRecord record{.ended = MonotonicTime{1s}, .took = 4ms};
  HostEvidence host;
  EXPECT_EQ(cause_of(record, host, 0ns), SlowCause::none_known);
  host.interrupts = 500;
  EXPECT_EQ(cause_of(record, host, 0ns), SlowCause::interrupt);
  host.migrations = 30;
  EXPECT_EQ(cause_of(record, host, 0ns), SlowCause::migration);
  EXPECT_EQ(cause_of(record, host, 2ms), SlowCause::application);
  EXPECT_EQ(cause_of(record, host, 1900us), SlowCause::migration);
  host.major_faults = 2;
  EXPECT_EQ(cause_of(record, host, 4ms), SlowCause::page_fault);
  host.stolen = 10ms;
  EXPECT_EQ(cause_of(record, host, 4ms), SlowCause::steal);
  host.waited = 2ms;
  EXPECT_EQ(cause_of(record, host, 4ms), SlowCause::steal) << "no task took its CPU";
  SlowRecord woken = record;
  woken.stage = LatencyStage::kernel_to_read;
  EXPECT_EQ(cause_of(woken, host, 4ms), SlowCause::steal);
  host.stolen = 0ns;
  host.major_faults = 0;
  EXPECT_EQ(cause_of(woken, host, 4ms), SlowCause::scheduler);
  host.involuntary_switches = 1;
  EXPECT_EQ(cause_of(record, host, 4ms), SlowCause::scheduler);
  SlowRecord sending = record;
  sending.wait = SendWait::disk;
  EXPECT_EQ(cause_of(sending, host, 0ns), SlowCause::disk);
  sending.wait = SendWait::peer;
  EXPECT_EQ(cause_of(sending, host, 0ns), SlowCause::peer);
}

TEST(SlowCauses, a_callback_is_not_blamed_for_interrupts_that_come_at_a_high_rate) {
  SlowRecord record{.ended = MonotonicTime{1s}, .took = 100us, .stage = LatencyStage::in_application};
  HostEvidence host{.between = 100ms, .interrupts = 1500};
  EXPECT_EQ(cause_of(record, host, 100us), SlowCause::interrupt);
  host.interrupts = 25;
  EXPECT_EQ(cause_of(record, host, 100us), SlowCause::application) << "the timer's";
  host.interrupts = 1500;
  record.took = 20ms;
  EXPECT_EQ(cause_of(record, host, 20ms), SlowCause::application) << "300 interrupts do not take 10 ms";
}

// As a disk's interrupts were measured that moved onto the thread's CPU.
TEST(SlowCauses, a_callback_that_a_slow_disk_interrupts_is_not_the_cause) {
  SlowRecord record{.ended = MonotonicTime{1s}, .took = 215us, .stage = LatencyStage::in_application};
  HostEvidence host{.between = 100ms, .interrupts = 709};
  EXPECT_EQ(cause_of(record, host, record.took), SlowCause::interrupt);
  record.took = 243us;
  host.interrupts = 594;
  EXPECT_EQ(cause_of(record, host, record.took), SlowCause::interrupt);
}

TEST(SlowCauses, ten_milliseconds_of_steal_are_not_those_of_a_short_moment_with_interrupts) {
  SlowRecord record{.ended = MonotonicTime{1s}, .took = 35us, .stage = LatencyStage::in_application};
  HostEvidence host{.between = 100ms, .stolen = 10ms, .interrupts = 756};
  EXPECT_EQ(cause_of(record, host, 35us), SlowCause::interrupt);
  record.took = 180us;
  host.interrupts = 1084;
  EXPECT_EQ(cause_of(record, host, 0us), SlowCause::interrupt);
  record.took = 200us;
  EXPECT_EQ(cause_of(record, host, 200us), SlowCause::steal);
  record.took = 35us;
  host.interrupts = 25;
  EXPECT_EQ(cause_of(record, host, 35us), SlowCause::steal);
}

TEST(SlowCauses, steal_around_a_callback_that_ran_is_not_its_cause) {
  SlowRecord record{.ended = MonotonicTime{1s}, .took = 20ms, .stage = LatencyStage::in_application};
  HostEvidence host{.between = 100ms, .ran = 19ms, .stolen = 20ms};
  EXPECT_EQ(cause_of(record, host, 20ms), SlowCause::application);
  EXPECT_EQ(cause_of(record, host, 5ms), SlowCause::steal) << "the callback was short";
  host.ran = 9ms;
  EXPECT_EQ(cause_of(record, host, 20ms), SlowCause::steal);
  record.took = 5ms;
  EXPECT_EQ(cause_of(record, host, 5ms), SlowCause::steal) << "less than the steps in which the run time is counted";
}

TEST(SlowCauses, a_thread_ran_in_a_moment_what_it_does_not_always_run) {
  const auto at = [](int ms) { return MonotonicTime{std::chrono::milliseconds{ms}}; };
  const auto samples = [&at](std::initializer_list<Duration> ran) {
    std::deque<HostSample> all{{at(0), {}}};
    for (const Duration each : ran) all.push_back({all.back().at + 100ms, {.ran = all.back().counted.ran + each}});
    return all;
  };
  EXPECT_EQ(evidence_between(samples({1ms, 2ms, 21ms}), at(220), at(240)).ran, Duration{20ms}) << "it waits mostly";
  EXPECT_EQ(evidence_between(samples({1ms, 2ms, 31ms}), at(220), at(240)).ran, Duration{20ms})
      << "no more than it took";
  EXPECT_EQ(evidence_between(samples({100ms, 80ms, 81ms}), at(210), at(260)).ran, Duration{31ms}) << "it busy-polls";
  EXPECT_EQ(evidence_between(samples({1ms, 1ms, 1ms}), at(220), at(240)).ran, Duration{200us});
  EXPECT_EQ(evidence_between(samples({0ms, 0ms, 900ms}), at(220), at(240)).ran, Duration{0}) << "no regular tick";
}

TEST(SlowCauses, the_callback_time_of_a_message_is_that_of_the_callbacks_before_it) {
  const MonotonicTime end{1s};
  const std::vector<SlowRecord> records{
      {.ended = end, .took = 10ms, .stage = LatencyStage::in_application},
      {.ended = end + 1ms, .took = 8ms, .stage = LatencyStage::read_to_application},
      {.ended = end + 20ms, .took = 5ms, .stage = LatencyStage::turn},
  };
  EXPECT_EQ(callback_time(records[0], records), Duration{10ms});
  EXPECT_EQ(callback_time(records[1], records), Duration{7ms});
  EXPECT_EQ(callback_time(records[2], records), Duration{0});
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
