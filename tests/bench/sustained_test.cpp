// The result of a long flow names every requirement that was not met, and no other.
#include <gtest/gtest.h>

#include "sustained/verdict.hpp"

namespace nfx::bench {
namespace {

constexpr double due = 1000;

FlowResult steady() {
  FlowResult side;
  side.right = true;
  side.seconds = 10;
  side.messages = 10'000;
  side.rss_begin_kib = side.rss_middle_kib = side.rss_end_kib = 50'000;
  side.allocations_counted = true;
  return side;
}

TEST(LongFlow, fails_nothing_when_it_stays_as_it_was) { EXPECT_TRUE(what_failed(steady(), steady(), due).empty()); }

TEST(LongFlow, fails_a_rate_that_is_more_than_a_hundredth_below_what_was_due) {
  FlowResult trader = steady();
  trader.messages = 9'901;
  EXPECT_TRUE(what_failed(trader, steady(), due).empty());
  trader.messages = 9'899;
  EXPECT_EQ(what_failed(trader, steady(), due), std::vector<std::string>{"rate: 989 messages/s instead of 1000"});
}

TEST(LongFlow, fails_memory_that_grows_in_either_half) {
  FlowResult venue = steady();
  venue.rss_middle_kib = 60'000;
  venue.rss_end_kib = 61'000;  // within the allowed growth
  EXPECT_EQ(what_failed(steady(), venue, due),
            std::vector<std::string>{"venue: resident memory grew in the first half from 50000 to 60000 KiB"});
  venue.rss_end_kib = 70'000;
  EXPECT_EQ(what_failed(steady(), venue, due).size(), 2U);
}

TEST(LongFlow, fails_a_single_allocation_on_a_poll_thread) {
  FlowResult trader = steady();
  trader.allocations = 1;
  EXPECT_EQ(what_failed(trader, steady(), due),
            std::vector<std::string>{"trader: 1 allocations on the poll thread instead of none"});
}

TEST(LongFlow, fails_what_could_not_be_looked_at) {
  FlowResult venue = steady();
  venue.allocations_counted = false;
  venue.rss_end_kib = 0;
  EXPECT_EQ(what_failed(steady(), venue, due).size(), 2U);
}

}  // namespace
}  // namespace nfx::bench
