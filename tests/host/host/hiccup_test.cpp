// Recording of stalls with an artificial clock, and one short real measurement.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "host/hiccup_meter.hpp"

namespace nfx {
namespace {

constexpr std::uint64_t us = 1'000, ms = 1'000'000;

// Readings in the order given, then one far after the end.
struct ScriptedClock {
  std::vector<TickReading> readings;
  std::size_t next = 0;

  [[nodiscard]] TickReading now() { return next < readings.size() ? readings[next++] : TickReading{1'000'000 * ms, 0}; }
};
static_assert(TickSource<ScriptedClock>);

// Reads every 100 ns from the time after `from` to `to`.
void read_steadily(ScriptedClock& clock, std::uint64_t from, std::uint64_t to, int cpu = 0) {
  for (std::uint64_t time = from + 100; time <= to; time += 100) clock.readings.push_back({time, cpu});
}

CpuHiccups measure(ScriptedClock clock, const HiccupRecorder::Config& config, std::uint64_t start = 0) {
  HiccupRecorder recorder{config};
  recorder.begin({start, 0});
  record_hiccups(clock, recorder, std::atomic<bool>{false});
  return recorder.result();
}

HiccupRecorder::Config lasting(std::uint64_t duration_ns) { return {.duration_ns = duration_ns}; }

TEST(HiccupRecorderTest, quiet_time_has_the_step_of_the_clock_as_its_worst_gap) {
  ScriptedClock clock;
  read_steadily(clock, 0, 3 * ms);
  const CpuHiccups result = measure(clock, lasting(3 * ms));
  EXPECT_EQ(result.window_worst_ns, (std::vector<std::uint64_t>{100, 100, 100}));
  EXPECT_TRUE(result.gaps.empty());
  EXPECT_EQ(result.lost_ns, 0U);
  EXPECT_EQ(result.duration_ns, 3 * ms);
}

TEST(HiccupRecorderTest, a_stall_across_windows_counts_in_each_of_them) {
  ScriptedClock clock;
  read_steadily(clock, 0, ms + 500 * us);
  clock.readings.push_back({4 * ms + 200 * us, 0});
  read_steadily(clock, 4 * ms + 200 * us, 6 * ms);
  const CpuHiccups result = measure(clock, lasting(6 * ms));
  const std::uint64_t stall = 2 * ms + 700 * us;
  EXPECT_EQ(result.window_worst_ns, (std::vector<std::uint64_t>{100, stall, stall, stall, stall, 100}));
  ASSERT_EQ(result.gaps.size(), 1U);
  EXPECT_EQ(result.gaps[0].begin_ns, ms + 500 * us);
  EXPECT_EQ(result.gaps[0].length_ns, stall);
  EXPECT_EQ(result.lost_ns, stall);
}

TEST(HiccupRecorderTest, a_thread_that_came_late_has_a_gap_from_the_begin) {
  ScriptedClock clock;
  clock.readings.push_back({1'000 * ms + 300 * us, 0});
  const CpuHiccups result = measure(clock, lasting(2 * ms), 1'000 * ms);
  ASSERT_FALSE(result.gaps.empty());
  EXPECT_EQ(result.gaps[0].begin_ns, 0U);
  EXPECT_EQ(result.gaps[0].length_ns, 300 * us);
}

TEST(HiccupRecorderTest, a_stall_beyond_the_end_is_lost_time_up_to_the_end_only) {
  ScriptedClock clock;
  read_steadily(clock, 0, ms);
  const CpuHiccups result = measure(clock, lasting(2 * ms));
  EXPECT_EQ(result.lost_ns, ms);
  EXPECT_EQ(result.duration_ns, 2 * ms);
  ASSERT_EQ(result.window_worst_ns.size(), 2U);
  EXPECT_EQ(result.window_worst_ns[0], 100U);
  EXPECT_GT(result.window_worst_ns[1], ms);
}

TEST(HiccupRecorderTest, gaps_are_counted_above_each_limit) {
  ScriptedClock clock;
  std::uint64_t time = 0;
  for (const std::uint64_t gap : {900 * us / 1000, 2 * us, 20 * us, 60 * us, 200 * us, 2 * ms, 20 * ms})
    clock.readings.push_back({time += gap, 0});
  const CpuHiccups result = measure(clock, lasting(time));
  EXPECT_EQ(result.over, (std::array<std::uint64_t, 6>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(result.gaps.size(), 5U) << "2 us is below the threshold of 5 us";
}

TEST(HiccupRecorderTest, the_longest_gaps_are_kept_when_there_are_too_many) {
  ScriptedClock clock;
  std::uint64_t time = 0;
  for (const std::uint64_t gap : {30 * us, 10 * us, 50 * us, 20 * us, 40 * us, 6 * us})
    clock.readings.push_back({time += gap, 0});
  HiccupRecorder::Config config = lasting(time);
  config.max_gaps = 2;
  const CpuHiccups result = measure(clock, config);
  ASSERT_EQ(result.gaps.size(), 2U);
  EXPECT_EQ(result.gaps[0].length_ns, 50 * us);
  EXPECT_EQ(result.gaps[1].length_ns, 40 * us);
  EXPECT_EQ(result.gaps_not_kept, 4U);
  EXPECT_EQ(result.gaps_ns_not_kept, 66 * us);
}

TEST(HiccupRecorderTest, hops_are_counted_and_gaps_know_both_cpus) {
  ScriptedClock clock;
  clock.readings = {{100, 0}, {200, 1}, {300, 1}, {9 * us, 0}, {9 * us + 100, 0}};
  const CpuHiccups result = measure(clock, lasting(ms));
  EXPECT_EQ(result.hops, 2U);
  ASSERT_GE(result.gaps.size(), 1U);
  EXPECT_EQ(result.gaps[0].cpu_before, 1);
  EXPECT_EQ(result.gaps[0].cpu, 0);
}

TEST(HiccupRecorderTest, a_clock_that_goes_back_is_counted_and_makes_no_gap) {
  ScriptedClock clock;
  clock.readings = {{100, 0}, {200, 0}, {150, 1}, {300, 1}, {400, 1}};
  read_steadily(clock, 400, 2 * ms, 1);
  const CpuHiccups result = measure(clock, lasting(2 * ms));
  EXPECT_EQ(result.went_back, 1U);
  EXPECT_EQ(result.window_worst_ns, (std::vector<std::uint64_t>{100, 100}));
}

TEST(HiccupRecorderTest, results_are_in_nanoseconds_whatever_the_clock_ticks) {
  ScriptedClock clock;
  clock.readings = {{30'000, 0}, {3'000'000, 0}};
  HiccupRecorder::Config config = lasting(ms);
  config.ticks_per_ns = 3;
  const CpuHiccups result = measure(clock, config);
  ASSERT_EQ(result.gaps.size(), 2U);
  EXPECT_EQ(result.gaps[0].length_ns, 10 * us);
  EXPECT_EQ(result.gaps[1].length_ns, 990 * us);
}

TEST(HiccupRecorderTest, windows_that_were_not_completed_are_left_out) {
  ScriptedClock clock;
  read_steadily(clock, 0, 2 * ms + 500 * us);
  HiccupRecorder recorder{lasting(10 * ms)};
  recorder.begin({0, 0});
  for (const TickReading& reading : clock.readings) EXPECT_TRUE(recorder.record(reading));
  const CpuHiccups result = recorder.result();
  EXPECT_EQ(result.window_worst_ns.size(), 2U);
  EXPECT_EQ(result.duration_ns, 2 * ms + 500 * us);
}

TEST(HiccupRecorderTest, a_stop_ends_the_measurement_with_the_next_reading) {
  ScriptedClock clock;
  read_steadily(clock, 0, ms);
  HiccupRecorder recorder{lasting(ms)};
  recorder.begin({0, 0});
  record_hiccups(clock, recorder, std::atomic<bool>{true});
  EXPECT_EQ(recorder.result().readings, 1U);
}

// Random stalls, compared with a simple count.
TEST(HiccupRecorderTest, agrees_with_a_plain_count_of_random_gaps) {
  std::uint64_t seed = 7;
  const auto random = [&seed] { return (seed = seed * 6364136223846793005U + 1442695040888963407U) >> 33; };
  for (int round = 0; round < 50; ++round) {
    ScriptedClock clock;
    std::vector<std::uint64_t> expected(20);
    std::uint64_t time = 0, lost = 0;
    while (time < 20 * ms) {
      const std::uint64_t gap = 1 + random() % (random() % 16 == 0 ? 3 * ms : 3 * us);
      const std::uint64_t end = time + gap;
      for (std::uint64_t window = time / ms; window <= std::min<std::uint64_t>(end / ms, 19); ++window)
        expected[window] = std::max(expected[window], gap);
      if (gap > us) lost += std::min(end, 20 * ms) - time;
      clock.readings.push_back({time = end, 0});
    }
    const CpuHiccups result = measure(clock, lasting(20 * ms));
    ASSERT_EQ(result.window_worst_ns, expected) << "round " << round;
    ASSERT_EQ(result.lost_ns, lost) << "round " << round;
  }
}

TEST(MeasureHiccupsTest, a_cpu_that_cannot_be_had_says_so) {
  HiccupOptions options{.cpus = {CpuSet::max_cpus - 1}, .duration = std::chrono::milliseconds{1}};
  const std::atomic<bool> stop{false};
  const HiccupRun run = measure_hiccups(options, stop);
  ASSERT_EQ(run.cpus.size(), 1U);
  EXPECT_NE(run.cpus[0].error.find("CPU 8191: "), std::string::npos) << run.cpus[0].error;
}

TEST(MeasureHiccupsTest, a_measurement_fills_all_its_windows) {
  HiccupOptions options{.cpus = {0}, .duration = std::chrono::milliseconds{5}, .pinned = false};
  const std::atomic<bool> stop{false};
  const HiccupRun run = measure_hiccups(options, stop);
  ASSERT_EQ(run.cpus.size(), 1U);
  EXPECT_EQ(run.cpus[0].error, "");
  EXPECT_EQ(run.cpus[0].window_worst_ns.size(), 5U);
  EXPECT_GT(run.cpus[0].readings, 0U);
}

}  // namespace
}  // namespace nfx
