// Which identifiers are remembered, and which are forgotten when the filter is full.
#include "session/poss_resend_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <string>

namespace nfx {
namespace {

TEST(PossResendFilter, processes_a_possible_resend_only_when_its_identifier_is_unknown) {
  PossResendFilter filter{8};
  EXPECT_TRUE(filter.accept("order-1", false));
  EXPECT_FALSE(filter.accept("order-1", true));
  EXPECT_TRUE(filter.accept("order-2", true));
  EXPECT_FALSE(filter.accept("order-2", true));
}

TEST(PossResendFilter, does_not_judge_messages_that_are_no_possible_resends) {
  PossResendFilter filter{8};
  EXPECT_TRUE(filter.accept("order-1", false));
  EXPECT_TRUE(filter.accept("order-1", false));
}

TEST(PossResendFilter, forgets_the_oldest_when_it_is_full) {
  PossResendFilter filter{3};
  for (const char* id : {"a", "b", "c", "d"}) EXPECT_TRUE(filter.remember(id));
  EXPECT_FALSE(filter.contains("a"));
  for (const char* id : {"b", "c", "d"}) EXPECT_TRUE(filter.contains(id));
  EXPECT_EQ(filter.size(), 3U);
}

TEST(PossResendFilter, tells_apart_identifiers_that_differ_in_one_byte_or_in_length) {
  PossResendFilter filter;
  std::set<std::string> ids{""};
  for (std::size_t size = 1; size <= 40; ++size) {
    ids.insert(std::string(size, 'x'));
    for (std::size_t at = 0; at < size; ++at) {
      std::string id(size, 'x');
      id[at] = 'y';
      ids.insert(id);
      id[at] = '\0';
      ids.insert(id);
    }
  }
  for (const std::string& id : ids) EXPECT_TRUE(filter.remember(id)) << id.size();
  for (const std::string& id : ids) EXPECT_TRUE(filter.contains(id));
}

TEST(PossResendFilter, is_empty_again_after_clear) {
  PossResendFilter filter{3};
  for (const char* id : {"a", "b", "c", "d"}) filter.remember(id);
  filter.clear();
  EXPECT_EQ(filter.size(), 0U);
  EXPECT_FALSE(filter.contains("d"));
  EXPECT_TRUE(filter.accept("d", true));
}

// Compared with a list that is searched linearly.
TEST(PossResendFilter, remembers_exactly_the_last_ones) {
  constexpr std::uint64_t seed = 20240315;
  SCOPED_TRACE(seed);
  std::mt19937_64 random{seed};
  for (const std::uint32_t capacity : {1U, 2U, 7U, 64U}) {
    PossResendFilter filter{capacity};
    std::deque<std::string> known;
    for (int i = 0; i < 20'000; ++i) {
      const std::string id = std::to_string(random() % (3 * capacity)) + (random() % 4 == 0 ? "-and-a-long-tail" : "");
      const bool is_new = std::ranges::find(known, id) == known.end();
      ASSERT_EQ(filter.remember(id), is_new) << id << " of " << capacity;
      if (!is_new) continue;
      known.push_back(id);
      if (known.size() > capacity) known.pop_front();
    }
  }
}

}  // namespace
}  // namespace nfx
