// The measurements of a poll loop for the metrics file, with a clock that the test moves.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/engine_metrics.hpp"
#include "engine/fake_network.hpp"
#include "engine/histogram_text.hpp"
#include "engine/latency_recorder.hpp"
#include "engine/loop_rig.hpp"
#include "engine/poll_thread.hpp"

namespace nfx::test {
namespace {

class LoopLatencyTest : public ::testing::Test {
 protected:
  void start(bool latency = true) {
    rig.venue.config.sessions = {acceptor("A"), acceptor("B")};
    rig.venue.config.latency = latency;
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

TEST_F(LoopLatencyTest, each_iteration_is_counted) {
  start();
  const HistogramText gaps_before = gaps(), handling_before = handling();
  for (int i = 0; i < 50; ++i) {
    handle(400ns);
    rig.clock.advance(50ns);
    rig.venue.loop->turn(0ns);
  }
  EXPECT_EQ(gaps().count - gaps_before.count, 100U);
  EXPECT_EQ(gaps().in_bucket(500e-9) - gaps_before.in_bucket(500e-9), 50U);
  EXPECT_EQ(handling().in_bucket(500e-9) - handling_before.in_bucket(500e-9), 50U);
}

TEST(LoopLatency, a_gap_of_an_idle_iteration_alone_is_a_slow_moment) {
  LatencyLedger ledger;
  FakeNetwork network;
  Instant now{.utc = {}, .monotonic = MonotonicTime{1s}};
  LatencyRecorder recorder{ledger, true, now, network};
  const auto iterate = [&](bool idle, bool receives, Duration takes) {
    recorder.turn_began(false, idle);
    if (receives) recorder.received();
    now.monotonic += takes;
  };
  iterate(true, false, 100ns);
  iterate(true, false, 5us);
  iterate(true, true, 6us);  // here the gap of 5 us ends
  iterate(true, false, 7us);
  iterate(false, false, 100ns);
  std::vector<SlowRecord> records;
  ledger.slow().take(records);
  ASSERT_EQ(records.size(), 1U) << "6 us handled what was received, and in 7 us the application worked";
  EXPECT_EQ(records[0].took, Duration{5us});
  EXPECT_EQ(records[0].stage, LatencyStage::turn);
  EXPECT_EQ(recorder.loop().handling.sum(), 6000U);
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
  EXPECT_GT(figures.latency.handling.sum(), 0U);
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
