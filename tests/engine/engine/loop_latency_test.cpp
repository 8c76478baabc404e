// What a poll loop measures of itself for the metrics file, with a clock that the test moves.
#include "engine/loop_latency.hpp"

#include <gtest/gtest.h>

#include <string>

#include "engine/engine_metrics.hpp"
#include "engine/fake_network.hpp"
#include "engine/loop_rig.hpp"
#include "engine/poll_thread.hpp"
#include "observe/histogram_text.hpp"

namespace nfx::test {
namespace {

class LoopLatencyTest : public ::testing::Test {
 protected:
  void start(bool latency = true, std::uint32_t every = 1) {
    rig.venue.config.sessions = {acceptor("A"), acceptor("B")};
    rig.venue.config.latency = latency;
    rig.venue.config.latency_every = every;
    rig.trader.config.sessions = {initiator("A"), initiator("B")};
    rig.start_both();
    ASSERT_TRUE(rig.venue.session(0).logged_on() && rig.venue.session(1).logged_on());
    rig.turn(4);
    rig.venue.application.when_message = [this](SessionHandle& session, const MessageView&) {
      rig.clock.advance(per_message);
      ASSERT_TRUE(session.send({.msg_type = "8", .body = std::string_view{order(1)}}));
    };
  }
  // The venue handles one message from each of the first `sessions` sessions in one iteration, each in `per_message`.
  void handle(Duration takes, std::size_t sessions = 1) {
    per_message = takes;
    for (std::size_t id = 0; id < sessions; ++id)
      ASSERT_TRUE(rig.trader.session(id).send({.msg_type = "D", .body = std::string_view{order(1)}}));
    rig.trader.loop->turn(0ns);
    rig.venue.loop->turn(0ns);
    rig.trader.loop->turn(0ns);
  }
  [[nodiscard]] HistogramText exported(const std::string& name) {
    ThreadFigures figures;
    rig.venue.loop->count_latency();
    figures.latency = rig.venue.loop->latency();
    MetricsPage page;
    add_poll_thread(page, "nfx-poll-0", figures);
    return read_histogram(page.text(), name, "thread=\"nfx-poll-0\"");
  }
  [[nodiscard]] HistogramText handling() { return exported("nfx_poll_handling_seconds"); }
  [[nodiscard]] HistogramText gaps() { return exported("nfx_poll_gap_seconds"); }

  LoopRig rig;
  Duration per_message{};
};

TEST_F(LoopLatencyTest, handling_is_exported_in_the_bucket_of_the_time_it_took) {
  start();
  const HistogramText before = handling();
  handle(80ns);
  handle(1us);
  handle(1200ns);
  handle(40us);
  handle(9ms);
  handle(13s);
  const HistogramText after = handling();
  for (const double bound : {100e-9, 1e-6, 2.5e-6, 50e-6, 10e-3, static_cast<double>(INFINITY)})
    EXPECT_EQ(after.in_bucket(bound) - before.in_bucket(bound), 1U) << bound;
  EXPECT_EQ(after.count - before.count, 6U);
  EXPECT_NEAR(after.sum_s - before.sum_s, 13.009042280, 1e-9);
}

TEST_F(LoopLatencyTest, an_iteration_that_receives_from_two_connections_is_one_sample_from_the_first_bytes) {
  start();
  const HistogramText before = handling();
  handle(30us, 2);
  const HistogramText after = handling();
  EXPECT_EQ(after.count - before.count, 1U);
  EXPECT_EQ(after.in_bucket(100e-6) - before.in_bucket(100e-6), 1U);
}

TEST_F(LoopLatencyTest, an_iteration_without_bytes_is_no_sample_of_handling) {
  start();
  const std::uint64_t before = handling().count;
  rig.venue.application.when_turn = [this] { rig.clock.advance(1ms); };
  rig.venue.loop->turn(0ns);
  EXPECT_EQ(handling().count, before);
}

TEST_F(LoopLatencyTest, poll_gaps_are_exported_from_iteration_to_iteration) {
  start();
  rig.venue.loop->turn(0ns);
  const HistogramText before = gaps();
  for (const Duration gap : {Duration{200ns}, Duration{7us}, Duration{2ms}}) {
    rig.clock.advance(gap);
    rig.venue.loop->turn(0ns);
  }
  handle(700us);  // busy is a gap too: the next iteration comes later
  rig.venue.loop->turn(0ns);
  const HistogramText after = gaps();
  for (const double bound : {250e-9, 10e-6, 2.5e-3, 1e-3})
    EXPECT_EQ(after.in_bucket(bound) - before.in_bucket(bound), 1U) << bound;
  EXPECT_EQ(after.count - before.count, 5U);
}

TEST(LoopLatencyMeter, some_of_the_quick_iterations_count_for_all) {
  constexpr std::uint64_t rounds = 1'000'000;
  SlowRing slow;
  FakeNetwork network;
  Instant now{.utc = {}, .monotonic = MonotonicTime{1s}};
  StageNotes notes{slow, now, network};
  LoopLatencyMeter meter{true, 32};
  // An idle iteration of 100 ns, then one that receives after 50 ns and handles it in 600.
  for (std::uint64_t round = 0; round < rounds; ++round) {
    meter.turn_began(now.monotonic, false, true, notes);
    now.monotonic += 100ns;
    meter.turn_began(now.monotonic, false, true, notes);
    now.monotonic += 50ns;
    meter.received(now.monotonic);
    now.monotonic += 600ns;
  }
  notes.fold();
  constexpr double lag = 4.0 * LoopLatencyMeter::quick_sample;
  const LatencyCounts &gaps = meter.latency().poll_gap, &handling = meter.latency().handling;
  EXPECT_NEAR(static_cast<double>(gaps.count()), 2.0 * rounds, lag);
  EXPECT_NEAR(static_cast<double>(gaps.count_up_to_ns(100)), rounds, 0.06 * rounds);
  EXPECT_NEAR(static_cast<double>(gaps.sum_ns()), rounds * 750.0, rounds * 45.0);
  EXPECT_NEAR(static_cast<double>(handling.count()), rounds, lag);
  EXPECT_EQ(handling.sum_ns(), 600 * handling.count());
  std::vector<SlowRecord> records;
  slow.take(records);
  EXPECT_TRUE(records.empty());
}

// Those of a thread that waits for the network: a busy one does not write each down. Of iterations that follow one
// another the beginning of the next one is the end.
class IterationsBeforeAWait : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::uint32_t every = 32;

  void iterate(Duration waits, Duration handles) {
    meter.turn_began(now.monotonic, true, false, notes);
    now.monotonic += waits;
    meter.received(now.monotonic);
    now.monotonic += handles;
    if (!follows) meter.turn_ended(now.monotonic, notes);
  }
  // With the end of the last iteration.
  const LatencyCounts& handling() {
    meter.turn_began(now.monotonic, true, false, notes);
    notes.fold();
    return meter.latency().handling;
  }
  const bool follows = GetParam();
  SlowRing slow;
  FakeNetwork network;
  Instant now{.utc = {}, .monotonic = MonotonicTime{1s}};
  StageNotes notes{slow, now, network};
  LoopLatencyMeter meter{true, every};
};
INSTANTIATE_TEST_SUITE_P(LoopLatencyMeter, IterationsBeforeAWait, ::testing::Bool(),
                         [](const auto& suite) { return suite.param ? "that_follow" : "that_do_not_follow"; });

TEST_P(IterationsBeforeAWait, some_count_for_all) {
  constexpr std::uint64_t rounds = 100'000;
  std::uint64_t counted = 0;
  // Orders and cancels alternate.
  for (std::uint64_t round = 0; round < rounds; ++round) {
    iterate(50us, round % 2 == 0 ? 5us : 3us);
    if (!notes.empty()) ++counted;
    notes.fold();
  }
  EXPECT_NEAR(static_cast<double>(counted), double{rounds} / every, rounds * 0.004);
  EXPECT_NEAR(static_cast<double>(handling().count()), rounds, 2.0 * every);
  EXPECT_NEAR(static_cast<double>(handling().sum_ns()), rounds * 4000.0, rounds * 160.0);
}

TEST_P(IterationsBeforeAWait, those_that_took_long_or_came_after_a_pause_count_for_themselves) {
  constexpr std::uint64_t rounds = 50;
  for (std::uint64_t i = 0; i < rounds; ++i) iterate(50us, 60us);
  EXPECT_EQ(handling().count() - handling().count_up_to_ns(20'000), rounds);
  const std::uint64_t before = handling().count();
  for (std::uint64_t i = 0; i < rounds; ++i) iterate(2ms, 700us);
  EXPECT_EQ(handling().count() - before, rounds);
  EXPECT_EQ(handling().count() - handling().count_up_to_ns(100'000), rounds);
}

TEST_F(LoopLatencyTest, each_slow_iteration_is_counted) {
  start(true, 8);
  const HistogramText before = gaps(), handling_before = handling();
  for (int i = 0; i < 50; ++i) {
    handle(40us);
    rig.clock.advance(100ns);
    rig.venue.loop->turn(0ns);
  }
  EXPECT_EQ(gaps().in_bucket(50e-6) - before.in_bucket(50e-6), 50U);
  EXPECT_EQ(handling().in_bucket(50e-6) - handling_before.in_bucket(50e-6), 50U);
}

TEST_F(LoopLatencyTest, an_iteration_that_may_wait_is_no_poll_gap) {
  start();
  rig.venue.loop->turn(0ns);
  const std::uint64_t before = gaps().count;
  rig.venue.loop->turn(1ms);
  EXPECT_EQ(gaps().count, before + 1);
  rig.clock.advance(1ms);
  rig.venue.loop->turn(1ms);
  rig.clock.advance(1ms);
  rig.venue.loop->turn(0ns);
  EXPECT_EQ(gaps().count, before + 1);
}

TEST_F(LoopLatencyTest, a_thread_that_waits_exports_no_poll_gaps) {
  MetricsPage page;
  add_poll_thread(page, "T", ThreadFigures{});
  EXPECT_TRUE(read_histogram(page.text(), "nfx_poll_gap_seconds", "thread=\"T\"").buckets.empty());
  EXPECT_EQ(read_histogram(page.text(), "nfx_poll_handling_seconds", "thread=\"T\"").buckets.size(), 26U);
}

TEST(PollThread, gathers_what_its_loop_measured_for_the_metrics_file) {
  EngineConfig venue_config, trader_config;
  venue_config.idle = trader_config.idle = IdleMode::spin;
  venue_config.sessions = {acceptor()};
  venue_config.sessions[0].listen = {"127.0.0.1", 0};
  RecordingApplication at_venue, at_trader;
  const auto venue =
      make_poll_thread({}, {.config = venue_config, .number = 0, .callbacks = at_venue, .stores = memory_stores()});
  venue->start();
  trader_config.sessions = {initiator()};
  trader_config.sessions[0].connect = {*venue->local_endpoint(venue_config.sessions[0].listen)};
  const auto trader =
      make_poll_thread({}, {.config = trader_config, .number = 0, .callbacks = at_trader, .stores = memory_stores()});
  trader->start();
  for (int i = 0; i < 1'000'000 && at_trader.at().logons == 0; ++i) {
    venue->turn(0ns);
    trader->turn(0ns);
  }
  ASSERT_EQ(at_trader.at().logons, 1U);
  ThreadFigures figures;
  venue->count_latency();
  venue->gather(figures);
  EXPECT_GE(figures.latency.handling.count(), 1U) << "the Logon";
  EXPECT_GT(figures.latency.handling.sum_ns(), 0U);
  EXPECT_GT(figures.latency.poll_gap.count(), 0U);
}

TEST_F(LoopLatencyTest, without_latency_nothing_is_measured) {
  start(false);
  handle(1us);
  rig.turn(3);
  EXPECT_EQ(rig.venue.loop->latency().handling.count(), 0U);
  EXPECT_EQ(rig.venue.loop->latency().poll_gap.count(), 0U);
}

}  // namespace
}  // namespace nfx::test
