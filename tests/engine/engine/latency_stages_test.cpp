// How long each stage of a message took, with a clock that the test moves.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/latency_ledger.hpp"
#include "engine/loop_rig.hpp"
#include "engine/session_meter.hpp"
#include "engine/slow_moments.hpp"

namespace nfx::test {
namespace {

class LatencyStages : public ::testing::Test {
 protected:
  // One read in `every` is timed.
  void start(LoopbackOptions options = {}, std::uint32_t every = 1) {
    rig.emplace(options);
    rig->venue.config.sessions = {acceptor()};
    rig->venue.config.latency_every = every;
    rig->trader.config.sessions = {initiator()};
    rig->start_both();
    ASSERT_TRUE(rig->venue.session().logged_on());
    rig->turn(4);
    before = report();
  }
  [[nodiscard]] LatencyReport report() {
    LatencyReport report;
    rig->venue.loop->count_latency();
    rig->venue.loop->add_latency(report);
    return report;
  }
  // Since start().
  [[nodiscard]] LatencyCounts since(LatencyStage stage) {
    const LatencyReport now = report();
    EXPECT_EQ(now.sessions.size(), 1U);
    LatencyCounts counts = now.sessions.at(0).stages[stage];
    counts.subtract(before.sessions.at(0).stages[stage]);
    return counts;
  }
  void expect_one(LatencyStage stage, Duration took) {
    const LatencyCounts counts = since(stage);
    EXPECT_EQ(counts.count(), 1U) << to_string(stage);
    EXPECT_EQ(counts.sum_ns(), static_cast<std::uint64_t>(took.count())) << to_string(stage);
  }
  void expect_stage_counts(std::uint64_t messages) {
    for (LatencyStage stage : {LatencyStage::read_to_application, LatencyStage::in_application,
                               LatencyStage::commit_to_socket, LatencyStage::request_to_answer})
      EXPECT_EQ(since(stage).count(), messages) << to_string(stage);
  }
  void send_orders(std::size_t count = 1) {
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_TRUE(
          rig->trader.session().send({.msg_type = "D", .body = std::string_view{order(i)}, .header_fields = {}}));
    rig->trader.loop->turn(0ns);
  }

  std::optional<LoopRig> rig;
  LatencyReport before;
};

TEST_F(LatencyStages, an_order_and_its_report_are_one_of_each_stage) {
  start();
  rig->venue.application.when_traffic = [this](SessionHandle&, Direction direction) {
    rig->clock.advance(direction == Direction::in ? 3us : 500ns);
  };
  rig->venue.application.when_message = [this](SessionHandle& session, const MessageView&) {
    rig->clock.advance(20us);
    ASSERT_TRUE(session.send({.msg_type = "8", .body = std::string_view{order(1)}, .header_fields = {}}));
    rig->clock.advance(7us);
  };
  send_orders();
  rig->venue.loop->turn(0ns);
  expect_one(LatencyStage::read_to_application, 3us);
  expect_one(LatencyStage::in_application, 27500ns);
  expect_one(LatencyStage::commit_to_socket, 0ns);
  expect_one(LatencyStage::request_to_answer, 30500ns);
  EXPECT_EQ(since(LatencyStage::kernel_to_read).count(), 0U) << "this network has no time stamps";
}

TEST_F(LatencyStages, a_second_message_of_a_read_waits_for_the_callback_of_the_first) {
  start();
  rig->venue.application.when_message = [this](SessionHandle&, const MessageView&) { rig->clock.advance(40us); };
  send_orders(2);
  rig->venue.loop->turn(0ns);
  EXPECT_EQ(since(LatencyStage::read_to_application).sum_ns(), 40'000U);
  EXPECT_EQ(since(LatencyStage::in_application).sum_ns(), 80'000U);
  EXPECT_EQ(since(LatencyStage::request_to_answer).count(), 0U) << "nothing was answered";
}

TEST_F(LatencyStages, all_messages_of_a_long_read_and_their_answers_are_counted) {
  start();
  rig->venue.application.when_message = [&](SessionHandle& session, const MessageView&) {
    rig->clock.advance(100ns);
    ASSERT_TRUE(session.send({.msg_type = "8", .body = std::string_view{order(1)}, .header_fields = {}}));
  };
  send_orders(60);
  rig->venue.loop->turn(0ns);
  EXPECT_EQ(since(LatencyStage::read_to_application).count(), 60U);
  EXPECT_EQ(since(LatencyStage::read_to_application).sum_ns(), 100U * 60 * 59 / 2);
  EXPECT_EQ(since(LatencyStage::in_application).count(), 60U);
  EXPECT_EQ(since(LatencyStage::in_application).sum_ns(), 60U * 100);
  const LatencyCounts left = since(LatencyStage::commit_to_socket);
  EXPECT_EQ(left.count(), 60U);
  EXPECT_EQ(left.sum_ns(), 60U * 59 * 100) << "all with the oldest, from the end of its callback on";
  const LatencyCounts answers = since(LatencyStage::request_to_answer);
  EXPECT_EQ(answers.count(), 60U);
  EXPECT_EQ(answers.sum_ns(), 60U * 60 * 100);
}

// Orders of a busy session, one for each read, of which one in eight is timed, at random.
class SampledStages : public LatencyStages {
 protected:
  static constexpr std::uint32_t every = 8;

  void order_each(Duration interval, std::size_t orders) {
    for (std::size_t i = 0; i < orders; ++i) {
      rig->clock.advance(interval);
      send_orders();
      rig->venue.loop->turn(0ns);
    }
  }
  void take(Duration callback) {
    rig->venue.application.when_message = [this, callback](SessionHandle& session, const MessageView&) {
      rig->clock.advance(callback);
      ASSERT_TRUE(session.send({.msg_type = "8", .body = std::string_view{order(1)}, .header_fields = {}}));
    };
  }
  [[nodiscard]] std::vector<SlowRecord> slow_moments() {
    rig->venue.loop->count_latency();
    std::vector<SlowRecord> records;
    rig->venue.loop->slow().take(records);
    // The time between two iterations is the test's.
    std::erase_if(records, [](const SlowRecord& record) { return record.stage == LatencyStage::turn; });
    return records;
  }
};

TEST_F(SampledStages, the_timed_reads_count_for_the_others) {
  start({}, every);
  take(300ns);
  order_each(20us, 50 * every);
  take(700ns);
  order_each(20us, 50 * every + 1);
  for (LatencyStage stage : {LatencyStage::read_to_application, LatencyStage::in_application,
                             LatencyStage::commit_to_socket, LatencyStage::request_to_answer})
    EXPECT_NEAR(static_cast<double>(since(stage).count()), 100.0 * every, 2 * every) << to_string(stage);
  EXPECT_NEAR(static_cast<double>(since(LatencyStage::in_application).count_up_to_ns(400)), 50 * every, 2 * every);
  EXPECT_NEAR(static_cast<double>(since(LatencyStage::request_to_answer).sum_ns()), 50 * every * 1000,
              2 * every * 1000);
  EXPECT_TRUE(slow_moments().empty());
}

TEST_F(SampledStages, so_do_the_messages_of_long_reads) {
  start({}, every);
  take(10ns);
  std::uint64_t sent = 0;
  for (std::size_t round = 0; round < 400 * every; ++round) {
    rig->clock.advance(20us);
    const std::size_t orders = 1 + round * 7 % 30;
    sent += orders;
    send_orders(orders);
    rig->venue.loop->turn(0ns);
  }
  for (LatencyStage stage : {LatencyStage::read_to_application, LatencyStage::in_application,
                             LatencyStage::commit_to_socket, LatencyStage::request_to_answer})
    EXPECT_NEAR(static_cast<double>(since(stage).count()), static_cast<double>(sent), 120.0 * every)
        << to_string(stage);
  EXPECT_EQ(since(LatencyStage::in_application).sum_ns(), 10 * since(LatencyStage::in_application).count());
}

TEST_F(SampledStages, after_a_pause_each_read_is_timed) {
  start({}, every);
  take(300ns);
  order_each(ReadSampler::pause + 1us, 30);
  expect_stage_counts(30);
  take(900ns);
  order_each(ReadSampler::pause + 1us, 1);
  EXPECT_EQ(since(LatencyStage::in_application).sum_ns(), 30U * 300 + 900);
}

TEST_F(SampledStages, slow_callbacks_are_timed_each) {
  start({}, every);
  take(5us);
  order_each(20us, 30);
  expect_stage_counts(30);
  EXPECT_EQ(since(LatencyStage::in_application).sum_ns(), 30U * 5000);
}

TEST_F(SampledStages, a_slow_callback_in_a_read_that_is_not_timed_is_a_moment_of_its_request) {
  start({}, every);
  std::size_t requests = 0;
  for (std::size_t slow_one = 0; slow_one < 2 * every; ++slow_one) {
    take(300ns);
    order_each(20us, slow_one);
    ASSERT_TRUE(slow_moments().empty());
    take(50us);
    order_each(20us, 1);
    const std::vector<SlowRecord> moments = slow_moments();
    ASSERT_FALSE(moments.empty()) << slow_one;
    EXPECT_EQ(moments.back().took, Duration{50us});
    if (moments.back().stage == LatencyStage::request_to_answer) ++requests;
    EXPECT_EQ(callback_time(moments.back(), moments), Duration{50us});
    EXPECT_EQ(cause_of(moments.back(), {}, 50us), SlowCause::application);
    take(300ns);
    order_each(20us, every);
  }
  EXPECT_GE(requests, every) << "of 16, of which one in eight is timed";
}

TEST_F(SampledStages, so_is_one_that_answers_nothing) {
  start({}, every);
  take(300ns);
  order_each(20us, 2);
  rig->venue.application.when_message = [this](SessionHandle&, const MessageView&) { rig->clock.advance(50us); };
  order_each(20us, 1);
  rig->venue.loop->turn(0ns);
  const std::vector<SlowRecord> moments = slow_moments();
  ASSERT_EQ(moments.size(), 1U);
  EXPECT_EQ(moments[0].stage, LatencyStage::in_application);
  EXPECT_EQ(moments[0].took, Duration{50us});
}

TEST_F(SampledStages, answers_that_the_peer_does_not_read_are_moments_of_the_socket) {
  start({.stream_buffer = 4096}, every);
  take(300ns);
  order_each(20us, 2);
  rig->venue.application.when_message = [](SessionHandle& session, const MessageView&) {
    ASSERT_TRUE(session.send({.msg_type = "8",
                              .body = std::string_view{order(1) + field(58, std::string(6000, 'x'))},
                              .header_fields = {}}));
  };
  send_orders();
  rig->venue.loop->turn(0ns);
  rig->clock.advance(5ms);
  rig->turn(8);
  const std::vector<SlowRecord> moments = slow_moments();
  ASSERT_FALSE(moments.empty());
  EXPECT_EQ(moments.back().stage, LatencyStage::commit_to_socket);
  EXPECT_EQ(moments.back().wait, SendWait::peer);
  EXPECT_GE(moments.back().took, Duration{5ms});
  const LatencyCounts left = since(LatencyStage::commit_to_socket);
  EXPECT_EQ(left.count() - left.count_up_to_ns(4'000'000), 1U) << "it counts for itself alone";
}

TEST_F(LatencyStages, a_callback_that_throws_within_a_long_read_is_counted_too) {
  start();
  std::size_t delivered = 0;
  rig->venue.application.when_message = [&](SessionHandle&, const MessageView&) {
    rig->clock.advance(100ns);
    if (++delivered == 7) throw std::runtime_error("no such instrument");
  };
  send_orders(20);
  rig->venue.loop->turn(0ns);
  EXPECT_EQ(delivered, 7U) << "those after it are not consumed";
  EXPECT_EQ(since(LatencyStage::in_application).count(), 7U);
  EXPECT_EQ(since(LatencyStage::in_application).sum_ns(), 700U);
  EXPECT_FALSE(rig->venue.session().logged_on());
}

TEST_F(LatencyStages, what_is_sent_outside_of_a_callback_waits_from_its_send_on) {
  start();
  ASSERT_TRUE(rig->venue.session().send({.msg_type = "8", .body = std::string_view{order(1)}, .header_fields = {}}));
  rig->clock.advance(9us);
  ASSERT_TRUE(rig->venue.session().send({.msg_type = "8", .body = std::string_view{order(2)}, .header_fields = {}}));
  rig->clock.advance(1us);
  rig->venue.loop->turn(0ns);
  const LatencyCounts counts = since(LatencyStage::commit_to_socket);
  EXPECT_EQ(counts.count(), 2U);
  EXPECT_EQ(counts.sum_ns(), 20'000U) << "both with the oldest";
  EXPECT_EQ(since(LatencyStage::request_to_answer).count(), 0U);
}

TEST_F(LatencyStages, every_sixteenth_send_is_timed_by_itself) {
  start();
  rig->venue.application.when_traffic = [this](SessionHandle&, Direction) { rig->clock.advance(800ns); };
  for (std::size_t i = 0; i < 3 * SessionMeter::send_sample; ++i)
    ASSERT_TRUE(rig->venue.session().send({.msg_type = "8", .body = std::string_view{order(i)}, .header_fields = {}}));
  const LatencyCounts counts = since(LatencyStage::send_to_commit);
  EXPECT_EQ(counts.count(), 3U);
  EXPECT_EQ(counts.sum_ns(), 2400U);
}

TEST_F(LatencyStages, messages_that_the_peer_does_not_read_count_when_the_last_byte_has_left) {
  start({.stream_buffer = 4096});
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(rig->venue.session().send({.msg_type = "8",
                                           .body = std::string_view{order(i) + field(58, std::string(1000, 'x'))},
                                           .header_fields = {}}));
  }
  rig->venue.loop->turn(0ns);
  EXPECT_EQ(since(LatencyStage::commit_to_socket).count(), 0U);
  rig->clock.advance(5ms);
  rig->turn(8);
  const LatencyCounts counts = since(LatencyStage::commit_to_socket);
  EXPECT_EQ(counts.count(), 8U);
  EXPECT_EQ(counts.sum_ns(), 8 * 5'000'000U);
  std::vector<SlowRecord> slow;
  rig->venue.loop->slow().take(slow);
  ASSERT_FALSE(slow.empty());
  EXPECT_EQ(slow.back().stage, LatencyStage::commit_to_socket);
  EXPECT_EQ(slow.back().wait, SendWait::peer);
  EXPECT_EQ(slow.back().took, Duration{5ms});
}

TEST_F(LatencyStages, a_session_that_never_connected_has_no_place_in_the_report) {
  rig.emplace();
  rig->venue.config.sessions = {acceptor()};
  rig->venue.start();
  EXPECT_TRUE(report().sessions.empty());
  ASSERT_EQ(report().threads.size(), 1U);
}

TEST(LatencyLedger, what_a_session_recorded_stays_in_the_sum_of_its_thread) {
  LatencyLedger ledger;
  const auto book = ledger.enter("S");
  book->pages.set()[LatencyStage::in_application].record(3us);
  LatencyReport report;
  ledger.report(report, 0, LoopLatency{});
  ASSERT_EQ(report.sessions.size(), 1U);
  EXPECT_EQ(report.sessions[0].session, "S");
  EXPECT_EQ(report.threads[0].stages[LatencyStage::in_application].count(), 1U);
  ledger.leave(book);
  report = {};
  ledger.report(report, 0, LoopLatency{});
  EXPECT_TRUE(report.sessions.empty());
  EXPECT_EQ(report.threads[0].stages[LatencyStage::in_application].sum_ns(), 3000U);
}

TEST(LatencyLedger, reports_are_made_while_sessions_come_record_and_go) {
  LatencyLedger ledger;
  constexpr int rounds = 300;
  std::jthread poll_thread{[&ledger] {
    for (int i = 0; i < rounds; ++i) {
      const auto book = ledger.enter("S" + std::to_string(i));
      for (int n = 0; n < 20; ++n) book->pages.set()[LatencyStage::in_application].record(Duration{n});
      ledger.leave(book);
    }
  }};
  std::uint64_t seen = 0;
  while (seen < rounds * 20) {
    LatencyReport report;
    ledger.report(report, 0, LoopLatency{});
    const std::uint64_t count = report.threads[0].stages[LatencyStage::in_application].count();
    ASSERT_GE(count, seen);
    seen = count;
  }
}

}  // namespace
}  // namespace nfx::test
