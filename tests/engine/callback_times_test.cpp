// Which callbacks of a read are timed, and that all of them are counted.
#include "engine/callback_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "engine/fake_network.hpp"
#include "engine/latency_ledger.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

class CallbackTimesTest : public ::testing::Test {
 protected:
  struct Message {
    Duration engine, callback;
  };

  // A read of these, as a poll thread handles it. Returns the times that the callbacks had to wait for their call.
  std::vector<Duration> read(const std::vector<Message>& messages) {
    network.time += 1ms;
    now.monotonic = network.time;
    std::vector<Duration> waited;
    times.read_began();
    for (const Message& message : messages) {
      network.time += message.engine;
      waited.push_back(network.time - now.monotonic);
      const bool timed = !times.skips_next();
      const StageTicks called = timed ? notes.ticks() : 0;
      network.time += message.callback;
      if (timed) times.timed(&book, notes.ticks_read(), called, notes.ticks(), SeqNum{1}, 0);
    }
    times.read_ended();
    notes.fold();
    return waited;
  }
  [[nodiscard]] const LatencyCounts& of(LatencyStage stage) const { return book.pages.set()[stage]; }
  [[nodiscard]] const LatencyCounts& in_application() const { return of(LatencyStage::in_application); }
  [[nodiscard]] std::vector<SlowRecord> slow_callbacks() {
    std::vector<SlowRecord> records;
    slow.take(records);
    std::erase_if(records, [](const SlowRecord& record) { return record.stage != LatencyStage::in_application; });
    return records;
  }

  SessionBook book;
  SlowRing slow;
  FakeNetwork network;
  Instant now{};
  StageNotes notes{slow, now, network};
  CallbackTimes times{notes};
};

TEST_F(CallbackTimesTest, the_first_messages_of_a_read_are_timed_each) {
  std::uint64_t sum = 0;
  for (Duration callback : {200ns, 900ns, 300ns, 70ns}) {
    sum += static_cast<std::uint64_t>(callback.count());
    read({{300ns, callback}, {310ns, 150ns}, {290ns, callback}, {200ns, 90ns}});
    sum += static_cast<std::uint64_t>(callback.count()) + 240;
  }
  EXPECT_EQ(in_application().count(), 16U);
  EXPECT_EQ(in_application().sum_ns(), sum);
  EXPECT_EQ(network.readings, 32U);
}

TEST_F(CallbackTimesTest, a_long_read_of_quick_callbacks_needs_few_readings_and_counts_all) {
  const std::vector<Duration> waited = read(std::vector<Message>(64, {300ns, 200ns}));
  EXPECT_EQ(in_application().count(), 64U);
  EXPECT_EQ(in_application().sum_ns(), 64U * 200);
  // Four, then one in eight of sixty: 11, and one for the end of the read.
  EXPECT_EQ(network.readings, 2U * 11 + 1);
  const LatencyCounts& waits = of(LatencyStage::read_to_application);
  EXPECT_EQ(waits.count(), 64U);
  const auto sum = std::accumulate(waited.begin(), waited.end(), Duration{});
  // Those between two readings count with the later one.
  EXPECT_GE(waits.sum_ns(), static_cast<std::uint64_t>(sum.count()));
  EXPECT_LE(waits.sum_ns(), static_cast<std::uint64_t>(sum.count()) + 64 * 7 * 500);
  EXPECT_TRUE(slow_callbacks().empty());
}

TEST_F(CallbackTimesTest, slow_callbacks_are_timed_each) {
  std::vector<Message> messages;
  std::uint64_t sum = 0;
  for (int i = 0; i < 40; ++i) {
    messages.push_back({300ns, 5us + i * 100ns});
    sum += 5000 + static_cast<std::uint64_t>(i) * 100;
  }
  read(messages);
  EXPECT_EQ(in_application().count(), 40U);
  EXPECT_EQ(in_application().sum_ns(), sum);
  EXPECT_EQ(network.readings, 80U);
}

TEST_F(CallbackTimesTest, one_slow_callback_is_counted_as_one_wherever_it_is) {
  for (std::size_t length : {5U, 7U, 8U, 21U, 64U}) {
    for (std::size_t slow_one = 0; slow_one < length; ++slow_one) {
      std::vector<Message> messages(length, {300ns, 200ns});
      messages[slow_one].callback = 50us;
      const LatencyCounts before = in_application();
      read(messages);
      LatencyCounts counts = in_application();
      counts.subtract(before);
      ASSERT_EQ(counts.count(), length);
      EXPECT_EQ(counts.sum_ns(), (length - 1) * 200 + 50'000) << slow_one << " of " << length;
      EXPECT_EQ(counts.count() - counts.count_up_to_ns(40'000), 1U) << slow_one << " of " << length;
      const std::vector<SlowRecord> records = slow_callbacks();
      ASSERT_EQ(records.size(), 1U) << slow_one << " of " << length;
      EXPECT_EQ(records[0].took, 50us);
    }
  }
}

TEST_F(CallbackTimesTest, counts_and_sums_are_right_whatever_is_slow) {
  std::mt19937_64 random{20261127};
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t slow_in = 1 + below(40);
    std::vector<Message> messages;
    Duration callbacks{}, engine{};
    for (std::uint64_t left = 1 + below(100); left != 0; --left) {
      const bool is_slow = below(slow_in) == 0;
      messages.push_back(
          {300ns + Duration(below(40)), is_slow ? 2100ns + Duration(below(20'000)) : 100ns + Duration(below(200))});
      callbacks += messages.back().callback;
      engine += messages.back().engine;
    }
    const LatencyCounts before = in_application(), waits_before = of(LatencyStage::read_to_application);
    const std::vector<Duration> waited = read(messages);
    LatencyCounts counts = in_application(), waits = of(LatencyStage::read_to_application);
    counts.subtract(before);
    waits.subtract(waits_before);
    ASSERT_EQ(counts.count(), messages.size()) << round;
    ASSERT_EQ(waits.count(), messages.size()) << round;
    // What the engine's own part varies is counted as the callbacks', and there are roundings.
    const auto sum = static_cast<std::uint64_t>(callbacks.count());
    ASSERT_GE(counts.sum_ns() + 41 * messages.size(), sum) << round;
    ASSERT_LE(counts.sum_ns(), sum + 41 * messages.size()) << round;
    const Duration longest = std::ranges::max_element(messages, {}, &Message::callback)->callback;
    // What seven quick callbacks and 2 us explain is shared by the run.
    ASSERT_GE(counts.percentile_ns(100) + 7 * 300 + 2400, static_cast<std::uint64_t>(longest.count())) << round;
    ASSERT_LE(counts.percentile_ns(100), static_cast<std::uint64_t>(callbacks.count()) * 9 / 8 + 320) << round;
    ASSERT_LE(waits.percentile_ns(100), static_cast<std::uint64_t>((callbacks + engine).count()) * 9 / 8 + 1) << round;
  }
}

TEST_F(CallbackTimesTest, outside_of_a_read_every_message_is_timed) {
  read(std::vector<Message>(20, {300ns, 200ns}));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(times.skips_next());
    times.timed(&book, notes.ticks_read(), 100, 200, SeqNum{1}, 0);
  }
  notes.fold();
  EXPECT_EQ(in_application().count(), 40U);
}

TEST_F(CallbackTimesTest, with_traces_every_message_is_timed) {
  TraceRing ring;
  notes.trace_to(ring, 10);
  read(std::vector<Message>(64, {300ns, 200ns}));
  EXPECT_EQ(network.readings, 128U);
  std::vector<TraceRecord> records;
  ring.take(records);
  EXPECT_EQ(records.size(), 6U);
}

}  // namespace
}  // namespace nfx::test
