// Which requests the risk gate refuses, each for its reason, and which still pass.
#include "nexusfix/strategy/risk_gate.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace nfx::strategy::test {
namespace {

struct Rig {
  std::optional<Intent> next;
  std::vector<Report> reports;
  TestBook book;
  market::FeedState feed = market::FeedState::live;
  Instant now = at(1s);
  bool can_send = true;
  std::vector<OrderNumber> sent;
  Pipeline<Scripted> pipeline{
      {.risk = {.orders_per_second = 10, .burst = 5, .max_event_age = 100ms},
       .instruments = {{.tick = cents(1), .collar = cents(50), .max_quantity = 100, .max_position = 150}},
       .orders = 3},
      Scripted{&next, &reports}};

  bool operator()(const Intent&, const OwnOrder& order) {
    if (can_send) sent.push_back(order.request());
    return can_send;
  }
  // Why it was refused; none: it was sent.
  Refusal want(const Intent& intent, const Event& event = tick()) {
    next = intent;
    const RiskCounters before = pipeline.gate().counters();
    const std::size_t sent_before = sent.size();
    pipeline.on(book, InstrumentIndex{0}, event, feed, now, *this);
    const RiskCounters after = pipeline.gate().counters();
    Refusal found = Refusal::none;
    for (const RefusalRow& row : refusal_rows) {
      if (after.*row.counter != before.*row.counter) {
        EXPECT_EQ(found, Refusal::none) << "two reasons";
        found = row.refusal;
      }
    }
    EXPECT_EQ(found == Refusal::none, sent.size() == sent_before + 1);
    return found;
  }
  void venue(OrderNumber number, ReportKind kind, Quantity quantity = 0) {
    pipeline.report({.number = number, .kind = kind, .price = cents(10000), .quantity = quantity});
  }
};

TEST(risk_gate, passes_what_is_within_all_limits) {
  Rig rig;
  EXPECT_EQ(rig.want(buy(10000, 100)), Refusal::none);
  EXPECT_EQ(rig.pipeline.gate().counters().orders, 1U);
  EXPECT_EQ(rig.pipeline.orders().exposure(InstrumentIndex{0}).open_buy, 100U);
}

TEST(risk_gate, knows_the_market_before_it_lets_anything_out) {
  Rig rig;
  for (const auto state : {market::FeedState::waiting, market::FeedState::recovering, market::FeedState::stale,
                           market::FeedState::ended}) {
    rig.feed = state;
    EXPECT_EQ(rig.want(buy(10000, 1)), Refusal::gap) << to_string(state);
  }
  rig.feed = market::FeedState::live;
  Event after_gap = tick();
  after_gap.flags |= market::event_flag::recovering;
  EXPECT_EQ(rig.want(buy(10000, 1), after_gap), Refusal::gap);
  rig.book.is = market::BookState::stale;
  EXPECT_EQ(rig.want(buy(10000, 1)), Refusal::stale_book);
  rig.book.is = market::BookState::recovering;
  EXPECT_EQ(rig.want(buy(10000, 1)), Refusal::stale_book);
  rig.book.is = market::BookState::live;
  rig.book.trading = market::TradingStatus::halted;
  EXPECT_EQ(rig.want(buy(10000, 1)), Refusal::not_trading);
  rig.book.trading = market::TradingStatus::trading;
  rig.now = at(1s + 100ms);
  EXPECT_EQ(rig.want(buy(10000, 1), tick(1s)), Refusal::none) << "exactly as old as allowed";
  rig.now = at(1s + 100ms + 1ns);
  EXPECT_EQ(rig.want(buy(10000, 1, 1), tick(1s)), Refusal::too_old);
}

TEST(risk_gate, compares_prices_with_the_middle_exactly) {
  Rig rig;
  rig.book.ask->price = cents(10001);  // the middle is 100.005
  EXPECT_EQ(rig.want(buy(10051, 1)), Refusal::price_collar);
  EXPECT_EQ(rig.want(buy(9950, 1)), Refusal::price_collar);
  EXPECT_EQ(rig.want(buy(10050, 1)), Refusal::none);
  EXPECT_EQ(rig.want(sell(9951, 1, 1)), Refusal::none);
  Intent between = buy(10000, 1, 2);
  between.price.nano += 1;
  EXPECT_EQ(rig.want(between), Refusal::off_tick);
  rig.book.bid.reset();
  EXPECT_EQ(rig.want(buy(10052, 1, 2)), Refusal::price_collar) << "the best ask alone";
  rig.book.ask.reset();
  EXPECT_EQ(rig.want(buy(10000, 1, 2)), Refusal::no_reference);
}

TEST(risk_gate, refuses_sizes_and_what_is_not_an_order) {
  Rig rig;
  EXPECT_EQ(rig.want(buy(10000, 0)), Refusal::size);
  EXPECT_EQ(rig.want(buy(10000, 101)), Refusal::size);
  Intent none = buy(10000, 1);
  none.side = Side::none;
  EXPECT_EQ(rig.want(none), Refusal::malformed);
  Intent no_price = buy(10000, 1);
  no_price.price = Price::undefined();
  EXPECT_EQ(rig.want(no_price), Refusal::malformed);
  EXPECT_EQ(rig.want(buy(10000, 1, model_slots)), Refusal::malformed);
}

TEST(risk_gate, counts_open_orders_towards_the_position) {
  Rig rig;
  EXPECT_EQ(rig.want(buy(10000, 100)), Refusal::none);
  EXPECT_EQ(rig.want(buy(10000, 51, 1)), Refusal::position);
  EXPECT_EQ(rig.want(sell(10002, 100, 1)), Refusal::none) << "the other side is another sum";
  rig.venue(rig.sent[0], ReportKind::filled, 100);
  EXPECT_EQ(rig.want(buy(10000, 50)), Refusal::none) << "100 held and 50 open are 150";
  EXPECT_EQ(rig.want(buy(10000, 1, 2)), Refusal::position);
  rig.venue(rig.sent[1], ReportKind::filled, 60);
  EXPECT_EQ(rig.pipeline.orders().exposure(InstrumentIndex{0}).position, 40);
  EXPECT_EQ(rig.want(buy(10000, 60, 2)), Refusal::none);
}

TEST(risk_gate, takes_a_replacement_for_the_larger_of_both) {
  Rig rig;
  ASSERT_EQ(rig.want(buy(10000, 100)), Refusal::none);
  Intent more = buy(10000, 100);
  more.action = Action::replace;
  more.quantity = 40;
  EXPECT_EQ(rig.want(more), Refusal::none);
  EXPECT_EQ(rig.pipeline.orders().exposure(InstrumentIndex{0}).open_buy, 100U) << "until the venue has accepted it";
  EXPECT_EQ(rig.want(more), Refusal::change_pending);
  rig.venue(rig.sent[1], ReportKind::replaced);
  EXPECT_EQ(rig.pipeline.orders().exposure(InstrumentIndex{0}).open_buy, 40U);
}

TEST(risk_gate, limits_the_rate_and_lets_cancels_through) {
  Rig rig;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(rig.want(buy(10000, 1)), Refusal::none) << i;
    rig.venue(rig.sent.back(), ReportKind::rejected);
  }
  EXPECT_EQ(rig.want(buy(10000, 1)), Refusal::rate);
  rig.now = at(1s + 99'999'999ns);
  EXPECT_EQ(rig.want(buy(10000, 1)), Refusal::rate);
  rig.now = at(1s + 100ms);
  EXPECT_EQ(rig.want(buy(10000, 1)), Refusal::none);
  EXPECT_EQ(rig.want({.action = Action::cancel}), Refusal::none);
}

TEST(risk_gate, kills_for_good_and_still_cancels) {
  Rig rig;
  ASSERT_EQ(rig.want(buy(10000, 1)), Refusal::none);
  rig.pipeline.gate().kill();
  EXPECT_EQ(rig.want(buy(10000, 1, 1)), Refusal::killed);
  Intent replace = buy(10001, 1);
  replace.action = Action::replace;
  EXPECT_EQ(rig.want(replace), Refusal::killed);
  rig.book.is = market::BookState::stale;
  EXPECT_EQ(rig.want({.action = Action::cancel}), Refusal::none);
  EXPECT_EQ(rig.want({.action = Action::cancel, .slot = 1}), Refusal::no_such_order);
}

TEST(risk_gate, ends_trading_with_a_fill_that_nobody_ordered) {
  Rig rig;
  rig.venue(OrderNumber{77}, ReportKind::accepted);
  EXPECT_FALSE(rig.pipeline.gate().killed());
  rig.venue(OrderNumber{77}, ReportKind::filled, 1);
  EXPECT_TRUE(rig.pipeline.gate().killed());
  EXPECT_EQ(rig.pipeline.gate().counters().unknown_fills, 1U);
}

TEST(risk_gate, takes_back_what_the_session_could_not_send) {
  Rig rig;
  rig.can_send = false;
  EXPECT_EQ(rig.want(buy(10000, 10)), Refusal::not_sent);
  EXPECT_EQ(rig.pipeline.orders().open_orders(), 0U);
  EXPECT_EQ(rig.pipeline.orders().exposure(InstrumentIndex{0}).open_buy, 0U);
  ASSERT_EQ(rig.reports.size(), 1U);
  EXPECT_EQ(rig.reports[0].kind, ReportKind::refused);
}

TEST(risk_gate, bounds_the_open_orders) {
  Rig rig;
  for (std::uint8_t slot = 0; slot < 3; ++slot) ASSERT_EQ(rig.want(buy(10000, 1, slot)), Refusal::none);
  EXPECT_EQ(rig.want(buy(10000, 1, 3)), Refusal::too_many_orders);
  EXPECT_EQ(rig.want(buy(10000, 1, 2)), Refusal::slot_in_use);
  rig.pipeline.cancel_all(rig.now, rig);
  EXPECT_EQ(rig.sent.size(), 6U);
  for (std::size_t i = 3; i < 6; ++i) rig.venue(rig.sent[i], ReportKind::canceled);
  EXPECT_EQ(rig.pipeline.orders().open_orders(), 0U);
  EXPECT_EQ(to_text(rig.pipeline.gate().counters()),
            "3 new, 0 replaced, 3 canceled, 1 refused: slot in use, 1 refused: too many orders");
}

TEST(risk_gate, refuses_limits_that_make_no_sense) {
  const auto refusal = [](const RiskLimits& limits, std::vector<InstrumentLimits> instruments) -> std::string {
    try {
      const RiskGate gate{limits, std::move(instruments)};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({.max_event_age = 0s}, {}), "RiskLimits::max_event_age is 0; expected more than 0 ns");
  EXPECT_EQ(refusal({}, {{}, {.tick = Price{0}}}),
            "InstrumentLimits of instrument 1: tick is 0; expected more than 0 billionths");
  EXPECT_EQ(refusal({}, {{.collar = Price{-1}}}),
            "InstrumentLimits of instrument 0: collar is -1; expected at least 0 billionths");
  EXPECT_EQ(refusal({}, {{.max_position = UINT64_MAX}}),
            "InstrumentLimits of instrument 0: max_position is 18446744073709551615; expected at most 2^62");
  EXPECT_EQ(refusal({}, {{.max_quantity = std::uint64_t{1} << 62}}),
            "InstrumentLimits of instrument 0: max_quantity is 4611686018427387904; expected at most 2^61");
}

}  // namespace
}  // namespace nfx::strategy::test
