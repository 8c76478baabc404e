// Where the time of messages went: each millisecond in the stage that it was spent in, and the sum of all in the total.
#include "strategy/stages.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/seeded.hpp"
#include "support.hpp"

namespace nfx::strategy::test {
namespace {

// Two ticks a nanosecond.
struct ManualCounter {
  std::uint64_t* ticks;
  std::uint64_t operator()() const noexcept { return *ticks; }
};

struct Rig {
  std::uint64_t ticks = 2'000'000;
  StageRecorder<ManualCounter> stages{{.slowest = 3, .pending = 16}, ManualCounter{&ticks}};

  [[nodiscard]] UtcTime now() const { return UtcTime{Duration{static_cast<std::int64_t>(ticks / 2)}}; }
  void pass(std::uint64_t ns) { ticks += 2 * ns; }
  void spend(Stage stage, std::uint64_t ns) {
    pass(ns);
    stages.reached(stage);
  }
  void message(UtcTime kernel, std::uint64_t book_ns = 20, std::uint64_t model_ns = 30) {
    stages.message_begins(kernel, number++);
    spend(Stage::parse, 10);
    spend(Stage::book, book_ns);
    spend(Stage::model, model_ns);
    stages.message_ends();
  }
  void poll(std::uint64_t read_ns) {
    stages.poll_begins();
    pass(read_ns);
    stages.read_returned(1);
  }
  void collect() { stages.collect({.ticks = ticks, .utc = now(), .ns_per_tick = 0.5}); }
  [[nodiscard]] std::uint64_t most(Stage stage) const { return stages.histogram(stage)->max(); }
  std::uint64_t number = 1;
};

TEST(stages, separate_waiting_from_reading_and_service) {
  Rig rig;
  const UtcTime kernel = rig.now();
  rig.pass(500);
  rig.poll(100);
  rig.message(kernel);
  rig.collect();
  EXPECT_EQ(rig.most(Stage::queued), 0U);
  EXPECT_EQ(rig.most(Stage::poll), 500U);
  EXPECT_EQ(rig.most(Stage::read), 100U);
  EXPECT_EQ(rig.most(Stage::parse), 10U);
  EXPECT_EQ(rig.most(Stage::book), 20U);
  EXPECT_EQ(rig.most(Stage::model), 30U);
  EXPECT_EQ(rig.most(Stage::service), 60U);
  EXPECT_EQ(rig.most(Stage::tick_to_model), 660U);
  EXPECT_EQ(rig.stages.histogram(Stage::tick_to_order)->count(), 0U);
  EXPECT_EQ(rig.stages.histogram(Stage::decrypt)->count(), 0U) << "there was none";
}

TEST(stages, a_burst_waits_behind_itself) {
  Rig rig;
  const UtcTime kernel = rig.now();
  rig.poll(100);
  for (int i = 0; i < 10; ++i) rig.message(kernel);
  rig.collect();
  EXPECT_EQ(rig.most(Stage::queued), 9U * 60);
  EXPECT_EQ(rig.most(Stage::service), 60U);
  EXPECT_EQ(rig.most(Stage::poll), 0U);
}

TEST(stages, what_came_while_another_poll_was_handled_waited_behind_it) {
  Rig rig;
  const UtcTime first = rig.now();
  rig.poll(100);
  rig.stages.message_begins(first, 1);
  rig.spend(Stage::book, 1000);
  const UtcTime second = rig.now();  // arrives while the first is in the model
  rig.spend(Stage::model, 5000);
  rig.stages.message_ends();
  rig.pass(40);
  rig.poll(100);
  rig.message(second);
  rig.collect();
  const auto slowest = rig.stages.slowest();
  ASSERT_EQ(slowest.size(), 2U);
  const auto& message = slowest[1];
  EXPECT_EQ(message.ns[std::to_underlying(Stage::queued)], 5000U);
  EXPECT_EQ(message.ns[std::to_underlying(Stage::poll)], 40U);
  EXPECT_EQ(message.ns[std::to_underlying(Stage::read)], 100U);
}

TEST(stages, a_slow_model_is_named_and_its_victims_wait) {
  Rig rig;
  const UtcTime kernel = rig.now();
  rig.poll(10);
  rig.message(kernel);
  rig.message(kernel, 20, 50'000);
  rig.message(kernel);
  rig.collect();
  EXPECT_EQ(rig.most(Stage::model), 50'000U);
  const auto slowest = rig.stages.slowest();
  EXPECT_EQ(slowest[0].number, 3U) << "it waited for the slow one, and was handled after it";
  EXPECT_GT(slowest[0].ns[std::to_underlying(Stage::queued)], 50'000U);
  EXPECT_EQ(slowest[0].ns[std::to_underlying(Stage::service)], 60U);
  EXPECT_EQ(slowest[1].number, 2U);
  EXPECT_EQ(slowest[1].ns[std::to_underlying(Stage::model)], 50'000U);
}

TEST(stages, an_orders_total_includes_what_it_took_to_send) {
  Rig rig;
  const UtcTime kernel = rig.now();
  rig.poll(10);
  rig.stages.message_begins(kernel, 1);
  rig.spend(Stage::model, 40);
  rig.spend(Stage::encode, 100);
  rig.spend(Stage::send, 2000);
  rig.stages.message_ends();
  rig.collect();
  EXPECT_EQ(rig.most(Stage::tick_to_model), 50U);
  EXPECT_EQ(rig.most(Stage::tick_to_order), 2150U);
  EXPECT_TRUE(rig.stages.slowest()[0].order);
}

TEST(stages, a_message_that_came_during_the_read_did_not_wait) {
  Rig rig;
  rig.stages.poll_begins();
  rig.pass(300);
  const UtcTime kernel = rig.now();
  rig.pass(200);
  rig.stages.read_returned();
  rig.message(kernel);
  rig.collect();
  EXPECT_EQ(rig.most(Stage::poll), 0U);
  EXPECT_EQ(rig.most(Stage::read), 200U);
  EXPECT_EQ(rig.most(Stage::tick_to_model), 260U);
}

TEST(stages, add_up_to_the_total) {
  nfx::test::Seeded random;
  SCOPED_TRACE(random.trace());
  Rig rig;
  rig.stages = StageRecorder<ManualCounter>{{.slowest = 10'000, .pending = 4096}, ManualCounter{&rig.ticks}};
  UtcTime kernel = rig.now();
  for (int polls = 0; polls < 300; ++polls) {
    rig.pass(random.below(2000));
    rig.poll(random.below(500));
    for (std::uint64_t i = 1 + random.below(8); i > 0; --i) {
      kernel = std::min(rig.now(), kernel + Duration{static_cast<std::int64_t>(random.below(700))});
      rig.message(kernel, random.below(100), random.below(1000));
    }
  }
  rig.collect();
  EXPECT_EQ(rig.stages.lost(), 0U);
  for (const SlowMessage& each : rig.stages.slowest()) {
    const auto sum = std::accumulate(each.ns.begin() + std::to_underlying(Stage::queued),
                                     each.ns.begin() + std::to_underlying(Stage::service), std::uint64_t{0});
    EXPECT_EQ(sum, each.total_ns) << "message " << each.number;
  }
}

TEST(stages, keep_the_slowest_and_count_what_is_lost) {
  Rig rig;
  for (int i = 0; i < 20; ++i) {
    rig.poll(static_cast<std::uint64_t>(i) * 100 + 1);
    rig.message(UtcTime{}, 1, 1);
    EXPECT_EQ(rig.stages.room(), i < 15 ? 15U - static_cast<unsigned>(i) : 0U);
  }
  rig.collect();
  EXPECT_EQ(rig.stages.lost(), 4U);
  EXPECT_EQ(rig.stages.histogram(Stage::read)->count(), 16U);
  EXPECT_EQ(rig.stages.slowest().size(), 3U);
  rig.stages.clear();
  EXPECT_EQ(rig.stages.lost(), 0U);
  EXPECT_TRUE(rig.stages.slowest().empty());
}

TEST(stages, count_from_when_a_message_was_due) {
  Rig rig;
  const UtcTime due = rig.now();
  rig.pass(3000);
  const UtcTime kernel = rig.now();
  rig.poll(100);
  rig.stages.message_begins(kernel, 1, due);
  rig.spend(Stage::model, 50);
  rig.stages.message_ends();
  rig.message(kernel);
  rig.collect();
  EXPECT_EQ(rig.most(Stage::late), 3000U);
  EXPECT_EQ(rig.most(Stage::due_to_model), 3150U);
  EXPECT_EQ(rig.stages.histogram(Stage::late)->count(), 1U) << "of the other it is not known";
}

// A vector's buckets equal the buckets of one value after the other, at each border of a bucket and next to it.
TEST(stages, count_a_value_where_a_histogram_does) {
  const auto check = [](std::int64_t value) {
    const auto four = detail::buckets_of(detail::FourInts{static_cast<std::int32_t>(value), 0, 255, 256});
    ASSERT_EQ(static_cast<std::size_t>(four[0]), LatencyHistogram::bucket_of(static_cast<std::uint64_t>(value)))
        << value;
    ASSERT_EQ(four[1], 0);
    ASSERT_EQ(four[2], 255);
    ASSERT_EQ(four[3], 256);
  };
  for (std::size_t bucket = 0;; ++bucket) {
    const auto highest = static_cast<std::int64_t>(LatencyHistogram::highest_in(bucket));
    if (highest + 1 > INT32_MAX) break;
    check(highest);
    check(highest + 1);
  }
  check(INT32_MAX);
}

TEST(stages, have_the_histograms_of_their_messages) {
  nfx::test::Seeded random;
  SCOPED_TRACE(random.trace());
  Rig rig;
  rig.stages = StageRecorder<ManualCounter>{{.slowest = 10'000, .pending = 4096}, ManualCounter{&rig.ticks}};
  for (int polls = 0; polls < 500; ++polls) {
    const UtcTime kernel = rig.now();
    rig.pass(random.below(3'000'000'000) >> random.below(32));  // up to three seconds, which is not the usual way
    rig.poll(random.below(500));
    for (std::uint64_t i = 1 + random.below(8); i > 0; --i) rig.message(kernel, random.below(100), random.below(1000));
    if (polls % 100 == 0) rig.collect();
  }
  rig.collect();
  std::array<LatencyHistogram, stage_count> expected;
  for (const SlowMessage& each : rig.stages.slowest()) {
    for (const Stage stage : {Stage::queued, Stage::poll, Stage::read, Stage::parse, Stage::book, Stage::model,
                              Stage::service, Stage::tick_to_model})
      expected[std::to_underlying(stage)].record(each.ns[std::to_underlying(stage)]);
  }
  for (std::size_t i = 0; i < stage_count; ++i)
    EXPECT_EQ(*rig.stages.histogram(static_cast<Stage>(i)), expected[i]) << stage_rows[i].name;
}

}  // namespace
}  // namespace nfx::strategy::test
