// The notes of a session's meter and its thread's recorder, and when they are counted; the test gives the times.
#include "engine/session_meter.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engine/fake_network.hpp"
#include "engine/latency_recorder.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

MonotonicTime at(Duration since) { return MonotonicTime{1s} + since; }

class SessionMeterTest : public ::testing::Test {
 protected:
  SessionMeterTest() { meter.begin(*book, recorder); }
  [[nodiscard]] const LatencyCounts& counts(LatencyStage stage) const { return book->pages.set()[stage]; }
  [[nodiscard]] std::vector<SlowRecord> slow() {
    std::vector<SlowRecord> records;
    ledger.slow().take(records);
    return records;
  }

  LatencyLedger ledger;
  FakeNetwork network;
  Instant now{.utc = {}, .monotonic = at(0s)};
  LatencyRecorder recorder{ledger, true, now, network};
  const std::shared_ptr<SessionBook> book = ledger.enter("S");
  SessionMeter meter;
};

TEST_F(SessionMeterTest, an_answered_message_is_one_of_each_stage) {
  meter.sent_in_callback();
  meter.delivered(at(0us), at(1us), at(5us), SeqNum{2});
  meter.left(100, 0, false);
  EXPECT_EQ(counts(LatencyStage::in_application).count(), 0U) << "the clock has not been read since";
  recorder.count(at(7us));
  EXPECT_EQ(counts(LatencyStage::read_to_application).sum(), 1000U);
  EXPECT_EQ(counts(LatencyStage::in_application).sum(), 4000U);
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).sum(), 2000U);
  EXPECT_EQ(counts(LatencyStage::request_to_answer).sum(), 7000U);
  const std::vector<SlowRecord> records = slow();
  ASSERT_EQ(records.size(), 1U) << "the others are not longer than the limit";
  EXPECT_EQ(records[0].stage, LatencyStage::in_application);
  EXPECT_EQ(records[0].ended, at(5us));
  EXPECT_EQ(records[0].session, book->serial);
}

TEST_F(SessionMeterTest, what_left_between_two_messages_has_the_time_of_the_second) {
  meter.sent(at(0us));
  meter.left(10, 0, false);
  recorder.left_by(at(3us));
  meter.sent(at(4us));
  meter.left(10, 0, false);
  recorder.count(at(9us));
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).count(), 2U);
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).sum(), 3000U + 5000U);
}

TEST_F(SessionMeterTest, what_waits_for_the_disk_leaves_apart_from_what_came_later) {
  meter.sent(at(1ms));
  meter.waits_for_disk(100);
  meter.sent(at(4ms));
  meter.left(100, 50, false);
  recorder.count(at(6ms));
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).count(), 1U);
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).sum(), 5'000'000U);
  meter.left(50, 0, false);
  recorder.count(at(6500us));
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).count(), 2U);
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).sum(), 7'500'000U);
  const std::vector<SlowRecord> records = slow();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].wait, SendWait::disk);
  EXPECT_EQ(records[1].wait, SendWait::disk) << "it follows the first";
}

TEST_F(SessionMeterTest, an_answer_that_waits_for_the_peer_counts_when_its_last_byte_has_left) {
  const auto answer = [&](Duration read) {
    meter.sent_in_callback();
    meter.sent_in_callback();
    meter.delivered(at(read), at(read), at(read), SeqNum{2});
  };
  answer(2ms);
  meter.left(50, 150, true);
  EXPECT_TRUE(meter.has_group());
  answer(3ms);
  meter.left(150, 200, true);
  recorder.count(at(9ms));
  const LatencyCounts& answers = counts(LatencyStage::request_to_answer);
  EXPECT_EQ(answers.count(), 1U);
  EXPECT_EQ(answers.sum(), 7'000'000U);
  meter.left(200, 0, false);
  recorder.count(at(9500us));
  EXPECT_EQ(answers.count(), 2U);
  EXPECT_EQ(answers.sum(), 13'500'000U) << "from its own read on";
  EXPECT_EQ(counts(LatencyStage::commit_to_socket).count(), 4U);
  EXPECT_FALSE(meter.has_group());
}

TEST_F(SessionMeterTest, when_full_counts_what_is_there) {
  network.time = at(3us);
  for (std::size_t i = 0; i < 3 * LatencyRecorder::capacity; ++i) {
    meter.sent_in_callback();
    meter.delivered(at(0us), at(1us), at(2us), SeqNum{2});
    meter.left(10, 0, false);
  }
  recorder.count(at(3us));
  for (const LatencyStage stage :
       {LatencyStage::in_application, LatencyStage::commit_to_socket, LatencyStage::request_to_answer})
    EXPECT_EQ(counts(stage).count(), 3 * LatencyRecorder::capacity) << to_string(stage);
}

}  // namespace
}  // namespace nfx::test
