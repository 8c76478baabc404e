// The two models that come with the module: what they want, and when they want nothing.
#include <gtest/gtest.h>

#include "nexusfix/strategy/models.hpp"
#include "support.hpp"

namespace nfx::strategy::test {
namespace {

using market::Level;

static_assert(Model<MicropriceModel, TestBook> && Model<Quoter, market::OrderBook> && Model<NoModel, TestBook>);

TEST(microprice, leans_to_the_smaller_side) {
  const Level bid{cents(10000), 30, 1}, ask{cents(10002), 10, 1};
  EXPECT_EQ(microprice(bid, ask), (Price{100'015'000'000}));
  EXPECT_EQ(imbalance(bid, ask), 500);
  EXPECT_EQ(imbalance(ask, bid), -500);
  EXPECT_EQ(microprice({cents(1), 0, 0}, {cents(2), 0, 0}), std::nullopt);
}

TEST(microprice, is_exact_at_the_ends_of_the_range) {
  const Level bid{Price{9'000'000'000'000'000'000}, UINT64_MAX, 1},
      ask{Price{9'000'000'000'000'000'001}, UINT64_MAX, 1};
  EXPECT_EQ(microprice(bid, ask), bid.price);
  EXPECT_EQ(imbalance(bid, ask), 0);
}

TEST(microprice_model, takes_once_while_one_side_is_much_larger) {
  TestBook book{.bid = Level{cents(10000), 95, 1}, .ask = Level{cents(10001), 5, 1}};
  MicropriceModel model{{.imbalance = 800, .most_spread = cents(1), .quantity = 2, .most_position = 2}};
  const auto intent = model.on(book, tick());
  ASSERT_TRUE(intent);
  EXPECT_EQ(intent->side, Side::bid);
  EXPECT_EQ(intent->price, cents(10001));
  EXPECT_EQ(intent->time_in_force, TimeInForce::immediate_or_cancel);
  EXPECT_FALSE(model.on(book, tick())) << "its order is on its way";
  model.report({.quantity = 2, .left = 0, .kind = ReportKind::filled, .side = Side::bid});
  EXPECT_EQ(model.position(), 2);
  EXPECT_FALSE(model.on(book, tick())) << "the same imbalance";
  book.bid->quantity = 5;
  EXPECT_FALSE(model.on(book, tick()));
  book.bid->quantity = 95;
  EXPECT_FALSE(model.on(book, tick())) << "its position is at the limit";
  book.bid->quantity = 5;
  book.ask->quantity = 95;
  EXPECT_EQ(model.on(book, tick())->side, Side::ask);
}

TEST(microprice_model, wants_nothing_of_a_wide_spread) {
  TestBook book{.bid = Level{cents(10000), 95, 1}, .ask = Level{cents(10002), 5, 1}};
  MicropriceModel model{{.most_spread = cents(1)}};
  EXPECT_FALSE(model.on(book, tick()));
  book.ask.reset();
  EXPECT_FALSE(model.on(book, tick()));
}

struct QuoterTest : testing::Test {
  Quoter quoter{{.tick = cents(1),
                 .half_spread = cents(2),
                 .skew = cents(1),
                 .tolerance = cents(1),
                 .quantity = 10,
                 .most_position = 20}};
  TestBook book;

  void open_both() {
    for (int i = 0; i < 2; ++i) {
      const auto intent = quoter.on(book, tick());
      ASSERT_TRUE(intent);
      report(*intent, ReportKind::accepted, 10);
    }
  }
  void report(const Intent& intent, ReportKind kind, Quantity left, Quantity quantity = 10) {
    quoter.report({.price = intent.price,
                   .quantity = quantity,
                   .left = left,
                   .kind = kind,
                   .side = intent.slot == 0 ? Side::bid : Side::ask,
                   .slot = intent.slot});
  }
};

TEST_F(QuoterTest, quotes_both_sides_around_the_microprice) {
  const auto bid = quoter.on(book, tick());
  ASSERT_TRUE(bid);
  EXPECT_EQ(bid->price, cents(9999));
  const auto ask = quoter.on(book, tick());
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->price, cents(10003));
  EXPECT_FALSE(quoter.on(book, tick())) << "both are on their way";
}

TEST_F(QuoterTest, moves_its_quotes_against_its_position) {
  open_both();
  EXPECT_FALSE(quoter.on(book, tick()));
  quoter.report({.price = cents(9999), .quantity = 4, .left = 6, .kind = ReportKind::filled, .side = Side::bid});
  const auto lower = quoter.on(book, tick());
  ASSERT_TRUE(lower);
  EXPECT_EQ(lower->action, Action::replace);
  EXPECT_EQ(lower->price, cents(9995)) << "four lower, for a position of four";
  report(*lower, ReportKind::replaced, 6);
  const auto ask = quoter.on(book, tick());
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->price, cents(10001)) << "above the best bid";
}

TEST_F(QuoterTest, leaves_the_side_where_its_position_is_at_the_limit) {
  open_both();
  quoter.report({.quantity = 20, .left = 0, .kind = ReportKind::filled, .side = Side::ask, .slot = 1});
  EXPECT_EQ(quoter.position(), -20);
  bool placed_ask = false;
  for (int i = 0; i < 5; ++i) {
    const auto intent = quoter.on(book, tick());
    if (!intent) continue;
    placed_ask |= intent->slot == 1;
    report(*intent, intent->action == Action::place ? ReportKind::accepted : ReportKind::replaced, 10);
  }
  EXPECT_FALSE(placed_ask);
}

TEST_F(QuoterTest, cancels_when_there_is_no_price_to_quote_around) {
  open_both();
  book.ask.reset();
  const auto first = quoter.on(book, tick());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->action, Action::cancel);
  EXPECT_EQ(quoter.on(book, tick())->slot, 1);
  EXPECT_FALSE(quoter.on(book, tick()));
}

TEST_F(QuoterTest, moves_the_other_quote_first_when_it_would_meet_it) {
  open_both();
  book.bid->price = cents(10020);
  book.ask->price = cents(10022);
  const auto first = quoter.on(book, tick());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->slot, 1) << "the bid would trade with its own quote at 100.03";
  EXPECT_FALSE(quoter.on(book, tick())) << "the other quote is on its way, and may still be there";
  report(*first, ReportKind::replaced, 10);
  const auto second = quoter.on(book, tick());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->slot, 0);
  EXPECT_LT(second->price, first->price);
}

TEST_F(QuoterTest, asks_again_for_what_was_refused) {
  const auto bid = quoter.on(book, tick());
  report(*bid, ReportKind::refused, 0);
  EXPECT_EQ(quoter.on(book, tick())->slot, bid->slot);
}

TEST_F(QuoterTest, rounds_negative_prices_away_from_the_middle) {
  book.bid->price = Price{-12'345'678'901};
  book.ask->price = Price{-12'305'678'901};
  const auto bid = quoter.on(book, tick());
  const auto ask = quoter.on(book, tick());
  ASSERT_TRUE(bid && ask);
  EXPECT_EQ(bid->price.nano % cents(1).nano, 0);
  EXPECT_EQ(ask->price.nano % cents(1).nano, 0);
  EXPECT_LE(bid->price.nano, -12'325'678'901 - 20'000'000);
  EXPECT_GE(ask->price.nano, -12'325'678'901 + 20'000'000);
}

}  // namespace
}  // namespace nfx::strategy::test
