// Books by order: what each kind of event does to levels and queues, and what happens to one that does not fit.
#include "nexusfix/market/order_book.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "market/support.hpp"

namespace nfx::market {
namespace {

using test::add;
using test::cancel;
using test::event_of;
using test::modify;
using test::remove;
using test::replace;
using test::whole;

constexpr InstrumentIndex first{0};

class OrderBookTest : public ::testing::Test {
 protected:
  BookLimits limits{.instruments = 2, .orders = 64, .levels = 64};
  OrderBooks books{limits};

  Applied apply(const Event& event) {
    const Applied applied = books.apply(first, event);
    EXPECT_TRUE(books.consistent());
    return applied;
  }
  [[nodiscard]] OrderBook book() const { return books.book(first); }

  [[nodiscard]] std::vector<std::uint64_t> queue(Side side, std::int64_t price) const {
    std::array<OrderView, 64> orders;
    std::vector<std::uint64_t> ids;
    const std::size_t count = book().queue(side, whole(price), orders);
    for (std::size_t i = 0; i < count; ++i) ids.push_back(std::to_underlying(orders[i].id));
    return ids;
  }
};

using Ids = std::vector<std::uint64_t>;

TEST_F(OrderBookTest, is_empty_at_first) {
  EXPECT_FALSE(book().best(Side::bid));
  EXPECT_FALSE(book().best(Side::ask));
  EXPECT_EQ(book().orders(), 0u);
  EXPECT_EQ(book().state(), BookState::live);
}

TEST_F(OrderBookTest, best_prices_are_the_highest_bid_and_the_lowest_ask) {
  for (const auto& event : {add({1, Side::bid, 10, 5}), add({2, Side::bid, 11, 6}), add({3, Side::ask, 14, 7}),
                            add({4, Side::ask, 13, 8}), add({5, Side::ask, 13, 1})}) {
    EXPECT_EQ(apply(event), Applied::done);
  }
  EXPECT_EQ(book().best(Side::bid), (Level{whole(11), 6, 1}));
  EXPECT_EQ(book().best(Side::ask), (Level{whole(13), 9, 2}));
  std::array<Level, 3> asks;
  ASSERT_EQ(book().levels(Side::ask, asks), 2u);
  EXPECT_EQ(asks[1], (Level{whole(14), 7, 1}));
  EXPECT_EQ(book().level(Side::bid, whole(10)), (Level{whole(10), 5, 1}));
  EXPECT_FALSE(book().level(Side::bid, whole(13)));
}

TEST_F(OrderBookTest, orders_of_a_price_are_in_the_order_of_their_arrival) {
  for (std::uint64_t id = 1; id <= 4; ++id) apply(add({id, Side::bid, 10, id}));
  EXPECT_EQ(queue(Side::bid, 10), (Ids{1, 2, 3, 4}));
  apply(remove(2));
  EXPECT_EQ(queue(Side::bid, 10), (Ids{1, 3, 4}));
  apply(remove(1));
  apply(remove(4));
  EXPECT_EQ(queue(Side::bid, 10), (Ids{3}));
}

TEST_F(OrderBookTest, shows_every_order_bids_first_from_the_best_price_on) {
  for (const auto& event : {add({1, Side::ask, 14, 1}), add({2, Side::bid, 10, 2}), add({3, Side::bid, 11, 3}),
                            add({4, Side::bid, 10, 4}), add({5, Side::ask, 13, 5})}) {
    EXPECT_EQ(apply(event), Applied::done);
  }
  std::vector<OrderView> orders;
  book().for_each_order([&](const OrderView& order) { orders.push_back(order); });
  EXPECT_EQ(orders, (std::vector<OrderView>{{OrderId{3}, first, Side::bid, whole(11), 3},
                                            {OrderId{2}, first, Side::bid, whole(10), 2},
                                            {OrderId{4}, first, Side::bid, whole(10), 4},
                                            {OrderId{5}, first, Side::ask, whole(13), 5},
                                            {OrderId{1}, first, Side::ask, whole(14), 1}}));
}

TEST_F(OrderBookTest, a_modification_keeps_its_place_only_at_the_same_price_with_no_more_quantity) {
  for (std::uint64_t id = 1; id <= 3; ++id) apply(add({id, Side::bid, 10, 5}));
  apply(modify({1, Side::bid, 10, 4}));
  EXPECT_EQ(queue(Side::bid, 10), (Ids{1, 2, 3}));
  EXPECT_EQ(book().best(Side::bid)->quantity, 14u);
  apply(modify({1, Side::bid, 10, 5}));
  EXPECT_EQ(queue(Side::bid, 10), (Ids{2, 3, 1}));
  apply(modify({2, Side::bid, 11, 5}));
  EXPECT_EQ(queue(Side::bid, 10), (Ids{3, 1}));
  EXPECT_EQ(queue(Side::bid, 11), (Ids{2}));
  apply(modify({2, Side::ask, 11, 5}));
  EXPECT_EQ(queue(Side::ask, 11), (Ids{2}));
  EXPECT_FALSE(book().level(Side::bid, whole(11)));
}

TEST_F(OrderBookTest, a_modification_of_an_unknown_order_adds_it) {
  EXPECT_EQ(apply(modify({9, Side::ask, 10, 4})), Applied::done);
  EXPECT_EQ(book().best(Side::ask), (Level{whole(10), 4, 1}));
  EXPECT_EQ(book().state(), BookState::live);
}

TEST_F(OrderBookTest, a_replacement_is_last_in_the_queue_on_the_same_side) {
  apply(add({1, Side::ask, 10, 5}));
  apply(add({2, Side::ask, 10, 5}));
  EXPECT_EQ(apply(replace(1, 7, 10, 3)), Applied::done);
  EXPECT_EQ(queue(Side::ask, 10), (Ids{2, 7}));
  EXPECT_FALSE(book().find(OrderId{1}));
  EXPECT_EQ(book().find(OrderId{7}), (OrderView{OrderId{7}, first, Side::ask, whole(10), 3}));
}

TEST_F(OrderBookTest, a_part_cancelled_or_executed_leaves_the_rest_in_its_place) {
  apply(add({1, Side::bid, 10, 5}));
  apply(add({2, Side::bid, 10, 5}));
  EXPECT_EQ(apply(cancel(1, 2)), Applied::done);
  Event execution = cancel(1, 2);
  execution.kind = EventKind::execute;
  EXPECT_EQ(apply(execution), Applied::done);
  EXPECT_EQ(book().best(Side::bid), (Level{whole(10), 6, 2}));
  EXPECT_EQ(queue(Side::bid, 10), (Ids{1, 2}));
  EXPECT_EQ(apply(cancel(1, 1)), Applied::done);
  EXPECT_EQ(queue(Side::bid, 10), (Ids{2}));
}

TEST_F(OrderBookTest, an_order_of_no_quantity_stays) {
  EXPECT_EQ(apply(add({1, Side::bid, 10, 0})), Applied::done);
  EXPECT_EQ(book().best(Side::bid), (Level{whole(10), 0, 1}));
  EXPECT_EQ(apply(cancel(1, 0)), Applied::done);
  EXPECT_EQ(book().orders(), 0u);
}

TEST_F(OrderBookTest, negative_and_extreme_prices_have_their_order) {
  Event lowest = add({1, Side::ask, 0, 1}), highest = add({2, Side::bid, 0, 1});
  lowest.price.nano = std::numeric_limits<std::int64_t>::min();
  highest.price = Price::undefined();
  apply(add({3, Side::ask, -2, 1}));
  apply(lowest);
  apply(highest);
  apply(add({4, Side::bid, -3, 1}));
  EXPECT_EQ(book().best(Side::ask)->price, lowest.price);
  EXPECT_EQ(book().best(Side::bid)->price, highest.price);
  EXPECT_TRUE(book().crossed());
}

TEST_F(OrderBookTest, trades_fills_and_levels_change_nothing) {
  apply(add({1, Side::bid, 10, 5}));
  const std::uint64_t before = book().hash();
  for (const EventKind kind : {EventKind::none, EventKind::trade, EventKind::fill, EventKind::level_set}) {
    EXPECT_EQ(apply(test::with(kind, {1, Side::bid, 10, 2})), Applied::other_kind);
  }
  EXPECT_EQ(book().hash(), before);
  EXPECT_EQ(books.anomalies(), 0u);
}

TEST_F(OrderBookTest, books_of_instruments_with_equal_order_numbers_are_apart) {
  apply(add({1, Side::bid, 10, 5}));
  EXPECT_EQ(books.apply(InstrumentIndex{1}, add({1, Side::bid, 20, 6})), Applied::done);
  EXPECT_EQ(books.apply(InstrumentIndex{1}, remove(1)), Applied::done);
  EXPECT_EQ(book().best(Side::bid), (Level{whole(10), 5, 1}));
  EXPECT_EQ(books.book(InstrumentIndex{1}).orders(), 0u);
  EXPECT_TRUE(books.consistent());
}

TEST_F(OrderBookTest, an_event_that_does_not_fit_is_counted_and_makes_the_book_stale_until_a_clear) {
  EXPECT_EQ(apply(remove(5)), Applied::unknown_order);
  EXPECT_EQ(book().state(), BookState::stale);
  EXPECT_EQ(books.book(InstrumentIndex{1}).state(), BookState::live);
  apply(event_of(EventKind::clear));
  EXPECT_EQ(book().state(), BookState::live);
  EXPECT_EQ(apply(cancel(5, 1)), Applied::unknown_order);
  EXPECT_EQ(apply(replace(5, 6, 1, 1)), Applied::unknown_order);
  EXPECT_EQ(books.count(Applied::unknown_order), 3u);
  EXPECT_EQ(apply(add({1, Side::none, 10, 1})), Applied::no_side);
  EXPECT_EQ(books.apply(InstrumentIndex{2}, add({1, Side::bid, 10, 1})), Applied::unknown_instrument);
  EXPECT_EQ(books.anomalies(), 5u);
}

TEST_F(OrderBookTest, a_cancel_of_more_than_is_left_removes_the_order_and_is_counted) {
  apply(add({1, Side::bid, 10, 5}));
  apply(add({2, Side::bid, 10, 5}));
  EXPECT_EQ(apply(cancel(1, 6)), Applied::too_much);
  EXPECT_EQ(book().best(Side::bid), (Level{whole(10), 5, 1}));
  EXPECT_EQ(book().state(), BookState::stale);
}

TEST_F(OrderBookTest, an_add_of_a_known_order_takes_its_place_and_is_counted) {
  apply(add({1, Side::bid, 10, 5}));
  EXPECT_EQ(apply(add({1, Side::ask, 12, 6})), Applied::duplicate_order);
  EXPECT_FALSE(book().best(Side::bid));
  EXPECT_EQ(book().best(Side::ask), (Level{whole(12), 6, 1}));
}

TEST_F(OrderBookTest, a_snapshot_is_recovering_until_its_end_and_stale_if_it_does_not_fit) {
  apply(add({1, Side::bid, 10, 5}));
  apply(event_of(EventKind::snapshot_begin));
  EXPECT_EQ(book().state(), BookState::recovering);
  EXPECT_EQ(book().orders(), 0u);
  apply(add({1, Side::bid, 10, 5}));
  apply(event_of(EventKind::snapshot_end));
  EXPECT_EQ(book().state(), BookState::live);
  apply(event_of(EventKind::snapshot_begin));
  apply(remove(3));
  apply(event_of(EventKind::snapshot_end));
  EXPECT_EQ(book().state(), BookState::stale);
}

TEST_F(OrderBookTest, orders_beyond_the_limit_are_left_out_and_counted) {
  for (std::uint64_t id = 1; id <= 64; ++id) ASSERT_EQ(apply(add({id, Side::bid, 10, 1})), Applied::done);
  EXPECT_EQ(apply(add({65, Side::bid, 10, 1})), Applied::too_many_orders);
  EXPECT_EQ(book().state(), BookState::stale);
  EXPECT_EQ(book().best(Side::bid)->orders, 64u);
  apply(remove(1));
  EXPECT_EQ(apply(add({65, Side::bid, 10, 1})), Applied::done);
}

TEST(OrderBookLimits, levels_beyond_the_limit_are_left_out_and_counted) {
  OrderBooks books{{.instruments = 1, .orders = 64, .levels = 2}};
  EXPECT_EQ(books.apply(first, add({1, Side::bid, 10, 1})), Applied::done);
  EXPECT_EQ(books.apply(first, add({2, Side::bid, 11, 1})), Applied::done);
  EXPECT_EQ(books.apply(first, add({3, Side::bid, 12, 1})), Applied::too_many_levels);
  // It is in a queue with another order: nowhere to go.
  EXPECT_EQ(books.apply(first, add({4, Side::bid, 10, 1})), Applied::done);
  EXPECT_EQ(books.apply(first, modify({4, Side::bid, 12, 1})), Applied::too_many_levels);
  EXPECT_EQ(books.orders(), 2u);
  // It is alone at its price: its level moves.
  EXPECT_EQ(books.apply(first, modify({2, Side::bid, 12, 1})), Applied::done);
  EXPECT_TRUE(books.consistent());
}

TEST_F(OrderBookTest, a_level_whose_sum_would_not_fit_is_left_as_it_is) {
  apply(add({1, Side::bid, 10, ~std::uint64_t{0}}));
  EXPECT_EQ(apply(add({2, Side::bid, 10, 1})), Applied::quantity_too_large);
  EXPECT_EQ(book().best(Side::bid), (Level{whole(10), ~std::uint64_t{0}, 1}));
  apply(add({3, Side::bid, 9, 1}));
  EXPECT_EQ(apply(modify({3, Side::bid, 10, 1})), Applied::quantity_too_large);
  EXPECT_EQ(book().orders(), 1u);
}

TEST_F(OrderBookTest, the_hash_tells_queue_positions_apart_and_forgets_history) {
  apply(add({1, Side::bid, 10, 5}));
  apply(add({2, Side::bid, 10, 5}));
  const std::uint64_t in_order = book().hash();
  apply(remove(1));
  apply(add({1, Side::bid, 10, 5}));
  EXPECT_NE(book().hash(), in_order);
  apply(remove(2));
  apply(add({2, Side::bid, 10, 5}));
  EXPECT_EQ(book().hash(), in_order);
}

TEST_F(OrderBookTest, status_is_kept) {
  Event halt = event_of(EventKind::status);
  halt.status = TradingStatus::halted;
  EXPECT_EQ(apply(halt), Applied::done);
  EXPECT_EQ(book().status(), TradingStatus::halted);
}

}  // namespace
}  // namespace nfx::market
