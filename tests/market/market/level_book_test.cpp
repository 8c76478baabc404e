// Books by level: bounded and full depth.
#include "nexusfix/market/order_book.hpp"

#include <gtest/gtest.h>

#include <array>

#include "market/support.hpp"

namespace nfx::market {
namespace {

using test::event_of;
using test::level;
using test::whole;

TEST(LevelBook, keeps_the_last_quantity_of_each_price_best_first) {
  LevelBook book{100};
  for (std::int64_t price = 1; price <= 80; ++price) {
    EXPECT_EQ(book.apply(level(Side::bid, price, static_cast<Quantity>(price), 2)), Applied::done);
  }
  book.apply(level(Side::bid, 79, 5, 1));
  book.apply(level(Side::bid, 80, 0));
  EXPECT_EQ(book.best(Side::bid), (Level{whole(79), 5, 1}));
  EXPECT_EQ(book.level_count(Side::bid), 79u);
  std::array<Level, 100> levels;
  ASSERT_EQ(book.levels(Side::bid, levels), 79u);
  EXPECT_EQ(levels[78], (Level{whole(1), 1, 2}));
  EXPECT_EQ(book.level(Side::bid, whole(3)), (Level{whole(3), 3, 2}));
}

TEST(LevelBook, pushes_out_the_worst_level_beyond_its_depth_and_counts_it) {
  LevelBook book{3};
  for (const std::int64_t price : {10, 11, 12}) book.apply(level(Side::ask, price, 1));
  book.apply(level(Side::ask, 13, 1));
  EXPECT_EQ(book.level_count(Side::ask), 3u);
  book.apply(level(Side::ask, 9, 1));
  EXPECT_FALSE(book.level(Side::ask, whole(12)));
  EXPECT_EQ(book.best(Side::ask)->price, whole(9));
  EXPECT_EQ(book.pushed_out(), 2u);
  EXPECT_EQ(book.state(), BookState::live);
}

TEST(LevelBook, a_level_that_is_not_there_can_be_removed) {
  LevelBook book{3};
  EXPECT_EQ(book.apply(level(Side::ask, 10, 0)), Applied::done);
  EXPECT_EQ(book.level_count(Side::ask), 0u);
}

TEST(LevelBook, a_level_without_a_side_makes_it_stale_until_a_snapshot_has_ended) {
  LevelBook book{3};
  EXPECT_EQ(book.apply(level(Side::none, 10, 1)), Applied::no_side);
  EXPECT_EQ(book.state(), BookState::stale);
  book.apply(event_of(EventKind::snapshot_begin));
  EXPECT_EQ(book.state(), BookState::recovering);
  book.apply(level(Side::ask, 10, 1));
  book.apply(event_of(EventKind::snapshot_end));
  EXPECT_EQ(book.state(), BookState::live);
  EXPECT_EQ(book.anomalies(), 1u);
}

TEST(LevelBook, equal_levels_have_equal_hashes) {
  LevelBook one{10}, other{10};
  one.apply(level(Side::ask, 10, 1));
  one.apply(level(Side::ask, 11, 2));
  other.apply(level(Side::ask, 11, 2));
  EXPECT_NE(one.hash(), other.hash());
  other.apply(level(Side::ask, 10, 1));
  EXPECT_EQ(one.hash(), other.hash());
}

}  // namespace
}  // namespace nfx::market
