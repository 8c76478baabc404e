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

namespace nfx::test {
namespace {

class LatencyStages : public ::testing::Test {
 protected:
  void start(LoopbackOptions options = {}) {
    rig.emplace(options);
    rig->venue.config.sessions = {acceptor()};
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
    EXPECT_EQ(counts.sum(), static_cast<std::uint64_t>(took.count())) << to_string(stage);
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
  EXPECT_EQ(since(LatencyStage::read_to_application).sum(), 40'000U);
  EXPECT_EQ(since(LatencyStage::in_application).sum(), 80'000U);
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
  EXPECT_EQ(since(LatencyStage::read_to_application).sum(), 100U * 60 * 59 / 2);
  EXPECT_EQ(since(LatencyStage::in_application).count(), 60U);
  EXPECT_EQ(since(LatencyStage::in_application).sum(), 60U * 100);
  const LatencyCounts left = since(LatencyStage::commit_to_socket);
  EXPECT_EQ(left.count(), 60U);
  EXPECT_EQ(left.sum(), 60U * 59 * 100) << "all with the oldest, from the end of its callback on";
  const LatencyCounts answers = since(LatencyStage::request_to_answer);
  EXPECT_EQ(answers.count(), 60U);
  EXPECT_EQ(answers.sum(), 60U * 60 * 100);
}

TEST_F(LatencyStages, each_message_of_a_busy_session_is_counted) {
  start();
  rig->venue.application.when_message = [this](SessionHandle& session, const MessageView&) {
    rig->clock.advance(300ns);
    ASSERT_TRUE(session.send({.msg_type = "8", .body = std::string_view{order(1)}, .header_fields = {}}));
  };
  for (int i = 0; i < 500; ++i) {
    rig->clock.advance(20us);
    send_orders();
    rig->venue.loop->turn(0ns);
  }
  for (const LatencyStage stage : {LatencyStage::read_to_application, LatencyStage::in_application,
                                   LatencyStage::commit_to_socket, LatencyStage::request_to_answer})
    EXPECT_EQ(since(stage).count(), 500U) << to_string(stage);
  EXPECT_EQ(since(LatencyStage::in_application).sum(), 500U * 300);
  EXPECT_EQ(since(LatencyStage::request_to_answer).sum(), 500U * 300);
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
  EXPECT_EQ(since(LatencyStage::in_application).sum(), 700U);
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
  EXPECT_EQ(counts.sum(), 20'000U) << "both with the oldest";
  EXPECT_EQ(since(LatencyStage::request_to_answer).count(), 0U);
}

TEST_F(LatencyStages, every_sixteenth_send_is_timed_by_itself) {
  start();
  rig->venue.application.when_traffic = [this](SessionHandle&, Direction) { rig->clock.advance(800ns); };
  for (std::size_t i = 0; i < 3 * SessionMeter::send_sample; ++i)
    ASSERT_TRUE(rig->venue.session().send({.msg_type = "8", .body = std::string_view{order(i)}, .header_fields = {}}));
  const LatencyCounts counts = since(LatencyStage::send_to_commit);
  EXPECT_EQ(counts.count(), 3U);
  EXPECT_EQ(counts.sum(), 2400U);
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
  EXPECT_EQ(counts.sum(), 8 * 5'000'000U);
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
  EXPECT_EQ(report.threads[0].stages[LatencyStage::in_application].sum(), 3000U);
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
