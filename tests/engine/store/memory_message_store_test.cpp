// The store in memory against a simple model, and at its limits.
#include "store/memory_message_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace nfx {
namespace {

using namespace std::chrono_literals;

std::vector<std::uint64_t> numbers_in(const MemoryMessageStore& store, std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> numbers;
  store.for_each(SeqNum{first}, SeqNum{last}, [&](SeqNum seq, std::string_view) {
    numbers.push_back(value(seq));
    return true;
  });
  return numbers;
}

TEST(MemoryMessageStore, gives_back_the_bytes_it_was_given) {
  MemoryMessageStore store;
  EXPECT_TRUE(store.append(SeqNum{1}, "first"));
  EXPECT_TRUE(store.append(SeqNum{2}, "second"));
  EXPECT_EQ(store.read(SeqNum{1}), "first");
  EXPECT_EQ(store.read(SeqNum{2}), "second");
  EXPECT_EQ(store.read(SeqNum{3}), std::nullopt);
  EXPECT_EQ(store.read(SeqNum{0}), std::nullopt);
}

TEST(MemoryMessageStore, visits_a_range_in_order_and_skips_gaps) {
  MemoryMessageStore store;
  for (const std::uint64_t n : {2U, 3U, 7U, 9U}) ASSERT_TRUE(store.append(SeqNum{n}, std::to_string(n)));
  EXPECT_EQ(numbers_in(store, 1, 8), (std::vector<std::uint64_t>{2, 3, 7}));
  EXPECT_EQ(numbers_in(store, 3, UINT64_MAX), (std::vector<std::uint64_t>{3, 7, 9}));
  EXPECT_EQ(numbers_in(store, 10, 20), std::vector<std::uint64_t>{});
  EXPECT_EQ(numbers_in(store, 8, 3), std::vector<std::uint64_t>{});
}

TEST(MemoryMessageStore, stops_a_visit_when_the_visitor_says_so) {
  MemoryMessageStore store;
  for (std::uint64_t n = 1; n <= 5; ++n) ASSERT_TRUE(store.append(SeqNum{n}, "x"));
  std::size_t calls = 0;
  const std::size_t visited =
      store.for_each(SeqNum{1}, SeqNum{5}, [&](SeqNum, std::string_view) { return ++calls < 2; });
  EXPECT_EQ(visited, 2U);
}

TEST(MemoryMessageStore, keeps_only_the_latest_numbers_and_counts_the_evicted) {
  MemoryMessageStore store({.retain_messages = 3, .retain_bytes = 1024});
  for (std::uint64_t n = 1; n <= 5; ++n) ASSERT_TRUE(store.append(SeqNum{n}, std::to_string(n)));
  EXPECT_EQ(numbers_in(store, 1, 5), (std::vector<std::uint64_t>{3, 4, 5}));
  EXPECT_EQ(store.counts(), (StoreCounts{.appended = 5, .evicted = 2, .refused = 0}));
}

TEST(MemoryMessageStore, evicts_the_oldest_when_the_bytes_are_full) {
  MemoryMessageStore store({.retain_messages = 100, .retain_bytes = 10});
  ASSERT_TRUE(store.append(SeqNum{1}, "aaaa"));
  ASSERT_TRUE(store.append(SeqNum{2}, "bbbb"));
  ASSERT_TRUE(store.append(SeqNum{3}, "cccc"));  // does not fit after "bbbb", so it replaces "aaaa"
  EXPECT_EQ(store.read(SeqNum{1}), std::nullopt);
  EXPECT_EQ(store.read(SeqNum{2}), "bbbb");
  EXPECT_EQ(store.read(SeqNum{3}), "cccc");
}

TEST(MemoryMessageStore, fills_its_bytes_completely_with_messages_that_divide_them) {
  MemoryMessageStore store({.retain_messages = 100, .retain_bytes = 100});
  for (std::uint64_t n = 1; n <= 57; ++n) {
    ASSERT_TRUE(store.append(SeqNum{n}, "0123456789"));
    ASSERT_EQ(store.stored_bytes(), 10 * std::min<std::uint64_t>(n, 10));
    ASSERT_EQ(store.oldest_kept(), SeqNum{n > 10 ? n - 9 : 1});
  }
}

TEST(MemoryMessageStore, holds_one_message_as_large_as_its_limit) {
  MemoryMessageStore store({.retain_messages = 8, .retain_bytes = 6});
  ASSERT_TRUE(store.append(SeqNum{1}, "abc"));
  ASSERT_TRUE(store.append(SeqNum{2}, "abcdef"));
  EXPECT_EQ(store.read(SeqNum{1}), std::nullopt);
  EXPECT_EQ(store.read(SeqNum{2}), "abcdef");
}

TEST(MemoryMessageStore, refuses_and_counts_what_it_cannot_keep) {
  MemoryMessageStore store({.retain_messages = 8, .retain_bytes = 4});
  EXPECT_FALSE(store.append(SeqNum{1}, "12345"));
  EXPECT_FALSE(store.append(SeqNum{1}, ""));
  EXPECT_FALSE(store.append(SeqNum{0}, "x"));
  EXPECT_FALSE(store.append(SeqNum{UINT64_MAX}, "x"));
  EXPECT_EQ(store.counts(), (StoreCounts{.appended = 0, .evicted = 0, .refused = 4}));
}

TEST(MemoryMessageStore, keeps_no_message_when_told_to_retain_none) {
  for (const MemoryStoreOptions options :
       {MemoryStoreOptions{.retain_messages = 0}, MemoryStoreOptions{.retain_messages = 5, .retain_bytes = 0}}) {
    MemoryMessageStore store(options);
    store.prefault();
    EXPECT_FALSE(store.append(SeqNum{1}, "x"));
    EXPECT_EQ(store.read(SeqNum{1}), std::nullopt);
    EXPECT_EQ(store.counts().refused, 1U);
  }
}

TEST(MemoryMessageStore, forgets_later_messages_when_the_numbering_goes_back) {
  MemoryMessageStore store;
  for (std::uint64_t n = 1; n <= 9; ++n) ASSERT_TRUE(store.append(SeqNum{n}, "old" + std::to_string(n)));
  ASSERT_TRUE(store.append(SeqNum{4}, "new4"));
  ASSERT_TRUE(store.append(SeqNum{8}, "new8"));
  EXPECT_EQ(numbers_in(store, 1, 9), (std::vector<std::uint64_t>{1, 2, 3, 4, 8}));
  EXPECT_EQ(store.read(SeqNum{3}), "old3");
  EXPECT_EQ(store.read(SeqNum{4}), "new4");
}

TEST(MemoryMessageStore, does_not_resurrect_messages_from_before_a_reset) {
  MemoryMessageStore store({}, UtcTime(1s));
  for (std::uint64_t n = 1; n <= 9; ++n) ASSERT_TRUE(store.append(SeqNum{n}, "old"));
  store.set_next_outbound(SeqNum{10});
  store.set_next_inbound(SeqNum{20});
  EXPECT_EQ(store.creation_time(), UtcTime(1s));
  store.reset(UtcTime(2s));
  EXPECT_EQ(store.next_outbound(), SeqNum{1});
  EXPECT_EQ(store.next_inbound(), SeqNum{1});
  EXPECT_EQ(store.creation_time(), UtcTime(2s));
  ASSERT_TRUE(store.append(SeqNum{1}, "new"));
  ASSERT_TRUE(store.append(SeqNum{9}, "new"));
  EXPECT_EQ(numbers_in(store, 1, 9), (std::vector<std::uint64_t>{1, 9}));
}

TEST(MemoryMessageStore, remembers_its_counters_separately_from_its_messages) {
  MemoryMessageStore store;
  EXPECT_EQ(store.next_outbound(), SeqNum{1});
  store.set_next_outbound(SeqNum{7});
  store.set_next_inbound(SeqNum{3});
  ASSERT_TRUE(store.append(SeqNum{7}, "x"));
  EXPECT_EQ(store.next_outbound(), SeqNum{7});
  EXPECT_EQ(store.next_inbound(), SeqNum{3});
}

TEST(MemoryMessageStore, rejects_limits_beyond_its_offsets) {
  EXPECT_THROW(MemoryMessageStore({.retain_bytes = std::size_t{1} << 32}), std::invalid_argument);
  EXPECT_THROW(MemoryMessageStore({.retain_messages = (std::size_t{1} << 32) + 1}), std::invalid_argument);
}

TEST(MemoryMessageStore, prefault_changes_no_content) {
  MemoryMessageStore store({.retain_messages = 1000, .retain_bytes = 100'000});
  ASSERT_TRUE(store.append(SeqNum{1}, "kept"));
  store.prefault();
  EXPECT_EQ(store.read(SeqNum{1}), "kept");
}

// All remaining messages are right, the oldest were evicted first, and the last appended message is always present.
TEST(MemoryMessageStore, agrees_with_a_map_over_random_histories) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 60; ++round) {
    const MemoryStoreOptions options{.retain_messages = 1 + below(40), .retain_bytes = 1 + below(400)};
    MemoryMessageStore store(options);
    std::map<std::uint64_t, std::string> model;
    std::uint64_t last = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t action = below(100);
      if (action == 0) {
        store.reset(UtcTime{});
        model.clear();
        last = 0;
      }
      std::uint64_t number = last + 1;
      if (action < 3 && last > 0) number = 1 + below(last);
      if (action >= 3 && action < 15) number = last + 1 + below(60);
      const std::string bytes(1 + below(60), static_cast<char>('a' + below(26)));
      model.erase(model.lower_bound(number), model.end());
      const bool kept = store.append(SeqNum{number}, bytes);
      ASSERT_EQ(kept, bytes.size() <= options.retain_bytes);
      if (kept) model[number] = bytes;
      last = number;

      std::map<std::uint64_t, std::string> stored;
      store.for_each(SeqNum{0}, SeqNum{UINT64_MAX}, [&](SeqNum seq, std::string_view view) {
        stored.emplace(value(seq), view);
        return true;
      });
      ASSERT_EQ(store.oldest_kept(), SeqNum{stored.empty() ? 0 : stored.begin()->first});
      // The stored messages are the newest part of the model.
      auto expected = model.rbegin();
      for (auto it = stored.rbegin(); it != stored.rend(); ++it, ++expected) {
        ASSERT_NE(expected, model.rend());
        ASSERT_EQ(*it, *expected);
        ASSERT_EQ(store.read(SeqNum{it->first}), it->second);
      }
      ASSERT_TRUE(!kept || stored.rbegin()->first == number);
      ASSERT_TRUE(stored.empty() || stored.rbegin()->first - stored.begin()->first < options.retain_messages);
      model.erase(model.begin(), stored.empty() ? model.end() : model.find(stored.begin()->first));
    }
  }
}

}  // namespace
}  // namespace nfx
