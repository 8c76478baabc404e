// Records between two threads: in order, intact, and refused when the queue is full.
#include "nexusfix/concurrent/spsc_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace nfx {
namespace {

std::string popped(SpscQueue& queue) {
  std::string record = "(none)";
  (void)queue.try_pop([&](std::span<const char> bytes) { record.assign(bytes.data(), bytes.size()); });
  return record;
}

TEST(SpscQueue, gives_records_back_in_order) {
  SpscQueue queue({.slot_count = 4, .record_size = 16});
  ASSERT_EQ(queue.try_push(std::string_view("one")), PushResult::pushed);
  ASSERT_EQ(queue.try_push(std::string_view("three"), std::string_view("four")), PushResult::pushed);
  ASSERT_EQ(queue.try_push(), PushResult::pushed);
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(popped(queue), "one");
  EXPECT_EQ(popped(queue), "threefour");
  EXPECT_EQ(popped(queue), "");
  EXPECT_EQ(popped(queue), "(none)");
}

TEST(SpscQueue, says_full_and_counts_it_without_losing_a_record) {
  SpscQueue queue({.slot_count = 2, .record_size = 8});
  ASSERT_EQ(queue.try_push(std::string_view("a")), PushResult::pushed);
  ASSERT_EQ(queue.try_push(std::string_view("b")), PushResult::pushed);
  EXPECT_EQ(queue.try_push(std::string_view("c")), PushResult::full);
  EXPECT_EQ(queue.full_count(), 1U);
  EXPECT_EQ(popped(queue), "a");
  EXPECT_EQ(queue.try_push(std::string_view("c")), PushResult::pushed);
  EXPECT_EQ(popped(queue), "b");
  EXPECT_EQ(popped(queue), "c");
}

TEST(SpscQueue, refuses_a_record_longer_than_its_slots) {
  SpscQueue queue({.slot_count = 2, .record_size = 8});
  EXPECT_EQ(queue.try_push(std::string_view("12345678")), PushResult::pushed);
  EXPECT_EQ(queue.try_push(std::string_view("1234"), std::string_view("56789")), PushResult::too_long);
  EXPECT_EQ(queue.full_count(), 0U);
  EXPECT_EQ(popped(queue), "12345678");
}

TEST(SpscQueue, rounds_its_slots_up_to_a_power_of_two) {
  EXPECT_EQ(SpscQueue({.slot_count = 5, .record_size = 8}).slot_count(), 8U);
  EXPECT_EQ(SpscQueue({.slot_count = 8, .record_size = 8}).slot_count(), 8U);
}

TEST(SpscQueue, rejects_sizes_it_cannot_serve) {
  EXPECT_THROW(SpscQueue({.slot_count = 0, .record_size = 8}), std::invalid_argument);
  EXPECT_THROW(SpscQueue({.slot_count = 8, .record_size = 0}), std::invalid_argument);
  EXPECT_THROW(SpscQueue({.slot_count = 1 << 20, .record_size = 1 << 20}), std::invalid_argument);
}

TEST(SpscQueue, agrees_with_a_deque_over_random_histories) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  SpscQueue queue({.slot_count = 8, .record_size = 100});
  std::deque<std::string> model;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0) {
      const std::string record(random() % 101, static_cast<char>('a' + random() % 26));
      const PushResult result = queue.try_push(record);
      ASSERT_EQ(result, model.size() == 8 ? PushResult::full : PushResult::pushed);
      if (result == PushResult::pushed) model.push_back(record);
    } else {
      ASSERT_EQ(popped(queue), model.empty() ? "(none)" : model.front());
      if (!model.empty()) model.pop_front();
    }
    ASSERT_EQ(queue.size(), model.size());
  }
}

// Records of 8 to 207 bytes, each with its number and a pattern; returns how many were wrong.
std::uint64_t broken_between_two_threads(SpscQueue& queue) {
  constexpr std::uint64_t records = 100'000;
  std::thread producer([&] {
    std::array<char, 200> body;
    for (std::uint64_t n = 0; n < records; ++n) {
      const std::size_t length = n * 7919 % body.size();
      std::fill_n(body.begin(), length, static_cast<char>(n));
      const std::span<const char> number(reinterpret_cast<const char*>(&n), sizeof n);
      while (queue.try_push(number, std::span<const char>(body.data(), length)) != PushResult::pushed) {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t broken = 0;
  for (std::uint64_t n = 0; n < records;) {
    const bool got = queue.try_pop([&](std::span<const char> bytes) {
      std::uint64_t number = 0;
      std::memcpy(&number, bytes.data(), sizeof number);
      bool good = number == n && bytes.size() == sizeof n + n * 7919 % 200;
      for (const char c : bytes.subspan(sizeof n)) good = good && c == static_cast<char>(n);
      broken += good ? 0 : 1;
      ++n;
    });
    if (!got) std::this_thread::yield();
  }
  producer.join();
  return broken;
}

TEST(SpscQueue, carries_every_record_intact_and_in_order_between_two_threads) {
  SpscQueue queue({.slot_count = 64, .record_size = 256});
  EXPECT_EQ(broken_between_two_threads(queue), 0U);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(SpscQueue, carries_records_that_span_slots_intact_and_in_order_between_two_threads) {
  SpscQueue queue({.slot_count = 64, .record_size = 256, .slot_size = 32});
  EXPECT_EQ(broken_between_two_threads(queue), 0U);
  EXPECT_EQ(queue.size(), 0U);
}

// The model knows only records; their positions, and the skipped end, matter only when the queue is full.
TEST(SpscQueue, keeps_records_that_span_slots_whole_over_random_histories) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  SpscQueue queue({.slot_count = 16, .record_size = 100, .slot_size = 16});
  std::deque<std::string> model;
  std::uint64_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0) {
      const std::string record(random() % 101, static_cast<char>('a' + random() % 26));
      const PushResult result = queue.try_push(record);
      if (model.empty()) {
        ASSERT_EQ(result, PushResult::pushed);
      }
      if (result == PushResult::pushed) model.push_back(record);
      refused += result == PushResult::full ? 1 : 0;
    } else {
      ASSERT_EQ(popped(queue), model.empty() ? "(none)" : model.front());
      if (!model.empty()) model.pop_front();
    }
    ASSERT_EQ(queue.size() == 0, model.empty());
    ASSERT_LE(queue.size(), queue.slot_count());
  }
  EXPECT_EQ(queue.full_count(), refused);
  EXPECT_GT(refused, 0U);
}

TEST(SpscQueue, gives_short_records_one_small_slot_each) {
  SpscQueue queue({.slot_count = 16, .record_size = 100, .slot_size = 16});
  for (int i = 0; i < 16; ++i) ASSERT_EQ(queue.try_push(std::string_view("12345678")), PushResult::pushed);
  EXPECT_EQ(queue.try_push(std::string_view("")), PushResult::full);
}

TEST(SpscQueue, rejects_small_slots_that_cannot_hold_two_of_the_longest_records) {
  EXPECT_THROW(SpscQueue({.slot_count = 4, .record_size = 100, .slot_size = 16}), std::invalid_argument);
  EXPECT_THROW(SpscQueue({.slot_count = 64, .record_size = 100, .slot_size = 24}), std::invalid_argument);
  EXPECT_THROW(SpscQueue({.slot_count = 64, .record_size = 4, .slot_size = 1}), std::invalid_argument);
}

TEST(SpscQueue, lends_the_oldest_record_until_it_is_popped) {
  SpscQueue queue({.slot_count = 2, .record_size = 8});
  EXPECT_FALSE(queue.front());
  ASSERT_EQ(queue.try_push(std::string_view("a")), PushResult::pushed);
  ASSERT_EQ(queue.try_push(std::string_view("b")), PushResult::pushed);
  EXPECT_EQ(queue.front()->front(), 'a');
  EXPECT_EQ(queue.front()->front(), 'a');
  queue.pop();
  EXPECT_EQ(queue.front()->front(), 'b');
}

TEST(SpscQueue, knows_when_more_than_half_is_taken) {
  SpscQueue queue({.slot_count = 4, .record_size = 8});
  for (int i = 0; i < 2; ++i) ASSERT_EQ(queue.try_push(), PushResult::pushed);
  EXPECT_FALSE(queue.more_than_half_full());
  ASSERT_EQ(queue.try_push(), PushResult::pushed);
  EXPECT_TRUE(queue.more_than_half_full());
  queue.pop();
  EXPECT_FALSE(queue.more_than_half_full());
}

TEST(SpscQueue, carries_values) {
  struct Order {
    std::uint64_t id;
    double weight;
  };
  SpscQueue queue({.slot_count = 2, .record_size = sizeof(Order)});
  ASSERT_EQ(queue.try_push_value(Order{7, 0.5}), PushResult::pushed);
  Order order{};
  ASSERT_TRUE(queue.try_pop_value(order));
  EXPECT_EQ(order.id, 7U);
  EXPECT_EQ(order.weight, 0.5);
  EXPECT_FALSE(queue.try_pop_value(order));
}

}  // namespace
}  // namespace nfx
