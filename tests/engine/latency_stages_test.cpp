// How long each stage of a message took, with a clock that the test moves.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/fake_network.hpp"
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
      ASSERT_TRUE(rig->trader.session().send({.msg_type = "D", .body = order(i), .header_fields = {}}));
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
    ASSERT_TRUE(session.send({.msg_type = "8", .body = order(1), .header_fields = {}}));
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
    ASSERT_TRUE(session.send({.msg_type = "8", .body = order(1), .header_fields = {}}));
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
      ASSERT_TRUE(session.send({.msg_type = "8", .body = order(1), .header_fields = {}}));
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
    ASSERT_TRUE(
        session.send({.msg_type = "8", .body = order(1) + field(58, std::string(6000, 'x')), .header_fields = {}}));
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
  ASSERT_TRUE(rig->venue.session().send({.msg_type = "8", .body = order(1), .header_fields = {}}));
  rig->clock.advance(9us);
  ASSERT_TRUE(rig->venue.session().send({.msg_type = "8", .body = order(2), .header_fields = {}}));
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
    ASSERT_TRUE(rig->venue.session().send({.msg_type = "8", .body = order(i), .header_fields = {}}));
  const LatencyCounts counts = since(LatencyStage::send_to_commit);
  EXPECT_EQ(counts.count(), 3U);
  EXPECT_EQ(counts.sum_ns(), 2400U);
}

TEST_F(LatencyStages, messages_that_the_peer_does_not_read_count_when_the_last_byte_has_left) {
  start({.stream_buffer = 4096});
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(rig->venue.session().send(
        {.msg_type = "8", .body = order(i) + field(58, std::string(1000, 'x')), .header_fields = {}}));
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

// Which messages of a read of a busy session are timed, and for how many all of them count.
class ReadSamplerTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t every = 8;

  ReadSamplerTest() { sampler.begin(book, every); }
  std::vector<std::size_t> read(std::size_t messages, Duration callback = 100ns) {
    now += 20us;
    sampler.read_began(now);
    std::vector<std::size_t> timed;
    for (std::size_t i = 0; i < messages; ++i) {
      if (sampler.times()) {
        timed.push_back(i);
        counted += sampler.timed(callback);
      } else {
        sampler.not_timed();
      }
    }
    sampler.read_ended();
    EXPECT_EQ(sampler.untimed().messages_in_read(), messages - timed.size());
    EXPECT_TRUE(sampler.times()) << "outside of a read";
    return timed;
  }
  static std::vector<std::size_t> all_of(std::size_t messages) {
    std::vector<std::size_t> all(messages);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  const SessionBook book;
  ReadSampler sampler;
  MonotonicTime now{1s};
  std::uint64_t counted = 0;
};

TEST_F(ReadSamplerTest, one_read_in_eight_is_timed_and_in_it_one_message_in_eight) {
  EXPECT_EQ(read(20), all_of(20)) << "after a pause";
  counted = 0;
  constexpr int reads = 8000, messages = 30;
  std::size_t timed_reads = 0, later_messages = 0, longest_run = 0, run = 0;
  for (int i = 0; i < reads; ++i) {
    const std::vector<std::size_t> timed = read(messages);
    longest_run = std::max(longest_run, ++run);
    if (timed.empty()) continue;
    run = 0;
    ++timed_reads;
    later_messages += timed.size() - 1;
    EXPECT_EQ(timed[0], 0U);
  }
  EXPECT_NEAR(static_cast<double>(timed_reads), reads / every, 60);
  EXPECT_NEAR(static_cast<double>(later_messages), static_cast<double>(timed_reads * (messages - 1)) / every, 400);
  EXPECT_LT(longest_run, 2 * every);
  EXPECT_NEAR(static_cast<double>(counted), reads * messages, 2 * every * messages);
  now += ReadSampler::pause;
  EXPECT_EQ(read(3), all_of(3));
}

TEST_F(ReadSamplerTest, what_repeats_in_a_fixed_order_is_sampled_equally) {
  read(1);
  std::array<int, 4> timed{};
  for (std::size_t i = 0; i < 16'000; ++i) timed[i % timed.size()] += read(1).empty() ? 0 : 1;
  for (const int each : timed) EXPECT_NEAR(each, 500, 80);
}

TEST_F(ReadSamplerTest, sessions_are_not_timed_in_the_same_reads) {
  SessionBook of_other;
  of_other.serial = 1;
  ReadSampler other;
  other.begin(of_other, every);
  other.read_began(now);
  other.read_ended();
  read(1);
  int both = 0;
  for (int i = 0; i < 8000; ++i) {
    other.read_began(now);
    both += read(1).empty() || !other.times() ? 0 : 1;
    other.read_ended();
  }
  EXPECT_LT(both, 250) << "125 of 1000 by chance";
}

TEST_F(ReadSamplerTest, what_is_left_out_counts_in_equal_parts) {
  read(1);
  do {
    now += 20us;
    sampler.read_began(now);
    if (sampler.times()) break;
    for (int i = 0; i < 300; ++i) sampler.not_timed();
    sampler.read_ended();
  } while (true);
  ASSERT_GE(sampler.untimed().messages, 300U);
  EXPECT_EQ(sampler.timed(100ns), 64U);
  while (!sampler.times()) sampler.not_timed();
  EXPECT_EQ(sampler.timed(100ns), 64U);
}

TEST_F(ReadSamplerTest, another_part_of_a_read_belongs_to_it) {
  read(1);
  while (!read(1).empty()) {
  }
  now += 20us;
  for (int part = 0; part < 2; ++part) {
    sampler.read_began(now);
    if (!sampler.times()) sampler.not_timed();
    ++sampler.untimed().sent;
    sampler.read_ended();
  }
  EXPECT_GE(sampler.untimed().messages_in_read(), 1U);
  EXPECT_EQ(sampler.untimed().sent - sampler.untimed().sent_before, 2U);
}

TEST_F(ReadSamplerTest, after_a_slow_callback_each_message_is_timed_until_a_read_has_quick_ones) {
  now += ReadSampler::pause;
  EXPECT_EQ(read(20, 3us), all_of(20));
  EXPECT_EQ(read(20, 3us), all_of(20));
  const std::vector<std::size_t> timed = read(20);
  EXPECT_TRUE(!timed.empty() && timed[0] == 0 && timed.size() < 20);
  std::size_t reads = 0;
  while (!read(20).empty()) ASSERT_LT(++reads, 20U);
}

class NotesTest : public ::testing::Test {
 protected:
  void count_at(StageTicks at) {
    notes.left_at(at);
    notes.fold();
  }

  const SessionBook book;
  SlowRing slow;
  FakeNetwork network;
  Instant now{};
  StageNotes notes{slow, now, network};
  SessionMeter meter;
};

TEST_F(NotesTest, what_waits_for_the_disk_leaves_apart_from_what_came_later) {
  meter.begin(book, notes);
  meter.sent(1'000'000);
  meter.waits_for_disk(100);
  meter.sent(4'000'000);
  meter.left(100, 50, false);
  count_at(6'000'000);
  const LatencyCounts& counts = book.pages.set()[LatencyStage::commit_to_socket];
  EXPECT_EQ(counts.count(), 1U);
  EXPECT_EQ(counts.sum_ns(), 5'000'000U);
  meter.left(50, 0, false);
  count_at(6'500'000);
  EXPECT_EQ(counts.count(), 2U);
  EXPECT_EQ(counts.sum_ns(), 7'500'000U);
  std::vector<SlowRecord> records;
  slow.take(records);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].wait, SendWait::disk);
  EXPECT_EQ(records[1].wait, SendWait::disk) << "it follows the first";
}

TEST_F(NotesTest, what_is_sent_without_being_timed_counts_by_itself_where_it_waits) {
  meter.begin(book, notes);
  const LatencyCounts& answers = book.pages.set()[LatencyStage::request_to_answer];
  // Of one message, in two messages.
  const auto answer = [&](Duration read) {
    now.monotonic = MonotonicTime{read};
    meter.read_began(now.monotonic);
    meter.not_timed();
    meter.sent_untimed();
    meter.sent_untimed();
    meter.read_ended();
  };
  answer(1ms);
  EXPECT_FALSE(meter.has_group()) << "a timed message counts for it";
  answer(2ms);
  meter.left(50, 150, true);
  EXPECT_TRUE(meter.has_group());
  answer(3ms);
  now.monotonic = MonotonicTime{9ms};
  meter.left(150, 200, true);
  count_at(9'000'000);
  EXPECT_EQ(answers.count(), 1U);
  EXPECT_EQ(answers.sum_ns(), 7'000'000U);
  meter.left(200, 0, false);
  count_at(9'500'000);
  EXPECT_EQ(answers.count(), 2U);
  EXPECT_EQ(answers.sum_ns(), 13'500'000U) << "from its own read on";
  EXPECT_EQ(book.pages.set()[LatencyStage::commit_to_socket].count(), 4U);
  EXPECT_FALSE(meter.has_group());
}

TEST_F(NotesTest, answers_of_callbacks_that_were_not_timed_count_with_the_next_timed_one) {
  notes.time_one_in(8);
  meter.begin(book, notes);
  // Four callbacks of which each sends two messages, and two that send nothing.
  now.monotonic = MonotonicTime{1s};
  meter.read_began(now.monotonic);
  for (int i = 0; i < 6; ++i) meter.not_timed();
  for (int i = 0; i < 8; ++i) meter.sent_untimed();
  meter.read_ended();
  meter.sent_in_callback();
  meter.callback_ended(1'000'000'000, 1'000'000'100, 1'000'000'300, SeqNum{7});
  meter.left(100, 0, false);
  count_at(1'000'000'500);
  EXPECT_EQ(book.pages.set()[LatencyStage::in_application].count(), 7U);
  EXPECT_EQ(book.pages.set()[LatencyStage::commit_to_socket].count(), 9U);
  EXPECT_EQ(book.pages.set()[LatencyStage::request_to_answer].count(), 7U) << "as many as there can be";
}

TEST_F(NotesTest, ticks_of_the_counter_are_nanoseconds_by_its_rate) {
  // Three ticks are a nanosecond.
  const CounterReading reading{.count = 30'000, .time_per_count = (std::uint64_t{1} << 32) / 3 + 1};
  now.monotonic = MonotonicTime{5ms};
  notes.follow(reading);
  notes.follow_counter();
  EXPECT_EQ(notes.ticks_read(), 30'000U);
  notes.delivered(&book, 30'000, 33'000, 30'000 + 3'000'000, SeqNum{1}, 0);
  notes.fold();
  EXPECT_EQ(book.pages.set()[LatencyStage::read_to_application].sum_ns(), 1000U);
  EXPECT_EQ(book.pages.set()[LatencyStage::in_application].sum_ns(), 999'000U);
  std::vector<SlowRecord> records;
  slow.take(records);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].ended, now.monotonic + 1ms);
  EXPECT_EQ(records[0].stage, LatencyStage::in_application);
}

TEST_F(NotesTest, what_was_noted_is_counted_when_the_counter_is_no_longer_used) {
  CounterReading reading{.count = 1000, .time_per_count = std::uint64_t{1} << 32};
  notes.follow(reading);
  notes.follow_counter();
  const std::uint32_t before = notes.generation();
  meter.begin(book, notes);
  meter.sent(1000);
  notes.delivered(&book, 1000, 1100, 1300, SeqNum{1}, 0);
  reading.time_per_count = 0;
  notes.follow_counter();
  EXPECT_NE(notes.generation(), before);
  EXPECT_EQ(book.pages.set()[LatencyStage::in_application].sum_ns(), 200U);
  meter.left(10, 0, false);
  EXPECT_FALSE(notes.has_open()) << "its ticks were the counter's";
}

TEST_F(NotesTest, a_read_is_a_moment_until_its_answers_are_sent) {
  UntimedRead read{.at = MonotonicTime{1ms}, .messages = 1, .sent = 1, .book = &book};
  notes.handled(read);
  notes.handled(read);
  now.monotonic = read.at + 5us;
  notes.ended();
  notes.ended();
  SessionBook other_book;
  other_book.serial = 2;
  const UntimedRead other{.at = now.monotonic, .messages = 1, .book = &other_book};
  network.time = now.monotonic + 3us;
  read.at = now.monotonic;
  read.sent_before = read.sent;
  notes.handled(read);
  notes.handled(other);  // was parked: there is no reading between
  now.monotonic += 7us;
  notes.ended();
  const UntimedRead without_messages{.at = MonotonicTime{}, .book = &book};
  notes.handled(without_messages);
  notes.ended();
  notes.handled(other);
  notes.read_was_quick();
  now.monotonic += 1ms;
  notes.ended();
  std::vector<SlowRecord> records;
  slow.take(records);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].stage, LatencyStage::request_to_answer);
  EXPECT_EQ(records[0].took, 5us);
  EXPECT_EQ(records[1].session, 0U);
  EXPECT_EQ(records[1].took, 3us);
  EXPECT_EQ(records[1].stage, LatencyStage::in_application);
  EXPECT_EQ(records[2].session, 2U);
  EXPECT_EQ(records[2].took, 7us);
}

TEST_F(NotesTest, when_full_counts_what_is_there) {
  for (std::size_t i = 0; i < 3 * StageNotes::capacity; ++i) notes.send_timed(&book, 100, 150);
  notes.fold();
  EXPECT_EQ(book.pages.set()[LatencyStage::send_to_commit].count(), 3 * StageNotes::capacity);
}

}  // namespace
}  // namespace nfx::test
