// The small parts of a poll loop, each compared with its contract.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/seeded.hpp"
#include "engine/deadline_heap.hpp"
#include "engine/output_buffer.hpp"
#include "engine/reconnect.hpp"
#include "engine/submit_queue.hpp"
#include "engine/thread_check.hpp"

namespace nfx {
namespace {

TEST(DeadlineHeap, names_the_same_earliest_item_as_a_sorted_map_does) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (const std::uint32_t count : {1U, 2U, 7U, 64U, 333U}) {
    DeadlineHeap heap{count};
    std::multimap<MonotonicTime, std::uint32_t> model;
    std::vector<std::multimap<MonotonicTime, std::uint32_t>::iterator> places;
    for (std::uint32_t i = 0; i < count; ++i) places.push_back(model.emplace(MonotonicTime::max(), i));
    for (int step = 0; step < 5000; ++step) {
      const auto item = static_cast<std::uint32_t>(random.below(count));
      const MonotonicTime due = random.below(5) == 0
                                    ? MonotonicTime::max()
                                    : MonotonicTime{Duration{static_cast<std::int64_t>(random.below(1000))}};
      heap.set(item, due);
      model.erase(places[item]);
      places[item] = model.emplace(due, item);
      ASSERT_EQ(heap.earliest(), model.begin()->first);
      ASSERT_EQ(heap.due(heap.earliest_item()), heap.earliest());
      ASSERT_EQ(heap.due(item), due);
    }
    // Taking the earliest out again and again gives all of them in order.
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(heap.earliest(), model.begin()->first);
      model.erase(model.begin());
      heap.set(heap.earliest_item(), MonotonicTime::max());
    }
    EXPECT_EQ(heap.earliest(), MonotonicTime::max());
  }
}

TEST(DeadlineHeap, without_items_is_never_due) { EXPECT_EQ(DeadlineHeap{0}.earliest(), MonotonicTime::max()); }

std::string text_of(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

TEST(OutputBuffer, gives_back_in_order_what_was_put_in_whatever_the_sizes) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  constexpr std::size_t capacity = 1000;
  std::vector<char> memory(capacity);
  OutputBuffer buffer{memory};
  std::string model;
  char letter = 'a';
  for (int step = 0; step < 50'000; ++step) {
    if (random.below(2) == 0) {
      const auto room = buffer.room(random.below(200));
      ASSERT_LE(room.size() + buffer.pending().size(), capacity);
      const std::size_t size = std::min<std::size_t>(room.size(), random.below(150));
      std::fill_n(room.begin(), size, letter);
      model.append(size, letter);
      letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1);
      buffer.append(size);
    } else {
      const std::size_t size = random.below(buffer.pending().size() + 1);
      buffer.consume(size);
      model.erase(0, size);
    }
    ASSERT_EQ(text_of(buffer.pending()), model);
    ASSERT_EQ(buffer.empty(), model.empty());
  }
}

TEST(OutputBuffer, moves_no_more_than_twice_the_bytes_it_gains) {
  std::vector<char> memory(1000);
  OutputBuffer buffer{memory};
  buffer.append(buffer.room(1).first(900).size());
  buffer.consume(299);  // 601 pending: more than twice 299
  EXPECT_EQ(buffer.room(200).size(), 100U);
  buffer.consume(2);  // 599 pending, 301 to gain
  EXPECT_EQ(buffer.room(200).size(), 401U);
}

TEST(OutputBuffer, leaves_its_bytes_alone_while_there_is_room_behind_them) {
  std::vector<char> memory(1000);
  OutputBuffer buffer{memory};
  buffer.append(buffer.room(1).first(500).size());
  buffer.consume(400);
  const char* place = buffer.pending().data();
  EXPECT_EQ(buffer.room(500).size(), 500U);
  EXPECT_EQ(buffer.pending().data(), place);
}

TEST(OutputBuffer, starts_over_at_the_front_once_all_is_gone) {
  std::vector<char> memory(100);
  OutputBuffer buffer{memory};
  buffer.append(buffer.room(1).first(100).size());
  EXPECT_EQ(buffer.room(1).size(), 0U);
  buffer.consume(100);
  EXPECT_EQ(buffer.room(1).size(), 100U);
}

TEST(Jitter, stays_between_half_of_the_delay_and_all_of_it_and_varies) {
  Jitter jitter{42};
  constexpr Duration delay = std::chrono::milliseconds{1000};
  Duration least = Duration::max(), most{};
  for (int i = 0; i < 10'000; ++i) {
    const Duration spread = jitter.spread(delay);
    least = std::min(least, spread);
    most = std::max(most, spread);
  }
  EXPECT_GE(least, delay / 2);
  EXPECT_LE(most, delay);
  EXPECT_LT(least, delay * 51 / 100);
  EXPECT_GT(most, delay * 99 / 100);
}

TEST(Jitter, of_next_to_nothing_is_next_to_nothing) {
  Jitter jitter{1};
  EXPECT_EQ(jitter.spread(Duration{0}), Duration{0});
  EXPECT_EQ(jitter.spread(Duration{1}), Duration{1});
}

TEST(SubmitQueue, hands_over_session_type_and_body_in_order) {
  SubmitQueue queue;
  ASSERT_TRUE(queue.try_push(3, "D", "11=1\x01"));
  ASSERT_TRUE(queue.try_push(4, "AE", ""));
  std::vector<std::string> seen;
  queue.drain([&](std::uint32_t session, std::string_view type, std::string_view body) {
    seen.push_back(std::to_string(session) + " " + std::string{type} + " " + std::string{body});
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"3 D 11=1\x01", "4 AE "}));
}

TEST(SubmitQueue, says_no_when_full_or_when_the_message_is_too_long) {
  SubmitQueue queue{{.slot_count = 2, .record_size = 32}};
  EXPECT_FALSE(queue.try_push(0, "D", std::string(32, 'x')));
  EXPECT_TRUE(queue.try_push(0, "D", "1"));
  EXPECT_TRUE(queue.try_push(0, "D", "2"));
  EXPECT_FALSE(queue.try_push(0, "D", "3"));
  std::size_t drained = 0;
  queue.drain([&](auto...) { ++drained; });
  EXPECT_EQ(drained, 2U);
  EXPECT_TRUE(queue.try_push(0, "D", "4"));
}

TEST(SubmitQueue, loses_nothing_between_several_producers_and_the_consumer) {
  SubmitQueue queue{{.slot_count = 8, .record_size = 64}};
  constexpr int producers = 3, each = 2000;
  std::vector<std::jthread> threads;
  for (std::uint32_t p = 0; p < producers; ++p) {
    threads.emplace_back([&queue, p] {
      for (int i = 0; i < each;) {
        if (queue.try_push(p, "D", std::to_string(i))) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  std::vector<int> next(producers, 0);
  bool in_order = true;
  while (next != std::vector<int>(producers, each)) {
    queue.drain([&](std::uint32_t p, std::string_view, std::string_view body) {
      in_order = in_order && body == std::to_string(next[p]);
      ++next[p];
    });
    std::this_thread::yield();
  }
  EXPECT_TRUE(in_order);
}

TEST(ThreadCheck, tells_the_thread_that_called_first_from_any_other) {
  ThreadCheck check;
  EXPECT_TRUE(check.is_same_thread());
  EXPECT_TRUE(check.is_same_thread());
  bool other = true;
  std::jthread{[&] { other = check.is_same_thread(); }}.join();
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace nfx
