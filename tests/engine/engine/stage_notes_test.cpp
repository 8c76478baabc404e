// What is noted while messages pass, and when it is counted; without a loop, by times that the test gives.
#include "engine/stage_notes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "engine/fake_network.hpp"
#include "engine/latency_ledger.hpp"
#include "engine/session_meter.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

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
